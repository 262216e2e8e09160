/* When a task is due: its expression and zone, read once. */
#ifndef PL_SERVER_TASK_WHEN_H
#define PL_SERVER_TASK_WHEN_H

#include "cron/due.h"
#include "server/zones.h"
#include "store/work.h"

struct pl_task_when {
    struct pl_cron cron;
    const struct pl_tzif *zone; /* borrowed from the zones; NULL: UTC */
};

/* PL_INVALID with the pointer /cron or /timezone; PL_NOMEM. May read a file: on a worker. */
enum pl_status pl_task_when(struct pl_zones *zones, struct pl_str cron, struct pl_str zone,
                            struct pl_task_when *ret_when, struct pl_error *err);

/* next_ms of a task that has looked up to after_s. One that expires first is looked at then, to be
 * disabled. */
int64_t pl_task_next_ms(const struct pl_task_when *when, int64_t after_s, int64_t expires_ms);

#endif
