/* Resolves the references of a request to /v1/responses:
 *
 *     prompt                 a prompt of our library, with its variables filled in
 *     previous_response_id   the conversation of an answer of this server
 *
 * The resulting body is the client's without these two: its members, then members of the prompt
 * that it does not have. Its input is first the conversation, then the prompt's messages, then its
 * own input. As in OpenAI's API, instructions of the previous request are not carried over. */
#include "gateway/call.h"

#include "prompt/render.h"
#include "json/text.h"
#include "service/prompts/prompt_json.h"
#include "service/request_options.h"
#include "store/gateway.h"

enum { MAX_VARIABLES = 256 };

static const struct pl_json_node *find(const struct pl_gateway_call *call, const char *name)
{
    const struct pl_json_node *node = pl_json_get(&call->doc, call->doc.root, pl_str_of(name));
    return node && pl_json_kind(node) != PL_JSON_NULL ? node : NULL;
}

static bool refers_to_text(const struct pl_gateway_call *call)
{
    return call->options.speech == &pl_speech_openai_responses &&
           (find(call, "prompt") || find(call, "previous_response_id"));
}

bool pl_gateway_call_refers(const struct pl_gateway_call *call)
{
    return refers_to_text(call) || pl_gateway_call_names_blobs(call);
}

/* The documents to combine: requests of OpenAI, each with an input. */
struct putting {
    struct pl_gateway_call *call;
    struct pl_json_doc before, prompt; /* no root: none */
    struct pl_buf out;                 /* owned */
};

static bool refuse(struct pl_gateway_call *call, enum pl_status status, const struct pl_error *err)
{
    int http = status == PL_NOMEM                         ? 503
               : status == PL_IO                          ? 500
               : status == PL_LIMIT && !err->has_position ? 413
                                                          : 400;
    pl_gateway_call_fail(call, http, NULL, "%s",
                         err->message[0] ? err->message : pl_status_info(status)->text);
    return false;
}

/* --- the answer before ----------------------------------------------------------------------- */

static bool find_before(struct putting *putting)
{
    struct pl_gateway_call *call = putting->call;
    struct pl_exchange *x = call->x;
    struct pl_error err = {0};
    struct pl_str id = pl_gateway_call_text(call, "previous_response_id");
    struct pl_kept_response kept;
    if (!find(call, "previous_response_id"))
        return true;
    enum pl_status status = PL_NOT_FOUND;
    if (id.len)
        status = pl_store_response_find(x->shard->server->store, &x->arena, x->caller.user_id, id,
                                        &kept, &err);
    if (status == PL_NOT_FOUND) {
        pl_gateway_call_fail(
            call, 400, "previous_response_not_found",
            "Previous response with id '%.*s' not found: it was not made through this "
            "server with your keys, or with store set to false.",
            (int)(id.len < 80 ? id.len : 80), id.ptr);
        return false;
    }
    if (status == PL_OK)
        status = pl_gateway_kept_turns(x, kept.session_id, INT64_MAX, &putting->before, &err);
    return status == PL_OK || refuse(call, status, &err);
}

/* --- the prompt ------------------------------------------------------------------------------ */

/* "text" or {"type":"input_text","text":"…"}. */
static bool read_variable(struct pl_gateway_call *call, const struct pl_json_node *key,
                          struct pl_render_var *ret_var)
{
    const struct pl_json_node *value = key + 1;
    struct pl_arena *arena = &call->x->arena;
    if (pl_json_kind(value) == PL_JSON_OBJECT)
        value = pl_json_get(&call->doc, value, PL_STR("text"));
    if (pl_json_text(arena, &call->doc, key, &ret_var->name) != PL_OK)
        return false;
    if (!value || pl_json_kind(value) != PL_JSON_STRING) {
        pl_gateway_call_fail(
            call, 400, NULL,
            "The variable %.*s of the prompt must be a string, or an object of type "
            "input_text.",
            (int)(ret_var->name.len < 80 ? ret_var->name.len : 80), ret_var->name.ptr);
        return false;
    }
    return pl_json_text(arena, &call->doc, value, &ret_var->value) == PL_OK;
}

