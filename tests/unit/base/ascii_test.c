/* ASCII characters: each class equals that of the C library in the C locale, and contains no
 * character beyond ASCII. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/ascii.h"

#include <ctype.h>
#include <string.h>

static void each_class_is_that_of_the_c_locale(void **state)
{
    (void)state;
    for (int c = 0; c < 128; c++) {
        assert_int_equal(pl_ascii_is_digit(c), isdigit(c) != 0);
        assert_int_equal(pl_ascii_is_letter(c), isalpha(c) != 0);
        assert_int_equal(pl_ascii_is_alnum(c), isalnum(c) != 0);
        assert_int_equal(pl_ascii_is_hex(c), isxdigit(c) != 0);
        assert_int_equal(pl_ascii_is_blank(c), isblank(c) != 0);
        assert_int_equal(pl_ascii_is_space(c), isspace(c) != 0);
        assert_int_equal(pl_ascii_is_white(c), c && strchr(" \t\r\n", c) != NULL);
        assert_int_equal(pl_ascii_lower((char)c), tolower(c));
        assert_int_equal(pl_ascii_upper((char)c), toupper(c));
    }
}

static void a_digit_has_its_value_and_nothing_else_has_one(void **state)
{
    (void)state;
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    for (int i = 0; i < 32; i++)
        assert_int_equal(pl_ascii_hex(digits[i]), i % 16);
    for (int c = -128; c < 256; c++)
        if (c <= 0 || !strchr(digits, c))
            assert_int_equal(pl_ascii_hex(c), -1);
}

static void what_is_not_ascii_is_in_no_class(void **state)
{
    (void)state;
    static const int others[] = {-128, -1, 128, 0xA0, 0xFF, 0x141, 0x661, 0x2003, 0x10FFFF};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        int c = others[i];
        assert_false(pl_ascii_is_alnum(c) || pl_ascii_is_hex(c) || pl_ascii_is_blank(c) ||
                     pl_ascii_is_white(c) || pl_ascii_is_space(c));
    }
    for (int c = 128; c < 256; c++) {
        assert_int_equal(pl_ascii_lower((char)c), (char)c);
        assert_int_equal(pl_ascii_upper((char)c), (char)c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_is_that_of_the_c_locale),
        cmocka_unit_test(a_digit_has_its_value_and_nothing_else_has_one),
        cmocka_unit_test(what_is_not_ascii_is_in_no_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
