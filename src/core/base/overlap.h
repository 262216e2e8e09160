/* What two texts have in common at their ends: a block at a time, so it costs as much as comparing
 * them. */
#ifndef PL_BASE_OVERLAP_H
#define PL_BASE_OVERLAP_H

#include "base/str.h"

/* The length of the longest common beginning. */
size_t pl_overlap_head(struct pl_str a, struct pl_str b);
/* The length of the longest common end. */
size_t pl_overlap_tail(struct pl_str a, struct pl_str b);

#endif
