/* The way home: restores the source from its carry and a target that may have been edited.
 *
 * The carry has the source. Converting it once more gives the original target. The differences
 * between that and the current target are the edits, and they are applied to the source:
 *
 *     source --there--> target as it was
 *        |                     |  compared
 *     edited                target as it is
 *        |                     |  compared
 *     result --there--> what it says now
 *
 * First, changed values are set where they came from (home_values.c). Then additions, removals and
 * moves are merged (merge.c). After each step the result is converted and compared with the target:
 * a step that brings it no nearer is undone, and differences that remain at the end are reported.
 * So every edit arrives or is reported, and the result is always a readable document. */
#ifndef PL_CARRY_HOME_H
#define PL_CARRY_HOME_H

#include "format/way_home.h"

/* Appends the source to `to`. PL_SYNTAX, PL_LIMIT: the carry is not JSON, or too large. PL_INVALID:
 * it is not a carry, or is for other formats; or the target is no longer a document of its
 * format. */
enum pl_status pl_home_go(const struct pl_home *home, struct pl_buf *to, struct pl_error *err);
/* Frees the memory that ways home have kept; NULL is nothing. */
void pl_home_forget(struct pl_home_memory *memory);

#endif
