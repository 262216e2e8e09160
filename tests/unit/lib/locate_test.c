#include "lib/locate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_at(struct pl_locator *locator, size_t offset, size_t line, size_t column)
{
    struct pl_position position = pl_locator_find(locator, offset);
    assert_int_equal(position.line, line);
    assert_int_equal(position.column, column);
}

static void columns_count_code_points_and_lines_count_newlines(void **state)
{
    (void)state;
    struct pl_locator locator = pl_locator(PL_STR("ab\n中文x\n\nz"));
    assert_at(&locator, 0, 1, 1);
    assert_at(&locator, 1, 1, 2);
    assert_at(&locator, 2, 1, 3);
    assert_at(&locator, 3, 2, 1);
    assert_at(&locator, 6, 2, 2);
    assert_at(&locator, 9, 2, 3);
    assert_at(&locator, 11, 3, 1);
    assert_at(&locator, 12, 4, 1);
}

static void an_earlier_offset_starts_over_and_one_too_far_is_the_end(void **state)
{
    (void)state;
    struct pl_locator locator = pl_locator(PL_STR("a\nb\nc"));
    assert_at(&locator, 4, 3, 1);
    assert_at(&locator, 1, 1, 2);
    assert_at(&locator, 99, 3, 2);
    struct pl_locator empty = pl_locator((struct pl_str){0});
    assert_at(&empty, 5, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_count_code_points_and_lines_count_newlines),
        cmocka_unit_test(an_earlier_offset_starts_over_and_one_too_far_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
