/* Finds values again in another document. Equal texts are matched in order: the second one of the
 * source is the second one of the target. Linear in both documents. */
#include "document/places.h"

#include "base/table.h"
#include "json/text.h"
#include "json/tour.h"
#include "json/write.h"

enum { MAX_PAIRS = 20000, SHORT = 2 };

/* A value of the target that is not matched yet. */
struct spot {
    struct pl_str pointer; /* arena */
    struct spot *next;     /* with the same text */
};

struct queue {
    struct pl_table_link link;
    struct spot *first, *last;
};

struct placing {
    struct pl_arena *arena;
    struct pl_table waiting; /* by text */
    struct pl_table told;    /* pointers of the source that are matched */
    struct pl_json_out *out;
    size_t n_pairs;
};

/* The text of a value. Short ones are too common to match, and give an empty text. */
static enum pl_status said(struct pl_arena *arena, const struct pl_json_doc *doc,
                           const struct pl_json_node *node, struct pl_str *ret_text)
{
    *ret_text = (struct pl_str){0};
    if (pl_json_kind(node) != PL_JSON_STRING || node->len <= SHORT + 2)
        return PL_OK;
    return pl_json_text(arena, doc, node, ret_text);
}

static enum pl_status gather(struct placing *p, const struct pl_json_doc *doc)
{
    struct pl_json_tour tour;
    enum pl_status status = PL_OK;
    pl_json_tour_init(&tour, doc);
    for (const struct pl_json_node *node; status == PL_OK && (node = pl_json_tour_next(&tour));) {
        struct pl_str text;
        status = said(p->arena, doc, node, &text);
        if (status != PL_OK || !text.len)
            continue;
        struct pl_table_link *link = pl_table_get(&p->waiting, text);
        struct queue *queue = link ? PL_CONTAINER_OF(link, struct queue, link)
                                   : pl_arena_zalloc(p->arena, 1, sizeof *queue);
        struct spot *spot = pl_arena_zalloc(p->arena, 1, sizeof *spot);
        struct pl_str pointer = pl_arena_dup(p->arena, pl_buf_str(&tour.path));
        if (!queue || !spot || !pointer.ptr) {
            status = PL_NOMEM;
            break;
        }
        spot->pointer = pointer;
        if (!link) {
            queue->link.key = text;
            status = pl_table_put(&p->waiting, &queue->link) ? PL_OK : PL_NOMEM;
        }
        if (queue->last)
            queue->last->next = spot;
        else
            queue->first = spot;
        queue->last = spot;
    }
    if (status == PL_OK)
        status = tour.path.status;
    pl_json_tour_deinit(&tour);
    return status;
}

static struct pl_str parent_of(struct pl_str pointer)
{
    while (pointer.len && pointer.ptr[pointer.len - 1] != '/')
        pointer.len--;
    return pl_str_slice(pointer, 0, pointer.len ? pointer.len - 1 : 0);
}

/* Writes one pair, unless `from` is matched already. */
static enum pl_status tell(struct placing *p, struct pl_str from, struct pl_str to)
{
    struct pl_table_link *link = pl_arena_zalloc(p->arena, 1, sizeof *link);
    if (p->n_pairs == MAX_PAIRS || pl_table_get(&p->told, from))
        return PL_OK;
    if (!link)
        return PL_NOMEM;
    link->key = from;
    if (!pl_table_put(&p->told, link))
        return PL_NOMEM;
    p->n_pairs++;
    pl_json_out_open(p->out, '{');
    pl_json_out_key(p->out, "from");
    pl_json_out_text(p->out, from);
    pl_json_out_key(p->out, "to");
    pl_json_out_text(p->out, to);
    pl_json_out_close(p->out, '}');
    return PL_OK;
}

static enum pl_status find(struct placing *p, const struct pl_json_doc *doc)
{
    struct pl_json_tour tour;
    enum pl_status status = PL_OK;
    pl_json_tour_init(&tour, doc);
    for (const struct pl_json_node *node; status == PL_OK && (node = pl_json_tour_next(&tour));) {
        struct pl_str text;
        status = said(p->arena, doc, node, &text);
        struct pl_table_link *link = text.len ? pl_table_get(&p->waiting, text) : NULL;
        struct queue *queue = link ? PL_CONTAINER_OF(link, struct queue, link) : NULL;
        if (!queue || !queue->first)
            continue;
        struct pl_str from = pl_arena_dup(p->arena, pl_buf_str(&tour.path));
        struct pl_str to = queue->first->pointer;
        queue->first = queue->first->next;
        if (!from.ptr)
            status = PL_NOMEM;
        for (; status == PL_OK && from.len && to.len; from = parent_of(from), to = parent_of(to))
            status = tell(p, from, to);
    }
    if (status == PL_OK)
        status = tour.path.status;
    pl_json_tour_deinit(&tour);
    return status;
}

enum pl_status pl_places_write(struct pl_arena *arena, struct pl_str source, struct pl_str target,
                               struct pl_buf *to)
{
    struct pl_json_doc from, made;
    struct pl_json_out out = pl_json_out(to);
    struct placing p = {.arena = arena, .out = &out};
    pl_json_out_open(&out, '[');
    enum pl_status status = pl_json_parse(arena, source, &pl_json_any, &from, NULL);
    if (status == PL_OK)
        status = pl_json_parse(arena, target, &pl_json_made, &made, NULL);
    bool is_json = status == PL_OK;
    if (status != PL_NOMEM)
        status = PL_OK;
    if (is_json)
        status = gather(&p, &made);
    if (is_json && status == PL_OK)
        status = find(&p, &from);
    pl_json_out_close(&out, ']');
    pl_table_deinit(&p.waiting);
    pl_table_deinit(&p.told);
    return status == PL_OK ? to->status : status;
}
