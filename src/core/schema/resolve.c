/* Documents, resources and anchors: resolves URIs (core specification, sections 8 and 9).
 *
 * A document is indexed once, by a walk over the places that can hold a schema, and only those (an
 * "$id" inside an enum is data). The walk records the resource of each schema and the anchors, and
 * refuses keywords with a value of the wrong shape. It has an explicit stack. */
#include "schema/compile_int.h"

#include "json/pointer.h"
#include "json/text.h"
#include "schema/meta.h"
#include "schema/uri.h"

static const struct {
    const char *name; /* the part after PL_SCHEMA_VOCAB */
    uint32_t bit;
} vocabularies[] = {
    {"core", PL_VOCAB_CORE},
    {"applicator", PL_VOCAB_APPLICATOR},
    {"unevaluated", PL_VOCAB_UNEVALUATED},
    {"validation", PL_VOCAB_VALIDATION},
    {"meta-data", PL_VOCAB_META_DATA},
    {"format-annotation", PL_VOCAB_FORMAT_ANNOTATION},
    {"format-assertion", PL_VOCAB_FORMAT_ASSERTION},
    {"content", PL_VOCAB_CONTENT},
};

static bool map_set(struct pl_map *map, struct pl_str key, uint64_t value)
{
    bool is_new;
    struct pl_map_entry *entry = pl_map_put(map, key, &is_new);
    if (entry && is_new)
        entry->value = value;
    return entry != NULL;
}

static struct pl_str without_empty_fragment(struct pl_str uri)
{
    return uri.len && uri.ptr[uri.len - 1] == '#' ? pl_str_slice(uri, 0, uri.len - 1) : uri;
}

enum pl_status pl_resolve_add(struct pl_compiler *c, struct pl_str uri, struct pl_str text,
                              uint32_t *ret_doc)
{
    struct pl_schema *s = c->schema;
    if (text.len > c->max_bytes)
        return pl_fail(c->err, PL_LIMIT, "the schema has %zu bytes; at most %u are allowed",
                       text.len, c->max_bytes);
    struct pl_sdoc doc = {.uri = pl_arena_dup(&s->arena, without_empty_fragment(uri))};
    struct pl_str copy = pl_arena_dup(&s->arena, text);
    if ((uri.len && !doc.uri.ptr) || (text.len && !copy.ptr))
        return pl_compile_nomem(c);
    TRY(pl_json_parse(&s->arena, copy, NULL, &doc.json, c->err));
    doc.resource_of = pl_mem_alloc(doc.json.n_nodes, 2 * sizeof *doc.resource_of);
    if (!doc.resource_of)
        return pl_compile_nomem(c);
    memset(doc.resource_of, 0, doc.json.n_nodes * 2 * sizeof *doc.resource_of);
    doc.sub_of = doc.resource_of + doc.json.n_nodes;
    uint32_t index = (uint32_t)s->docs.len;
    if (!pl_vec_push(&s->docs, doc)) {
        pl_mem_free(doc.resource_of);
        return pl_compile_nomem(c);
    }
    if (!map_set(&c->doc_uris, doc.uri, index + 1))
        return pl_compile_nomem(c);
    *ret_doc = index;
    return PL_OK;
}

/* The document at `uri`; a new one is loaded from the sources or the meta-schemas. None if not
 * found. */
static enum pl_status find_doc(struct pl_compiler *c, struct pl_str uri, uint32_t *ret_doc)
{
    struct pl_map_entry *entry = pl_map_get(&c->doc_uris, uri);
    if (entry) {
        *ret_doc = (uint32_t)entry->value - 1;
        return PL_OK;
    }
    for (size_t i = 0; i < c->opts->n_sources; i++) {
        const struct pl_schema_source *source = &c->opts->sources[i];
        if (pl_str_eq(without_empty_fragment(source->uri), uri))
            return pl_resolve_add(c, source->uri, source->text, ret_doc);
    }
    for (size_t i = 0; i < pl_schema_n_metas; i++)
        if (pl_str_eq(pl_schema_metas[i].uri, uri))
            return pl_resolve_add(c, uri, pl_schema_metas[i].text, ret_doc);
    *ret_doc = PL_SCHEMA_NONE;
    return PL_OK;
}

