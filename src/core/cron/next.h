/* Finds the next time that an expression is due, in a time zone.
 *
 * If the clock is put forward, a skipped fixed time is due once, at the change. If the clock is put
 * back, a repeated time is due only the first time. An expression with a `*` or a step in its
 * minutes or hours follows real time instead: it is due at every minute that the clock shows and
 * the expression includes. */
#ifndef PL_CRON_NEXT_H
#define PL_CRON_NEXT_H

#include "cron/cron.h"
#include "cron/tzif.h"

enum { PL_CRON_HORIZON_YEARS = 8 }; /* 29 February may be that far away */

/* Finds the first occurrence after after_s. Returns false if there is none within the horizon (such
 * as 30 February), or if the next one is not before the year 10,000. zone NULL is UTC. */
bool pl_cron_next(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s,
                  int64_t *ret_s);

#endif
