/* Which target of an alias is asked first. The decision is a pure function of what is known: how many
 * calls there were before, the weights, and who is busy. */
#ifndef PL_MODEL_SPREAD_H
#define PL_MODEL_SPREAD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define PL_VENDOR_MAX_CHAIN  8
#define PL_SPREAD_MAX_WEIGHT 1000

enum pl_spread {
    PL_SPREAD_ORDER,       /* as they are configured: the others are fallbacks */
    PL_SPREAD_ROUND_ROBIN, /* each in turn */
    PL_SPREAD_WEIGHTED,    /* of as many calls as the weights add up to, each has its weight */
    PL_SPREAD_LEAST_BUSY,  /* the one with the fewest calls under way; each in turn where they are
                              equal */
    PL_SPREADS,
};
/* "order", "round_robin", "weighted", "least_busy" */
extern const char *const pl_spread_words[PL_SPREADS];

/* What an alias needs for it; shared by all shards. */
struct pl_spread_state {
    enum pl_spread by;
    _Atomic(uint64_t) n_calls;
};

/* The order in which n targets (up to PL_VENDOR_MAX_CHAIN) are asked by the call number `n_before`:
 * the first by the spread, those after it are its fallbacks. weights are 1 or more. */
void pl_spread_decide(enum pl_spread by, size_t n, const uint32_t *weights, const int64_t *busy,
                      uint64_t n_before, uint8_t *ret_order);

#endif
