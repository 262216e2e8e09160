#include "extproto/quota.h"

static const struct {
    int64_t units, burst, period_ms;
} quotas[] = {
#define X(name, units, burst, period) [PL_EXT_QUOTA_##name] = {units, burst, period},
    PL_EXT_QUOTA_TABLE(X)
#undef X
};

static const struct {
    unsigned in_row, in_minute;
} strikes_of[] = {
#define X(name, row, minute) [PL_EXT_STRIKE_##name] = {row, minute},
    PL_EXT_STRIKE_TABLE(X)
#undef X
};

/* The bucket's current level. */
static int64_t level_at(const struct pl_ext_bucket *bucket, enum pl_ext_quota quota, int64_t now_ms)
{
    int64_t full = quotas[quota].burst * quotas[quota].period_ms;
    int64_t passed_ms = now_ms > bucket->at_ms ? now_ms - bucket->at_ms : 0;
    int64_t level = 0;
    if (__builtin_mul_overflow(passed_ms, quotas[quota].units, &level) ||
        __builtin_add_overflow(level, bucket->level, &level) || level > full)
        level = full;
    return level;
}

struct pl_ext_bucket pl_ext_bucket_make(enum pl_ext_quota quota, int64_t now_ms)
{
    return (struct pl_ext_bucket){quotas[quota].burst * quotas[quota].period_ms, now_ms};
}

bool pl_ext_bucket_take(struct pl_ext_bucket *bucket, enum pl_ext_quota quota, int64_t n,
                        int64_t now_ms)
{
    bucket->level = level_at(bucket, quota, now_ms);
    bucket->at_ms = now_ms;
    if (n > bucket->level / quotas[quota].period_ms)
        return false;
    bucket->level -= n * quotas[quota].period_ms;
    return true;
}

int64_t pl_ext_bucket_wait_ms(const struct pl_ext_bucket *bucket, enum pl_ext_quota quota,
                              int64_t n, int64_t now_ms)
{
    if (n > quotas[quota].burst)
        return -1;
    int64_t missing = n * quotas[quota].period_ms - level_at(bucket, quota, now_ms);
    return missing <= 0 ? 0 : (missing + quotas[quota].units - 1) / quotas[quota].units;
}

bool pl_ext_strikes_add(struct pl_ext_strikes *strikes, enum pl_ext_strike kind, int64_t now_ms)
{
    enum { MINUTE_MS = 60000 };
    unsigned in_row = strikes_of[kind].in_row, in_minute = strikes_of[kind].in_minute;
    strikes->at_ms[strikes->n++ % PL_EXT_MAX_STRIKES] = now_ms;
    strikes->n_in_row++;
    if (in_row && strikes->n_in_row >= in_row)
        return true;
    if (strikes->n < in_minute)
        return false;
    int64_t first_ms = strikes->at_ms[(strikes->n - in_minute) % PL_EXT_MAX_STRIKES];
    return now_ms - first_ms < MINUTE_MS;
}

void pl_ext_strikes_end_row(struct pl_ext_strikes *strikes)
{
    strikes->n_in_row = 0;
}
