/* Compiles a schema. The work list is the array of subschemas itself: a request for a new one
 * appends it, and the loop below compiles each in turn until no new one appears. So nothing here
 * recurses, and a $ref cycle is two entries that name each other. */
#include "schema/compile_int.h"

#include "json/pointer.h"
#include "json/text.h"

#include <stdio.h>

static const struct pl_schema_opts default_opts;

enum pl_status pl_compile_nomem(struct pl_compiler *c)
{
    return pl_fail(c->err, PL_NOMEM, "out of memory while compiling the schema");
}

enum pl_status pl_compile_fail(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                               enum pl_status status, const char *format, ...)
{
    if (!c->err)
        return status;
    const struct pl_sdoc *sdoc = &c->schema->docs.ptr[doc];
    char message[sizeof c->err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    enum pl_status result = doc == 0 ? pl_fail(c->err, status, "%s", message)
                                     : pl_fail(c->err, status, "%s (in the schema %.*s)", message,
                                               PL_STR_ARG(sdoc->uri));
    pl_error_locate(c->err, sdoc->json.text, n->off);
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, sizeof c->err->pointer - 1);
    pl_json_pointer_of(&pointer, &sdoc->json, n);
    if (pointer.len)
        memcpy(c->err->pointer, pointer.ptr, pointer.len);
    c->err->pointer[pointer.len] = '\0';
    return result;
}

enum pl_status pl_compile_text(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                               struct pl_str *ret_text)
{
    struct pl_schema *s = c->schema;
    if (pl_json_text(&s->arena, &s->docs.ptr[doc].json, n, ret_text) != PL_OK)
        return pl_compile_nomem(c);
    return PL_OK;
}

enum pl_status pl_compile_sub(struct pl_compiler *c, uint32_t doc, const struct pl_json_node *n,
                              uint32_t *ret_sub)
{
    struct pl_schema *s = c->schema;
    struct pl_sdoc *sdoc = &s->docs.ptr[doc];
    uint32_t *slot = &sdoc->sub_of[n - sdoc->json.root];
    if (!*slot) {
        struct pl_sub sub = {.types = PL_SCHEMA_ALL_TYPES,
                             .resource = sdoc->resource_of[n - sdoc->json.root] - 1};
        struct pl_sub_info info = {.doc = doc, .object = PL_SCHEMA_NONE, .node = n};
        if (!pl_vec_push(&s->subs, sub) || !pl_vec_push(&s->infos, info))
            return pl_compile_nomem(c);
        *slot = (uint32_t)s->subs.len;
    }
    *ret_sub = *slot - 1;
    return PL_OK;
}

/* Plain ops of one subschema; `is_last` for the keywords that depend on the results of the
 * others. */
static enum pl_status emit_keywords(struct pl_compiler *c, uint32_t sub, bool is_last)
{
    struct pl_schema *s = c->schema;
    struct pl_site at = {.doc = s->infos.ptr[sub].doc,
                         .resource = s->subs.ptr[sub].resource,
                         .sub = sub,
                         .object = s->infos.ptr[sub].node};
    uint32_t vocabs = s->resources.ptr[at.resource].vocabs;
    for (at.key = pl_json_first(at.object); at.key != pl_json_end(at.object);
         at.key = pl_json_next_member(at.key)) {
        struct pl_str name;
        TRY(pl_compile_text(c, at.doc, at.key, &name));
        const struct pl_keyword *keyword = pl_keyword_find(name, vocabs);
        if (!keyword)
            keyword = &pl_keyword_unknown;
        if (keyword->emit && is_last == (keyword->vocab == PL_VOCAB_UNEVALUATED))
            TRY(keyword->emit(c, &at, keyword));
    }
    return PL_OK;
}

static enum pl_status compile_one(struct pl_compiler *c, uint32_t sub)
{
    struct pl_schema *s = c->schema;
    enum pl_json_kind kind = pl_json_kind(s->infos.ptr[sub].node);
    uint32_t first = (uint32_t)s->ops.len;
    if (kind == PL_JSON_FALSE)
        s->subs.ptr[sub].types = 0;
    if (kind == PL_JSON_OBJECT) {
        TRY(emit_keywords(c, sub, false));
        TRY(emit_keywords(c, sub, true));
    }
    s->infos.ptr[sub].ops = first;
    s->infos.ptr[sub].n_ops = (uint32_t)s->ops.len - first;
    return PL_OK;
}

/* Compiles every schema in the main document, used or not, so that a broken reference or pattern is
 * found now and not by the first instance that reaches it. */
static enum pl_status request_all(struct pl_compiler *c)
{
    uint32_t sub;
    for (uint32_t i = 0; i < c->schema->docs.ptr[0].json.n_nodes; i++) {
        const struct pl_sdoc *doc = &c->schema->docs.ptr[0];
        if (doc->resource_of[i])
            TRY(pl_compile_sub(c, 0, doc->json.root + i, &sub));
    }
    return PL_OK;
}

/* Requests every possible target of a $dynamicRef; *ret_is_done if none was new. */
static enum pl_status request_dynamic(struct pl_compiler *c, bool *ret_is_done)
{
    size_t before = c->schema->subs.len;
    for (size_t i = 0; i < c->dynamics.len; i++)
        for (size_t j = 0; j < c->anchors.len; j++) {
            uint32_t sub;
            const struct pl_anchor *anchor = &c->anchors.ptr[j];
            if (anchor->is_dynamic && pl_str_eq(anchor->name, c->dynamics.ptr[i].name))
                TRY(pl_compile_sub(c, anchor->doc, anchor->node, &sub));
        }
    *ret_is_done = c->schema->subs.len == before;
    return PL_OK;
}

