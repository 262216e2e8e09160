/* Partners are found from below: a value that was copied connects two places, and so it connects
 * the containers around them, as long as both are at members of one name or in lists. */
#include "format/graft.h"

#include "base/sort.h"

/* The parent of each node of a document, by index; the root is its own. */
static uint32_t *list_parents(struct pl_arena *arena, const struct pl_json_doc *doc)
{
    uint32_t *parents = pl_arena_zalloc(arena, doc->n_nodes + 1, sizeof *parents);
    for (uint32_t i = 0; parents && i < doc->n_nodes; i++) {
        const struct pl_json_node *n = doc->root + i, *end = pl_json_end(n);
        if (pl_json_kind(n) == PL_JSON_OBJECT)
            for (const struct pl_json_node *k = pl_json_first_member(n); k < end;
                 k = pl_json_next_member(k))
                parents[k + 1 - doc->root] = i;
        else if (pl_json_kind(n) == PL_JSON_ARRAY)
            for (const struct pl_json_node *e = pl_json_first(n); e < end; e = pl_json_next(e))
                parents[e - doc->root] = i;
    }
    return parents;
}

/* A place in a document, and the document. */
struct place {
    const struct pl_json_doc *doc;
    const uint32_t *parents;
    uint32_t at;
};

static bool climb(struct place *p)
{
    bool can = p->at != 0;
    p->at = p->parents[p->at];
    return can;
}

/* Whether two values have the same name in their objects, or are both in lists. */
static bool have_one_step(const struct place *a, const struct place *b)
{
    const struct pl_json_node *in_a = a->doc->root + a->parents[a->at];
    const struct pl_json_node *in_b = b->doc->root + b->parents[b->at];
    if (pl_json_kind(in_a) != pl_json_kind(in_b))
        return false;
    if (pl_json_kind(in_a) == PL_JSON_ARRAY)
        return true;
    return pl_str_eq(pl_json_span(a->doc, a->doc->root + a->at - 1),
                     pl_json_span(b->doc, b->doc->root + b->at - 1));
}

static void connect(struct pl_graft *graft, struct place made, struct place source)
{
    while (made.at && source.at && have_one_step(&made, &source) && climb(&made) &&
           climb(&source) && !graft->partners[made.at])
        graft->partners[made.at] = source.at + 1;
}

enum pl_status pl_graft_init(struct pl_graft *graft, const struct pl_writer *w,
                             const struct pl_json_doc *made)
{
    struct pl_conv *conv = w->conv;
    struct place source = {.doc = conv->doc, .parents = list_parents(conv->arena, conv->doc)};
    struct place here = {.doc = made, .parents = list_parents(conv->arena, made)};
    *graft = (struct pl_graft){.conv = conv, .made = made};
    graft->partners = pl_arena_zalloc(conv->arena, made->n_nodes + 1, sizeof *graft->partners);
    if (!source.parents || !here.parents || !graft->partners)
        return PL_NOMEM;
    /* Links and nodes are both in the order of the text. */
    for (size_t i = 0; i < w->links.len; i++) {
        const struct pl_link *link = &w->links.ptr[i];
        while (here.at + 1 < made->n_nodes && made->root[here.at + 1].off <= link->at)
            here.at++;
        if (!link->node || (made->root[here.at].tag & PL_JSON_KEY))
            continue;
        source.at = (uint32_t)(link->node - conv->doc->root);
        connect(graft, here, source);
    }
    return PL_OK;
}

/* Whether a member of the source has content, and nobody has looked at any of it. */
static bool is_overlooked(const struct pl_conv *conv, const struct pl_json_node *value)
{
    bool says_something = false;
    for (const struct pl_json_node *n = value, *end = pl_json_next(value); n < end; n++) {
        if (n->tag & PL_JSON_KEY)
            continue;
        if (pl_conv_fate_of(conv, n) != PL_FATE_NONE)
            return false;
        says_something |= !pl_json_is_container(n) && pl_json_kind(n) != PL_JSON_NULL;
    }
    return says_something;
}

static bool has_key(const struct pl_graft *graft, const struct pl_json_node *object,
                    struct pl_str key)
{
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k))
        if (pl_str_eq(pl_json_span(graft->made, k), key))
            return true;
    return false;
}

/* Appends the overlooked members of the source's object to the text of its partner, which is open.
 */
static void put_members(struct pl_graft *graft, const struct pl_json_node *object,
                        struct pl_buf *to)
{
    struct pl_conv *conv = graft->conv;
    uint32_t partner = graft->partners[object - graft->made->root];
    const struct pl_json_node *source = partner ? conv->doc->root + partner - 1 : NULL;
    bool is_empty = pl_json_count(object) == 0;
    if (!source || pl_json_kind(source) != PL_JSON_OBJECT)
        return;
    for (const struct pl_json_node *k = pl_json_first_member(source); k < pl_json_end(source);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_span(conv->doc, k);
        if (!is_overlooked(conv, k + 1) || has_key(graft, object, key))
            continue;
        if (!is_empty)
            pl_buf_addc(to, ',');
        is_empty = false;
        pl_buf_add(to, key);
        pl_buf_addc(to, ':');
        pl_buf_add(to, pl_json_span(conv->doc, k + 1));
        pl_conv_fate(conv, k + 1, PL_FATE_SAID);
    }
}

static int by_end(const void *ctx, const void *a, const void *b)
{
    const struct pl_json_node *x = a, *y = b;
    size_t ends[2] = {(size_t)x->off + x->len, (size_t)y->off + y->len};
    (void)ctx;
    return (ends[0] > ends[1]) - (ends[0] < ends[1]);
}

enum pl_status pl_graft_put(struct pl_graft *graft, const struct pl_json_node *value,
                            struct pl_buf *to)
{
    const struct pl_json_doc *made = graft->made;
    const void **objects = pl_arena_alloc(graft->conv->arena, value->skip, sizeof *objects);
    const void **scratch = pl_arena_alloc(graft->conv->arena, value->skip, sizeof *objects);
    size_t n = 0, from = value->off;
    if (!objects || !scratch)
        return PL_NOMEM;
    for (const struct pl_json_node *i = value; i < pl_json_next(value); i++)
        if (pl_json_kind(i) == PL_JSON_OBJECT && !(i->tag & PL_JSON_KEY))
            objects[n++] = i;
    pl_sort(objects, scratch, n, by_end, NULL);
    for (size_t i = 0; i < n; i++) {
        const struct pl_json_node *object = objects[i];
        size_t end = (size_t)object->off + object->len - 1;
        pl_buf_add(to, pl_str_slice(made->text, from, end));
        put_members(graft, object, to);
        from = end;
    }
    pl_buf_add(to, pl_str_slice(made->text, from, (size_t)value->off + value->len));
    return to->status;
}
