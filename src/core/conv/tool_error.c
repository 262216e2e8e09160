/* The error object of a tool: writing it, and recognising it in results. */
#include "conv/tool_error.h"

#include "base/text/search.h"
#include "json/text.h"
#include "json/write.h"

enum { MAX_ERROR = 64 << 10 }; /* a longer text is a result, whatever it says */

const char *pl_tool_error_text(enum pl_tool_error error)
{
    static const char *const texts[] = {
#define X(name, text) [PL_TOOL_ERROR_##name] = text,
        PL_TOOL_ERROR_TABLE(X)
#undef X
    };
    return texts[error];
}

static void put(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

void pl_tool_error_write(struct pl_buf *to, enum pl_tool_error error, struct pl_str message)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    put(&out, "status", PL_STR("error"));
    put(&out, "error_type", pl_str_of(pl_tool_error_text(error)));
    put(&out, "message", message);
    pl_json_out_close(&out, '}');
}

static bool has_text(const struct pl_json_doc *doc, const struct pl_json_node *object,
                     const char *key)
{
    return pl_json_is(pl_json_get(doc, object, pl_str_of(key)), PL_JSON_STRING);
}

/* Its own members, except those already written at the head. */
static void put_rest(struct pl_json_out *out, const struct pl_json_doc *doc,
                     const struct pl_json_node *object, bool has_type, bool has_message)
{
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k)) {
        if (pl_json_text_is(doc, k, PL_STR("status")) ||
            (!has_type && pl_json_text_is(doc, k, PL_STR("error_type"))) ||
            (!has_message && pl_json_text_is(doc, k, PL_STR("message"))))
            continue;
        pl_json_out_raw(out, pl_json_span(doc, k));
        pl_buf_addc(out->buf, ':');
        pl_json_write_min(out->buf, doc, k + 1);
    }
}

static void complete(struct pl_buf *to, enum pl_tool_error error, const struct pl_json_doc *doc,
                     const struct pl_json_node *object)
{
    bool has_type = has_text(doc, object, "error_type"),
         has_message = has_text(doc, object, "message");
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    put(&out, "status", PL_STR("error"));
    if (!has_type)
        put(&out, "error_type", pl_str_of(pl_tool_error_text(error)));
    if (!has_message)
        put(&out, "message", PL_STR("The tool failed."));
    put_rest(&out, doc, object, has_type, has_message);
    pl_json_out_close(&out, '}');
}

enum pl_status pl_tool_error_wrap(struct pl_buf *to, enum pl_tool_error error,
                                  const struct pl_json_doc *doc, const struct pl_json_node *result)
{
    if (pl_json_is(result, PL_JSON_OBJECT)) {
        bool is_whole = pl_tool_error_is(doc, result) && has_text(doc, result, "error_type") &&
                        has_text(doc, result, "message");
        if (is_whole)
            pl_json_write_min(to, doc, result);
        else
            complete(to, error, doc, result);
        return to->status;
    }
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str text = pl_json_span(doc, result);
    enum pl_status status = PL_OK;
    if (pl_json_is(result, PL_JSON_STRING))
        status = pl_json_text(&arena, doc, result, &text);
    if (status != PL_OK)
        return status;
    if (pl_tool_error_is_text(text, &status))
        pl_buf_add(to, text);
    else
        pl_tool_error_write(to, error, text);
    return status == PL_OK ? to->status : status;
}

bool pl_tool_error_is(const struct pl_json_doc *doc, const struct pl_json_node *value)
{
    if (!pl_json_is(value, PL_JSON_OBJECT))
        return false;
    const struct pl_json_node *status = pl_json_get(doc, value, PL_STR("status"));
    return pl_json_is(status, PL_JSON_STRING) && pl_json_text_is(doc, status, PL_STR("error"));
}

const struct pl_json_node *pl_tool_error_flagged(const struct pl_json_doc *doc,
                                                 const struct pl_json_node *value)
{
    if (!pl_tool_error_is(doc, value) || pl_json_count(value) != 3)
        return NULL;
    const struct pl_json_node *type = pl_json_get(doc, value, PL_STR("error_type"));
    const struct pl_json_node *message = pl_json_get(doc, value, PL_STR("message"));
    bool is_flagged = pl_json_is(type, PL_JSON_STRING) &&
                      pl_json_text_is(doc, type, PL_STR("ToolError")) &&
                      pl_json_is(message, PL_JSON_STRING);
    return is_flagged ? message : NULL;
}

bool pl_tool_error_is_likely(struct pl_str raw)
{
    size_t at = 0;
    for (; at < raw.len; at++) {
        if (raw.ptr[at] == '\\' && at + 1 < raw.len && memchr("nrt", raw.ptr[at + 1], 3))
            at++;
        else if (!pl_ascii_is_white(raw.ptr[at]))
            break;
    }
    if (at == raw.len || raw.ptr[at] != '{')
        return false;
    return pl_str_search(raw, PL_STR("error")) != SIZE_MAX ||
           pl_str_search(raw, PL_STR("\\\\u")) != SIZE_MAX;
}

bool pl_tool_error_is_text(struct pl_str text, enum pl_status *status)
{
    size_t at = 0;
    while (at < text.len && pl_ascii_is_white(text.ptr[at]))
        at++;
    if (at == text.len || text.ptr[at] != '{' || text.len > MAX_ERROR)
        return false;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    enum pl_status parsed = pl_json_parse(&arena, text, NULL, &doc, NULL);
    if (parsed == PL_NOMEM)
        *status = PL_NOMEM;
    return parsed == PL_OK && pl_tool_error_is(&doc, doc.root);
}
