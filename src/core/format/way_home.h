/* The way home, as a conversion sees it: a carry is written beside the target, and with it the
 * target becomes the source again. The room carry, which is built on this one, does both.
 * Converting one way needs nothing of it. */
#ifndef PL_FORMAT_WAY_HOME_H
#define PL_FORMAT_WAY_HOME_H

#include "format/format.h"

struct pl_home {
    struct pl_arena *arena;           /* borrowed */
    struct pl_str carry;              /* of the conversion that is undone */
    struct pl_str text;               /* the target as it is, */
    const struct pl_json_doc *target; /* … parsed */
    struct pl_format_task task;       /* from the target's format to the source's */
    struct pl_conv *conv;             /* initialised over the target: takes the losses */
    size_t max_items;                 /* of a document; 0: PL_CONV_MAX_ITEMS */
};

struct pl_way_home {
    /* Appends the carry of a conversion: of `source`, which `w` has written as `target`. */
    enum pl_status (*write)(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                            struct pl_str target, const struct pl_format_task *task);
    /* Appends the source again. */
    enum pl_status (*go)(const struct pl_home *home, struct pl_buf *to, struct pl_error *err);
};

#endif
