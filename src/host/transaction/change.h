/* A change that depends on stored data: planned on a worker, committed, answered. After a conflict
 * with another writer it is planned again from the new data. A plan that is no longer possible
 * makes a problem.
 *
 *     plan (worker) -> commit -> tell (worker) -> finish
 *       ^                |
 *       +--- conflict ---+ */
#ifndef PL_TRANSACTION_CHANGE_H
#define PL_TRANSACTION_CHANGE_H

#include "http/exchange.h"
#include "store/store.h"

/* Fills the batch, or makes a problem. `ctx` belongs to the handler and lives as long as the
 * exchange. */
typedef void pl_change_plan_fn(struct pl_exchange *x, struct pl_batch *batch, void *ctx);
/* Makes the answer from committed data; NULL: the plan has made it. After a crash, a route with
 * PL_ROUTE_RETELLS (idempotency.c) is called for this alone: it knows the request and
 * pl_claim_seed, not the plan. If the plan has made the answer, this may do follow-up work. */
typedef void pl_change_tell_fn(struct pl_exchange *x, void *ctx);

/* On the shard; finishes the exchange. */
void pl_exchange_change(struct pl_exchange *x, pl_change_plan_fn *plan, pl_change_tell_fn *tell,
                        void *ctx);

#endif
