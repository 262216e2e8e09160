/* The life of an instance: its edges, the frames it handles, and how often it may crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/life.h"

static void an_instance_ends_in_every_state(void **state)
{
    const struct pl_machine *m = &pl_ext_life_machine;
    (void)state;
    for (unsigned s = PL_EXT_LIFE_SPAWNED; s <= PL_EXT_LIFE_DRAINING; s++) {
        assert_true(pl_machine_may(m, s, PL_EXT_LIFE_KILLED));
        assert_true(pl_machine_may(m, s, PL_EXT_LIFE_FAILED));
        assert_false(pl_machine_may(m, s, PL_EXT_LIFE_QUARANTINED));
    }
    assert_false(pl_machine_may(m, PL_EXT_LIFE_AWAITING_REGISTER, PL_EXT_LIFE_READY));
    assert_false(pl_machine_may(m, PL_EXT_LIFE_QUARANTINED, PL_EXT_LIFE_SPAWNED));
}

static void only_register_log_and_error_are_heard_before_ready(void **state)
{
    (void)state;
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_AWAITING_REGISTER, PL_EXT_TYPE_REGISTER),
                     PL_EXT_HEARD);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_SPAWNED, PL_EXT_TYPE_REGISTER), PL_EXT_TOO_EARLY);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_VALIDATING, PL_EXT_TYPE_REGISTER),
                     PL_EXT_TOO_EARLY);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_VALIDATING, PL_EXT_TYPE_LOG), PL_EXT_HEARD);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_SPAWNED, PL_EXT_TYPE_ERROR), PL_EXT_HEARD);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_RESOLVING_CAPS, PL_EXT_TYPE_HOST_CALL),
                     PL_EXT_REFUSED);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_AWAITING_REGISTER, PL_EXT_TYPE_TOOL_RESULT),
                     PL_EXT_TOO_EARLY);
}

static void calls_in_flight_end_while_it_drains(void **state)
{
    (void)state;
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_READY, PL_EXT_TYPE_HOST_CALL), PL_EXT_HEARD);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_DRAINING, PL_EXT_TYPE_TOOL_RESULT), PL_EXT_HEARD);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_DRAINING, PL_EXT_TYPE_HOST_CALL), PL_EXT_REFUSED);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_DRAINING, PL_EXT_TYPE_REGISTER), PL_EXT_TOO_LATE);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_STOPPED, PL_EXT_TYPE_LOG), PL_EXT_UNHEARD);
    assert_int_equal(pl_ext_life_hear(PL_EXT_LIFE_QUARANTINED, PL_EXT_TYPE_LOG), PL_EXT_UNHEARD);
}

static void the_wait_doubles_and_the_fifth_crash_is_the_last(void **state)
{
    struct pl_ext_crashes crashes = {0};
    (void)state;
    assert_int_equal(pl_ext_crashes_add(&crashes, 0), 1000);
    assert_int_equal(pl_ext_crashes_add(&crashes, 10), 2000);
    assert_int_equal(pl_ext_crashes_add(&crashes, 20), 4000);
    assert_int_equal(pl_ext_crashes_add(&crashes, 30), 8000);
    assert_int_equal(pl_ext_crashes_add(&crashes, 599999), -1);
    assert_int_equal(pl_ext_crashes_add(&crashes, 600000), -1);
    for (int64_t now_ms = 600001; now_ms < 600010; now_ms++)
        assert_int_equal(pl_ext_crashes_add(&crashes, now_ms), -1);
    /* All crashes are outside the window. */
    assert_int_equal(pl_ext_crashes_add(&crashes, 2000000), 1000);
}

static void a_crash_ten_minutes_ago_does_not_count(void **state)
{
    struct pl_ext_crashes crashes = {0};
    (void)state;
    for (int64_t now_ms = 0; now_ms < 6000000; now_ms += 150001)
        assert_int_not_equal(pl_ext_crashes_add(&crashes, now_ms), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instance_ends_in_every_state),
        cmocka_unit_test(only_register_log_and_error_are_heard_before_ready),
        cmocka_unit_test(calls_in_flight_end_while_it_drains),
        cmocka_unit_test(the_wait_doubles_and_the_fifth_crash_is_the_last),
        cmocka_unit_test(a_crash_ten_minutes_ago_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
