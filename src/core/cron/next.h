/* When an expression is due next, in a zone.
 *
 * Where the clock is put forward, a fixed time that is skipped is due once, at the change; where it
 * is put back, a time that comes twice is due the first time. An expression with a `*` or a step
 * among its minutes or hours follows real time instead: it is due at every minute the clock shows
 * and the expression names. */
#ifndef PL_CRON_NEXT_H
#define PL_CRON_NEXT_H

#include "cron/cron.h"
#include "cron/tzif.h"

enum { PL_CRON_HORIZON_YEARS = 8 }; /* 29 February may be that far away */

/* The first instant after after_s. False: never, which is not within the horizon (as 30 February)
 * or not before the year 10,000. zone NULL is UTC. */
bool pl_cron_next(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s,
                  int64_t *ret_s);

#endif
