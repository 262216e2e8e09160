/* How many cells of a terminal a text takes, and where one may cut it.
 *
 * A cluster is what a person takes for one character: a base with its combining marks, an emoji
 * with its modifier, emoji that are joined (U+200D), a flag of two letters. It is as wide as its
 * first character, at most two cells. U+FE0F does not widen: terminals disagree about that, and the
 * narrower answer only leaves a gap. */
#ifndef PL_TERMINAL_WIDTH_H
#define PL_TERMINAL_WIDTH_H

#include "base/str.h"

/* 0, 1 or 2. Control characters take none. */
unsigned pl_width_of(int32_t code_point);

/* The end of the cluster at `at`, which is before the end of the text, and its width. A byte that is
 * no UTF-8 is a cluster of width 1. */
size_t pl_cluster_end(struct pl_str text, size_t at, unsigned *ret_width);
/* The beginning of the cluster that ends at `at` or contains it; 0 at the beginning. A line break is
 * a cluster of its own. */
size_t pl_cluster_before(struct pl_str text, size_t at);

/* Cells of a text without control characters. */
size_t pl_width(struct pl_str text);
/* The longest beginning of whole clusters that takes no more than this many cells. */
struct pl_str pl_width_cut(struct pl_str text, size_t max_cells);

#endif
