/* Statistics of the calls to a provider, for /metrics. Thread-safe. */
#ifndef PL_MODEL_VENDOR_STATS_H
#define PL_MODEL_VENDOR_STATS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct pl_models;

#define PL_VENDOR_N_BOUNDS 11
extern const int64_t pl_vendor_bounds_ms[PL_VENDOR_N_BOUNDS]; /* one more bucket has no bound */

struct pl_vendor_times {
    _Atomic(int64_t) n[PL_VENDOR_N_BOUNDS + 1]; /* per bucket, not cumulative */
    _Atomic(int64_t) sum_ms;
};

struct pl_vendor_stats {
    _Atomic(int64_t) n_calls;     /* each call once, whatever its number of tries */
    _Atomic(int64_t) n_errors;    /* ended with a status of 400 or more, or without an answer */
    _Atomic(int64_t) n_retries;   /* tries after the first */
    struct pl_vendor_times first; /* from the start of a call to the first bytes of its answer */
    struct pl_vendor_times whole; /* from the start of a call to the end of its answer */
};

/* Both accept NULL and then count nothing. */
void pl_vendor_stats_add(struct pl_vendor_stats *stats, size_t member);
#define PL_VENDOR_COUNT(stats, member)                                                             \
    pl_vendor_stats_add((stats), offsetof(struct pl_vendor_stats, member))
void pl_vendor_times_note(struct pl_vendor_times *times, int64_t ms);

/* Returns the statistics and name of the i-th provider; NULL after the last. */
const struct pl_vendor_stats *pl_vendor_stats_at(const struct pl_models *models, size_t i,
                                                 const char **ret_name);
/* After a reload, providers of the same name continue with the counts of `before`. Calls that
 * are still running count in `before`, so they are lost. */
void pl_vendor_stats_inherit(struct pl_models *models, const struct pl_models *before);

#endif
