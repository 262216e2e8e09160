/* Scheduled tasks and their runs as the API writes them. */
#ifndef PL_SERVICE_TASKS_TASK_JSON_H
#define PL_SERVICE_TASKS_TASK_JSON_H

#include "cron/tzif.h"
#include "json/write.h"
#include "store/work.h"

/* The ScheduledTask and ScheduledTaskRun objects. */
void pl_task_write(struct pl_json_out *out, const struct pl_task_row *task);
void pl_task_run_write(struct pl_json_out *out, const struct pl_task_run_row *run);

/* Rounds down, not toward zero. */
static inline int64_t pl_task_seconds(int64_t unix_ms)
{
    return unix_ms / 1000 - (unix_ms % 1000 < 0);
}

/* Writes "at" in UTC and "local" in the zone's time: "2026-03-29T03:00:00+02:00". */
void pl_task_write_instant(struct pl_json_out *out, const struct pl_tzif *zone, int64_t unix_s);

/* A copy with its strings in the arena; PL_NOMEM. */
enum pl_status pl_task_copy(struct pl_arena *arena, const struct pl_task_row *task,
                            struct pl_task_row *ret_copy);
enum pl_status pl_task_run_copy(struct pl_arena *arena, const struct pl_task_run_row *run,
                                struct pl_task_run_row *ret_copy);

#endif