/* Gives each $dynamicRef its list: for every resource, the subschema that its anchor names there.
 * With only one candidate the reference is static. */
static enum pl_status link_dynamic(struct pl_compiler *c)
{
    struct pl_schema *s = c->schema;
    for (size_t i = 0; i < c->dynamics.len; i++) {
        size_t twin = 0;
        while (!pl_str_eq(c->dynamics.ptr[twin].name, c->dynamics.ptr[i].name))
            twin++;
        if (twin < i) {
            s->ops.ptr[c->dynamics.ptr[i].op].b = s->ops.ptr[c->dynamics.ptr[twin].op].b;
            continue;
        }
        uint32_t first = (uint32_t)s->lists.len, n_candidates = 0;
        for (size_t r = 0; r < s->resources.len; r++)
            if (!pl_vec_push(&s->lists, PL_SCHEMA_NONE))
                return pl_compile_nomem(c);
        for (size_t j = 0; j < c->anchors.len; j++) {
            const struct pl_anchor *anchor = &c->anchors.ptr[j];
            if (!anchor->is_dynamic || !pl_str_eq(anchor->name, c->dynamics.ptr[i].name))
                continue;
            n_candidates++;
            TRY(pl_compile_sub(c, anchor->doc, anchor->node,
                               &s->lists.ptr[first + anchor->resource]));
        }
        if (n_candidates < 2)
            continue;
        s->ops.ptr[c->dynamics.ptr[i].op].b = first;
        s->needs_scope = true;
    }
    return PL_OK;
}

static enum pl_status compile_program(struct pl_compiler *c, struct pl_str text)
{
    struct pl_schema *s = c->schema;
    uint32_t doc;
    TRY(pl_resolve_add(c, c->opts->base_uri, text, &doc));
    TRY(pl_resolve_index(c, doc));
    TRY(pl_compile_sub(c, doc, s->docs.ptr[doc].json.root, &s->root));
    TRY(request_all(c));
    bool is_done = false;
    for (uint32_t next = 0; !is_done;) {
        while (next < s->subs.len)
            TRY(compile_one(c, next++));
        TRY(request_dynamic(c, &is_done));
    }
    TRY(link_dynamic(c));
    return pl_optimise(c);
}

static void compiler_deinit(struct pl_compiler *c)
{
    for (size_t i = 0; i < c->schema->docs.len; i++) {
        pl_mem_free(c->schema->docs.ptr[i].resource_of);
        c->schema->docs.ptr[i].resource_of = c->schema->docs.ptr[i].sub_of = NULL;
    }
    pl_map_deinit(&c->uris);
    pl_map_deinit(&c->doc_uris);
    pl_map_deinit(&c->anchor_ids);
    pl_map_deinit(&c->regex_ids);
    pl_vec_deinit(&c->anchors);
    pl_vec_deinit(&c->dynamics);
    pl_vec_deinit(&c->pending);
}

enum pl_status pl_schema_compile(struct pl_str text, const struct pl_schema_opts *opts,
                                 struct pl_schema **ret_schema, struct pl_error *err)
{
    struct pl_schema *s = pl_mem_alloc(1, sizeof *s);
    if (!s)
        return pl_fail(err, PL_NOMEM, "out of memory while compiling the schema");
    memset(s, 0, sizeof *s);
    pl_arena_init(&s->arena, 0);
    opts = opts ? opts : &default_opts;
    s->max_steps = opts->max_steps ? opts->max_steps : 1000000;
    struct pl_compiler c = {
        .schema = s,
        .opts = opts,
        .err = err,
        .max_bytes = opts->max_bytes ? opts->max_bytes : 256 * 1024,
        .max_subschemas = opts->max_subschemas ? opts->max_subschemas : 5000,
    };
    enum pl_status status = compile_program(&c, text);
    compiler_deinit(&c);
    if (status == PL_OK)
        *ret_schema = s;
    else
        pl_schema_destroy(s);
    return status;
}

void pl_schema_destroy(struct pl_schema *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->regexes.len; i++)
        pl_regex_destroy(s->regexes.ptr[i]);
    pl_vec_deinit(&s->docs);
    pl_vec_deinit(&s->resources);
    pl_vec_deinit(&s->subs);
    pl_vec_deinit(&s->infos);
    pl_vec_deinit(&s->ops);
    pl_vec_deinit(&s->fast);
    pl_vec_deinit(&s->lists);
    pl_vec_deinit(&s->names);
    pl_vec_deinit(&s->props);
    pl_vec_deinit(&s->patterns);
    pl_vec_deinit(&s->deps);
    pl_vec_deinit(&s->limits);
    pl_vec_deinit(&s->ranges);
    pl_vec_deinit(&s->arrays);
    pl_vec_deinit(&s->values);
    pl_vec_deinit(&s->objects);
    pl_vec_deinit(&s->slots);
    pl_vec_deinit(&s->sets);
    pl_vec_deinit(&s->set_slots);
    pl_vec_deinit(&s->switches);
    pl_vec_deinit(&s->looks);
    pl_vec_deinit(&s->regexes);
    pl_vec_deinit(&s->formats);
    pl_arena_deinit(&s->arena);
    pl_mem_free(s);
}
