#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/tools/calc.h"

#include <string.h>

static void is(const char *expression, const char *value)
{
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf got;
    pl_buf_init(&got, 0);
    enum pl_status status = pl_calc(pl_str_of(expression), &got, &err);
    if (status != PL_OK)
        fail_msg("%s: %s", expression, err.message);
    pl_buf_addc(&got, '\0');
    assert_string_equal(got.ptr, value);
}

static void is_wrong(const char *expression, const char *says)
{
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf got;
    pl_buf_init(&got, 0);
    assert_int_equal(pl_calc(pl_str_of(expression), &got, &err), PL_INVALID);
    assert_int_equal(got.len, 0);
    if (!strstr(err.message, says))
        fail_msg("%s: \"%s\" does not say \"%s\"", expression, err.message, says);
}

static void operators_bind_as_in_school(void **state)
{
    (void)state;
    is("1 + 2 * 3", "7");
    is("(1 + 2) * 3", "9");
    is("10 - 4 - 3", "3");
    is("100 / 10 / 2", "5");
    is("2^3^2", "512");
    is("2**10", "1024");
    is("-2^2", "-4");
    is("2^-1", "0.5");
    is("2*-3+1", "-5");
    is("--3", "3");
    is("+3", "3");
    is("7 % 4 * 2", "6");
    is("-7 % 4", "-3");
    is("7.5 % 2", "1.5");
    is(" ( ( 5 ) ) ", "5");
}

static void whole_numbers_stay_exact(void **state)
{
    (void)state;
    is("9223372036854775807", "9223372036854775807");
    is("9007199254740993 + 1", "9007199254740994");
    is("3037000499 * 3037000499", "9223372030926249001");
    is("6 / 3", "2");
    is("1 / 4", "0.25");
    is("3^39", "4052555153018976267");
    is("9223372036854775807 + 1", "9.22337203685478e+18");
    is("(-9223372036854775807 - 1) / -1", "9.22337203685478e+18");
    is("(-9223372036854775807 - 1) % -1", "0");
    is("2^64", "1.84467440737096e+19");
}

static void decimals_have_fifteen_digits(void **state)
{
    (void)state;
    is("0.1 + 0.2", "0.3");
    is(".5", "0.5");
    is("5.", "5");
    is("007", "7");
    is("1e3", "1000");
    is("1.5e-3", "0.0015");
    is_wrong("2e + 1", "An operator is missing here");
}

static void functions_and_constants_are_known(void **state)
{
    (void)state;
    is("sqrt(16)", "4");
    is("max(1, 5, 3) - min(2, -2)", "7");
    is("round(2.567, 2)", "2.57");
    is("round(2.5)", "3");
    is("floor(-1.5) + ceil(1.2) + trunc(9.9)", "9");
    is("abs(-3) + ln(e) + log10(1000)", "7");
    is("cos(0) + sin(0) + tan(0) + exp(0)", "2");
    is("pi", "3.14159265358979");
    is("max(sqrt(max(16, 9)), 2)", "4");
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
    (void)state;
    is_wrong("", "A number is missing at the end (character 1");
    is_wrong("1 +", "A number is missing at the end");
    is_wrong("1 + * 2", "A number is missing here (character 5");
    is_wrong("(1", "not closed (character 1");
    is_wrong("1)", "not opened (character 2");
    is_wrong("1 2", "An operator is missing here");
    is_wrong("1 / 0", "divides by zero (character 3");
    is_wrong("5 % (2 - 2)", "divides by zero");
    is_wrong("sqrt(-1)", "no real value");
    is_wrong("10^400", "too large");
    is_wrong("1e999", "too large");
    is_wrong("system(1)", "\"system\" is unknown; use: abs,");
    is_wrong("sqrt 4", "followed by its arguments");
    is_wrong("sqrt(1, 2)", "different number of arguments");
    is_wrong("sqrt()", "A number is missing here");
    is_wrong("(1, 2)", "A comma can only separate");
    is_wrong("1, 2", "A comma can only separate");
    is_wrong(".", "A number must have digits");
    is_wrong("1 & 2", "An operator is missing here");
    is_wrong("\xC3\xBC", "A number is missing here");
}

static void depth_and_length_have_an_end(void **state)
{
    (void)state;
    char text[PL_CALC_MAX_TEXT + 2];
    memset(text, '(', PL_CALC_MAX_DEPTH);
    text[PL_CALC_MAX_DEPTH] = '1';
    memset(text + PL_CALC_MAX_DEPTH + 1, ')', PL_CALC_MAX_DEPTH);
    text[2 * PL_CALC_MAX_DEPTH + 1] = '\0';
    is(text, "1");
    memset(text, '(', PL_CALC_MAX_DEPTH + 1);
    text[PL_CALC_MAX_DEPTH + 1] = '\0';
    is_wrong(text, "nested too deep");
    memset(text, '-', PL_CALC_MAX_DEPTH + 1);
    is_wrong(text, "nested too deep");
    memset(text, '0', PL_CALC_MAX_TEXT);
    text[PL_CALC_MAX_TEXT] = '\0';
    is(text, "0");
    text[PL_CALC_MAX_TEXT] = '0';
    text[PL_CALC_MAX_TEXT + 1] = '\0';
    is_wrong(text, "at most 1000 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_in_school),
        cmocka_unit_test(whole_numbers_stay_exact),
        cmocka_unit_test(decimals_have_fifteen_digits),
        cmocka_unit_test(functions_and_constants_are_known),
        cmocka_unit_test(what_is_wrong_is_said_with_its_place),
        cmocka_unit_test(depth_and_length_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
