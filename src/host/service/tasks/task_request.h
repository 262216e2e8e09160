/* Shared by the routes of tasks. On a worker. */
#ifndef PL_SERVICE_TASKS_TASK_REQUEST_H
#define PL_SERVICE_TASKS_TASK_REQUEST_H

#include "http/exchange.h"
#include "service/tasks/task_schedule.h"

/* Finds the caller's task named in the path; false after making a problem. */
bool pl_task_find(struct pl_exchange *x, struct pl_task_row *ret_task);
/* Reads a cron expression and a zone; false after making a problem if either is invalid. */
bool pl_task_read_when(struct pl_exchange *x, struct pl_str cron, struct pl_str zone,
                       struct pl_task_when *ret_when);

#endif
