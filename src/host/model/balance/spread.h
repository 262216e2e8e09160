/* Decides which target of an alias is called first. The decision is a pure function of the number
 * of previous calls, the weights and the running calls. */
#ifndef PL_MODEL_SPREAD_H
#define PL_MODEL_SPREAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define PL_VENDOR_MAX_CHAIN  8
#define PL_SPREAD_MAX_WEIGHT 1000

enum pl_spread {
    PL_SPREAD_ORDER,       /* as configured: the others are fallbacks */
    PL_SPREAD_ROUND_ROBIN, /* each in turn */
    PL_SPREAD_WEIGHTED,    /* of every w calls (w: the sum of the weights), each gets its weight */
    PL_SPREAD_LEAST_BUSY,  /* the one with the fewest running calls; equal ones in turn */
    PL_SPREADS,
};
/* "order", "round_robin", "weighted", "least_busy" */
extern const char *const pl_spread_words[PL_SPREADS];

/* State of an alias; shared by all shards. */
struct pl_spread_state {
    enum pl_spread by;
    _Atomic(uint64_t) n_calls;
};

/* Computes the order in which call number `n_before` tries n targets (up to PL_VENDOR_MAX_CHAIN).
 * The first is chosen by the spread, the others are its fallbacks. Weights are 1 or more. */
void pl_spread_decide(enum pl_spread by, size_t n, const uint32_t *weights, const int64_t *busy,
                      uint64_t n_before, uint8_t *ret_order);

#endif
