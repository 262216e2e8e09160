/* Cron expressions: the days and minutes they match, and the messages for invalid ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cron/cron.h"

static struct pl_cron parse(const char *text)
{
    struct pl_cron cron = {0};
    struct pl_error err = {0};
    if (pl_cron_parse(pl_str_of(text), &cron, &err) != PL_OK)
        fail_msg("%s: %s", text, err.message);
    return cron;
}

static bool has(const char *text, int year, int month, int day, int hour, int minute)
{
    struct pl_cron cron = parse(text);
    struct pl_civil civil = {.year = year,
                             .month = (uint8_t)month,
                             .day = (uint8_t)day,
                             .hour = (uint8_t)hour,
                             .minute = (uint8_t)minute};
    civil = pl_civil_of(pl_civil_unix_s(&civil));
    return pl_cron_has_minute(&cron, &civil);
}

static void expect_same(const char *a, const char *b)
{
    struct pl_cron one = parse(a), other = parse(b);
    if (one.minutes != other.minutes || one.hours != other.hours || one.days != other.days ||
        one.months != other.months || one.weekdays != other.weekdays)
        fail_msg("\"%s\" and \"%s\" differ", a, b);
}

static void expect_error(const char *text, size_t offset, const char *part)
{
    struct pl_cron cron = {.minutes = 42};
    struct pl_error err = {0};
    if (pl_cron_parse(pl_str_of(text), &cron, &err) != PL_SYNTAX)
        fail_msg("\"%s\" is taken", text);
    assert_int_equal(cron.minutes, 42);
    if (!err.has_position || err.offset != offset || !strstr(err.message, part))
        fail_msg("\"%s\": at %zu: %s", text, err.offset, err.message);
}

static void fields_are_values_ranges_steps_and_lists(void **state)
{
    (void)state;
    struct pl_cron cron = parse("1,10-12,30-40/5 */6 1-7 * *");
    assert_true(cron.minutes == (1ull << 1 | 7ull << 10 | 1ull << 30 | 1ull << 35 | 1ull << 40));
    assert_int_equal(cron.hours, 1 | 1 << 6 | 1 << 12 | 1 << 18);
    assert_int_equal(cron.days, 0xFE);
    assert_int_equal(cron.months, 0x1FFE);
    assert_int_equal(cron.weekdays, 0x7F);
    expect_same("50/5 * * * *", "50,55 * * * *");
    expect_same(" \t0  0\t1 1 * ", "0 0 1 1 *");
}

static void names_may_be_written_in_any_case(void **state)
{
    (void)state;
    expect_same("0 0 * jan,Mar-MAY mon-FRI", "0 0 * 1,3-5 1-5");
}

static void sunday_is_0_and_7_and_ends_a_week(void **state)
{
    (void)state;
    expect_same("0 0 * * 7", "0 0 * * 0");
    expect_same("0 0 * * FRI-SUN", "0 0 * * 5,6,0");
    expect_same("0 0 * * 5-7", "0 0 * * 5,6,0");
    expect_same("0 0 * * SUN-TUE", "0 0 * * 0-2");
    expect_same("0 0 * * 0-7", "0 0 * * *");
    expect_same("0 0 * * MON/2", "0 0 * * 1,3,5");
}

static void nicknames_stand_for_fields(void **state)
{
    (void)state;
    expect_same("@yearly", "0 0 1 1 *");
    expect_same("@annually", "0 0 1 1 *");
    expect_same("@monthly", "0 0 1 * *");
    expect_same(" @Weekly ", "0 0 * * 0");
    expect_same("@daily", "0 0 * * *");
    expect_same("@midnight", "0 0 * * *");
    expect_same("@hourly", "0 * * * *");
}

static void one_day_field_is_enough_when_both_are_restricted(void **state)
{
    (void)state;
    assert_true(has("0 0 13 * FRI", 2026, 11, 13, 0, 0)); /* a Friday */
    assert_true(has("0 0 13 * FRI", 2026, 11, 20, 0, 0));
    assert_true(has("0 0 13 * FRI", 2026, 10, 13, 0, 0));
    assert_false(has("0 0 13 * FRI", 2026, 10, 14, 0, 0));
    assert_false(has("0 0 13 * *", 2026, 11, 20, 0, 0));
    assert_false(has("0 0 ? * FRI", 2026, 10, 13, 0, 0));
    assert_false(has("0 0 *,13 * FRI", 2026, 10, 13, 0, 0));
    assert_true(has("0 0 */10 * FRI", 2026, 10, 11, 0, 0));
}

static void last_day_depends_on_month_and_year(void **state)
{
    (void)state;
    assert_true(has("0 0 L * *", 2027, 2, 28, 0, 0));
    assert_false(has("0 0 L * *", 2028, 2, 28, 0, 0));
    assert_true(has("0 0 L * *", 2028, 2, 29, 0, 0));
    assert_true(has("0 0 15,L * *", 2026, 4, 30, 0, 0));
    assert_true(has("0 0 15,L * *", 2026, 4, 15, 0, 0));
    assert_false(has("0 0 L * *", 2026, 5, 30, 0, 0));
}

