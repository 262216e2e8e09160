/* Turns a keyword into its plain op: one function per form of keyword (keywords.c says which). The
 * indexer has checked the shapes, so values are not checked again. */
#include "schema/compile_int.h"

#include "json/number.h"
#include "json/text.h"

static const struct pl_json_doc *json_of(struct pl_compiler *c, uint32_t doc)
{
    return &c->schema->docs.ptr[doc].json;
}

static enum pl_status push_op(struct pl_compiler *c, const struct pl_site *at, uint8_t code,
                              uint32_t a, uint32_t b, uint32_t cc)
{
    struct pl_op op = {.code = code, .a = a, .b = b, .c = cc, .key = at->key};
    return pl_vec_push(&c->schema->ops, op) ? PL_OK : pl_compile_nomem(c);
}

static const struct pl_json_node *sibling(struct pl_compiler *c, const struct pl_site *at,
                                          const char *name)
{
    uint32_t vocabs = c->schema->resources.ptr[at->resource].vocabs;
    if (!pl_keyword_find(pl_str_of(name), vocabs))
        return NULL;
    return pl_json_get(json_of(c, at->doc), at->object, pl_str_of(name));
}

static enum pl_status add_name(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                               uint32_t *ret_name)
{
    struct pl_name name;
    TRY(pl_compile_text(c, doc, n, &name.text));
    name.hash = pl_json_key_hash(name.text);
    *ret_name = (uint32_t)c->schema->names.len;
    return pl_vec_push(&c->schema->names, name) ? PL_OK : pl_compile_nomem(c);
}

/* Appends the strings of an array as names. */
static enum pl_status add_names(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                                uint32_t *ret_first)
{
    uint32_t name;
    *ret_first = (uint32_t)c->schema->names.len;
    for (const struct pl_json_node *e = pl_json_first(n); e != pl_json_end(n); e = pl_json_next(e))
        TRY(add_name(c, doc, e, &name));
    return PL_OK;
}

/* A count, clamped to 32 bits: no instance has more of anything. */
static uint32_t read_count(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    int64_t value;
    if (!pl_json_number_int64(pl_json_span(doc, n), &value) || value > UINT32_MAX)
        return UINT32_MAX;
    return (uint32_t)value;
}

PL_EMITTER(pl_emit_annotation)
{
    return push_op(c, at, PL_OP_ANNOTATE, keyword->classes, 0, 0);
}

