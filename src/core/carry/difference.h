/* Finds the differences between two JSON documents. Another spelling of the same value (same.h)
 * is not a difference. */
#ifndef PL_CARRY_DIFFERENCE_H
#define PL_CARRY_DIFFERENCE_H

#include "base/arena.h"
#include "base/status.h"
#include "carry/match.h"
#include "json/json.h"

enum pl_difference_kind {
    PL_DIFFERENCE_INSIDE,  /* two containers of one kind that differ: a visitor may enter them */
    PL_DIFFERENCE_CHANGED, /* one value replaces another */
    PL_DIFFERENCE_ADDED,   /* only the second document has it */
    PL_DIFFERENCE_REMOVED, /* only the first document has it */
    PL_DIFFERENCE_MOVED,   /* an element has moved in its list */
};

struct pl_difference {
    enum pl_difference_kind kind;
    uint32_t n_inside; /* INSIDE: how many of the differences after it are in these two */
    const struct pl_json_node *a, *b;  /* NULL if absent */
    const struct pl_json_node *around; /* in the second document: the container it is in, or
                                          would be in; NULL for the root */
};

/* A document, with the labels of its lists. */
struct pl_difference_side {
    const struct pl_json_doc *doc;
    struct pl_labels labels;
};

/* All differences between two documents, in the order of the second one: a container before what is
 * in it, what was removed from a container last. */
struct pl_differences {
    struct pl_difference *items; /* arena */
    uint32_t n, cap;
};

/* PL_NOMEM is the only failure. */
enum pl_status pl_difference_find(struct pl_differences *ret_found, struct pl_arena *arena,
                                  const struct pl_difference_side *a, const struct pl_json_doc *b);

/* For INSIDE: whether to visit what is in them. The result for other kinds is ignored. */
typedef bool pl_difference_fn(void *ctx, const struct pl_difference *delta);
void pl_difference_visit(const struct pl_differences *found, pl_difference_fn *visit, void *ctx);

/* Their size: values that were changed, added, removed or moved. */
size_t pl_difference_size(const struct pl_differences *found);

#endif
