/* What is due now, after looking last some time ago: a scheduler that slept, or a clock that was
 * put forward, finds several occurrences at once. The newest within the last PL_CRON_CATCH_UP_S
 * seconds is run, for all of them; those that are older were missed. */
#ifndef PL_CRON_DUE_H
#define PL_CRON_DUE_H

#include "cron/next.h"

enum { PL_CRON_CATCH_UP_S = 15 * 60, PL_CRON_MAX_COUNTED = 100000 };

struct pl_cron_due {
    bool has_run;
    int64_t run_s;                         /* the occurrence to be run */
    int64_t n_collapsed;                   /* others within the catch-up time that it stands for */
    int64_t n_missed;                      /* older ones; counted up to PL_CRON_MAX_COUNTED */
    int64_t first_missed_s, last_missed_s; /* of them */
    int64_t last_s; /* newest occurrence that was looked at; after_s if none */
    bool has_next;
    int64_t next_s; /* the next one after now_s */
};

/* Occurrences after after_s up to now_s. now_s before after_s (a clock that was put back): nothing
 * is due, and the next is after after_s, so that no minute comes twice. */
struct pl_cron_due pl_cron_due(const struct pl_cron *cron, const struct pl_tzif *zone,
                               int64_t after_s, int64_t now_s);

#endif
