/* Makes the target's body from the client's. In the same dialect it is the client's bytes, with the
 * name of the model replaced if necessary. In another dialect it is converted, and made valid for
 * the target. */
#include "gateway/call.h"

#include "access/model_list.h"
#include "service/loss_header.h"
#include "service/request_options.h"

#include "json/parse/survey.h"
#include "json/text.h"
#include "model/model.h"
#include "model/vendor/vendor_settings.h"

static const struct pl_json_node *member(const struct pl_gateway_call *call, const char *name)
{
    return pl_json_get(&call->doc, call->doc.root, pl_str_of(name));
}

struct pl_str pl_gateway_call_text(struct pl_gateway_call *call, const char *name)
{
    const struct pl_json_node *node = member(call, name);
    struct pl_str text = {0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING ||
        pl_json_text(&call->x->arena, &call->doc, node, &text) != PL_OK)
        return (struct pl_str){0};
    return text;
}

/* The memory for a tree. On the loop it is the loop's own arena, which is warm but must not be
 * kept. */
static struct pl_arena *begin_tree(struct pl_gateway_call *call)
{
    struct pl_gateway *gateway = call->x->shard->gateway;
    call->doc = (struct pl_json_doc){0};
    call->is_tree_lent = !call->is_on_worker;
    if (!call->is_tree_lent)
        return &call->x->arena;
    pl_arena_reset(&gateway->trees);
    return &gateway->trees;
}

bool pl_gateway_call_look(struct pl_gateway_call *call)
{
    struct pl_json_survey survey;
    if (call->doc.root)
        return true;
    call->is_shallow = pl_json_survey(begin_tree(call), call->text, &pl_json_any, &survey);
    if (!call->is_shallow)
        return pl_gateway_call_parse(call);
    call->doc = survey.doc;
    call->size = (struct pl_gateway_call_size){survey.n_text, survey.n_long};
    return true;
}

bool pl_gateway_call_parse(struct pl_gateway_call *call)
{
    struct pl_error err = {0};
    if (call->doc.root && !call->is_shallow)
        return true;
    bool is_measured = call->is_shallow;
    call->is_shallow = false;
    enum pl_status status =
        pl_json_parse(begin_tree(call), call->text, &pl_json_any, &call->doc, &err);
    if (status == PL_NOMEM || status == PL_LIMIT) {
        pl_gateway_call_fail(call, status == PL_NOMEM ? 503 : 413, NULL, "The body: %s.",
                             err.message);
        return false;
    }
    if (status != PL_OK || pl_json_kind(call->doc.root) != PL_JSON_OBJECT) {
        pl_gateway_call_fail(call, 400, NULL, "The body is not a JSON object: %s.",
                             status == PL_OK ? "it is another value" : err.message);
        return false;
    }
    if (!is_measured)
        call->size = pl_gateway_call_measure(&call->doc);
    return true;
}

void pl_gateway_call_give_tree_back(struct pl_gateway_call *call)
{
    if (call->is_tree_lent)
        call->doc = (struct pl_json_doc){0};
    call->is_tree_lent = false;
}

/* Allowed by the requested name, or by the names of all its targets. */
static bool may_use(const struct pl_gateway_call *call)
{
    struct pl_str list = call->x->caller.models;
    bool may = true;
    if (pl_model_list_has(list, call->model))
        return true;
    for (size_t i = 0; i < call->n_targets && may; i++) {
        char name[320];
        pl_target_name(&call->targets[i], name, sizeof name);
        may = pl_model_list_has(list, pl_str_of(name));
    }
    return may;
}

/* The first target that cannot do what the request wants; NULL: none. */
static const struct pl_model_target *find_unfit(const struct pl_gateway_call *call)
{
    for (size_t i = 0; i < call->n_targets; i++) {
        const struct pl_model_target *target = &call->targets[i];
        bool embeds =
            target->vendor ? target->vendor->embeds != PL_EMBED_NONE : target->info->is_embedding;
        bool chats = target->vendor || !target->info->is_embedding;
        if (!(call->options.is_embedding ? embeds : chats))
            return target;
    }
    return NULL;
}

static bool refuse_unfit(struct pl_gateway_call *call)
{
    const struct pl_model_target *unfit = find_unfit(call);
    char name[320];
    if (!unfit)
        return true;
    pl_target_name(unfit, name, sizeof name);
    if (call->options.is_embedding)
        pl_gateway_call_fail(call, 400, NULL,
                             "%.200s makes no embeddings; ask a model of OpenAI, Gemini or Ollama, "
                             "or demo/embed.",
                             name);
    else
        pl_gateway_call_fail(call, 400, NULL,
                             "%.200s makes embeddings (POST /v1/embeddings) and does not chat.",
                             name);
    return false;
}

