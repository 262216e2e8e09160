/* A change of what is stored that depends on what is there: read and planned on a worker,
 * committed, answered. Where somebody else was quicker it is planned anew, so that the answer
 * speaks of what is there now; a plan that cannot be any more says so with a problem.
 *
 *     plan (worker) -> commit -> tell (worker) -> finish
 *       ^                |
 *       +--- conflict ---+ */
#ifndef PL_TRANSACTION_CHANGE_H
#define PL_TRANSACTION_CHANGE_H

#include "http/exchange.h"
#include "store/store.h"

/* Fills the batch, or makes a problem. `ctx` is the handler's; it lives as long as the exchange. */
typedef void pl_change_plan_fn(struct pl_exchange *x, struct pl_batch *batch, void *ctx);
/* Makes the answer of what is durable; NULL: the plan has made it. A route that retells
 * (idempotency.c) is asked for this alone after a crash: it knows the request and pl_claim_seed,
 * not what was planned. Where the plan has made the answer, this may do what follows from the
 * change. */
typedef void pl_change_tell_fn(struct pl_exchange *x, void *ctx);

/* On the shard; finishes the exchange. */
void pl_exchange_change(struct pl_exchange *x, pl_change_plan_fn *plan, pl_change_tell_fn *tell,
                        void *ctx);

#endif
