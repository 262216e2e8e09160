/* The row that a transaction writes for an Idempotency-Key, as plain data. Its writer needs no
 * exchange, and may be another server. */
#ifndef PL_TRANSACTION_CLAIM_ROW_H
#define PL_TRANSACTION_CLAIM_ROW_H

#include "http/claim.h"
#include "store/store.h"

/* Stored in place of an answer: a mark, the time and the randomness. Rows of earlier versions have
 * no note. */
struct pl_kept_seed {
    uint64_t sign;
    int64_t unix_ms;
    uint64_t random[2];
    int64_t note;
};

/* Its strings are views of the exchange. */
struct pl_claim_row {
    struct pl_str user_id, key, request_hash; /* key empty: nothing to write */
    struct pl_kept_seed seed;
    bool is_settling;                    /* the row exists: only its answer is missing */
    bool is_expired;                     /* delete an old row first */
    int64_t status;                      /* HTTP; outside of 200 to 299 no answer is stored */
    struct pl_str content_type, headers; /* complete header lines */
};

/* The claim of the exchange, for a batch. False: nothing to write (there is no key, or its row is
 * in a batch already). `may_settle`: an existing row may get its answer. */
bool pl_claim_row_of(struct pl_exchange *x, bool may_settle, struct pl_claim_row *ret_row);
/* Whether this answer is to be stored. */
bool pl_claim_row_has_answer(int64_t status, struct pl_str body);
/* Adds the writes. `headers` follow the row's own. Returns the new state of the claim: LISTED
 * (nothing was written), CLAIMED, or ANSWERED. */
enum pl_claim_state pl_claim_row_add(const struct pl_claim_row *row, struct pl_str headers,
                                     struct pl_str body, struct pl_batch *batch);
/* Another writer committed the row up to this state. On the exchange's shard. */
void pl_claim_is_written(struct pl_exchange *x, enum pl_claim_state state);

#endif