static bool read_variables(struct pl_gateway_call *call, const struct pl_json_node *variables,
                           struct pl_render_opts *ret_opts)
{
    size_t n = 0;
    if (!variables || pl_json_kind(variables) == PL_JSON_NULL)
        return true;
    if (pl_json_kind(variables) != PL_JSON_OBJECT || pl_json_count(variables) > MAX_VARIABLES) {
        pl_gateway_call_fail(call, 400, NULL,
                             "The variables of a prompt must be an object of at most %d "
                             "members.",
                             MAX_VARIABLES);
        return false;
    }
    struct pl_render_var *vars =
        pl_arena_zalloc(&call->x->arena, pl_json_count(variables) + 1, sizeof *vars);
    for (const struct pl_json_node *key = pl_json_first_member(variables);
         vars && key < pl_json_end(variables); key = pl_json_next_member(key))
        if (!read_variable(call, key, &vars[n++]))
            return false;
    ret_opts->vars = vars;
    ret_opts->n_vars = n;
    return vars != NULL;
}

static struct pl_str text_in(struct pl_gateway_call *call, const struct pl_json_node *object,
                             const char *name)
{
    const struct pl_json_node *node = pl_json_get(&call->doc, object, pl_str_of(name));
    struct pl_str text = {0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING ||
        pl_json_text(&call->x->arena, &call->doc, node, &text) != PL_OK)
        return (struct pl_str){0};
    return text;
}

static enum pl_status load_prompt(struct pl_gateway_call *call, struct pl_str id,
                                  struct pl_str version, struct pl_str *ret_chat,
                                  struct pl_error *err)
{
    struct pl_exchange *x = call->x;
    struct pl_store *store = x->shard->server->store;
    struct pl_prompt_row prompt;
    struct pl_prompt_version_row row;
    int64_t number = 0;
    enum pl_status status =
        pl_store_prompt_get(store, &x->arena, x->caller.user_id, id, &prompt, err);
    if (status == PL_OK)
        status = pl_prompt_version_number(&x->arena, &prompt, version, &number);
    if (status == PL_OK)
        status =
            pl_store_prompt_version_get(store, &x->arena, x->caller.user_id, id, number, &row, err);
    if (status == PL_NOT_FOUND)
        return pl_fail(err, PL_NOT_FOUND, "Prompt with id '%.*s'%s%.*s not found.",
                       (int)(id.len < 80 ? id.len : 80), id.ptr, version.len ? " and version " : "",
                       (int)(version.len < 80 ? version.len : 80), version.ptr);
    if (status != PL_OK)
        return status;
    struct pl_prompt_text text = pl_prompt_text_of(&row);
    return pl_prompt_chat(&x->arena, &text, ret_chat);
}

/* A request of OpenAI has no place for members of one vendor, so they are merged into the vendor's
 * request later. */
