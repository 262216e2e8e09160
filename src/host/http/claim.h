/* The Idempotency-Key of a request and its state. server/ supplies the functions that store keys
 * (transaction/idempotency.c): http does not know the store. */
#ifndef PL_HTTP_CLAIM_H
#define PL_HTTP_CLAIM_H

#include "base/text/uuid.h"
#include "http/exchange.h"

/* The state of its row; the diagram is in idempotency.c. */
enum pl_claim_state {
    PL_CLAIM_NONE,     /* no key was sent */
    PL_CLAIM_LISTED,   /* no other request with this key is running */
    PL_CLAIM_CLAIMED,  /* the row is in a batch, or in the store … */
    PL_CLAIM_ANSWERED, /* … with the answer */
    PL_CLAIM_ENDED,
};

/* In a list of the server while the request runs. */
struct pl_claim {
    struct pl_claim *prev, *next; /* the list's; under its lock */
    struct pl_str user_id, key;   /* arena of the exchange */
    uint8_t request_hash[32];
    enum pl_claim_state state;
    bool is_expired;        /* an old row must go first */
    bool is_done;           /* carried out before a crash: only its answer is missing */
    struct pl_id_seed seed; /* from pl_claim_seed */
    int64_t note;           /* the route's own; kept with the seed */
};

struct pl_claim *pl_exchange_claim(struct pl_exchange *x);

struct pl_claim_ops {
    /* Reads the header. False after making a problem. Without a key: *ret_has_key is false. */
    bool (*begin)(struct pl_exchange *x, bool *ret_has_key);
    /* On a worker: looks the key up. It may also make the answer (x->is_replayed). */
    void (*look)(struct pl_exchange *x);
    /* Stores the answer, then calls pl_exchange_settled; false: there is nothing to store. */
    bool (*settle)(struct pl_exchange *x);
    void (*end)(struct pl_exchange *x);
};

/* The answer is stored, or could not be. */
void pl_exchange_settled(struct pl_exchange *x);

#endif