/* The alias decides which of its models this call tries first. */
static void spread_targets(struct pl_gateway_call *call)
{
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    uint8_t order[PL_VENDOR_MAX_CHAIN];
    pl_targets_spread(call->targets, call->n_targets, order);
    memcpy(targets, call->targets, call->n_targets * sizeof *targets);
    for (size_t i = 0; i < call->n_targets; i++)
        call->targets[i] = targets[order[i]];
}

static bool find_model(struct pl_gateway_call *call)
{
    struct pl_error err = {0};
    struct pl_str model =
        call->options.is_model_in_path ? call->options.model : pl_gateway_call_text(call, "model");
    /* Targets refer to it, and the target's name replaces it in the body. */
    call->model = pl_arena_dup(&call->x->arena, model);
    if (model.len && !call->model.ptr) {
        pl_gateway_call_fail(call, 503, NULL, "There is not enough memory for this request.");
        return false;
    }
    if (!call->model.len) {
        pl_gateway_call_fail(call, 400, NULL,
                             "The request must name a model; GET /v1/models lists them.");
        return false;
    }
    call->n_targets = pl_model_targets(call->x->setup->models, call->model, call->targets);
    if (call->n_targets && may_use(call)) {
        spread_targets(call);
        return refuse_unfit(call);
    }
    if (call->n_targets) {
        pl_gateway_call_fail(call, 403, NULL, "This key may not use the model %.*s.",
                             (int)(call->model.len < 200 ? call->model.len : 200), call->model.ptr);
        return false;
    }
    (void)pl_model_missing(call->x->setup->models, call->model, &err);
    pl_gateway_call_fail(call, 404, "model_not_found", "%s", err.message);
    return false;
}

bool pl_gateway_call_read(struct pl_gateway_call *call)
{
    call->doc = (struct pl_json_doc){0};
    if (!(call->is_whole_likely || call->options.is_embedding ? pl_gateway_call_parse(call)
                                                              : pl_gateway_call_look(call)))
        return false;
    call->refers =
        !call->is_resolved && !call->options.is_embedding && pl_gateway_call_refers(call);
    const struct pl_json_node *stream = call->options.is_embedding ? NULL : member(call, "stream");
    call->is_stream = call->options.is_model_in_path
                          ? call->options.is_stream_in_path
                          : stream && pl_json_kind(stream) == PL_JSON_TRUE;
    /* The model may be in a prompt of the library. */
    return call->refers || find_model(call);
}

/* --- the same dialect ------------------------------------------------------------------------ */

/* Gemini has the model in the path. */
static bool has_right_name(const struct pl_gateway_call *call)
{
    return call->options.is_model_in_path ||
           pl_str_eq(call->model, pl_gateway_call_target(call)->model);
}

static void add_piece(struct pl_gateway_call *call, struct pl_str piece)
{
    call->pieces[call->n_pieces++] = piece;
}

/* Uses the client's bytes in place. The target's name replaces the name of the model; a request
 * without a model gets it as its first member. */
bool pl_gateway_call_pass_body(struct pl_gateway_call *call)
{
    if (has_right_name(call)) {
        add_piece(call, call->text);
        return true;
    }
    if (!pl_gateway_call_look(call))
        return false;
    const struct pl_json_node *model = member(call, "model"), *root = call->doc.root;
    PL_CLEANUP_BUF struct pl_buf name;
    pl_buf_init(&name, 0);
    if (!model)
        pl_buf_adds(&name, "\"model\":");
    pl_json_quote(&name, pl_gateway_call_target(call)->model);
    if (!model && pl_json_count(root))
        pl_buf_addc(&name, ',');
    size_t at = model ? model->off : root->off + 1, end = model ? at + model->len : at;
    struct pl_str kept = pl_arena_dup(&call->x->arena, pl_buf_str(&name));
    if (name.status != PL_OK || !kept.ptr) {
        pl_gateway_call_fail(call, 503, NULL, "There was no memory for this request.");
        return false;
    }
    add_piece(call, pl_str_slice(call->text, 0, at));
    add_piece(call, kept);
    add_piece(call, pl_str_slice(call->text, end, call->text.len));
    return true;
}

/* --- another dialect ------------------------------------------------------------------------- */

static void ask_for_stream(struct pl_gateway_call *call)
{
    const struct pl_format *to = pl_gateway_call_target(call)->format;
    bool is_said = call->options.speech->format != &pl_format_gemini || to == &pl_format_gemini;
    if (!call->is_stream || is_said || !call->body.len)
        return;
    call->body.len--;
    pl_buf_adds(&call->body, ",\"stream\":true");
    if (to == &pl_format_openai_chat)
        pl_buf_adds(&call->body, ",\"stream_options\":{\"include_usage\":true}");
    pl_buf_addc(&call->body, '}');
}

