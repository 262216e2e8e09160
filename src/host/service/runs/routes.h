/* Runs: one table per file of routes (http/routes/route.h), and events for followers of lists. */
#ifndef PL_SERVICE_RUNS_ROUTES_H
#define PL_SERVICE_RUNS_ROUTES_H

#include "http/routes/route.h"

struct pl_model_run;

extern const struct pl_route pl_routes_runs[];

/* POST /api/run */
void pl_draft_runs_start(struct pl_exchange *x);
/* Sends run:updated to the followers of its user's lists. Any thread. */
void pl_run_tell(struct pl_server *server, const struct pl_model_run *run);

#endif
