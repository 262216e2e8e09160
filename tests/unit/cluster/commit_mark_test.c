/* The state of a commit after a cut connection, by the writer's row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/commit_mark.h"

static enum pl_commit_mark look(int64_t number, int64_t acknowledged, int64_t in_doubt)
{
    struct pl_commit_mark_row row = {.is_there = true, .number = number};
    return pl_commit_mark(&row, acknowledged, in_doubt);
}

static void a_number_that_was_written_is_durable(void **state)
{
    (void)state;
    assert_int_equal(look(41, 40, 41), PL_COMMIT_MARK_DURABLE);
}

static void nothing_in_doubt_and_nothing_lost_is_durable(void **state)
{
    (void)state;
    assert_int_equal(look(40, 40, 40), PL_COMMIT_MARK_DURABLE);
}

static void a_number_that_was_not_written_is_done_again(void **state)
{
    (void)state;
    assert_int_equal(look(40, 40, 41), PL_COMMIT_MARK_UNDONE);
}

/* 40 was acknowledged, 41 and 42 failed, 43 is in doubt. */
static void numbers_that_failed_before_do_not_matter(void **state)
{
    (void)state;
    assert_int_equal(look(40, 40, 43), PL_COMMIT_MARK_UNDONE);
    assert_int_equal(look(43, 40, 43), PL_COMMIT_MARK_DURABLE);
}

static void a_number_below_an_acknowledged_one_went_back_in_time(void **state)
{
    (void)state;
    assert_int_equal(look(39, 40, 41), PL_COMMIT_MARK_REWOUND);
    assert_int_equal(look(0, 1, 1), PL_COMMIT_MARK_REWOUND);
}

static void a_row_that_is_gone_or_not_there_fences(void **state)
{
    (void)state;
    struct pl_commit_mark_row gone = {.is_there = true, .is_gone = true, .number = 41};
    struct pl_commit_mark_row none = {.number = 41};
    assert_int_equal(pl_commit_mark(&gone, 40, 41), PL_COMMIT_MARK_FENCED);
    assert_int_equal(pl_commit_mark(&none, 40, 41), PL_COMMIT_MARK_FENCED);
}

static void a_number_that_was_never_sent_fences(void **state)
{
    (void)state;
    assert_int_equal(look(42, 40, 41), PL_COMMIT_MARK_FENCED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_that_was_written_is_durable),
        cmocka_unit_test(nothing_in_doubt_and_nothing_lost_is_durable),
        cmocka_unit_test(a_number_that_was_not_written_is_done_again),
        cmocka_unit_test(numbers_that_failed_before_do_not_matter),
        cmocka_unit_test(a_number_below_an_acknowledged_one_went_back_in_time),
        cmocka_unit_test(a_row_that_is_gone_or_not_there_fences),
        cmocka_unit_test(a_number_that_was_never_sent_fences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
