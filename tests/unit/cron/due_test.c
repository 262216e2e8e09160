/* Due runs after a long pause: sleeping schedulers, clocks that jump, DST changes. */
#include "cron/due.h"
#include "unit/cron/zones.h"

enum { MINUTE_S = 60, DAY_S = 86400, DAY_MINUTES = 1440 };

static struct pl_cron_due look(const char *expression, const struct pl_tzif *zone,
                               const char *after, const char *now)
{
    struct pl_cron cron;
    if (pl_cron_parse(pl_str_of(expression), &cron, NULL) != PL_OK)
        fail_msg("%s", expression);
    return pl_cron_due(&cron, zone, at(after), at(now));
}

static void nothing_is_due_before_its_time(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("0 9 * * *", NULL, "2026-03-01T09:00:00Z", "2026-03-02T08:59:59Z");
    assert_false(due.has_run);
    assert_int_equal(due.n_missed, 0);
    assert_int_equal(due.last_s, at("2026-03-01T09:00:00Z"));
    assert_true(due.has_next);
    assert_int_equal(due.next_s, at("2026-03-02T09:00:00Z"));
}

static void what_is_due_now_is_run_and_only_once(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("0 9 * * *", NULL, "2026-03-01T09:00:00Z", "2026-03-02T09:00:00Z");
    assert_true(due.has_run);
    assert_int_equal(due.run_s, at("2026-03-02T09:00:00Z"));
    assert_int_equal(due.n_collapsed, 0);
    assert_int_equal(due.n_missed, 0);
    assert_int_equal(due.next_s, at("2026-03-03T09:00:00Z"));
    due = look("0 9 * * *", NULL, "2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z");
    assert_false(due.has_run);
}

static void fifteen_minutes_of_sleep_are_caught_up_with_one_run(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("* * * * *", NULL, "2026-03-02T11:59:30Z", "2026-03-02T12:15:00Z");
    assert_true(due.has_run);
    assert_int_equal(due.run_s, at("2026-03-02T12:15:00Z"));
    assert_int_equal(due.n_collapsed, 15); /* 12:00 to 12:14 */
    assert_int_equal(due.n_missed, 0);
    assert_int_equal(due.last_s, due.run_s);
}

static void what_is_older_than_fifteen_minutes_is_missed(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("* * * * *", NULL, "2026-03-02T11:00:00Z", "2026-03-02T12:15:01Z");
    assert_int_equal(due.run_s, at("2026-03-02T12:15:00Z"));
    assert_int_equal(due.n_collapsed, 14); /* 12:01 to 12:14 */
    assert_int_equal(due.n_missed, 60);    /* 11:01 to 12:00 */
    assert_int_equal(due.first_missed_s, at("2026-03-02T11:01:00Z"));
    assert_int_equal(due.last_missed_s, at("2026-03-02T12:00:00Z"));
}

static void a_schedule_may_be_missed_without_anything_to_run(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("0 9 * * *", NULL, "2026-03-01T09:00:00Z", "2026-03-04T12:00:00Z");
    assert_false(due.has_run);
    assert_int_equal(due.n_missed, 3);
    assert_int_equal(due.first_missed_s, at("2026-03-02T09:00:00Z"));
    assert_int_equal(due.last_missed_s, at("2026-03-04T09:00:00Z"));
    assert_int_equal(due.last_s, due.last_missed_s);
    assert_int_equal(due.next_s, at("2026-03-05T09:00:00Z"));
}

static void years_of_sleep_are_counted_up_to_the_cap(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("* * * * *", NULL, "2024-01-01T00:00:00Z", "2026-03-02T12:00:30Z");
    assert_int_equal(due.n_missed, PL_CRON_MAX_COUNTED);
    assert_int_equal(due.first_missed_s, at("2024-01-01T00:01:00Z"));
    assert_int_equal(due.last_missed_s, at("2026-03-02T11:45:00Z"));
    assert_int_equal(due.run_s, at("2026-03-02T12:00:00Z"));
    assert_int_equal(due.n_collapsed, 14);
}

