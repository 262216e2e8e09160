#include "json/tour.h"

#include "json/pointer.h"
#include "json/text.h"

void pl_json_tour_init(struct pl_json_tour *tour, const struct pl_json_doc *doc)
{
    *tour = (struct pl_json_tour){.doc = doc, .next = doc->root};
    pl_buf_init(&tour->path, 0);
}

void pl_json_tour_deinit(struct pl_json_tour *tour)
{
    pl_buf_deinit(&tour->path);
    pl_vec_deinit(&tour->open);
}

/* Adds "/key" for the key node at tour->next. */
static void add_key(struct pl_json_tour *tour)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_str text;
    if (pl_json_text(&arena, tour->doc, tour->next, &text) == PL_OK)
        pl_json_pointer_add(&tour->path, text);
    else
        tour->path.status = PL_NOMEM;
    tour->next++;
}

const struct pl_json_node *pl_json_tour_next(struct pl_json_tour *tour)
{
    while (tour->open.len && tour->open.ptr[tour->open.len - 1].end == tour->next)
        tour->open.len--;
    if (tour->next == tour->doc->root + tour->doc->n_nodes || tour->path.status != PL_OK)
        return NULL;
    if (tour->open.len) {
        struct pl_json_stop *top = &tour->open.ptr[tour->open.len - 1];
        tour->path.len = top->path_len;
        if (top->is_object)
            add_key(tour);
        else
            pl_json_pointer_add_index(&tour->path, top->index++);
    }
    const struct pl_json_node *n = tour->next++;
    if (pl_json_is_container(n)) {
        struct pl_json_stop stop = {pl_json_end(n), 0, (uint32_t)tour->path.len,
                                    pl_json_kind(n) == PL_JSON_OBJECT};
        if (!pl_vec_push(&tour->open, stop))
            tour->path.status = PL_NOMEM;
    }
    return tour->path.status == PL_OK ? n : NULL;
}
