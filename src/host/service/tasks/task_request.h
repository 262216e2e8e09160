/* What the routes of tasks share. On a worker. */
#ifndef PL_SERVICE_TASKS_TASK_REQUEST_H
#define PL_SERVICE_TASKS_TASK_REQUEST_H

#include "http/exchange.h"
#include "service/tasks/task_schedule.h"

/* The caller's task that the path names; false after making a problem. */
bool pl_task_find(struct pl_exchange *x, struct pl_task_row *ret_task);
/* When something is due; false after making a problem of what is wrong with either. */
bool pl_task_read_when(struct pl_exchange *x, struct pl_str cron, struct pl_str zone,
                       struct pl_task_when *ret_when);

#endif
