/* Calls by their ids: order, limits, and repeated ids. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/calls.h"

#include <stdio.h>

static enum pl_status add(struct pl_ext_calls *calls, int number)
{
    char id[32];
    snprintf(id, sizeof id, "call-%d", number);
    return pl_ext_calls_add(calls, pl_str_of(id), NULL);
}

static struct pl_ext_call *find(struct pl_ext_calls *calls, int number)
{
    char id[32];
    snprintf(id, sizeof id, "call-%d", number);
    return pl_ext_calls_find(calls, pl_str_of(id));
}

static void calls_run_in_order_and_sixteen_at_once(void **state)
{
    struct pl_ext_calls calls = {0};
    (void)state;
    for (int i = 0; i < 20; i++)
        assert_int_equal(add(&calls, i), PL_OK);
    for (int i = 0; i < PL_EXT_CALLS_AT_ONCE; i++)
        assert_ptr_equal(pl_ext_calls_next(&calls), find(&calls, i));
    assert_null(pl_ext_calls_next(&calls));
    pl_ext_calls_end(&calls, find(&calls, 3));
    assert_ptr_equal(pl_ext_calls_next(&calls), find(&calls, 16));
    assert_null(find(&calls, 3));
    pl_ext_calls_deinit(&calls);
}

static void the_queue_has_256_places(void **state)
{
    struct pl_ext_calls calls = {0};
    (void)state;
    for (int i = 0; i < PL_EXT_CALLS_QUEUED; i++)
        assert_int_equal(add(&calls, i), PL_OK);
    assert_int_equal(add(&calls, 256), PL_LIMIT);
    assert_non_null(pl_ext_calls_next(&calls));
    assert_int_equal(add(&calls, 256), PL_OK);
    pl_ext_calls_deinit(&calls);
}

static void an_id_that_is_used_or_was_lately_is_refused(void **state)
{
    struct pl_ext_calls calls = {0};
    (void)state;
    assert_int_equal(add(&calls, 0), PL_OK);
    assert_int_equal(add(&calls, 0), PL_CONFLICT);
    pl_ext_calls_end(&calls, pl_ext_calls_next(&calls));
    for (int i = 1; i < PL_EXT_CALLS_REMEMBERED; i++) {
        assert_int_equal(add(&calls, i), PL_OK);
        pl_ext_calls_end(&calls, pl_ext_calls_next(&calls));
    }
    assert_int_equal(add(&calls, 0), PL_CONFLICT);
    assert_int_equal(add(&calls, PL_EXT_CALLS_REMEMBERED), PL_OK);
    pl_ext_calls_end(&calls, pl_ext_calls_next(&calls));
    assert_int_equal(add(&calls, 0), PL_OK);
    assert_int_equal(add(&calls, 1), PL_CONFLICT);
    pl_ext_calls_deinit(&calls);
}

static void a_call_that_waits_can_end_too(void **state)
{
    struct pl_ext_calls calls = {0};
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(add(&calls, i), PL_OK);
    pl_ext_calls_end(&calls, find(&calls, 1));
    pl_ext_calls_end(&calls, find(&calls, 3));
    pl_ext_calls_end(&calls, find(&calls, 0));
    assert_int_equal(add(&calls, 4), PL_OK);
    assert_ptr_equal(pl_ext_calls_next(&calls), find(&calls, 2));
    assert_ptr_equal(pl_ext_calls_next(&calls), find(&calls, 4));
    assert_null(pl_ext_calls_next(&calls));
    pl_ext_calls_deinit(&calls);
}

static void an_id_has_1_to_256_bytes(void **state)
{
    char id[PL_EXT_CALL_ID_BYTES + 1];
    struct pl_ext_calls calls = {0};
    int thing = 0;
    (void)state;
    memset(id, 'x', sizeof id);
    assert_int_equal(pl_ext_calls_add(&calls, PL_STR(""), NULL), PL_INVALID);
    assert_int_equal(pl_ext_calls_add(&calls, (struct pl_str){id, sizeof id}, NULL), PL_INVALID);
    assert_int_equal(pl_ext_calls_add(&calls, (struct pl_str){id, PL_EXT_CALL_ID_BYTES}, &thing),
                     PL_OK);
    assert_ptr_equal(pl_ext_calls_next(&calls)->thing, &thing);
    assert_null(pl_ext_calls_find(&calls, PL_STR("y")));
    pl_ext_calls_deinit(&calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_run_in_order_and_sixteen_at_once),
        cmocka_unit_test(the_queue_has_256_places),
        cmocka_unit_test(an_id_that_is_used_or_was_lately_is_refused),
        cmocka_unit_test(a_call_that_waits_can_end_too),
        cmocka_unit_test(an_id_has_1_to_256_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