/* The vocabularies that a "$vocabulary" object enables (section 8.1.2). */
static enum pl_status read_vocabulary(struct pl_compiler *c, uint32_t doc,
                                      const struct pl_json_node *n, uint32_t *ret_vocabs)
{
    uint32_t vocabs = PL_VOCAB_CORE;
    if (pl_json_kind(n) != PL_JSON_OBJECT)
        return pl_compile_fail(c, doc, n, PL_INVALID, "\"$vocabulary\" must be an object");
    for (const struct pl_json_node *k = pl_json_first(n); k != pl_json_end(n);
         k = pl_json_next_member(k)) {
        struct pl_str uri, prefix = PL_STR(PL_SCHEMA_VOCAB);
        uint32_t bit = 0;
        TRY(pl_compile_text(c, doc, k, &uri));
        for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++)
            if (pl_str_starts(uri, prefix) &&
                pl_str_eq(pl_str_slice(uri, prefix.len, uri.len), pl_str_of(vocabularies[i].name)))
                bit = vocabularies[i].bit;
        if (!bit && pl_json_kind(k + 1) == PL_JSON_TRUE)
            return pl_compile_fail(c, doc, k, PL_INVALID,
                                   "the dialect requires the vocabulary %.*s, which is unknown",
                                   PL_STR_ARG(uri));
        vocabs |= bit;
    }
    *ret_vocabs = vocabs;
    return PL_OK;
}

/* The vocabularies of the dialect that "$schema" names. */
static enum pl_status find_dialect(struct pl_compiler *c, uint32_t doc,
                                   const struct pl_json_node *value, uint32_t *ret_vocabs)
{
    struct pl_str uri;
    if (pl_json_kind(value) != PL_JSON_STRING)
        return pl_compile_fail(c, doc, value, PL_INVALID, "\"$schema\" must be a string");
    TRY(pl_compile_text(c, doc, value, &uri));
    uri = without_empty_fragment(uri);
    *ret_vocabs = PL_VOCAB_DEFAULT;
    if (pl_str_eq(uri, PL_STR(PL_SCHEMA_DIALECT)))
        return PL_OK;
    uint32_t meta;
    TRY(find_doc(c, uri, &meta));
    if (meta == PL_SCHEMA_NONE)
        return pl_compile_fail(c, doc, value, PL_NOT_FOUND,
                               "the dialect %.*s is unknown; use 2020-12, or provide its "
                               "meta-schema as a source",
                               PL_STR_ARG(uri));
    const struct pl_json_doc *json = &c->schema->docs.ptr[meta].json;
    const struct pl_json_node *vocabulary = pl_json_get(json, json->root, PL_STR("$vocabulary"));
    return vocabulary ? read_vocabulary(c, meta, vocabulary, ret_vocabs) : PL_OK;
}

static enum pl_status add_resource(struct pl_compiler *c, uint32_t doc,
                                   const struct pl_json_node *n, struct pl_str uri, uint32_t vocabs,
                                   uint32_t *ret_resource)
{
    struct pl_schema *s = c->schema;
    const struct pl_json_doc *json = &s->docs.ptr[doc].json;
    const struct pl_json_node *dialect = pl_json_get(json, n, PL_STR("$schema"));
    if (dialect)
        TRY(find_dialect(c, doc, dialect, &vocabs));
    struct pl_resource resource = {.uri = uri, .doc = doc, .vocabs = vocabs, .root = n};
    uint32_t index = (uint32_t)s->resources.len;
    if (!pl_vec_push(&s->resources, resource) || !map_set(&c->uris, uri, index + 1))
        return pl_compile_nomem(c);
    *ret_resource = index;
    return PL_OK;
}

