/* When expressions are due: across months, leap years and DST changes. */
#include "base/text/utc.h"
#include "cron/next.h"
#include "unit/cron/zones.h"

static struct pl_cron parse(const char *text)
{
    struct pl_cron cron;
    struct pl_error err = {0};
    if (pl_cron_parse(pl_str_of(text), &cron, &err) != PL_OK)
        fail_msg("%s: %s", text, err.message);
    return cron;
}

/* `wanted` lists the next instants, NULL-terminated. */
static void expect_next(const char *expression, const struct pl_tzif *zone, const char *from,
                        const char *const *wanted)
{
    struct pl_cron cron = parse(expression);
    int64_t unix_s = at(from);
    for (; *wanted; wanted++) {
        char text[PL_UTC_SIZE + 1] = {0};
        if (!pl_cron_next(&cron, zone, unix_s, &unix_s))
            fail_msg("%s: never, not %s", expression, *wanted);
        pl_utc_write(text, unix_s * 1000);
        if (unix_s != at(*wanted))
            fail_msg("%s: %s, not %s", expression, text, *wanted);
    }
}
#define EXPECT_NEXT(expression, zone, from, ...)                                                   \
    expect_next(expression, zone, from, (const char *const[]){__VA_ARGS__, NULL})

static void the_next_minute_is_behind_the_instant(void **state)
{
    (void)state;
    EXPECT_NEXT("* * * * *", NULL, "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z");
    EXPECT_NEXT("* * * * *", NULL, "2026-01-01T00:00:01Z", "2026-01-01T00:01:00Z");
    EXPECT_NEXT("* * * * *", NULL, "2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z");
    EXPECT_NEXT("30 9,17 * * *", NULL, "2026-02-28T09:29:59Z", "2026-02-28T09:30:00Z",
                "2026-02-28T17:30:00Z", "2026-03-01T09:30:00Z");
    EXPECT_NEXT("0 0 * * MON#1", NULL, "2026-11-16T00:00:00Z", "2026-12-07T00:00:00Z",
                "2027-01-04T00:00:00Z");
    EXPECT_NEXT("0 0 L 2 *", NULL, "2026-11-16T00:00:00Z", "2027-02-28T00:00:00Z",
                "2028-02-29T00:00:00Z");
}

static void a_leap_day_is_found_eight_years_away(void **state)
{
    (void)state;
    EXPECT_NEXT("0 0 29 2 *", NULL, "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z");
}

static void a_day_that_is_not_there_is_never_due(void **state)
{
    (void)state;
    struct pl_cron fixed = parse("0 0 30 2 *"), real = parse("* * 31 4,6 *");
    int64_t unix_s = 42;
    assert_false(pl_cron_next(&fixed, NULL, 0, &unix_s));
    assert_false(pl_cron_next(&real, &berlin_zone, 0, &unix_s));
    assert_false(pl_cron_next(&real, NULL, INT64_MAX, &unix_s));
    assert_false(pl_cron_next(&real, NULL, INT64_MIN, &unix_s));
    assert_int_equal(unix_s, 42);
}

static void skipped_fixed_times_are_due_once_at_the_change(void **state)
{
    (void)state;
    EXPECT_NEXT("30 2 * * *", &berlin_zone, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z",
                "2026-03-30T00:30:00Z");
    EXPECT_NEXT("0,30 2-3 * * *", &berlin_zone, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z",
                "2026-03-29T01:30:00Z", "2026-03-30T00:00:00Z");
}

static void repeated_fixed_times_are_due_the_first_time(void **state)
{
    (void)state;
    EXPECT_NEXT("30 2 * * *", &berlin_zone, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z",
                "2026-10-26T01:30:00Z");
    EXPECT_NEXT("30 2 * * *", &berlin_zone, "2026-10-25T01:15:00Z", "2026-10-26T01:30:00Z");
    EXPECT_NEXT("0 3 * * *", &berlin_zone, "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z");
}

static void stars_and_steps_follow_real_time(void **state)
{
    (void)state;
    EXPECT_NEXT("0 * * * *", &berlin_zone, "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z",
                "2026-03-29T02:00:00Z");
    EXPECT_NEXT("*/30 2 * * *", &berlin_zone, "2026-03-28T12:00:00Z", "2026-03-30T00:00:00Z");
    EXPECT_NEXT("*/30 2 * * *", &berlin_zone, "2026-10-24T12:00:00Z", "2026-10-25T00:00:00Z",
                "2026-10-25T00:30:00Z", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z",
                "2026-10-26T01:00:00Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_minute_is_behind_the_instant),
        cmocka_unit_test(a_leap_day_is_found_eight_years_away),
        cmocka_unit_test(a_day_that_is_not_there_is_never_due),
        cmocka_unit_test(skipped_fixed_times_are_due_once_at_the_change),
        cmocka_unit_test(repeated_fixed_times_are_due_the_first_time),
        cmocka_unit_test(stars_and_steps_follow_real_time),
    };
    return cmocka_run_group_tests(tests, open_berlin, close_berlin);
}
