#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void equality_looks_at_length_and_bytes(void **state)
{
    (void)state;
    assert_true(pl_str_eq(PL_STR("abc"), pl_str_of("abc")));
    assert_false(pl_str_eq(PL_STR("abc"), PL_STR("abd")));
    assert_false(pl_str_eq(PL_STR("abc"), PL_STR("ab")));
    assert_false(pl_str_eq(PL_STR("a\0b"), PL_STR("a\0c")));
    assert_true(pl_str_eq((struct pl_str){0}, PL_STR("")));
}

static void a_null_string_is_an_empty_view(void **state)
{
    (void)state;
    assert_int_equal(pl_str_of(NULL).len, 0);
    assert_null(pl_str_of(NULL).ptr);
}

static void a_prefix_is_recognised(void **state)
{
    (void)state;
    assert_true(pl_str_starts(PL_STR("parley"), PL_STR("par")));
    assert_true(pl_str_starts(PL_STR("parley"), PL_STR("parley")));
    assert_true(pl_str_starts(PL_STR("parley"), (struct pl_str){0}));
    assert_true(pl_str_starts((struct pl_str){0}, (struct pl_str){0}));
    assert_false(pl_str_starts(PL_STR("par"), PL_STR("parley")));
    assert_true(pl_str_begins(PL_STR("parley"), "par"));
    assert_true(pl_str_begins(PL_STR("parley"), "parley"));
    assert_true(pl_str_begins((struct pl_str){0}, ""));
    assert_false(pl_str_begins(PL_STR("par"), "parley"));
    assert_false(pl_str_begins(PL_STR("parley"), "pals"));
    assert_false(pl_str_starts(PL_STR("parley"), PL_STR("bar")));
}

static void order_is_by_unsigned_bytes_then_length(void **state)
{
    (void)state;
    static const struct pl_str sorted[] = {
        {NULL, 0}, {"a", 1}, {"a\0", 2}, {"aa", 2}, {"b", 1}, {"\x7F", 1}, {"\x80", 1}, {"é", 2},
    };
    size_t n = sizeof sorted / sizeof *sorted;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            int order = pl_str_cmp(sorted[i], sorted[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    }
}

static void a_slice_is_clamped_to_the_view(void **state)
{
    (void)state;
    struct pl_str s = PL_STR("012345");
    assert_true(pl_str_eq(pl_str_slice(s, 1, 4), PL_STR("123")));
    assert_true(pl_str_eq(pl_str_slice(s, 4, 99), PL_STR("45")));
    assert_int_equal(pl_str_slice(s, 5, 2).len, 0);
    assert_int_equal(pl_str_slice(s, 99, 100).len, 0);
    assert_null(pl_str_slice((struct pl_str){0}, 1, 2).ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equality_looks_at_length_and_bytes),
        cmocka_unit_test(a_null_string_is_an_empty_view),
        cmocka_unit_test(a_prefix_is_recognised),
        cmocka_unit_test(order_is_by_unsigned_bytes_then_length),
        cmocka_unit_test(a_slice_is_clamped_to_the_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
