#include "base/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum state { DOOR_SHUT, DOOR_OPEN, DOOR_LENT, DOOR_GONE };

#define TO(name) PL_TO(DOOR_##name)
static const struct pl_state states[] = {
    [DOOR_SHUT] = {"shut", TO(OPEN) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                   .why = "whoever has the key"},
    [DOOR_OPEN] = {"open", TO(SHUT) | TO(LENT), PL_WAIT_MS, PL_CANCEL_ENDS, .limit_ms = 5000},
    [DOOR_LENT] = {"lent", TO(SHUT), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = "it is brought back"},
    [DOOR_GONE] = {"gone", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("door", states);

static void the_table_says_which_state_may_follow_which(void **state)
{
    (void)state;
    static const bool may[4][4] = {
        [DOOR_SHUT] = {[DOOR_OPEN] = true, [DOOR_GONE] = true},
        [DOOR_OPEN] = {[DOOR_SHUT] = true, [DOOR_LENT] = true},
        [DOOR_LENT] = {[DOOR_SHUT] = true},
    };
    assert_int_equal(machine.n_states, 4);
    for (unsigned from = 0; from < 4; from++)
        for (unsigned to = 0; to < 4; to++)
            assert_int_equal(pl_machine_may(&machine, from, to), may[from][to]);
}

static void a_number_that_is_no_state_follows_nothing(void **state)
{
    (void)state;
    assert_false(pl_machine_may(&machine, DOOR_SHUT, 4));
    assert_false(pl_machine_may(&machine, DOOR_SHUT, 31 + 1));
    assert_false(pl_machine_may(&machine, 4, DOOR_SHUT));
    assert_false(pl_machine_may(&machine, (unsigned)-1, (unsigned)-1));
}

static void a_state_without_followers_is_the_last_one(void **state)
{
    (void)state;
    assert_true(pl_machine_is_last(&machine, DOOR_GONE));
    assert_false(pl_machine_is_last(&machine, DOOR_LENT));
}

static void what_somebody_else_has_is_away(void **state)
{
    (void)state;
    assert_true(pl_machine_is_away(&machine, DOOR_LENT));
    assert_false(pl_machine_is_away(&machine, DOOR_OPEN));
    assert_false(pl_machine_is_away(&machine, DOOR_GONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_says_which_state_may_follow_which),
        cmocka_unit_test(a_number_that_is_no_state_follows_nothing),
        cmocka_unit_test(a_state_without_followers_is_the_last_one),
        cmocka_unit_test(what_somebody_else_has_is_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