static bool convert_body(struct pl_gateway_call *call)
{
    struct pl_error err = {0};
    const struct pl_model_target *target = pl_gateway_call_target(call);
    if (!pl_gateway_call_parse(call))
        return false;
    struct pl_convert_opts convert = {
        .from = call->options.speech->format,
        .to = target->format,
        .mode = PL_MODE_GATEWAY,
        .profile = target->profile,
        .max_items = PL_MAX_ITEMS,
        .refuses_wrong_types = true,
        .is_addressed = target->format == &pl_format_gemini,
        .model = target->model,
        .doc = &call->doc,
    };
    enum pl_status status =
        pl_gateway_call_convert(call, call->text, &convert, &call->body, true, &err);
    if (status == PL_OK) {
        ask_for_stream(call);
        status = call->body.status;
    }
    if (status != PL_OK)
        pl_gateway_call_refuse(call, status, &err);
    return status == PL_OK;
}

void pl_gateway_call_refuse(struct pl_gateway_call *call, enum pl_status status,
                            const struct pl_error *err)
{
    if (status == PL_NOMEM)
        pl_gateway_call_fail(call, 503, NULL, "There is not enough memory to convert the request.");
    else if (status == PL_LIMIT && !err->has_position)
        pl_gateway_call_fail(call, 413, NULL, "The request: %s", err->message);
    else if (err->has_position && err->pointer[0])
        pl_gateway_call_fail(call, 400, NULL, "The request at %s: %s", err->pointer, err->message);
    else
        pl_gateway_call_fail(call, 400, NULL, "The request: %s",
                             err->message[0] ? err->message : pl_status_info(status)->text);
}

/* Adds the members that a prompt of the library has for this vendor only. */
static bool merge_config(struct pl_gateway_call *call)
{
    struct pl_error err = {0};
    if (!call->config.len)
        return true;
    for (size_t i = 0; i < call->n_pieces; i++)
        pl_buf_add(&call->body, call->pieces[i]);
    call->n_pieces = 0;
    enum pl_status status = call->body.status;
    if (status == PL_OK)
        status = pl_vendor_settings_merge(&call->x->arena, pl_gateway_call_target(call),
                                          call->config, &call->body);
    if (status != PL_OK)
        pl_gateway_call_refuse(call, status, &err);
    return status == PL_OK;
}

bool pl_gateway_call_make_body(struct pl_gateway_call *call)
{
    pl_buf_clear(&call->body);
    pl_buf_clear(&call->loss);
    call->n_pieces = 0;
    if (call->options.is_embedding)
        return pl_gateway_call_make_embedding(call);
    if (!pl_gateway_call_target(call)->vendor)
        return pl_gateway_call_make_turns(call);
    return (pl_gateway_call_is_same(call) ? pl_gateway_call_pass_body(call) : convert_body(call)) &&
           merge_config(call);
}

/* --- converting ------------------------------------------------------------------------------ */

/* Moves the output with its buffer out of the loop's memory, without a copy. */
static void swap_out(struct pl_buf *to, struct pl_converted *made)
{
    struct pl_buf old = *to;
    *to = made->out;
    made->out = old;
    to->max = old.max;
    made->out.max = SIZE_MAX;
    if (to->len <= to->max)
        return;
    pl_buf_clear(to);
    to->status = PL_LIMIT;
}

enum pl_status pl_gateway_call_convert(struct pl_gateway_call *call, struct pl_str text,
                                       struct pl_convert_opts *opts, struct pl_buf *to,
                                       bool tells_loss, struct pl_error *err)
{
    struct pl_gateway *gateway = call->x->shard->gateway;
    struct pl_converted own, *made = call->is_on_worker ? &own : &gateway->converted;
    opts->workspace = call->is_on_worker ? NULL : &gateway->workspace;
    pl_converted_init(&own);
    enum pl_status status = pl_convert(text, opts, made, err);
    if (status == PL_OK && tells_loss && opts->kind == PL_KIND_RESPONSE)
        pl_loss_header_add_answer(&call->loss, &call->x->arena, opts->from, text,
                                  pl_buf_str(&made->report));
    else if (status == PL_OK && tells_loss)
        pl_loss_header_add_request(&call->loss, &call->x->arena, opts->from,
                                   pl_buf_str(&made->report));
    if (status == PL_OK)
        swap_out(to, made);
    pl_converted_deinit(&own);
    return status;
}
