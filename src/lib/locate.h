/* Lines and columns of many offsets in one text: each search continues from the previous one. */
#ifndef PL_LIB_LOCATE_H
#define PL_LIB_LOCATE_H

#include "base/str.h"

struct pl_position {
    size_t line, column; /* from 1; the column counts code points */
};

struct pl_locator {
    struct pl_str text;    /* borrowed; UTF-8 */
    size_t at;             /* everything before this offset is counted */
    struct pl_position is; /* of `at` */
};

struct pl_locator pl_locator(struct pl_str text);

/* Linear in the distance from the last offset; a smaller offset starts again at the beginning. */
struct pl_position pl_locator_find(struct pl_locator *locator, size_t offset);

#endif
