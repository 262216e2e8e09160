/* Finds the occurrences that are due now, given when the schedule was last checked. A scheduler
 * that slept, or a clock that was put forward, finds several at once. The newest one within the
 * last PL_CRON_CATCH_UP_S seconds is run once for all of them; older ones were missed. */
#ifndef PL_CRON_DUE_H
#define PL_CRON_DUE_H

#include "cron/next.h"

enum { PL_CRON_CATCH_UP_S = 15 * 60, PL_CRON_MAX_COUNTED = 100000 };

struct pl_cron_due {
    bool has_run;
    int64_t run_s;       /* the occurrence to run */
    int64_t n_collapsed; /* other occurrences within the catch-up time, covered by this run */
    int64_t n_missed;    /* older ones; counted up to PL_CRON_MAX_COUNTED */
    int64_t first_missed_s, last_missed_s; /* of the missed ones */
    int64_t last_s; /* the newest occurrence that was considered; after_s if none */
    bool has_next;
    int64_t next_s; /* the next occurrence after now_s */
};

/* Considers occurrences after after_s up to now_s. If now_s is before after_s (the clock was put
 * back), nothing is due, and the next occurrence is after after_s, so that no minute runs twice. */
struct pl_cron_due pl_cron_due(const struct pl_cron *cron, const struct pl_tzif *zone,
                               int64_t after_s, int64_t now_s);

#endif
