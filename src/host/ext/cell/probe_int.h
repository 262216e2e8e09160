/* Shared by probe.c and spawn.c: the parts that failed, and the messages. */
#ifndef PL_EXT_CELL_PROBE_INT_H
#define PL_EXT_CELL_PROBE_INT_H

#include "ext/cell/attempt_int.h"
#include "ext/cell/cell.h"

struct pl_cell_tried {
    unsigned missing; /* PL_CELL_HAS(…) */
    char says[PL_CELL_N_PARTS][200];
};

/* Makes attempts, each without the way that failed before, until one succeeds or no way is left.
 * PL_OK: the attempt has the result. */
enum pl_status pl_cell_try_ways(const struct pl_cell_settings *settings, struct pl_cell_plan *plan,
                                struct pl_cell_attempt *ret_attempt, struct pl_cell_tried *tried,
                                struct pl_error *err);
/* Finds what this machine supports, from the attempts and from facts visible without one. */
void pl_cell_probe_judge(const struct pl_cell_tried *tried, uid_t uid,
                         struct pl_cell_probe *ret_probe);

#endif