static enum pl_status add_anchor(struct pl_compiler *c, uint32_t doc, uint32_t resource,
                                 const struct pl_json_node *object,
                                 const struct pl_json_node *value, bool is_dynamic)
{
    struct pl_anchor anchor = {
        .resource = resource, .doc = doc, .node = object, .is_dynamic = is_dynamic};
    TRY(pl_compile_text(c, doc, value, &anchor.name));
    PL_CLEANUP_BUF struct pl_buf key;
    pl_buf_init(&key, 0);
    pl_buf_addf(&key, "%u#%.*s", resource, PL_STR_ARG(anchor.name));
    struct pl_str id = pl_arena_dup(&c->schema->arena, pl_buf_str(&key));
    if (key.status != PL_OK || !id.ptr || !pl_vec_push(&c->anchors, anchor))
        return pl_compile_nomem(c);
    struct pl_map_entry *known = pl_map_get(&c->anchor_ids, id);
    if (known && c->anchors.ptr[known->value - 1].node != object)
        return pl_compile_fail(c, doc, value, PL_INVALID,
                               "the anchor \"%.*s\" is already used in this schema",
                               PL_STR_ARG(anchor.name));
    if (known && is_dynamic)
        c->anchors.ptr[known->value - 1].is_dynamic = true;
    return map_set(&c->anchor_ids, id, c->anchors.len) ? PL_OK : pl_compile_nomem(c);
}

static enum pl_status push_schema(struct pl_compiler *c, uint32_t doc, uint32_t resource,
                                  const struct pl_json_node *n)
{
    struct pl_sdoc *sdoc = &c->schema->docs.ptr[doc];
    sdoc->resource_of[n - sdoc->json.root] = resource + 1;
    if (++c->n_subschemas > c->max_subschemas)
        return pl_compile_fail(c, doc, n, PL_LIMIT, "there are more than %u subschemas",
                               c->max_subschemas);
    return pl_vec_push(&c->pending, (struct pl_value){doc, n}) ? PL_OK : pl_compile_nomem(c);
}

/* Pushes the subschemas in the value of one keyword on the stack. */
static enum pl_status push_children(struct pl_compiler *c, uint32_t doc, uint32_t resource,
                                    enum pl_value_shape shape, const struct pl_json_node *value)
{
    if (shape == PL_VALUE_SCHEMA)
        return push_schema(c, doc, resource, value);
    if (shape == PL_VALUE_SCHEMAS)
        for (const struct pl_json_node *e = pl_json_first(value); e != pl_json_end(value);
             e = pl_json_next(e))
            TRY(push_schema(c, doc, resource, e));
    if (shape == PL_VALUE_SCHEMA_MAP || shape == PL_VALUE_DEPENDENCIES)
        for (const struct pl_json_node *k = pl_json_first(value); k != pl_json_end(value);
             k = pl_json_next_member(k))
            if (shape == PL_VALUE_SCHEMA_MAP || pl_json_kind(k + 1) != PL_JSON_ARRAY)
                TRY(push_schema(c, doc, resource, k + 1));
    return PL_OK;
}

/* Starts a new resource at a subschema with an $id. */
static enum pl_status enter_resource(struct pl_compiler *c, uint32_t doc,
                                     const struct pl_json_node *n, uint32_t *resource)
{
    const struct pl_json_doc *json = &c->schema->docs.ptr[doc].json;
    const struct pl_json_node *id = pl_json_get(json, n, PL_STR("$id"));
    if (!id || n == c->schema->resources.ptr[*resource].root)
        return PL_OK;
    if (pl_json_kind(id) != PL_JSON_STRING)
        return pl_compile_fail(c, doc, id, PL_INVALID, "\"$id\" must be a string");
    struct pl_str text, uri, fragment;
    TRY(pl_compile_text(c, doc, id, &text));
    const struct pl_resource *outer = &c->schema->resources.ptr[*resource];
    if (pl_uri_resolve(&c->schema->arena, outer->uri, text, &uri, &fragment) != PL_OK)
        return pl_compile_nomem(c);
    TRY(add_resource(c, doc, n, uri, outer->vocabs, resource));
    struct pl_sdoc *sdoc = &c->schema->docs.ptr[doc];
    sdoc->resource_of[n - sdoc->json.root] = *resource + 1;
    return PL_OK;
}

