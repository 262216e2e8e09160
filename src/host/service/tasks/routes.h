/* Scheduled tasks: one table per file of routes (http/routes/route.h). */
#ifndef PL_SERVICE_TASKS_ROUTES_H
#define PL_SERVICE_TASKS_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_tasks[];
extern const struct pl_route pl_routes_task_times[];
extern const struct pl_route pl_routes_calendar[];

#endif
