/* The last message of a prompt, and the model settings and tools of its config as those of a
 * session. */
#include "prompt/asks.h"

#include "base/buf.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"

/* --- messages -------------------------------------------------------------------------------- */

static bool is_role(const struct pl_json_doc *doc, const struct pl_json_node *message,
                    const char *role)
{
    const struct pl_json_node *node =
        message ? pl_json_member(doc, message, "role", PL_JSON_STRING) : NULL;
    return node && pl_json_text_is(doc, node, pl_str_of(role));
}

static bool is_object(const struct pl_json_node *node)
{
    return node && pl_json_kind(node) == PL_JSON_OBJECT;
}

static enum pl_status find_last(struct pl_arena *arena, const struct pl_json_doc *doc,
                                struct pl_prompt_asks *asks, struct pl_error *err)
{
    const struct pl_json_node *last = NULL, *before = NULL;
    asks->messages = pl_json_member(doc, doc->root, "messages", PL_JSON_ARRAY);
    if (!asks->messages)
        return pl_fail(err, PL_INVALID, "This prompt has no messages.");
    for (const struct pl_json_node *n = pl_json_first(asks->messages);
         n < pl_json_end(asks->messages); n = pl_json_next(n)) {
        before = last;
        last = is_object(n) ? n : NULL;
    }
    if (!last)
        return pl_fail(err, PL_INVALID, "This prompt has no message to send.");
    bool is_begun = is_role(doc, last, "assistant");
    asks->last = is_begun ? before : last;
    if (!is_role(doc, asks->last, "user"))
        return pl_fail(err, PL_INVALID,
                       is_begun ? "The last message of this prompt is the beginning of the "
                                  "assistant's answer; a user message must come before it."
                                : "The last message of a prompt must be the user's to be run.");
    if (!is_begun)
        return PL_OK;
    const struct pl_json_node *content = pl_json_member(doc, last, "content", PL_JSON_STRING);
    asks->begun = last;
    return content ? pl_json_text(arena, doc, content, &asks->prefill) : PL_OK;
}

/* The variables of a rendered text (prompt/render.h), or NULL. */
static const struct pl_json_node *variables_of(const struct pl_json_doc *doc,
                                               const struct pl_json_node *text)
{
    const struct pl_json_node *filled = pl_json_member(doc, doc->root, "filled", PL_JSON_ARRAY);
    PL_CLEANUP_BUF struct pl_buf pointer;
    const struct pl_json_node *found = NULL;
    pl_buf_init(&pointer, 0);
    if (filled)
        pl_json_pointer_of(&pointer, doc, text);
    for (const struct pl_json_node *n = filled ? pl_json_first(filled) : NULL;
         n && n < pl_json_end(filled) && pointer.status == PL_OK; n = pl_json_next(n)) {
        const struct pl_json_node *at = pl_json_member(doc, n, "at", PL_JSON_STRING);
        if (at && pl_json_text_is(doc, at, pl_buf_str(&pointer)))
            found = pl_json_member(doc, n, "variables", PL_JSON_ARRAY);
    }
    return found;
}

/* The text with the offsets of its variables, then the media. */
static void write_parts(struct pl_buf *to, const struct pl_json_doc *doc,
                        const struct pl_json_node *content, const struct pl_json_node *variables,
                        const struct pl_json_node *media)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    if (content->len > 2) {
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "type");
        pl_json_out_text(&out, PL_STR("text"));
        pl_json_out_key(&out, "content");
        pl_json_out_raw(&out, pl_json_span(doc, content));
        if (variables) {
            pl_json_out_key(&out, "variables");
            pl_json_out_raw(&out, pl_json_span(doc, variables));
        }
        pl_json_out_close(&out, '}');
    }
    for (const struct pl_json_node *n = media ? pl_json_first(media) : NULL;
         n && n < pl_json_end(media); n = pl_json_next(n))
        pl_json_out_raw(&out, pl_json_span(doc, n));
    pl_json_out_close(&out, ']');
}

static enum pl_status take(struct pl_arena *arena, const struct pl_buf *text, struct pl_str *ret)
{
    if (text->status != PL_OK)
        return text->status;
    *ret = pl_arena_dup(arena, pl_buf_str(text));
    return ret->ptr ? PL_OK : PL_NOMEM;
}

static enum pl_status read_message(struct pl_arena *arena, const struct pl_json_doc *doc,
                                   struct pl_prompt_asks *asks)
{
    const struct pl_json_node *content = pl_json_get(doc, asks->last, PL_STR("content"));
    const struct pl_json_node *media = pl_json_member(doc, asks->last, "media", PL_JSON_ARRAY);
    if (!content)
        return PL_OK;
    asks->message = pl_json_span(doc, content);
    bool is_text = pl_json_kind(content) == PL_JSON_STRING;
    const struct pl_json_node *variables =
        is_text && content->len > 2 ? variables_of(doc, content) : NULL;
    if (!is_text || (!variables && !(media && pl_json_count(media))))
        return PL_OK;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    write_parts(&text, doc, content, variables, media);
    return take(arena, &text, &asks->message);
}

/* --- config ---------------------------------------------------------------------------------- */