static void a_look_back_over_decades_ends_at_the_horizon(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("0 0 1 1 *", NULL, "1980-06-01T00:00:00Z", "2026-03-02T12:00:00Z");
    assert_false(due.has_run);
    assert_int_equal(due.n_missed, 8);
    assert_int_equal(due.first_missed_s, at("2019-01-01T00:00:00Z"));
    assert_int_equal(due.last_missed_s, at("2026-01-01T00:00:00Z"));
}

static void what_is_never_due_is_never_due(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("0 0 30 2 *", NULL, "2020-01-01T00:00:00Z", "2026-03-02T12:00:00Z");
    assert_false(due.has_run);
    assert_false(due.has_next);
    assert_int_equal(due.n_missed, 0);
    assert_int_equal(due.last_s, at("2020-01-01T00:00:00Z"));
}

static void a_clock_put_back_makes_nothing_due_again(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("* * * * *", NULL, "2026-03-02T12:00:00Z", "2026-03-01T12:00:30Z");
    assert_false(due.has_run);
    assert_int_equal(due.n_missed, 0);
    assert_int_equal(due.last_s, at("2026-03-02T12:00:00Z"));
    assert_int_equal(due.next_s, at("2026-03-02T12:01:00Z"));
}

static void a_skipped_time_is_due_once_at_the_change(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("30 2 * * *", &berlin_zone, "2026-03-28T01:30:00Z", "2026-03-29T01:05:00Z");
    assert_true(due.has_run);
    assert_int_equal(due.run_s, at("2026-03-29T01:00:00Z"));
    assert_int_equal(due.n_collapsed, 0);
    due = look("30 2 * * *", &berlin_zone, "2026-03-29T01:00:00Z", "2026-03-29T06:00:00Z");
    assert_false(due.has_run);
    assert_int_equal(due.n_missed, 0);
    assert_int_equal(due.next_s, at("2026-03-30T00:30:00Z"));
}

static void several_skipped_times_are_one_occurrence(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("0,15,30 2 * * *", &berlin_zone, "2026-03-28T02:00:00Z", "2026-03-29T01:10:00Z");
    assert_int_equal(due.run_s, at("2026-03-29T01:00:00Z"));
    assert_int_equal(due.n_collapsed, 0);
    assert_int_equal(due.n_missed, 0);
}

static void a_repeated_time_is_due_the_first_time_only(void **state)
{
    (void)state;
    struct pl_cron_due due =
        look("30 2 * * *", &berlin_zone, "2026-10-24T00:30:00Z", "2026-10-25T00:31:00Z");
    assert_int_equal(due.run_s, at("2026-10-25T00:30:00Z"));
    due = look("30 2 * * *", &berlin_zone, "2026-10-25T00:30:00Z", "2026-10-25T01:31:00Z");
    assert_false(due.has_run);
    assert_int_equal(due.n_missed, 0);
}

static void real_time_goes_on_through_an_overlap(void **state)
{
    (void)state;
    /* 02:00 to 02:59 occur twice: 180 minutes between 01:00 and 03:00 local time. */
    struct pl_cron_due due =
        look("* * * * *", &berlin_zone, "2026-10-24T23:00:00Z", "2026-10-25T02:00:00Z");
    assert_int_equal(due.n_missed + due.n_collapsed + due.has_run, 180);
}

/* A running scheduler: it checks every minute, and continues after the time it has checked. */
struct world {
    struct pl_cron cron;
    int64_t start_s, after_s;
    uint16_t n_times[4 * DAY_MINUTES]; /* runs in each minute after start_s */
    int64_t n_runs;
};

static void count(struct world *world, int64_t unix_s, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t minute = (unix_s - world->start_s) / MINUTE_S - i;
        assert_in_range(minute, 0, 4 * DAY_MINUTES - 1);
        world->n_times[minute]++;
    }
}

