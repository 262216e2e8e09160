#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct pair {
    int a;
    const char *b;
};

static void pushed_elements_keep_their_index(void **state)
{
    (void)state;
    PL_VEC(struct pair) pairs = {0};
    for (int i = 0; i < 1000; i++)
        assert_true(pl_vec_push(&pairs, (struct pair){i, "text"}));
    assert_int_equal(pairs.len, 1000);
    assert_true(pairs.cap >= 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(pairs.ptr[i].a, i);
    pl_vec_deinit(&pairs);
    assert_null(pairs.ptr);
    assert_int_equal(pairs.len + pairs.cap, 0);
}

static void growing_ahead_takes_the_room_at_once(void **state)
{
    (void)state;
    PL_VEC(long) longs = {0};
    assert_true(pl_vec_grow((void **)&longs.ptr, &longs.cap, 500, sizeof *longs.ptr));
    long *before = longs.ptr;
    for (long i = 0; i < 500; i++)
        assert_true(pl_vec_push(&longs, i));
    assert_ptr_equal(longs.ptr, before);
    pl_vec_deinit(&longs);
}

static void a_size_that_overflows_leaves_the_vector_untouched(void **state)
{
    (void)state;
    PL_VEC(long) longs = {0};
    assert_true(pl_vec_push(&longs, 7));
    size_t cap = longs.cap;
    assert_false(pl_vec_grow((void **)&longs.ptr, &longs.cap, SIZE_MAX / 2, sizeof *longs.ptr));
    assert_int_equal(longs.cap, cap);
    assert_int_equal(longs.ptr[0], 7);
    pl_vec_deinit(&longs);
}

static void an_empty_vector_can_be_freed_twice(void **state)
{
    (void)state;
    PL_VEC(int) ints = {0};
    pl_vec_deinit(&ints);
    pl_vec_deinit(&ints);
    assert_null(ints.ptr);
}

static void added_elements_follow_each_other_and_reserved_room_does_not_move(void **state)
{
    (void)state;
    PL_VEC(int) numbers = {0};
    assert_true(pl_vec_reserve(&numbers, 100));
    const int *first = numbers.ptr;
    for (int i = 0; i < 100; i++) {
        int *number = pl_vec_add(&numbers);
        assert_non_null(number);
        *number = i;
    }
    assert_ptr_equal(numbers.ptr, first);
    assert_int_equal(numbers.len, 100);
    for (int i = 0; i < 100; i++)
        assert_int_equal(numbers.ptr[i], i);
    pl_vec_deinit(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_elements_follow_each_other_and_reserved_room_does_not_move),
        cmocka_unit_test(pushed_elements_keep_their_index),
        cmocka_unit_test(growing_ahead_takes_the_room_at_once),
        cmocka_unit_test(a_size_that_overflows_leaves_the_vector_untouched),
        cmocka_unit_test(an_empty_vector_can_be_freed_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
