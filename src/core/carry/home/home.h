/* The way home: the source again, from a target that may have been edited and its carry.
 *
 * The carry has the source. It is converted once more, which gives the target as it was. What
 * differs between that and the target as it is now are the edits, and they are made in the source:
 *
 *     source --there--> target as it was
 *        |                     |  compared
 *     edited                target as it is
 *        |                     |  compared
 *     result --there--> what it says now
 *
 * First, values that changed are set where they came from (home_values.c). Then what was added,
 * removed or moved is merged (merge.c). After each step the result is converted there and compared
 * with the target: a step that brings it no nearer is not taken, and what still differs at the end
 * is reported. So every edit arrives or is reported, and the result is always a readable
 * document. */
#ifndef PL_CARRY_HOME_H
#define PL_CARRY_HOME_H

#include "format/way_home.h"

/* Appends the source to `to`. PL_SYNTAX, PL_LIMIT: the carry is not JSON, or too large. PL_INVALID:
 * it is not a carry, or belongs to other formats; or the target is not a document of its format
 * any more. */
enum pl_status pl_home_go(const struct pl_home *home, struct pl_buf *to, struct pl_error *err);

#endif
