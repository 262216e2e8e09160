/* The owner of a session, and what each node does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/owning.h"

static const struct pl_node_id me = {{1}}, other = {{2}};

/* --- the owner ------------------------------------------------------------------------------- */

static void a_session_without_an_owner_is_nobodys(void **state)
{
    (void)state;
    struct pl_owning_row row = {.has_owner = false, .owner = me};
    assert_int_equal(pl_owning_whose(&row, &me), PL_OWNING_NOBODYS);
}

static void a_session_of_a_node_that_is_gone_is_nobodys(void **state)
{
    (void)state;
    struct pl_owning_row row = {.has_owner = true, .owner = other, .is_owner_gone = true};
    assert_int_equal(pl_owning_whose(&row, &me), PL_OWNING_NOBODYS);
    row.owner = me;
    assert_int_equal(pl_owning_whose(&row, &me), PL_OWNING_NOBODYS);
}

static void an_owner_is_known_by_its_id(void **state)
{
    (void)state;
    struct pl_owning_row row = {.has_owner = true, .owner = me};
    assert_int_equal(pl_owning_whose(&row, &me), PL_OWNING_MINE);
    row.owner = other;
    assert_int_equal(pl_owning_whose(&row, &me), PL_OWNING_ANOTHERS);
}

/* --- decisions ------------------------------------------------------------------------------- */

static void looking_claims_nothing(void **state)
{
    (void)state;
    assert_int_equal(pl_owning_decide(PL_OWNING_LOOK, PL_OWNING_NOBODYS, true), PL_OWNING_DO_READ);
    assert_int_equal(pl_owning_decide(PL_OWNING_LOOK, PL_OWNING_MINE, true), PL_OWNING_DO_SERVE);
    assert_int_equal(pl_owning_decide(PL_OWNING_LOOK, PL_OWNING_ANOTHERS, true), PL_OWNING_DO_ASK);
}

static void changing_and_listening_claim_what_is_nobodys(void **state)
{
    (void)state;
    static const enum pl_owning_want wants[] = {PL_OWNING_CHANGE, PL_OWNING_LISTEN};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pl_owning_decide(wants[i], PL_OWNING_NOBODYS, true), PL_OWNING_DO_CLAIM);
        assert_int_equal(pl_owning_decide(wants[i], PL_OWNING_MINE, true), PL_OWNING_DO_SERVE);
        assert_int_equal(pl_owning_decide(wants[i], PL_OWNING_ANOTHERS, true), PL_OWNING_DO_ASK);
    }
}

static void without_its_lease_a_node_only_reads(void **state)
{
    (void)state;
    static const enum pl_owning_whose whose[] = {PL_OWNING_NOBODYS, PL_OWNING_MINE,
                                                 PL_OWNING_ANOTHERS};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pl_owning_decide(PL_OWNING_LOOK, whose[i], false), PL_OWNING_DO_READ);
        assert_int_equal(pl_owning_decide(PL_OWNING_CHANGE, whose[i], false), PL_OWNING_DO_REFUSE);
        assert_int_equal(pl_owning_decide(PL_OWNING_LISTEN, whose[i], false), PL_OWNING_DO_REFUSE);
    }
}

/* --- its life -------------------------------------------------------------------------------- */

static enum pl_owning_state after(const enum pl_owning_event *events, size_t n)
{
    enum pl_owning_state state = PL_OWNING_FREE;
    for (size_t i = 0; i < n; i++)
        assert_true(pl_owning_step(&state, events[i]));
    return state;
}
#define AFTER(...)                                                                                 \
    after((const enum pl_owning_event[]){__VA_ARGS__},                                             \
          sizeof((const enum pl_owning_event[]){__VA_ARGS__}) / sizeof(enum pl_owning_event))

static void a_session_is_claimed_served_and_given_back(void **state)
{
    (void)state;
    assert_int_equal(AFTER(PL_OWNING_WANT), PL_OWNING_CLAIMING);
    assert_int_equal(AFTER(PL_OWNING_WANT, PL_OWNING_CLAIMED), PL_OWNING_OWNED);
    assert_int_equal(AFTER(PL_OWNING_WANT, PL_OWNING_CLAIMED, PL_OWNING_WANT), PL_OWNING_OWNED);
    assert_int_equal(AFTER(PL_OWNING_WANT, PL_OWNING_CLAIMED, PL_OWNING_RELEASE),
                     PL_OWNING_RELEASING);
    assert_int_equal(
        AFTER(PL_OWNING_WANT, PL_OWNING_CLAIMED, PL_OWNING_RELEASE, PL_OWNING_RELEASED),
        PL_OWNING_FREE);
}

static void a_claim_that_came_too_late_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(AFTER(PL_OWNING_WANT, PL_OWNING_DENIED), PL_OWNING_FREE);
}

