/* The width of a text in terminal cells, and where it may be cut.
 *
 * A cluster is what a person perceives as one character: a base with its combining marks, an emoji
 * with its modifier, joined emoji (U+200D), a flag of two letters. It is as wide as its first
 * character, at most two cells. U+FE0F does not widen: terminals disagree about it, and a width
 * that is too small only leaves a gap. */
#ifndef PL_TERMINAL_WIDTH_H
#define PL_TERMINAL_WIDTH_H

#include "base/str.h"

/* 0, 1 or 2; 0 for control characters. */
unsigned pl_width_of(int32_t code_point);

/* Returns the end of the cluster at `at` (before the end of the text), and its width. A byte that
 * is not UTF-8 is a cluster of width 1. */
size_t pl_cluster_end(struct pl_str text, size_t at, unsigned *ret_width);
/* Returns the start of the cluster that ends at `at` or contains it; 0 at the start of the text. A
 * line break is a cluster of its own. */
size_t pl_cluster_before(struct pl_str text, size_t at);

/* Width in cells of a text without control characters. */
size_t pl_width(struct pl_str text);
/* Returns the longest prefix of whole clusters that fits into this many cells. */
struct pl_str pl_width_cut(struct pl_str text, size_t max_cells);

#endif
