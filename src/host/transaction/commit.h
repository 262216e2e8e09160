/* A batch of the store that is committed for an exchange. */
#ifndef PL_TRANSACTION_COMMIT_H
#define PL_TRANSACTION_COMMIT_H

#include "http/exchange.h"
#include "store/store.h"

/* Commits a batch for it, then `after` (NULL: finish). A failure to commit makes a problem of the
 * answer and finishes. An Idempotency-Key is claimed in the same transaction. */
void pl_exchange_commit(struct pl_exchange *x, struct pl_batch *batch,
                        void (*after)(struct pl_exchange *));

/* The same for what may be done twice with the same outcome: the Idempotency-Key is claimed with
 * the answer, and a request that comes again before that is carried out again. */
void pl_exchange_commit_repeatable(struct pl_exchange *x, struct pl_batch *batch,
                                   void (*after)(struct pl_exchange *));

#endif
