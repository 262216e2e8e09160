/* Commits a batch for an exchange. */
#ifndef PL_TRANSACTION_COMMIT_H
#define PL_TRANSACTION_COMMIT_H

#include "http/exchange.h"
#include "store/store.h"

/* Commits the batch, then calls `after` (NULL: finish). If the commit fails, makes a problem and
 * finishes. Claims the Idempotency-Key in the same transaction. */
void pl_exchange_commit(struct pl_exchange *x, struct pl_batch *batch,
                        void (*after)(struct pl_exchange *));

/* The same for a change that is harmless to repeat: the Idempotency-Key is claimed together with
 * the answer, and a retry before that runs again. */
void pl_exchange_commit_repeatable(struct pl_exchange *x, struct pl_batch *batch,
                                   void (*after)(struct pl_exchange *));

#endif
