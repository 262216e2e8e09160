/* Instants in RFC 3339, and their calendar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text/utc.h"

static void expect_text(int64_t unix_ms, const char *wanted)
{
    char text[PL_UTC_SIZE + 1] = {0};
    pl_utc_write(text, unix_ms);
    assert_string_equal(text, wanted);
}

static void instants_are_written_to_the_millisecond(void **state)
{
    (void)state;
    expect_text(0, "1970-01-01T00:00:00.000Z");
    expect_text(-1, "1969-12-31T23:59:59.999Z");
    expect_text(1767225600000, "2026-01-01T00:00:00.000Z");
    expect_text(951827696123, "2000-02-29T12:34:56.123Z");
}

static void years_beyond_four_digits_are_clamped(void **state)
{
    (void)state;
    expect_text(253402300799999, "9999-12-31T23:59:59.999Z");
    expect_text(253402300800000, "9999-12-31T23:59:59.999Z");
    expect_text(INT64_MAX, "9999-12-31T23:59:59.999Z");
    expect_text(-62167219200000, "0000-01-01T00:00:00.000Z");
    expect_text(INT64_MIN, "0000-01-01T00:00:00.000Z");
}

static void instants_are_read_with_offset_and_fraction(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t unix_us;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"1970-01-01t00:00:00z", 0},
        {"1970-01-01 00:00:00Z", 0},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1969-12-31T16:30:00-07:30", 0},
        {"1970-01-01T00:00:00.5Z", 500000},
        {"1970-01-01T00:00:00.123456789Z", 123456},
        {"1969-12-31T23:59:59.999999Z", -1},
        {"2000-02-29T12:34:56Z", 951827696000000},
        {"1990-12-31T23:59:60Z", 662688000000000},
        {"1990-12-31T15:59:60-08:00", 662688000000000},
        {"0000-01-01T00:00:00Z", -62167219200000000},
        {"9999-12-31T23:59:59Z", 253402300799000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t us = 42;
        print_message("# %s\n", cases[i].text);
        assert_true(pl_utc_read(pl_str_of(cases[i].text), &us));
        assert_int_equal(us, cases[i].unix_us);
    }
}

static void what_is_no_instant_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "1970-01-01",
        "1970-01-01T00:00:00",
        "1970-01-01T00:00Z",
        "1970-13-01T00:00:00Z",
        "1970-00-01T00:00:00Z",
        "1970-01-00T00:00:00Z",
        "1970-04-31T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z",
        "1970-01-01T00:00:61Z",
        "1970-01-01T00:00:60Z",
        "1970-01-01T00:00:00.Z",
        "1970-01-01T00:00:00+24:00",
        "1970-01-01T00:00:00+01:60",
        "1970-01-01T00:00:00+0100",
        "1970-01-01T00:00:00Z ",
        "197a-01-01T00:00:00Z",
        "1970-01-01X00:00:00Z",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t us = 42;
        print_message("# %s\n", cases[i]);
        assert_false(pl_utc_read(pl_str_of(cases[i]), &us));
        assert_int_equal(us, 42);
    }
}

/* Every day of 800 years, counted with the table of month lengths. */
static void the_calendar_agrees_with_counting_days(void **state)
{
    (void)state;
    struct pl_civil day = {.year = 1600, .month = 1, .day = 1, .weekday = 6};
    for (int64_t s = pl_civil_unix_s(&day); day.year < 2400; s += 86400) {
        struct pl_civil found = pl_civil_of(s);
        assert_int_equal(found.year, day.year);
        assert_int_equal(found.month, day.month);
        assert_int_equal(found.day, day.day);
        assert_int_equal(found.weekday, day.weekday);
        assert_int_equal(pl_civil_unix_s(&found), s);
        day.weekday = (uint8_t)((day.weekday + 1) % 7);
        if (++day.day > pl_civil_month_days(day.year, day.month)) {
            day.day = 1;
            if (++day.month > 12) {
                day.month = 1;
                day.year++;
            }
        }
    }
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    for (int64_t ms = -62167219200000; ms < 253402300799999; ms += 3196799963) {
        char text[PL_UTC_SIZE];
        int64_t us;
        pl_utc_write(text, ms);
        assert_true(pl_utc_read((struct pl_str){text, sizeof text}, &us));
        assert_int_equal(us, ms * 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants_are_written_to_the_millisecond),
        cmocka_unit_test(years_beyond_four_digits_are_clamped),
        cmocka_unit_test(instants_are_read_with_offset_and_fraction),
        cmocka_unit_test(what_is_no_instant_is_refused_and_changes_nothing),
        cmocka_unit_test(the_calendar_agrees_with_counting_days),
        cmocka_unit_test(what_is_written_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