static enum pl_status index_schema(struct pl_compiler *c, uint32_t doc,
                                   const struct pl_json_node *n)
{
    const struct pl_json_doc *json = &c->schema->docs.ptr[doc].json;
    uint32_t resource = c->schema->docs.ptr[doc].resource_of[n - json->root] - 1;
    enum pl_json_kind kind = pl_json_kind(n);
    if (kind == PL_JSON_TRUE || kind == PL_JSON_FALSE)
        return PL_OK;
    if (kind != PL_JSON_OBJECT)
        return pl_compile_fail(c, doc, n, PL_INVALID,
                               "a schema must be an object, true or false, not %s",
                               pl_json_kind_name(kind));
    TRY(enter_resource(c, doc, n, &resource));
    uint32_t vocabs = c->schema->resources.ptr[resource].vocabs;
    for (const struct pl_json_node *k = pl_json_first(n); k != pl_json_end(n);
         k = pl_json_next_member(k)) {
        struct pl_str name;
        TRY(pl_compile_text(c, doc, k, &name));
        const struct pl_keyword *keyword = pl_keyword_find(name, vocabs);
        if (!keyword)
            continue;
        TRY(pl_keyword_check(c, doc, keyword, k));
        if (keyword->shape == PL_VALUE_ANCHOR)
            TRY(add_anchor(c, doc, resource, n, k + 1, name.len > strlen("$anchor")));
        TRY(push_children(c, doc, resource, (enum pl_value_shape)keyword->shape, k + 1));
    }
    return PL_OK;
}

/* Indexes the schema at n and all schemas below it. */
static enum pl_status index_from(struct pl_compiler *c, uint32_t doc, uint32_t resource,
                                 const struct pl_json_node *n)
{
    size_t floor = c->pending.len;
    TRY(push_schema(c, doc, resource, n));
    while (c->pending.len > floor) {
        struct pl_value next = c->pending.ptr[--c->pending.len];
        TRY(index_schema(c, next.doc, next.node));
    }
    return PL_OK;
}

enum pl_status pl_resolve_index(struct pl_compiler *c, uint32_t doc)
{
    struct pl_schema *s = c->schema;
    if (s->docs.ptr[doc].is_indexed)
        return PL_OK;
    s->docs.ptr[doc].is_indexed = true;
    const struct pl_json_doc *json = &s->docs.ptr[doc].json;
    struct pl_str uri = s->docs.ptr[doc].uri, text, fragment;
    const struct pl_json_node *id = pl_json_get(json, json->root, PL_STR("$id"));
    if (id && pl_json_kind(id) == PL_JSON_STRING) {
        TRY(pl_compile_text(c, doc, id, &text));
        if (pl_uri_resolve(&s->arena, uri, text, &uri, &fragment) != PL_OK)
            return pl_compile_nomem(c);
    }
    uint32_t resource;
    TRY(add_resource(c, doc, json->root, uri, PL_VOCAB_DEFAULT, &resource));
    s->docs.ptr[doc].root_resource = resource;
    if (!map_set(&c->uris, s->docs.ptr[doc].uri, resource + 1))
        return pl_compile_nomem(c);
    return index_from(c, doc, resource, s->docs.ptr[doc].json.root);
}

/* The resource that a URI without fragment names; loads documents as needed. None if not found. */
static enum pl_status find_resource(struct pl_compiler *c, struct pl_str uri,
                                    uint32_t *ret_resource)
{
    struct pl_map_entry *entry = pl_map_get(&c->uris, uri);
    if (!entry) {
        uint32_t doc;
        TRY(find_doc(c, uri, &doc));
        if (doc != PL_SCHEMA_NONE)
            TRY(pl_resolve_index(c, doc));
        /* A source may have that URI as its own $id, or contain it. */
        for (size_t i = 0; doc == PL_SCHEMA_NONE && i < c->opts->n_sources; i++) {
            uint32_t source;
            TRY(find_doc(c, without_empty_fragment(c->opts->sources[i].uri), &source));
            TRY(pl_resolve_index(c, source));
        }
        entry = pl_map_get(&c->uris, uri);
    }
    *ret_resource = entry ? (uint32_t)entry->value - 1 : PL_SCHEMA_NONE;
    return PL_OK;
}

