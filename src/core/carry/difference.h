/* Visits the differences between two JSON documents. Another spelling of the same value (same.h)
 * is not a difference. */
#ifndef PL_CARRY_DIFFERENCE_H
#define PL_CARRY_DIFFERENCE_H

#include "base/arena.h"
#include "base/status.h"
#include "carry/match.h"
#include "json/json.h"

enum pl_difference_kind {
    PL_DIFFERENCE_INSIDE,  /* two containers of one kind that differ: the visitor may enter them */
    PL_DIFFERENCE_CHANGED, /* one value replaces another */
    PL_DIFFERENCE_ADDED,   /* only the second document has it */
    PL_DIFFERENCE_REMOVED, /* only the first document has it */
    PL_DIFFERENCE_MOVED,   /* an element has moved in its list */
};

struct pl_difference {
    enum pl_difference_kind kind;
    const struct pl_json_node *a, *b;  /* NULL if absent */
    const struct pl_json_node *around; /* in the second document: the container it is in, or
                                          would be in; NULL for the root */
};

/* For INSIDE: whether to visit the children. The result for other kinds is ignored. */
typedef bool pl_difference_fn(void *ctx, const struct pl_difference *delta);

/* A document, with the labels of its lists. */
struct pl_difference_side {
    const struct pl_json_doc *doc;
    struct pl_labels labels;
};

/* Visits the differences between two documents. PL_NOMEM is the only failure. */
enum pl_status pl_difference_walk(struct pl_arena *arena, const struct pl_difference_side *a,
                                  const struct pl_json_doc *b, pl_difference_fn *visit, void *ctx);

/* The size of the difference: values that were changed, added, removed or moved. */
enum pl_status pl_difference_size(struct pl_arena *arena, const struct pl_difference_side *a,
                                  const struct pl_json_doc *b, size_t *ret_size);

#endif