static uint32_t types_of(const struct pl_json_doc *doc, const struct pl_json_node *name)
{
    static const struct {
        const char *name;
        uint8_t types;
    } table[] = {
        {"null", 1 << PL_JSON_NULL},     {"boolean", 1 << PL_JSON_FALSE | 1 << PL_JSON_TRUE},
        {"number", 1 << PL_JSON_NUMBER}, {"integer", 1 << PL_JSON_NUMBER | PL_SCHEMA_INTEGER},
        {"string", 1 << PL_JSON_STRING}, {"array", 1 << PL_JSON_ARRAY},
        {"object", 1 << PL_JSON_OBJECT},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (pl_json_text_is(doc, name, pl_str_of(table[i].name)))
            return table[i].types;
    return 0;
}

PL_EMITTER(pl_emit_type)
{
    const struct pl_json_doc *doc = json_of(c, at->doc);
    const struct pl_json_node *value = at->key + 1;
    if (pl_json_kind(value) == PL_JSON_STRING)
        return push_op(c, at, keyword->code, types_of(doc, value), 0, 0);
    uint32_t types = 0;
    bool has_number = false;
    for (const struct pl_json_node *e = pl_json_first(value); e != pl_json_end(value); e++) {
        uint32_t more = types_of(doc, e);
        has_number |= more == 1 << PL_JSON_NUMBER;
        types |= more;
    }
    if (has_number) /* every integer is a number */
        types &= PL_SCHEMA_ALL_TYPES;
    return push_op(c, at, keyword->code, types, 0, 0);
}

PL_EMITTER(pl_emit_values)
{
    const struct pl_json_node *value = at->key + 1;
    uint32_t n = keyword->code == PL_OP_ENUM ? pl_json_count(value) : 1;
    return push_op(c, at, keyword->code, 0, n, 0);
}

PL_EMITTER(pl_emit_limit)
{
    struct pl_limit limit = {.span = pl_json_span(json_of(c, at->doc), at->key + 1)};
    limit.is_small = pl_json_number_int64(limit.span, &limit.value);
    if (!pl_vec_push(&c->schema->limits, limit))
        return pl_compile_nomem(c);
    return push_op(c, at, keyword->code, (uint32_t)c->schema->limits.len - 1, 0, 0);
}

PL_EMITTER(pl_emit_count)
{
    return push_op(c, at, keyword->code, read_count(json_of(c, at->doc), at->key + 1), 0, 0);
}

static enum pl_status add_regex(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                                uint32_t *ret_regex)
{
    struct pl_str pattern;
    TRY(pl_compile_text(c, doc, n, &pattern));
    bool is_new;
    struct pl_map_entry *entry = pl_map_put(&c->regex_ids, pattern, &is_new);
    if (!entry)
        return pl_compile_nomem(c);
    if (is_new) {
        struct pl_regex *regex = NULL;
        struct pl_error detail = {0};
        enum pl_status status = pl_regex_compile(pattern, &regex, &detail);
        if (status == PL_NOMEM)
            return pl_compile_nomem(c);
        if (status != PL_OK)
            return pl_compile_fail(c, doc, n, status == PL_SYNTAX ? PL_INVALID : status,
                                   "this is not a regular expression: %s", detail.message);
        if (!pl_vec_push(&c->schema->regexes, regex)) {
            pl_regex_destroy(regex);
            return pl_compile_nomem(c);
        }
        entry->value = c->schema->regexes.len;
    }
    *ret_regex = (uint32_t)entry->value - 1;
    return PL_OK;
}

PL_EMITTER(pl_emit_pattern)
{
    uint32_t regex;
    TRY(add_regex(c, at->doc, at->key + 1, &regex));
    return push_op(c, at, keyword->code, regex, 0, 0);
}

PL_EMITTER(pl_emit_format)
{
    uint32_t vocabs = c->schema->resources.ptr[at->resource].vocabs;
    struct pl_str name;
    TRY(pl_compile_text(c, at->doc, at->key + 1, &name));
    const struct pl_schema_format *format = NULL;
    if (c->opts->asserts_format || (vocabs & PL_VOCAB_FORMAT_ASSERTION))
        format = pl_schema_format_find(name);
    if (!format)
        return pl_emit_annotation(c, at, keyword);
    if (!pl_vec_push(&c->schema->formats, format))
        return pl_compile_nomem(c);
    return push_op(c, at, keyword->code, (uint32_t)c->schema->formats.len - 1, 0, 0);
}

PL_EMITTER(pl_emit_unique)
{
    if (pl_json_kind(at->key + 1) == PL_JSON_FALSE)
        return PL_OK;
    return push_op(c, at, keyword->code, 0, 0, 0);
}

PL_EMITTER(pl_emit_required)
{
    uint32_t first;
    TRY(add_names(c, at->doc, at->key + 1, &first));
    return push_op(c, at, keyword->code, first, pl_json_count(at->key + 1), 0);
}

/* dependentRequired, dependentSchemas and the old dependencies: each member of the value is a list
 * of names or a schema. */
PL_EMITTER(pl_emit_dependencies)
{
    const struct pl_json_node *value = at->key + 1;
    uint32_t first = (uint32_t)c->schema->deps.len;
    for (const struct pl_json_node *k = pl_json_first(value); k != pl_json_end(value);
         k = pl_json_next_member(k)) {
        struct pl_dep dep = {.sub = PL_SCHEMA_NONE, .key = k};
        TRY(add_name(c, at->doc, k, &dep.name));
        if (pl_json_kind(k + 1) == PL_JSON_ARRAY) {
            dep.n_names = pl_json_count(k + 1);
            TRY(add_names(c, at->doc, k + 1, &dep.names));
        } else {
            TRY(pl_compile_sub(c, at->doc, k + 1, &dep.sub));
        }
        if (!pl_vec_push(&c->schema->deps, dep))
            return pl_compile_nomem(c);
    }
    return push_op(c, at, keyword->code, first, pl_json_count(value), 0);
}

PL_EMITTER(pl_emit_ref)
{
    struct pl_value target;
    const struct pl_anchor *anchor;
    uint32_t sub;
    TRY(pl_resolve_ref(c, at, &target, &anchor));
    TRY(pl_compile_sub(c, target.doc, target.node, &sub));
    return push_op(c, at, keyword->code, sub, 0, 0);
}

/* The target of a $dynamicRef may depend on the path to it; the list by resource is filled in when
 * all documents are known. */
PL_EMITTER(pl_emit_dynamic_ref)
{
    struct pl_value target;
    const struct pl_anchor *anchor;
    uint32_t sub;
    TRY(pl_resolve_ref(c, at, &target, &anchor));
    struct pl_dynamic dynamic = {.op = (uint32_t)c->schema->ops.len};
    if (anchor)
        dynamic.name = anchor->name;
    TRY(pl_compile_sub(c, target.doc, target.node, &sub));
    TRY(push_op(c, at, keyword->code, sub, PL_SCHEMA_NONE, 0));
    if (anchor && !pl_vec_push(&c->dynamics, dynamic))
        return pl_compile_nomem(c);
    return PL_OK;
}

PL_EMITTER(pl_emit_schema)
{
    uint32_t sub;
    TRY(pl_compile_sub(c, at->doc, at->key + 1, &sub));
    return push_op(c, at, keyword->code, sub, 0, 0);
}

PL_EMITTER(pl_emit_schemas)
{
    const struct pl_json_node *value = at->key + 1;
    uint32_t first = (uint32_t)c->schema->lists.len, sub;
    for (const struct pl_json_node *e = pl_json_first(value); e != pl_json_end(value);
         e = pl_json_next(e)) {
        TRY(pl_compile_sub(c, at->doc, e, &sub));
        if (!pl_vec_push(&c->schema->lists, sub))
            return pl_compile_nomem(c);
    }
    return push_op(c, at, keyword->code, first, pl_json_count(value), PL_SCHEMA_NONE);
}

PL_EMITTER(pl_emit_if)
{
    uint32_t condition, subs[2] = {PL_SCHEMA_NONE, PL_SCHEMA_NONE};
    static const char *const names[2] = {"then", "else"};
    TRY(pl_compile_sub(c, at->doc, at->key + 1, &condition));
    for (int i = 0; i < 2; i++) {
        const struct pl_json_node *n = sibling(c, at, names[i]);
        if (n)
            TRY(pl_compile_sub(c, at->doc, n, &subs[i]));
    }
    return push_op(c, at, keyword->code, condition, subs[0], subs[1]);
}

PL_EMITTER(pl_emit_items)
{
    uint32_t sub;
    const struct pl_json_node *prefix = sibling(c, at, "prefixItems");
    TRY(pl_compile_sub(c, at->doc, at->key + 1, &sub));
    return push_op(c, at, keyword->code, sub, prefix ? pl_json_count(prefix) : 0, 0);
}

PL_EMITTER(pl_emit_contains)
{
    uint32_t sub;
    const struct pl_json_doc *doc = json_of(c, at->doc);
    const struct pl_json_node *least = sibling(c, at, "minContains");
    const struct pl_json_node *most = sibling(c, at, "maxContains");
    uint32_t n_least = least ? read_count(doc, least) : 1;
    uint32_t n_most = most ? read_count(doc, most) : UINT32_MAX;
    TRY(pl_compile_sub(c, at->doc, at->key + 1, &sub));
    return push_op(c, at, keyword->code, sub, n_least, n_most);
}

PL_EMITTER(pl_emit_properties)
{
    const struct pl_json_node *value = at->key + 1;
    uint32_t first = (uint32_t)c->schema->props.len;
    for (const struct pl_json_node *k = pl_json_first(value); k != pl_json_end(value);
         k = pl_json_next_member(k)) {
        struct pl_prop prop;
        TRY(add_name(c, at->doc, k, &prop.name));
        TRY(pl_compile_sub(c, at->doc, k + 1, &prop.sub));
        if (!pl_vec_push(&c->schema->props, prop))
            return pl_compile_nomem(c);
    }
    return push_op(c, at, keyword->code, first, pl_json_count(value), 0);
}

PL_EMITTER(pl_emit_pattern_members)
{
    const struct pl_json_node *value = at->key + 1;
    uint32_t first = (uint32_t)c->schema->patterns.len;
    for (const struct pl_json_node *k = pl_json_first(value); k != pl_json_end(value);
         k = pl_json_next_member(k)) {
        struct pl_pattern pattern = {.key = k};
        TRY(add_regex(c, at->doc, k, &pattern.regex));
        TRY(pl_compile_sub(c, at->doc, k + 1, &pattern.sub));
        if (!pl_vec_push(&c->schema->patterns, pattern))
            return pl_compile_nomem(c);
    }
    return push_op(c, at, keyword->code, first, pl_json_count(value), 0);
}