/* The child of n that a pointer token names, or NULL. */
static enum pl_status find_child(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                                 struct pl_str token, const struct pl_json_node **ret_child)
{
    uint32_t index;
    *ret_child = NULL;
    if (pl_json_kind(n) == PL_JSON_ARRAY && pl_json_pointer_index(token, &index) &&
        index < pl_json_count(n)) {
        const struct pl_json_node *e = pl_json_first(n);
        while (index--)
            e = pl_json_next(e);
        *ret_child = e;
    }
    if (pl_json_kind(n) != PL_JSON_OBJECT)
        return PL_OK;
    for (const struct pl_json_node *k = pl_json_first(n); k != pl_json_end(n);
         k = pl_json_next_member(k)) {
        struct pl_str name;
        TRY(pl_compile_text(c, doc, k, &name));
        if (pl_json_pointer_token_is(token, name))
            *ret_child = k + 1;
    }
    return PL_OK;
}

/* Follows a JSON Pointer from the root of a resource. The value found is compiled as a schema even
 * in a place that is not one (below an unknown keyword). */
static enum pl_status follow_pointer(struct pl_compiler *c, uint32_t resource,
                                     struct pl_str pointer, struct pl_value *ret_target)
{
    uint32_t doc = c->schema->resources.ptr[resource].doc;
    const struct pl_json_node *n = c->schema->resources.ptr[resource].root;
    const struct pl_json_node *root = c->schema->docs.ptr[doc].json.root;
    uint32_t *resource_of = c->schema->docs.ptr[doc].resource_of;
    struct pl_str token;
    if (!pl_json_pointer_is_valid(pointer))
        return PL_NOT_FOUND;
    while (pl_json_pointer_next(&pointer, &token)) {
        TRY(find_child(c, doc, n, token, &n));
        if (!n)
            return PL_NOT_FOUND;
        if (resource_of[n - root])
            resource = resource_of[n - root] - 1;
    }
    if (!resource_of[n - root])
        TRY(index_from(c, doc, resource, n));
    *ret_target = (struct pl_value){doc, n};
    return PL_OK;
}

static enum pl_status find_anchor(struct pl_compiler *c, uint32_t resource, struct pl_str name,
                                  const struct pl_anchor **ret_anchor)
{
    PL_CLEANUP_BUF struct pl_buf key;
    pl_buf_init(&key, 0);
    pl_buf_addf(&key, "%u#%.*s", resource, PL_STR_ARG(name));
    if (key.status != PL_OK)
        return pl_compile_nomem(c);
    struct pl_map_entry *entry = pl_map_get(&c->anchor_ids, pl_buf_str(&key));
    if (!entry)
        return PL_NOT_FOUND;
    *ret_anchor = &c->anchors.ptr[entry->value - 1];
    return PL_OK;
}

enum pl_status pl_resolve_ref(struct pl_compiler *c, const struct pl_site *at,
                              struct pl_value *ret_target, const struct pl_anchor **ret_anchor)
{
    struct pl_schema *s = c->schema;
    struct pl_str ref, uri, fragment;
    const struct pl_anchor *anchor = NULL;
    struct pl_value target = {0};
    uint32_t resource = 0;
    TRY(pl_compile_text(c, at->doc, at->key + 1, &ref));
    if (pl_uri_resolve(&s->arena, s->resources.ptr[at->resource].uri, ref, &uri, &fragment) !=
            PL_OK ||
        pl_uri_decode(&s->arena, fragment, &fragment) != PL_OK)
        return pl_compile_nomem(c);
    TRY(find_resource(c, uri, &resource));
    if (resource == PL_SCHEMA_NONE)
        return pl_compile_fail(c, at->doc, at->key + 1, PL_NOT_FOUND,
                               "the schema %.*s is unknown; schemas are never downloaded, provide "
                               "it as a source",
                               PL_STR_ARG(uri));
    enum pl_status status;
    if (!fragment.len || fragment.ptr[0] == '/') {
        status = follow_pointer(c, resource, fragment, &target);
    } else {
        status = find_anchor(c, resource, fragment, &anchor);
        if (status == PL_OK)
            target = (struct pl_value){anchor->doc, anchor->node};
    }
    if (status == PL_NOT_FOUND)
        return pl_compile_fail(c, at->doc, at->key + 1, PL_NOT_FOUND,
                               "\"%.*s\" does not exist in the schema %s%.*s", PL_STR_ARG(ref),
                               uri.len ? "" : "that contains it", PL_STR_ARG(uri));
    TRY(status);
    *ret_target = target;
    *ret_anchor = anchor && anchor->is_dynamic ? anchor : NULL;
    return PL_OK;
}
