/* Buckets and strikes, at their limits and one step over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/quota.h"

static void a_bucket_gives_its_burst_and_then_its_rate(void **state)
{
    struct pl_ext_bucket bucket = pl_ext_bucket_make(PL_EXT_QUOTA_CALLS, 1000);
    (void)state;
    assert_true(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_CALLS, 200, 1000));
    assert_false(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_CALLS, 1, 1000));
    assert_int_equal(pl_ext_bucket_wait_ms(&bucket, PL_EXT_QUOTA_CALLS, 1, 1000), 20);
    assert_false(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_CALLS, 1, 1019));
    assert_true(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_CALLS, 1, 1020));
    assert_int_equal(pl_ext_bucket_wait_ms(&bucket, PL_EXT_QUOTA_CALLS, 201, 1020), -1);
    assert_int_equal(pl_ext_bucket_wait_ms(&bucket, PL_EXT_QUOTA_CALLS, 0, 1020), 0);
}

static void a_bucket_is_never_more_than_full(void **state)
{
    struct pl_ext_bucket bucket = pl_ext_bucket_make(PL_EXT_QUOTA_LOG_LINES, 0);
    (void)state;
    assert_true(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_LOG_LINES, 50, 0));
    assert_false(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_LOG_LINES, 101, INT64_MAX));
    assert_true(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_LOG_LINES, 100, INT64_MAX));
    bucket = pl_ext_bucket_make(PL_EXT_QUOTA_HTTP_BYTES, 0);
    assert_false(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_HTTP_BYTES, INT64_MAX, 1));
    /* The refill fits an int64; added to the current level, it overflows. */
    bucket = pl_ext_bucket_make(PL_EXT_QUOTA_CALLS, 0);
    assert_true(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_CALLS, 200, INT64_MAX / 50));
    assert_false(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_CALLS, 1, INT64_MAX / 50));
}

static void a_clock_put_back_gives_nothing(void **state)
{
    struct pl_ext_bucket bucket = pl_ext_bucket_make(PL_EXT_QUOTA_USER_MESSAGES, 100000);
    (void)state;
    assert_true(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_USER_MESSAGES, 10, 100000));
    assert_false(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_USER_MESSAGES, 1, 0));
    assert_true(pl_ext_bucket_take(&bucket, PL_EXT_QUOTA_USER_MESSAGES, 1, 6000));
}

static void three_bad_lines_in_a_row_are_too_many(void **state)
{
    struct pl_ext_strikes strikes = {0};
    (void)state;
    assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_BAD_LINE, 0));
    assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_BAD_LINE, 0));
    pl_ext_strikes_end_row(&strikes);
    assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_BAD_LINE, 0));
    assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_BAD_LINE, 0));
    assert_true(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_BAD_LINE, 0));
}

static void twenty_in_a_minute_are_too_many(void **state)
{
    struct pl_ext_strikes strikes = {0};
    (void)state;
    for (int i = 0; i < 19; i++) {
        assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_BAD_LINE, i * 3000));
        pl_ext_strikes_end_row(&strikes);
    }
    assert_true(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_BAD_LINE, 59999));
    pl_ext_strikes_end_row(&strikes);
    assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_BAD_LINE, 70000));
}

static void three_times_over_a_quota_in_a_minute_are_too_many(void **state)
{
    struct pl_ext_strikes strikes = {0};
    (void)state;
    assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_OVER_QUOTA, 0));
    assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_OVER_QUOTA, 30000));
    assert_false(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_OVER_QUOTA, 60000));
    assert_true(pl_ext_strikes_add(&strikes, PL_EXT_STRIKE_OVER_QUOTA, 89999));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_gives_its_burst_and_then_its_rate),
        cmocka_unit_test(a_bucket_is_never_more_than_full),
        cmocka_unit_test(a_clock_put_back_gives_nothing),
        cmocka_unit_test(three_bad_lines_in_a_row_are_too_many),
        cmocka_unit_test(twenty_in_a_minute_are_too_many),
        cmocka_unit_test(three_times_over_a_quota_in_a_minute_are_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