static void weekdays_of_the_month_are_counted(void **state)
{
    (void)state;
    assert_true(has("0 0 * * MON#2", 2026, 11, 9, 0, 0));
    assert_false(has("0 0 * * MON#2", 2026, 11, 2, 0, 0));
    assert_false(has("0 0 * * MON#2", 2026, 11, 16, 0, 0));
    assert_true(has("0 0 * * 1#5", 2026, 11, 30, 0, 0));
    assert_true(has("0 0 * * 5L", 2026, 11, 27, 0, 0));
    assert_false(has("0 0 * * 5L", 2026, 11, 20, 0, 0));
    assert_true(has("0 0 * * friL", 2026, 10, 30, 0, 0));
    assert_true(has("0 0 * * 7L,MON", 2026, 11, 29, 0, 0));
    assert_true(has("0 0 * * 7L,MON", 2026, 11, 16, 0, 0));
}

static void stars_and_steps_in_the_time_follow_real_time(void **state)
{
    (void)state;
    assert_true(parse("* * * * *").follows_real_time);
    assert_true(parse("0 * * * *").follows_real_time);
    assert_true(parse("*/5 2 * * *").follows_real_time);
    assert_true(parse("0 1-5/2 * * *").follows_real_time);
    assert_false(parse("0 1-5 * * *").follows_real_time);
    assert_false(parse("0,30 2 */2 */2 *").follows_real_time);
}

static void mistakes_are_told_where_they_stand(void **state)
{
    (void)state;
    expect_error("", 0, "empty");
    expect_error("  ", 0, "empty");
    expect_error("60 * * * *", 0, "minute field has values from 0 to 59");
    expect_error("* 24 * * *", 2, "hour field has values from 0 to 23");
    expect_error("* * 0 * *", 4, "day-of-month field has values from 1 to 31");
    expect_error("* * * 13 *", 6, "month field has values from 1 to 12");
    expect_error("* * * * 8", 8, "day-of-week field has values from 0 to 7");
    expect_error("* * * FOO *", 6, "\"FOO\" is not a value");
    expect_error("* * * MON *", 6, "JAN to DEC");
    expect_error("MON * * * *", 0, "\"MON\" is not a value");
    expect_error("? * * * *", 0, "\"?\" is not a value");
    expect_error("* * *", 5, "month field is missing");
    expect_error("0 * * * * *", 10, "more than five fields");
    expect_error("*/0 * * * *", 2, "step of the minute field must be 1 to 60");
    expect_error("*/61 * * * *", 2, "step");
    expect_error("*/ * * * *", 2, "number is missing");
    expect_error("5-3 * * * *", 0, "5-59,0-3");
    expect_error("1, * * * *", 2, "value is missing");
    expect_error("1-- * * * *", 2, "value is missing");
    expect_error("1-2-3 * * * *", 3, "unexpected \"");
    expect_error("* * 15W * *", 6, "unexpected \"");
    expect_error("* * L-3 * *", 5, "unexpected \"");
    expect_error("* * * * L", 8, "5L");
    expect_error("* * * * MON#0", 12, "1 to 5");
    expect_error("* * * * MON#6", 12, "1 to 5");
    expect_error("* * * * MON-FRI#2", 15, "unexpected \"");
    expect_error("* L * * *", 2, "\"L\" is not a value");
    expect_error("@reboot", 0, "@hourly");
    expect_error("99999999999999999999 * * * *", 0, "minute field");
    expect_error("* * * *\n*", 7, "unexpected \"");
}

static void an_expression_has_at_most_128_bytes(void **state)
{
    (void)state;
    char text[PL_CRON_MAX_BYTES + 1];
    struct pl_cron cron;
    struct pl_error err = {0};
    memset(text, ' ', sizeof text);
    memcpy(text, "0 0 1 1 *", 9);
    assert_int_equal(pl_cron_parse((struct pl_str){text, PL_CRON_MAX_BYTES}, &cron, &err), PL_OK);
    assert_int_equal(pl_cron_parse((struct pl_str){text, sizeof text}, &cron, &err), PL_LIMIT);
    assert_non_null(strstr(err.message, "at most 128 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_values_ranges_steps_and_lists),
        cmocka_unit_test(names_may_be_written_in_any_case),
        cmocka_unit_test(sunday_is_0_and_7_and_ends_a_week),
        cmocka_unit_test(nicknames_stand_for_fields),
        cmocka_unit_test(one_day_field_is_enough_when_both_are_restricted),
        cmocka_unit_test(last_day_depends_on_month_and_year),
        cmocka_unit_test(weekdays_of_the_month_are_counted),
        cmocka_unit_test(stars_and_steps_in_the_time_follow_real_time),
        cmocka_unit_test(mistakes_are_told_where_they_stand),
        cmocka_unit_test(an_expression_has_at_most_128_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