static void pass(struct world *world, int64_t from_s, int64_t to_s)
{
    for (int64_t now_s = from_s; now_s <= to_s; now_s += MINUTE_S) {
        struct pl_cron_due due = pl_cron_due(&world->cron, NULL, world->after_s, now_s);
        if (due.has_run) {
            world->n_runs++;
            count(world, due.run_s, due.n_collapsed + 1);
        }
        if (due.n_missed)
            count(world, due.last_missed_s, due.n_missed);
        world->after_s = due.last_s;
    }
}

static void start(struct world *world)
{
    *world = (struct world){.start_s = at("2026-03-02T00:00:00Z")};
    world->after_s = world->start_s - 1;
    assert_int_equal(pl_cron_parse(PL_STR("* * * * *"), &world->cron, NULL), PL_OK);
}

static void expect_each_once(const struct world *world, int64_t n_minutes)
{
    for (int64_t i = 0; i < 4 * DAY_MINUTES; i++)
        if (world->n_times[i] != (i < n_minutes))
            fail_msg("minute %d came %d times", (int)i, world->n_times[i]);
}

static void a_clock_put_forward_a_day_has_each_minute_once(void **state)
{
    (void)state;
    struct world world;
    start(&world);
    int64_t noon_s = world.start_s + DAY_S / 2;
    pass(&world, world.start_s, noon_s);
    int64_t n_before = world.n_runs;
    pass(&world, noon_s + DAY_S, noon_s + DAY_S);
    assert_int_equal(world.n_runs, n_before + 1); /* one catch-up for all */
    pass(&world, noon_s + DAY_S + MINUTE_S, world.start_s + 2 * DAY_S - MINUTE_S);
    expect_each_once(&world, 2 * DAY_MINUTES);
}

static void a_clock_put_back_a_day_has_each_minute_once(void **state)
{
    (void)state;
    struct world world;
    start(&world);
    int64_t noon_s = world.start_s + DAY_S / 2;
    pass(&world, world.start_s, noon_s + DAY_S);
    int64_t n_before = world.n_runs;
    pass(&world, noon_s, noon_s + DAY_S); /* the same day again */
    assert_int_equal(world.n_runs, n_before);
    pass(&world, noon_s + DAY_S + MINUTE_S, world.start_s + 2 * DAY_S - MINUTE_S);
    expect_each_once(&world, 2 * DAY_MINUTES);
}

static void a_day_forward_and_back_has_each_minute_once(void **state)
{
    (void)state;
    struct world world;
    start(&world);
    int64_t noon_s = world.start_s + DAY_S / 2;
    pass(&world, world.start_s, noon_s);
    pass(&world, noon_s + DAY_S, noon_s + DAY_S + 3600);
    pass(&world, noon_s + 3600, world.start_s + 3 * DAY_S - MINUTE_S);
    expect_each_once(&world, 3 * DAY_MINUTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_due_before_its_time),
        cmocka_unit_test(what_is_due_now_is_run_and_only_once),
        cmocka_unit_test(fifteen_minutes_of_sleep_are_caught_up_with_one_run),
        cmocka_unit_test(what_is_older_than_fifteen_minutes_is_missed),
        cmocka_unit_test(a_schedule_may_be_missed_without_anything_to_run),
        cmocka_unit_test(years_of_sleep_are_counted_up_to_the_cap),
        cmocka_unit_test(a_look_back_over_decades_ends_at_the_horizon),
        cmocka_unit_test(what_is_never_due_is_never_due),
        cmocka_unit_test(a_clock_put_back_makes_nothing_due_again),
        cmocka_unit_test(a_skipped_time_is_due_once_at_the_change),
        cmocka_unit_test(several_skipped_times_are_one_occurrence),
        cmocka_unit_test(a_repeated_time_is_due_the_first_time_only),
        cmocka_unit_test(real_time_goes_on_through_an_overlap),
        cmocka_unit_test(a_clock_put_forward_a_day_has_each_minute_once),
        cmocka_unit_test(a_clock_put_back_a_day_has_each_minute_once),
        cmocka_unit_test(a_day_forward_and_back_has_each_minute_once),
    };
    return cmocka_run_group_tests(tests, open_berlin, close_berlin);
}
