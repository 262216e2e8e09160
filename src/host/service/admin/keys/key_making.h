/* A key that is being created or rotated: its row and its secret. */
#ifndef PL_SERVICE_ADMIN_KEY_MAKING_H
#define PL_SERVICE_ADMIN_KEY_MAKING_H

#include "access/key_table.h"
#include "http/exchange.h"
#include "store/gateway.h"

struct pl_key_making {
    struct pl_user_row user; /* a new user; id empty: no new user */
    struct pl_key_row key;
    struct pl_limits limits; /* stored too if it has a key_id */
    struct pl_id user_id, key_id;
    uint8_t hash[32];
    char plain[PL_KEY_SIZE + 1];
    uint64_t number; /* of a rotation */
    bool is_cookie;  /* the secret goes into a cookie, not into the answer */
};

/* All on the shard. NULL after failing and finishing. */
struct pl_key_making *pl_key_making_begin(struct pl_exchange *x);
/* Prepares a new key of this user; false if out of memory or randomness. */
bool pl_key_making_prepare(struct pl_key_making *making, struct pl_id_seed *seed,
                           struct pl_str user_id, struct pl_str name);
/* Stores the prepared rows, updates the table, answers and finishes. */
void pl_key_making_commit(struct pl_exchange *x, struct pl_key_making *making);

/* Reads the members scope, models and expires_at of the body; false after making a problem.
 * Missing members are {NULL, 0} and -1: unchanged. */
bool pl_key_patch_read(struct pl_exchange *x, struct pl_key_patch *ret_patch);

/* Fails for lack of memory, and finishes. */
void pl_exchange_fail_memory(struct pl_exchange *x);

#endif