static void what_could_not_be_given_back_is_still_owned(void **state)
{
    (void)state;
    assert_int_equal(AFTER(PL_OWNING_WANT, PL_OWNING_CLAIMED, PL_OWNING_RELEASE, PL_OWNING_KEPT),
                     PL_OWNING_OWNED);
}

static void a_fence_drops_everything(void **state)
{
    (void)state;
    assert_int_equal(AFTER(PL_OWNING_DROP), PL_OWNING_FREE);
    assert_int_equal(AFTER(PL_OWNING_WANT, PL_OWNING_DROP), PL_OWNING_FREE);
    assert_int_equal(AFTER(PL_OWNING_WANT, PL_OWNING_CLAIMED, PL_OWNING_DROP), PL_OWNING_FREE);
    assert_int_equal(AFTER(PL_OWNING_WANT, PL_OWNING_CLAIMED, PL_OWNING_RELEASE, PL_OWNING_DROP),
                     PL_OWNING_FREE);
}

/* The diagram has 11 of the 28 pairs; all others leave the state unchanged. */
static void an_event_without_a_place_changes_nothing(void **state)
{
    (void)state;
    size_t n_steps = 0;
    for (unsigned from = 0; from <= PL_OWNING_RELEASING; from++)
        for (unsigned event = 0; event <= PL_OWNING_EVENT_COUNT; event++) {
            enum pl_owning_state at = (enum pl_owning_state)from;
            if (pl_owning_step(&at, (enum pl_owning_event)event))
                n_steps++;
            else
                assert_int_equal(at, from);
        }
    assert_int_equal(n_steps, 11);
}

static void a_quiet_session_is_given_back_after_two_seconds(void **state)
{
    (void)state;
    struct pl_owning_use use = {.quiet_ms = 5000};
    assert_false(pl_owning_may_release(&use, false, 6999));
    assert_true(pl_owning_may_release(&use, false, 7000));
}

static void another_listener_gets_a_quiet_session_at_once(void **state)
{
    (void)state;
    struct pl_owning_use use = {.quiet_ms = 5000};
    assert_true(pl_owning_may_release(&use, true, 5000));
}

static void a_session_that_is_used_stays(void **state)
{
    (void)state;
    struct pl_owning_use listened = {.n_listeners = 1}, running = {.is_running = true};
    assert_false(pl_owning_may_release(&listened, true, 99000));
    assert_false(pl_owning_may_release(&running, true, 99000));
    assert_false(pl_owning_may_release(&listened, false, 99000));
    assert_false(pl_owning_may_release(&running, false, 99000));
}

/* --- after an end ---------------------------------------------------------------------------- */

static void a_start_settles_what_has_no_living_owner(void **state)
{
    (void)state;
    struct pl_owning_left none = {.row = {.has_owner = false}};
    struct pl_owning_left gone = {.row = {.has_owner = true, .is_owner_gone = true}};
    struct pl_owning_left own = {.row = {.has_owner = true}, .is_same_node = true};
    struct pl_owning_left living = {.row = {.has_owner = true}};
    assert_true(pl_owning_may_settle(&none));
    assert_true(pl_owning_may_settle(&gone));
    assert_true(pl_owning_may_settle(&own));
    assert_false(pl_owning_may_settle(&living));
}

static void only_a_running_session_gets_a_new_epoch(void **state)
{
    (void)state;
    assert_int_equal(pl_owning_settle(true, false), PL_OWNING_SETTLE_RECOVER);
    assert_int_equal(pl_owning_settle(false, false), PL_OWNING_SETTLE_RELEASE);
    assert_int_equal(pl_owning_settle(true, true), PL_OWNING_SETTLE_RELEASE);
    assert_int_equal(pl_owning_settle(false, true), PL_OWNING_SETTLE_RELEASE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_without_an_owner_is_nobodys),
        cmocka_unit_test(a_session_of_a_node_that_is_gone_is_nobodys),
        cmocka_unit_test(an_owner_is_known_by_its_id),
        cmocka_unit_test(looking_claims_nothing),
        cmocka_unit_test(changing_and_listening_claim_what_is_nobodys),
        cmocka_unit_test(without_its_lease_a_node_only_reads),
        cmocka_unit_test(a_session_is_claimed_served_and_given_back),
        cmocka_unit_test(a_claim_that_came_too_late_leaves_nothing),
        cmocka_unit_test(what_could_not_be_given_back_is_still_owned),
        cmocka_unit_test(a_fence_drops_everything),
        cmocka_unit_test(an_event_without_a_place_changes_nothing),
        cmocka_unit_test(a_quiet_session_is_given_back_after_two_seconds),
        cmocka_unit_test(another_listener_gets_a_quiet_session_at_once),
        cmocka_unit_test(a_session_that_is_used_stays),
        cmocka_unit_test(a_start_settles_what_has_no_living_owner),
        cmocka_unit_test(only_a_running_session_gets_a_new_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
