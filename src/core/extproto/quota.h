/* How much an extension may do: rates as buckets, and strikes, which end it. Time arrives as an argument;
 * one that goes backwards gives nothing and takes nothing. */
#ifndef PL_EXTPROTO_QUOTA_H
#define PL_EXTPROTO_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, units a period, burst, milliseconds of the period) */
#define PL_EXT_QUOTA_TABLE(X)                                                                      \
    X(CALLS, 50, 200, 1000)                                                                        \
    X(HTTP_BYTES, INT64_C(64) << 20, INT64_C(64) << 20, 60000)                                     \
    X(WRITTEN_BYTES, INT64_C(50) << 20, INT64_C(50) << 20, 3600000)                                \
    X(LOG_LINES, 100, 100, 1000)                                                                   \
    X(STDERR_BYTES, 64 << 10, 64 << 10, 1000)                                                      \
    X(USER_MESSAGES, 10, 10, 60000)                                                                \
    X(FRAMES, 10000, 10000, 1000)                                                                  \
    X(REGISTERS, 10, 100, 1000)

enum pl_ext_quota {
#define X(name, units, burst, period) PL_EXT_QUOTA_##name,
    PL_EXT_QUOTA_TABLE(X)
#undef X
        PL_EXT_QUOTA_COUNT,
};

struct pl_ext_bucket {
    int64_t level; /* units times the period: whole numbers lose nothing */
    int64_t at_ms;
};
/* Full. */
struct pl_ext_bucket pl_ext_bucket_make(enum pl_ext_quota quota, int64_t now_ms);
/* Takes n >= 0 units; false: there are not so many, and nothing was taken. */
bool pl_ext_bucket_take(struct pl_ext_bucket *bucket, enum pl_ext_quota quota, int64_t n,
                        int64_t now_ms);
/* Milliseconds until n units are there; -1: never, because the bucket is smaller. */
int64_t pl_ext_bucket_wait_ms(const struct pl_ext_bucket *bucket, enum pl_ext_quota quota,
                              int64_t n, int64_t now_ms);

/* X(name, in a row, in a minute): one of them ends it; 0: does not count. */
#define PL_EXT_STRIKE_TABLE(X)                                                                     \
    X(BAD_LINE, 3, 20)                                                                             \
    X(OVER_QUOTA, 0, 3)

enum pl_ext_strike {
#define X(name, row, minute) PL_EXT_STRIKE_##name,
    PL_EXT_STRIKE_TABLE(X)
#undef X
        PL_EXT_STRIKE_COUNT,
};

enum { PL_EXT_MAX_STRIKES = 20 };
struct pl_ext_strikes {
    int64_t at_ms[PL_EXT_MAX_STRIKES]; /* a ring: the last ones */
    unsigned n;                        /* ever */
    unsigned n_in_row;
};
/* Counts one; true: it was one too many. */
bool pl_ext_strikes_add(struct pl_ext_strikes *strikes, enum pl_ext_strike kind, int64_t now_ms);
/* Something good came between: the row is over. */
void pl_ext_strikes_end_row(struct pl_ext_strikes *strikes);

#endif
