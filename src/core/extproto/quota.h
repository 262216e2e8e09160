/* Limits of an extension: rates as token buckets, and strikes, which end it. Time is an argument; a
 * clock that goes backwards adds and removes nothing. */
#ifndef PL_EXTPROTO_QUOTA_H
#define PL_EXTPROTO_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, units per period, burst, period in milliseconds) */
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
    int64_t level; /* units times the period: integers without rounding */
    int64_t at_ms;
};
/* Makes a full bucket. */
struct pl_ext_bucket pl_ext_bucket_make(enum pl_ext_quota quota, int64_t now_ms);
/* Takes n >= 0 units; false: not enough units, nothing was taken. */
bool pl_ext_bucket_take(struct pl_ext_bucket *bucket, enum pl_ext_quota quota, int64_t n,
                        int64_t now_ms);
/* Milliseconds until n units are available; -1: never, because n exceeds the burst. */
int64_t pl_ext_bucket_wait_ms(const struct pl_ext_bucket *bucket, enum pl_ext_quota quota,
                              int64_t n, int64_t now_ms);

/* X(name, in a row, in a minute): each limit ends the extension; 0: no limit. */
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
    int64_t at_ms[PL_EXT_MAX_STRIKES]; /* a ring of the last strikes */
    unsigned n;                        /* total */
    unsigned n_in_row;
};
/* Counts a strike; true: a limit is reached. */
bool pl_ext_strikes_add(struct pl_ext_strikes *strikes, enum pl_ext_strike kind, int64_t now_ms);
/* Call after a success: strikes are no longer in a row. */
void pl_ext_strikes_end_row(struct pl_ext_strikes *strikes);

#endif