/* X: the name in a config, and in a session's settings. If two are present, the first counts. */
static const char *const names[][2] = {
    {"temperature", "temperature"},
    {"top_p", "top_p"},
    {"top_k", "top_k"},
    {"max_tokens", "max_tokens"},
    {"max_completion_tokens", "max_tokens"},
    {"stop", "stop"},
    {"seed", "seed"},
    {"presence_penalty", "presence_penalty"},
    {"frequency_penalty", "frequency_penalty"},
    {"effort", "effort"},
    {"reasoning_effort", "effort"},
    {"thinking", "thinking"},
    {"response_format", "response_format"},
    {"tool_choice", "tool_choice"},
    {"parallel_tool_calls", "parallel_tool_calls"},
    {"verbosity", "verbosity"},
    {"vendor", "vendor"},
};

enum { N_NAMES = sizeof names / sizeof *names };

static const struct pl_json_node *get(const struct pl_json_doc *doc,
                                      const struct pl_json_node *object, const char *name)
{
    const struct pl_json_node *node = pl_json_get(doc, object, pl_str_of(name));
    return node && pl_json_kind(node) != PL_JSON_NULL ? node : NULL;
}

static bool is_said_before(const struct pl_json_doc *doc, const struct pl_json_node *config,
                           size_t i)
{
    return i && names[i][1] == names[i - 1][1] && get(doc, config, names[i - 1][0]);
}

static enum pl_status read_settings(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_json_node *config, struct pl_str *ret_settings)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    for (size_t i = 0; i < N_NAMES; i++) {
        const struct pl_json_node *node = get(doc, config, names[i][0]);
        if (!node || is_said_before(doc, config, i))
            continue;
        pl_json_out_key(&out, names[i][1]);
        pl_json_out_raw(&out, pl_json_span(doc, node));
    }
    pl_json_out_close(&out, '}');
    return text.len > 2 ? take(arena, &text, ret_settings) : text.status;
}

/* --- tools ----------------------------------------------------------------------------------- */

/* {"type":"function","function":{…}}, or the function itself; its schema is named parameters or
 * input_schema. */
static enum pl_status write_tool(struct pl_json_out *out, const struct pl_json_doc *doc,
                                 const struct pl_json_node *tool, size_t i, struct pl_error *err)
{
    const struct pl_json_node *function = is_object(tool) ? get(doc, tool, "function") : NULL;
    const struct pl_json_node *body = is_object(function) ? function : tool;
    const struct pl_json_node *name =
        is_object(body) ? pl_json_member(doc, body, "name", PL_JSON_STRING) : NULL;
    if (!name)
        return pl_fail(err, PL_INVALID,
                       "Tool %zu of config.tools has no name: only tools with {name, description, "
                       "input_schema} can be offered when a prompt is run.",
                       i + 1);
    const struct pl_json_node *about = get(doc, body, "description");
    const struct pl_json_node *schema = get(doc, body, "input_schema");
    schema = schema ? schema : get(doc, body, "parameters");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "name");
    pl_json_out_raw(out, pl_json_span(doc, name));
    if (about && pl_json_kind(about) == PL_JSON_STRING) {
        pl_json_out_key(out, "description");
        pl_json_out_raw(out, pl_json_span(doc, about));
    }
    if (is_object(schema)) {
        pl_json_out_key(out, "input_schema");
        pl_json_out_raw(out, pl_json_span(doc, schema));
    }
    pl_json_out_close(out, '}');
    return PL_OK;
}

static enum pl_status read_tools(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 const struct pl_json_node *tools, struct pl_str *ret_tools,
                                 struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf text;
    size_t i = 0;
    pl_buf_init(&text, 0);
    if (!tools || pl_json_kind(tools) != PL_JSON_ARRAY || !pl_json_count(tools))
        return PL_OK;
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '[');
    for (const struct pl_json_node *n = pl_json_first(tools); n < pl_json_end(tools);
         n = pl_json_next(n), i++) {
        enum pl_status status = write_tool(&out, doc, n, i, err);
        if (status != PL_OK)
            return status;
    }
    pl_json_out_close(&out, ']');
    return take(arena, &text, ret_tools);
}

enum pl_status pl_prompt_asks_config(struct pl_arena *arena, const struct pl_json_doc *chat,
                                     struct pl_prompt_asks *asks, struct pl_error *err)
{
    const struct pl_json_node *config = pl_json_member(chat, chat->root, "config", PL_JSON_OBJECT);
    enum pl_status status = PL_OK;
    if (!config)
        return PL_OK;
    const struct pl_json_node *model = pl_json_member(chat, config, "model", PL_JSON_STRING);
    if (model)
        status = pl_json_text(arena, chat, model, &asks->model);
    if (status == PL_OK)
        status = read_settings(arena, chat, config, &asks->settings);
    if (status == PL_OK)
        status = read_tools(arena, chat, get(chat, config, "tools"), &asks->tools, err);
    return status;
}

enum pl_status pl_prompt_asks_read(struct pl_arena *arena, const struct pl_json_doc *chat,
                                   struct pl_prompt_asks *ret_asks, struct pl_error *err)
{
    struct pl_prompt_asks asks = {0};
    enum pl_status status = find_last(arena, chat, &asks, err);
    if (status == PL_OK)
        status = read_message(arena, chat, &asks);
    if (status == PL_OK)
        status = pl_prompt_asks_config(arena, chat, &asks, err);
    if (status == PL_OK)
        *ret_asks = asks;
    return status;
}
