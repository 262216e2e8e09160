/* Reads the options of a packet from JSON: a body of the server, the arguments of the tool. */
#include "handoff/handoff.h"

#include "json/text.h"

struct reading {
    struct pl_arena *arena;
    const struct pl_json_doc *doc;
    enum pl_status status;
};

static struct pl_str text_of(struct reading *r, const struct pl_json_node *node)
{
    struct pl_str text = {0};
    if (r->status == PL_OK)
        r->status = pl_json_text(r->arena, r->doc, node, &text);
    return text;
}

/* A string, or the strings of an array. */
static struct pl_handoff_texts texts_of(struct reading *r, const struct pl_json_node *node)
{
    struct pl_handoff_texts texts = {0};
    bool is_one = pl_json_is(node, PL_JSON_STRING);
    if (!is_one && !pl_json_is(node, PL_JSON_ARRAY))
        return texts;
    struct pl_str *list =
        pl_arena_zalloc(r->arena, is_one ? 1 : pl_json_count(node) + (size_t)1, sizeof *list);
    if (!list) {
        r->status = PL_NOMEM;
        return texts;
    }
    texts.ptr = list;
    if (is_one)
        list[texts.len++] = text_of(r, node);
    for (const struct pl_json_node *n = is_one ? NULL : pl_json_first(node);
         n && n < pl_json_end(node); n = pl_json_next(n))
        if (pl_json_is(n, PL_JSON_STRING))
            list[texts.len++] = text_of(r, n);
    return texts;
}

static void read_artifacts(struct reading *r, const struct pl_json_node *node,
                           struct pl_handoff_opts *opts)
{
    if (!pl_json_is(node, PL_JSON_OBJECT))
        return;
    struct pl_handoff_artifact *list =
        pl_arena_zalloc(r->arena, pl_json_count(node) + (size_t)1, sizeof *list);
    if (!list) {
        r->status = PL_NOMEM;
        return;
    }
    for (const struct pl_json_node *key = pl_json_first_member(node); key < pl_json_end(node);
         key = pl_json_next_member(key))
        if (pl_json_is(key + 1, PL_JSON_STRING)) {
            struct pl_str name = text_of(r, key);
            list[opts->n_artifacts++] = (struct pl_handoff_artifact){name, text_of(r, key + 1)};
        }
    opts->artifacts = list;
}

static void read_previous(struct reading *r, const struct pl_json_node *node,
                          struct pl_handoff_opts *opts)
{
    if (!pl_json_is(node, PL_JSON_OBJECT))
        return;
    struct pl_json_doc *previous = pl_arena_zalloc(r->arena, 1, sizeof *previous);
    if (!previous) {
        r->status = PL_NOMEM;
        return;
    }
    *previous = *r->doc;
    previous->root = node;
    opts->previous = previous;
}

enum pl_status pl_handoff_opts_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                                    const struct pl_json_node *object,
                                    struct pl_handoff_opts *ret_opts)
{
    struct pl_handoff_opts opts = {0};
    struct reading r = {.arena = arena, .doc = doc};
    const struct {
        const char *name;
        struct pl_str *text;
        struct pl_handoff_texts *texts;
    } members[] = {
        {"source", &opts.source, NULL},
        {"target", &opts.target, NULL},
        {"objective", &opts.objective, NULL},
        {"status", &opts.status, NULL},
        {"next", &opts.next, NULL},
        {"summary", &opts.summary, NULL},
        {"trace_id", &opts.trace, NULL},
        {"steps", NULL, &opts.steps},
        {"constraints", NULL, &opts.constraints},
        {"definition_of_done", NULL, &opts.done},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct pl_json_node *node = pl_json_get(doc, object, pl_str_of(members[i].name));
        if (members[i].texts)
            *members[i].texts = texts_of(&r, node);
        else if (pl_json_is(node, PL_JSON_STRING))
            *members[i].text = text_of(&r, node);
    }
    read_artifacts(&r, pl_json_get(doc, object, PL_STR("artifacts")), &opts);
    read_previous(&r, pl_json_get(doc, object, PL_STR("previous")), &opts);
    if (r.status == PL_OK)
        *ret_opts = opts;
    return r.status;
}
