/* The schedule of a task: its expression and zone, parsed once. */
#ifndef PL_SERVICE_TASKS_TASK_SCHEDULE_H
#define PL_SERVICE_TASKS_TASK_SCHEDULE_H

#include "cron/due.h"
#include "service/tasks/zones.h"
#include "store/work.h"

struct pl_task_when {
    struct pl_cron cron;
    const struct pl_tzif *zone; /* borrowed from the zones; NULL: UTC */
};

/* PL_INVALID with the pointer /cron or /timezone; PL_NOMEM. May read a file: on a worker. */
enum pl_status pl_task_when(struct pl_zones *zones, struct pl_str cron, struct pl_str zone,
                            struct pl_task_when *ret_when, struct pl_error *err);

/* next_ms of a task that was handled up to after_s. If the task expires earlier: the time to
 * disable it. */
int64_t pl_task_next_ms(const struct pl_task_when *when, int64_t after_s, int64_t expires_ms);

#endif
