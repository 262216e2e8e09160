/* Idempotency-Key: a repeated request has one effect and one answer (idempotency.c). Any thread
 * that has the exchange. */
#ifndef PL_TRANSACTION_IDEMPOTENCY_H
#define PL_TRANSACTION_IDEMPOTENCY_H

#include "http/claim.h"
#include "store/store.h"

#define PL_IDEMPOTENCY_MAX_KEY   255
#define PL_IDEMPOTENCY_KEPT_MS   (INT64_C(24) * 3600 * 1000)
#define PL_IDEMPOTENCY_MAX_REPLY (1u << 20)

/* The functions that exchanges call. */
extern const struct pl_claim_ops pl_idempotency;

/* The keys of running requests. NULL when out of memory. */
struct pl_claims *pl_claims_create(void);
void pl_claims_destroy(struct pl_claims *claims); /* accepts NULL */

/* Called before a change is planned again after a conflict: the other writer may have been this
 * same request on another node. On a worker. False: the answer or a problem was made. */
bool pl_claim_again(struct pl_exchange *x);
/* Adds the claim's writes to a batch, once: with the answer, if status, headers and reply (or
 * kept_reply) have it already. Otherwise stores the result of pl_claim_seed, and a retry after a
 * crash is answered from the store: only for routes with PL_ROUTE_RETELLS. */
void pl_claim_add(struct pl_exchange *x, struct pl_batch *batch);
/* Time and randomness for new ids; the same again when an answer is made again. */
struct pl_id_seed pl_claim_seed(struct pl_exchange *x);
/* Adds the finished answer to a batch, and claims the key if that was not done before. */
void pl_claim_keep_answer(struct pl_exchange *x, struct pl_batch *batch);
/* Whether its row is or was in a batch. */
bool pl_claim_has_row(const struct pl_claim *claim);
/* The batch was not committed: the row may go into another one. */
void pl_claim_forget_row(struct pl_claim *claim);

#endif
