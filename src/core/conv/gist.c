#include "conv/gist.h"

bool pl_gist_room(struct pl_conv *conv, struct pl_gist *gist, uint32_t n)
{
    gist->n_parts = 0;
    gist->parts = NULL;
    /* They count as items, like those of the reader. */
    conv->n_items += n;
    if (conv->n_items > conv->max_items) {
        conv->status = PL_LIMIT;
        return false;
    }
    gist->parts = pl_arena_alloc(conv->arena, (size_t)n + 1, sizeof *gist->parts);
    if (!gist->parts)
        conv->status = PL_NOMEM;
    return gist->parts != NULL;
}

struct pl_part *pl_gist_add(struct pl_gist *gist, enum pl_part_kind kind,
                            const struct pl_json_node *node)
{
    struct pl_part *part = &gist->parts[gist->n_parts++];
    *part = (struct pl_part){.kind = kind, .node = node};
    return part;
}
