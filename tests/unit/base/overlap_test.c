#include "base/overlap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* Longer than the blocks that are compared at once. */
enum { LENGTH = 5000 };

static void the_first_and_the_last_byte_that_differ_are_found(void **state)
{
    (void)state;
    static char a[LENGTH], b[LENGTH];
    for (size_t i = 0; i < LENGTH; i++)
        a[i] = b[i] = (char)('a' + i % 7);
    struct pl_str x = {a, LENGTH}, y = {b, LENGTH};
    assert_int_equal(pl_overlap_head(x, y), LENGTH);
    assert_int_equal(pl_overlap_tail(x, y), LENGTH);
    for (size_t i = 0; i < LENGTH; i++) {
        b[i] = '!';
        if (pl_overlap_head(x, y) != i || pl_overlap_tail(x, y) != LENGTH - 1 - i)
            fail_msg("byte %zu", i);
        b[i] = a[i];
    }
}

static void the_shorter_text_bounds_both(void **state)
{
    (void)state;
    assert_int_equal(pl_overlap_head(PL_STR("abcabcabcabc"), PL_STR("abcabcabcabcabc")), 12);
    assert_int_equal(pl_overlap_tail(PL_STR("abcabcabcabc"), PL_STR("abcabcabcabcabc")), 12);
    assert_int_equal(pl_overlap_head(PL_STR("abcdefghi"), PL_STR("abcdefgh")), 8);
    assert_int_equal(pl_overlap_tail(PL_STR("ebcdefghi"), PL_STR("abcdefghi")), 8);
    assert_int_equal(pl_overlap_head((struct pl_str){0}, PL_STR("a")), 0);
    assert_int_equal(pl_overlap_tail((struct pl_str){0}, PL_STR("a")), 0);
    assert_int_equal(pl_overlap_tail((struct pl_str){0}, (struct pl_str){0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_and_the_last_byte_that_differ_are_found),
        cmocka_unit_test(the_shorter_text_bounds_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
