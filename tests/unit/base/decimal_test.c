#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/decimal.h"

static void digits_are_the_number_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t number;
    } cases[] = {{"0", 0}, {"7", 7}, {"007", 7}, {"9223372036854775807", INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t number = -1;
        assert_true(pl_decimal_read(pl_str_of(cases[i].text), &number));
        assert_int_equal(number, cases[i].number);
    }
}

static void what_is_no_digits_is_no_number(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "x",
                                        "1x",
                                        "x1",
                                        "-1",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "1.0",
                                        "1e3",
                                        "0x1",
                                        "１",
                                        "9223372036854775808",
                                        "99999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t number = -1;
        assert_false(pl_decimal_read(pl_str_of(texts[i]), &number));
        assert_int_equal(number, -1);
    }
}

static void written_and_read_again_it_is_the_same(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {0, 9, 10, 99, 100, 4294967295u};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char text[PL_DECIMAL_MOST];
        int64_t number = -1;
        size_t n = pl_decimal_put(text, numbers[i]);
        assert_true(pl_decimal_read((struct pl_str){text, n}, &number));
        assert_int_equal(number, numbers[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_the_number_they_say),
        cmocka_unit_test(what_is_no_digits_is_no_number),
        cmocka_unit_test(written_and_read_again_it_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
