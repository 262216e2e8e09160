/* The tools that a session offers: all, none, some by name, and those that its client defines. */
#include "agent/tools/offer.h"

#include "agent/tools/ext_tool.h"
#include "agent/tools/tools.h"
#include "json/text.h"
#include "json/write.h"
#include "schema/schema.h"

static const char any_object[] = "{\"type\":\"object\"}";

static bool is_word(struct pl_str choice, const char *word)
{
    return choice.len == strlen(word) + 2 && memcmp(choice.ptr + 1, word, choice.len - 2) == 0;
}

bool pl_offer_is_limited(struct pl_str choice)
{
    return choice.len && !is_word(choice, "all");
}

static struct pl_str schema_of(const struct pl_json_doc *doc, const struct pl_json_node *definition)
{
    const struct pl_json_node *schema = pl_json_get(doc, definition, PL_STR("input_schema"));
    return schema && pl_json_kind(schema) == PL_JSON_OBJECT ? pl_json_span(doc, schema)
                                                            : PL_STR(any_object);
}

static void write_own(struct pl_json_out *out, const struct pl_json_doc *doc,
                      const struct pl_json_node *definition)
{
    const struct pl_json_node *about = pl_json_get(doc, definition, PL_STR("description"));
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "name");
    pl_json_out_raw(out, pl_json_span(doc, pl_json_get(doc, definition, PL_STR("name"))));
    if (about) {
        pl_json_out_key(out, "description");
        pl_json_out_raw(out, pl_json_span(doc, about));
    }
    pl_json_out_key(out, "input_schema");
    pl_json_out_raw(out, schema_of(doc, definition));
    pl_json_out_close(out, '}');
}

/* Appends all tools of extensions, after the built-in ones. */
static enum pl_status write_extensions(struct pl_arena *arena, struct pl_ext_server *ext,
                                       struct pl_str user_id, struct pl_buf *to)
{
    struct pl_ext_offered *tools = NULL;
    size_t n = 0;
    enum pl_status status = pl_ext_tools_of(ext, arena, user_id, &tools, &n);
    if (status != PL_OK || !n)
        return status;
    to->len--; /* the closing bracket */
    for (size_t i = 0; i < n; i++) {
        struct pl_json_out out = pl_json_out(to);
        if (to->ptr[to->len - 1] != '[')
            pl_buf_addc(to, ',');
        pl_ext_tool_define(&out, &tools[i]);
    }
    pl_buf_addc(to, ']');
    return to->status;
}

static enum pl_status write_named(struct pl_arena *arena, struct pl_str name, bool has_memory,
                                  struct pl_ext_server *ext, struct pl_str user_id,
                                  struct pl_json_out *out)
{
    struct pl_ext_offered tool;
    if (pl_tools_has(name)) {
        pl_tools_define_one(out, name, has_memory);
        return PL_OK;
    }
    enum pl_status status = ext ? pl_ext_tool_find(ext, arena, user_id, name, &tool) : PL_NOT_FOUND;
    if (status == PL_OK)
        pl_ext_tool_define(out, &tool);
    return status == PL_NOT_FOUND ? PL_OK : status; /* it was removed meanwhile */
}

static enum pl_status write_list(struct pl_arena *arena, const struct pl_json_doc *doc,
                                 bool has_memory, struct pl_ext_server *ext, struct pl_str user_id,
                                 struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    enum pl_status status = PL_OK;
    pl_json_out_open(&out, '[');
    for (const struct pl_json_node *n = pl_json_first(doc->root);
         n < pl_json_end(doc->root) && status == PL_OK; n = pl_json_next(n)) {
        struct pl_str name;
        if (pl_json_kind(n) == PL_JSON_OBJECT) {
            write_own(&out, doc, n);
            continue;
        }
        status = pl_json_text(arena, doc, n, &name);
        if (status == PL_OK)
            status = write_named(arena, name, has_memory, ext, user_id, &out);
    }
    pl_json_out_close(&out, ']');
    return status == PL_OK ? to->status : status;
}

