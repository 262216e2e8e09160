/* TZif files: local times, and which of them are skipped or occur twice. */
#include "unit/cron/zones.h"

static void expect_offset(const char *rule, const char *instant, int32_t offset_s)
{
    PL_CLEANUP_BUF struct pl_buf file;
    pl_buf_init(&file, 0);
    make_zone(&file, berlin, 2, NULL, 0, rule);
    struct pl_tzif zone = open_zone(&file);
    struct pl_tz_era era = pl_tzif_era(&zone, at(instant));
    if (era.offset_s != offset_s)
        fail_msg("%s at %s: %d", rule, instant, era.offset_s);
    assert_true(era.start_s <= at(instant) && at(instant) < era.end_s);
}

static void a_rule_of_weekdays_is_followed_for_ever(void **state)
{
    (void)state;
    expect_offset(berlin_rule, "2026-03-29T00:59:59Z", 3600);
    expect_offset(berlin_rule, "2026-03-29T01:00:00Z", 7200);
    expect_offset(berlin_rule, "2026-10-25T00:59:59Z", 7200);
    expect_offset(berlin_rule, "2026-10-25T01:00:00Z", 3600);
    expect_offset(berlin_rule, "2526-07-01T00:00:00Z", 7200);
}

static void rules_of_the_south_of_days_and_of_odd_hours_are_followed(void **state)
{
    (void)state;
    expect_offset("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 39600);
    expect_offset("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01T00:00:00Z", 36000);
    expect_offset("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01T00:00:00Z", 39600);
    expect_offset("AAA0BBB,J60,J300", "2028-02-29T12:00:00Z", 0);
    expect_offset("AAA0BBB,J60,J300", "2028-03-01T12:00:00Z", 3600);
    expect_offset("AAA0BBB,59,300", "2028-02-29T12:00:00Z", 3600);
    expect_offset("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z", -7200);
    expect_offset("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -3600);
    expect_offset("EST5EDT,0/0,J365/25", "2026-01-01T04:59:59Z", -14400);
    expect_offset("EST5EDT,0/0,J365/25", "2026-12-31T12:00:00Z", -14400);
    expect_offset("UTC0", "2026-12-31T12:00:00Z", 0);
}

static void times_in_a_gap_and_in_an_overlap_are_told(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf file;
    pl_buf_init(&file, 0);
    make_zone(&file, berlin, 2, NULL, 0, berlin_rule);
    struct pl_tzif zone = open_zone(&file);
    struct pl_tz_instant one = pl_tzif_instant(&zone, at("2026-03-29T02:30:00Z"));
    assert_int_equal(one.fit, PL_TZ_GAP);
    assert_int_equal(one.unix_s, at("2026-03-29T01:00:00Z"));
    one = pl_tzif_instant(&zone, at("2026-10-25T02:30:00Z"));
    assert_int_equal(one.fit, PL_TZ_OVERLAP);
    assert_int_equal(one.unix_s, at("2026-10-25T00:30:00Z"));
    assert_int_equal(one.again_s, at("2026-10-25T01:30:00Z"));
    one = pl_tzif_instant(&zone, at("2026-10-25T03:00:00Z"));
    assert_int_equal(one.fit, PL_TZ_ONCE);
    assert_int_equal(one.unix_s, at("2026-10-25T02:00:00Z"));
    one = pl_tzif_instant(NULL, 42);
    assert_int_equal(one.fit, PL_TZ_ONCE);
    assert_int_equal(one.unix_s, 42);
}

static void the_table_comes_before_the_rule(void **state)
{
    (void)state;
    static const int32_t offsets[] = {-57368, 29032, 3600};
    const struct zone_change changes[] = {{at("1844-12-31T15:56:08Z"), 1},
                                          {at("2000-01-01T00:00:00Z"), 2}};
    PL_CLEANUP_BUF struct pl_buf file;
    pl_buf_init(&file, 0);
    make_zone(&file, offsets, 3, changes, 2, berlin_rule);
    struct pl_tzif zone = open_zone(&file);
    assert_int_equal(pl_tzif_era(&zone, INT64_MIN).offset_s, -57368);
    assert_int_equal(pl_tzif_era(&zone, changes[0].unix_s).offset_s, 29032);
    assert_int_equal(pl_tzif_era(&zone, changes[1].unix_s - 1).offset_s, 29032);
    assert_int_equal(pl_tzif_era(&zone, changes[1].unix_s).offset_s, 3600);
    assert_int_equal(pl_tzif_era(&zone, at("2000-07-01T00:00:00Z")).offset_s, 7200);
    struct pl_tz_instant one = pl_tzif_instant(&zone, at("1844-12-31T12:00:00Z"));
    assert_int_equal(one.fit, PL_TZ_GAP);
    assert_int_equal(one.unix_s, changes[0].unix_s);
}

static void version_1_has_short_times_and_no_rule(void **state)
{
    (void)state;
    const struct zone_change changes[] = {{-1000, 1}, {1000, 0}};
    PL_CLEANUP_BUF struct pl_buf file;
    pl_buf_init(&file, 0);
    add_part(&file, 0, 4, berlin, 2, changes, 2);
    struct pl_tzif zone = open_zone(&file);
    assert_int_equal(pl_tzif_era(&zone, -1001).offset_s, 3600);
    assert_int_equal(pl_tzif_era(&zone, -1000).offset_s, 7200);
    struct pl_tz_era era = pl_tzif_era(&zone, 1000);
    assert_int_equal(era.offset_s, 3600);
    assert_true(era.end_s == INT64_MAX);
    assert_int_equal(era.name.len, 3);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    const struct zone_change changes[] = {{-1000, 1}, {1000, 0}};
    PL_CLEANUP_BUF struct pl_buf file;
    pl_buf_init(&file, 0);
    make_zone(&file, berlin, 2, changes, 2, berlin_rule);
    for (size_t n = 0; n < file.len; n++) {
        struct pl_tzif zone;
        struct pl_error err = {0};
        assert_int_equal(pl_tzif_open((struct pl_str){file.ptr, n}, &zone, &err), PL_SYNTAX);
        assert_true(err.message[0] != '\0');
    }
}

static void expect_refusal(const int32_t *offsets, const struct zone_change *changes, uint32_t n,
                           const char *rule, enum pl_status wanted)
{
    PL_CLEANUP_BUF struct pl_buf file;
    struct pl_tzif zone;
    pl_buf_init(&file, 0);
    make_zone(&file, offsets, 2, changes, n, rule);
    enum pl_status status = pl_tzif_open(pl_buf_str(&file), &zone, NULL);
    if (status != wanted)
        fail_msg("%s: %s", rule, pl_status_info(status)->name);
}

static void what_no_zone_says_is_refused(void **state)
{
    (void)state;
    static const int32_t wide[] = {0, 26 * 3600 + 1};
    static const struct zone_change unsorted[] = {{1000, 0}, {1000, 1}};
    static const struct zone_change no_type[] = {{1000, 2}};
    static const struct zone_change far[] = {{INT64_MAX, 0}};
    static const char *const rules[] = {"C-1",
                                        "CET",
                                        "CET-25",
                                        "CET-1CEST",
                                        "CET-1CEST,M3.5.0",
                                        "CET-1CEST,M13.5.0,M1.1.1",
                                        "CET-1CEST,M3.6.0,M1.1.1",
                                        "CET-1CEST,M3.5.7,M1.1.1",
                                        "CET-1CEST,J0,J1",
                                        "CET-1CEST,366,1",
                                        "CET-1CEST,1/168,1",
                                        "<CET-1",
                                        "CET-1 ",
                                        "CET-1:60",
                                        "CET--1"};
    struct zone_change dense[40];
    for (int i = 0; i < 40; i++)
        dense[i] = (struct zone_change){i * 60, (uint8_t)(i % 2)};
    expect_refusal(wide, NULL, 0, "", PL_SYNTAX);
    expect_refusal(berlin, unsorted, 2, "", PL_SYNTAX);
    expect_refusal(berlin, no_type, 1, "", PL_SYNTAX);
    expect_refusal(berlin, far, 1, "", PL_SYNTAX);
    expect_refusal(berlin, dense, 40, "", PL_LIMIT);
    expect_refusal(berlin, dense, 4, "", PL_OK);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        expect_refusal(berlin, NULL, 0, rules[i], PL_SYNTAX);
}

static void names_that_lead_elsewhere_are_not_safe(void **state)
{
    (void)state;
    static const char *const good[] = {
        "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+1", "GMT-0", "EST5EDT"};
    static const char *const bad[] = {"",  "/etc/passwd", "../x", "Europe/../x", "Europe//x", "a/",
                                      ".", "Europe/.x",   "a\\b", "Europe/B e",  "a\nb"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(pl_tz_name_is_safe(pl_str_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(pl_tz_name_is_safe(pl_str_of(bad[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rule_of_weekdays_is_followed_for_ever),
        cmocka_unit_test(rules_of_the_south_of_days_and_of_odd_hours_are_followed),
        cmocka_unit_test(times_in_a_gap_and_in_an_overlap_are_told),
        cmocka_unit_test(the_table_comes_before_the_rule),
        cmocka_unit_test(version_1_has_short_times_and_no_rule),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(what_no_zone_says_is_refused),
        cmocka_unit_test(names_that_lead_elsewhere_are_not_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
