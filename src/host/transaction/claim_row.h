/* The row that a transaction writes for an Idempotency-Key, as data. So its writer does not need the
 * exchange, and may be another server. */
#ifndef PL_TRANSACTION_CLAIM_ROW_H
#define PL_TRANSACTION_CLAIM_ROW_H

#include "http/claim.h"
#include "store/store.h"

/* In place of an answer: a sign, the time and the randomness. Rows of earlier versions have no note. */
struct pl_kept_seed {
    uint64_t sign;
    int64_t unix_ms;
    uint64_t random[2];
    int64_t note;
};

/* Its strings are views of the exchange that asks. */
struct pl_claim_row {
    struct pl_str user_id, key, request_hash; /* key empty: there is nothing to write */
    struct pl_kept_seed seed;
    bool is_settling;                    /* the row is there: only its answer is missing */
    bool is_expired;                     /* an old row must go first */
    int64_t status;                      /* of HTTP; outside of 200 to 299: no answer is kept */
    struct pl_str content_type, headers; /* lines with their ends */
};

/* The claim of the exchange as it stands, for a batch. False: there is none to be made (there is no
 * key, or its row is in a batch already). `may_settle`: a row that
 * is there may get its answer. */
bool pl_claim_row_of(struct pl_exchange *x, bool may_settle, struct pl_claim_row *ret_row);
/* Whether this is an answer that is kept. */
bool pl_claim_row_has_answer(int64_t status, struct pl_str body);
/* Adds the writes. `headers` come after the row's own. Returns how far the claim is then: LISTED
 * (nothing was written), CLAIMED, or ANSWERED. */
enum pl_claim_state pl_claim_row_add(const struct pl_claim_row *row, struct pl_str headers,
                                     struct pl_str body, struct pl_batch *batch);
/* On the exchange's shard: its row was committed so far, by who had the data. */
void pl_claim_is_written(struct pl_exchange *x, enum pl_claim_state state);

#endif
