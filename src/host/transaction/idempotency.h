/* Idempotency-Key: the same request twice is one deed and one answer (idempotency.c). Any thread
 * that has the exchange. */
#ifndef PL_TRANSACTION_IDEMPOTENCY_H
#define PL_TRANSACTION_IDEMPOTENCY_H

#include "http/claim.h"
#include "store/store.h"

#define PL_IDEMPOTENCY_MAX_KEY   255
#define PL_IDEMPOTENCY_KEPT_MS   (INT64_C(24) * 3600 * 1000)
#define PL_IDEMPOTENCY_MAX_REPLY (1u << 20)

/* What exchanges call. */
extern const struct pl_claim_ops pl_idempotency;

/* The keys of requests that run. NULL when out of memory. */
struct pl_claims *pl_claims_create(void);
void pl_claims_destroy(struct pl_claims *claims); /* accepts NULL */

/* Before a change is planned once more, because another came first: that may have been this very
 * request, by another way in. On a worker. False: the answer is made, or a problem. */
bool pl_claim_again(struct pl_exchange *x);
/* The claim's writes for a batch, once: with the answer, if status, headers and reply (or
 * kept_reply) have it already. Without it, the result of pl_claim_seed is kept, and a repetition
 * after a crash gets what was done: only of a route that PL_ROUTE_RETELLS. */
void pl_claim_add(struct pl_exchange *x, struct pl_batch *batch);
/* Time and randomness for new ids; the same again when the answer is only repeated. */
struct pl_id_seed pl_claim_seed(struct pl_exchange *x);
/* The answer for a batch, now that it is made; the key is claimed with it if it was not before. */
void pl_claim_keep_answer(struct pl_exchange *x, struct pl_batch *batch);
/* Whether its row is in a batch, or was. */
bool pl_claim_has_row(const struct pl_claim *claim);
/* The batch that had it did not come about: the row is for another one. */
void pl_claim_forget_row(struct pl_claim *claim);

#endif