enum pl_status pl_offer_write(struct pl_arena *arena, struct pl_str choice, struct pl_str model,
                              bool has_memory, struct pl_ext_server *ext, struct pl_str user_id,
                              struct pl_buf *to)
{
    struct pl_json_doc doc;
    if (!pl_offer_is_limited(choice)) {
        pl_tools_define(model, has_memory, to);
        if (to->status == PL_OK && pl_ext_server_has_any(ext))
            return write_extensions(arena, ext, user_id, to);
        return to->status;
    }
    enum pl_status status = pl_json_parse(arena, choice, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    if (pl_json_kind(doc.root) == PL_JSON_ARRAY)
        return write_list(arena, &doc, has_memory, ext, user_id, to);
    pl_buf_adds(to, "[]");
    return to->status;
}

enum pl_status pl_offer_find_own(struct pl_arena *arena, struct pl_str choice, struct pl_str name,
                                 struct pl_str *ret_schema)
{
    struct pl_json_doc doc;
    *ret_schema = (struct pl_str){0};
    if (!pl_offer_is_limited(choice))
        return PL_OK;
    enum pl_status status = pl_json_parse(arena, choice, &pl_json_own, &doc, NULL);
    if (status != PL_OK || pl_json_kind(doc.root) != PL_JSON_ARRAY)
        return status;
    for (const struct pl_json_node *n = pl_json_first(doc.root); n < pl_json_end(doc.root);
         n = pl_json_next(n)) {
        const struct pl_json_node *own =
            pl_json_kind(n) == PL_JSON_OBJECT ? pl_json_get(&doc, n, PL_STR("name")) : NULL;
        if (own && pl_json_text_is(&doc, own, name))
            *ret_schema = schema_of(&doc, n);
    }
    return PL_OK;
}

bool pl_offer_has(struct pl_str definitions, struct pl_str name)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    if (pl_json_parse(&arena, definitions, &pl_json_own, &doc, NULL) != PL_OK ||
        pl_json_kind(doc.root) != PL_JSON_ARRAY)
        return false;
    for (const struct pl_json_node *n = pl_json_first(doc.root); n < pl_json_end(doc.root);
         n = pl_json_next(n)) {
        const struct pl_json_node *one = pl_json_get(&doc, n, PL_STR("name"));
        if (one && pl_json_text_is(&doc, one, name))
            return true;
    }
    return false;
}

/* --- checking -------------------------------------------------------------------------------- */

static enum pl_status check_schema(struct pl_str text, struct pl_error *err)
{
    struct pl_schema *schema = NULL;
    struct pl_error why = {0};
    enum pl_status status = pl_schema_compile(text, NULL, &schema, &why);
    pl_schema_destroy(schema);
    if (status == PL_OK || status == PL_NOMEM)
        return status;
    return pl_fail(err, PL_INVALID, "The input_schema is not a valid JSON Schema: %s", why.message);
}

static bool is_named_before(const struct pl_json_doc *doc, const struct pl_json_node *list,
                            const struct pl_json_node *until, struct pl_str name)
{
    for (const struct pl_json_node *n = pl_json_first(list); n < until; n = pl_json_next(n)) {
        const struct pl_json_node *one =
            pl_json_kind(n) == PL_JSON_OBJECT ? pl_json_get(doc, n, PL_STR("name")) : n;
        if (one && pl_json_text_is(doc, one, name))
            return true;
    }
    return false;
}

static enum pl_status check_one(struct pl_arena *arena, const struct pl_json_doc *doc,
                                const struct pl_json_node *list, const struct pl_json_node *n,
                                struct pl_ext_server *ext, struct pl_str user_id,
                                struct pl_error *err)
{
    struct pl_str name;
    bool is_own = pl_json_kind(n) == PL_JSON_OBJECT;
    const struct pl_json_node *node = is_own ? pl_json_get(doc, n, PL_STR("name")) : n;
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return pl_fail(err, PL_INVALID,
                       "A tool is the name of a built-in one, or {name, description, "
                       "input_schema}.");
    enum pl_status status = pl_json_text(arena, doc, node, &name);
    if (status != PL_OK)
        return status;
    int shown = (int)(name.len < 80 ? name.len : 80);
    struct pl_ext_offered tool;
    bool is_there = is_own || pl_tools_has(name) ||
                    (ext && pl_ext_tool_find(ext, arena, user_id, name, &tool) == PL_OK);
    if (!is_there) {
        struct pl_buf names PL_CLEANUP_BUF;
        pl_buf_init(&names, 0);
        pl_tools_names(&names);
        return pl_fail(err, PL_INVALID, "There is no built-in tool \"%.*s\"; there are %.*s.",
                       shown, name.ptr, (int)names.len, names.len ? names.ptr : "");
    }
    if (is_own && pl_tools_is_sessions(name))
        return pl_fail(err, PL_INVALID,
                       "The name \"%.*s\" belongs to a tool of every session; choose another.",
                       shown, name.ptr);
    if (is_named_before(doc, list, n, name))
        return pl_fail(err, PL_INVALID,
                       "The tool \"%.*s\" is offered twice; each name may stand once.", shown,
                       name.ptr);
    return is_own ? check_schema(schema_of(doc, n), err) : PL_OK;
}

enum pl_status pl_offer_check(struct pl_arena *arena, const struct pl_json_doc *doc,
                              const struct pl_json_node *node, const char *pointer,
                              struct pl_ext_server *ext, struct pl_str user_id,
                              struct pl_error *err)
{
    size_t i = 0;
    if (!node || pl_json_kind(node) != PL_JSON_ARRAY)
        return PL_OK;
    for (const struct pl_json_node *n = pl_json_first(node); n < pl_json_end(node);
         n = pl_json_next(n), i++) {
        enum pl_status status = check_one(arena, doc, node, n, ext, user_id, err);
        if (status == PL_INVALID)
            pl_error_point(err, "%s/%zu", pointer, i);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}
