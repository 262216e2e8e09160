/* The way home, for conversions: a carry is written beside the target, and turns the target back
 * into the source. Both are implemented in carry/, which is built on this directory. Converting one
 * way does not need it. */
#ifndef PL_FORMAT_WAY_HOME_H
#define PL_FORMAT_WAY_HOME_H

#include "format/format.h"

/* Memory that a way home keeps for the next one. */
struct pl_home_memory;

struct pl_home {
    struct pl_arena *arena;           /* borrowed */
    struct pl_home_memory **memory;   /* borrowed; NULL in it: none yet */
    struct pl_str carry;              /* of the conversion to undo */
    struct pl_str text;               /* the current target, */
    const struct pl_json_doc *target; /* … parsed */
    struct pl_conversion conversion;  /* from the target's format to the source's */
    struct pl_conv *conv;             /* initialised with the target; gets the losses */
    size_t max_items;                 /* items of a document; 0: PL_CONV_MAX_ITEMS */
};

struct pl_way_home {
    /* Appends the carry of a conversion of `source`, which `w` has written as `target`. */
    enum pl_status (*write)(struct pl_buf *to, const struct pl_writer *w, struct pl_str source,
                            struct pl_str target, const struct pl_conversion *conversion);
    /* Appends the restored source. */
    enum pl_status (*go)(const struct pl_home *home, struct pl_buf *to, struct pl_error *err);
    /* Frees the memory; NULL is nothing. */
    void (*forget)(struct pl_home_memory *memory);
};

#endif