static enum pl_status keep_config(struct pl_gateway_call *call, struct pl_str chat)
{
    struct pl_arena *arena = &call->x->arena;
    struct pl_str kept = pl_arena_dup(arena, chat);
    struct pl_json_doc doc;
    if (!kept.ptr)
        return PL_NOMEM;
    enum pl_status status = pl_json_parse(arena, kept, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status == PL_NOMEM ? status : PL_OK; /* the conversion reports the error */
    const struct pl_json_node *config = pl_json_member(&doc, doc.root, "config", PL_JSON_OBJECT);
    if (config && pl_json_member(&doc, config, "vendor", PL_JSON_OBJECT))
        call->config = pl_json_span(&doc, config);
    return PL_OK;
}

static bool find_prompt(struct putting *putting)
{
    struct pl_gateway_call *call = putting->call;
    const struct pl_json_node *prompt = find(call, "prompt");
    struct pl_error err = {0};
    struct pl_render_opts opts = {.max_bytes = PL_MAX_RENDERED};
    struct pl_str chat = {0};
    if (!prompt)
        return true;
    if (pl_json_kind(prompt) != PL_JSON_OBJECT) {
        pl_gateway_call_fail(call, 400, NULL, "The member prompt must be an object with an id.");
        return false;
    }
    if (!read_variables(call, pl_json_get(&call->doc, prompt, PL_STR("variables")), &opts))
        return call->x->is_problem ? false : refuse(call, PL_NOMEM, &err);
    enum pl_status status = load_prompt(call, text_in(call, prompt, "id"),
                                        text_in(call, prompt, "version"), &chat, &err);
    struct pl_rendered rendered;
    pl_rendered_init(&rendered);
    if (status == PL_OK)
        status = pl_render(chat, &opts, &rendered, &err);
    if (status == PL_OK)
        status = keep_config(call, pl_buf_str(&rendered.out));
    if (status == PL_OK)
        status = pl_gateway_to_responses(call->x, &pl_format_structured_chat,
                                         pl_buf_str(&rendered.out), &putting->prompt, &err);
    pl_rendered_deinit(&rendered);
    return status == PL_OK || refuse(call, status, &err);
}

/* --- the body that counts -------------------------------------------------------------------- */

static bool is_settled(const struct pl_json_doc *doc, const struct pl_json_node *key)
{
    static const char *const settled[] = {"prompt", "previous_response_id", "input"};
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (pl_json_key_is(doc, key, pl_str_of(settled[i])))
            return true;
    return false;
}

/* Adds the members of a document, except those above and those that `over` has. */
static void add_members(struct putting *putting, const struct pl_json_doc *doc,
                        const struct pl_json_doc *over)
{
    struct pl_buf *to = &putting->out;
    if (!doc->root)
        return;
    for (const struct pl_json_node *key = pl_json_first_member(doc->root);
         key < pl_json_end(doc->root); key = pl_json_next_member(key)) {
        if (is_settled(doc, key) || (over && pl_json_get(over, over->root, pl_json_raw(doc, key))))
            continue;
        pl_buf_add(to, pl_json_span(doc, key));
        pl_buf_addc(to, ':');
        pl_buf_add(to, pl_json_span(doc, key + 1));
        pl_buf_addc(to, ',');
    }
}

static void add_item(struct pl_buf *to, struct pl_str json)
{
    if (to->len && to->ptr[to->len - 1] != '[')
        pl_buf_addc(to, ',');
    pl_buf_add(to, json);
}

static void add_input(struct putting *putting, const struct pl_json_doc *doc)
{
    struct pl_buf *to = &putting->out;
    const struct pl_json_node *input =
        doc->root ? pl_json_get(doc, doc->root, PL_STR("input")) : NULL;
    if (input && pl_json_kind(input) == PL_JSON_STRING) {
        add_item(to, PL_STR("{\"role\":\"user\",\"content\":"));
        pl_buf_add(to, pl_json_span(doc, input));
        pl_buf_addc(to, '}');
    } else if (input && pl_json_kind(input) == PL_JSON_ARRAY) {
        for (const struct pl_json_node *item = pl_json_first(input); item < pl_json_end(input);
             item = pl_json_next(item))
            add_item(to, pl_json_span(doc, item));
    }
}

static bool put_together(struct putting *putting)
{
    struct pl_gateway_call *call = putting->call;
    struct pl_buf *to = &putting->out;
    struct pl_error err = {0};
    pl_buf_addc(to, '{');
    add_members(putting, &call->doc, NULL);
    add_members(putting, &putting->prompt, &call->doc);
    pl_buf_add(to, PL_STR("\"input\":["));
    add_input(putting, &putting->before);
    add_input(putting, &putting->prompt);
    add_input(putting, &call->doc);
    pl_buf_add(to, PL_STR("]}"));
    call->text =
        to->status == PL_OK ? pl_arena_dup(&call->x->arena, pl_buf_str(to)) : (struct pl_str){0};
    return call->text.ptr ? pl_gateway_call_read(call) : refuse(call, PL_NOMEM, &err);
}

static bool put_texts(struct pl_gateway_call *call)
{
    struct putting putting = {.call = call};
    pl_buf_init(&putting.out, 0);
    bool is_done = pl_gateway_call_parse(call) && find_before(&putting) && find_prompt(&putting) &&
                   put_together(&putting);
    pl_buf_deinit(&putting.out);
    return is_done;
}

/* Texts come first, because they may name blobs too. The combined document is parsed again. */
bool pl_gateway_call_resolve(struct pl_gateway_call *call)
{
    call->is_resolved = true;
    if (!pl_gateway_call_parse(call))
        return false;
    if (refers_to_text(call) && !put_texts(call))
        return false;
    return !pl_gateway_call_names_blobs(call) ||
           (pl_gateway_call_put_blobs(call) && pl_gateway_call_read(call));
}
