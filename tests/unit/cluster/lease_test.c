/* Leases: how a node keeps its own, and when it may treat another's as expired. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/lease.h"

enum { START_MS = 100000 };

/* Sent and answered at these times. */
static void renew(struct pl_lease *lease, int64_t sent_ms, int64_t came_ms)
{
    pl_lease_ask(lease, sent_ms);
    pl_lease_renewed(lease, came_ms);
}

/* Renewed every second, the last time at the end. */
static struct pl_lease held_from(int64_t start_ms, int64_t end_ms)
{
    struct pl_lease lease;
    pl_lease_init(&lease);
    for (int64_t ms = start_ms; ms <= end_ms; ms += PL_LEASE_EVERY_MS)
        renew(&lease, ms, ms + 5);
    return lease;
}

/* --- its own --------------------------------------------------------------------------------- */

static void a_node_holds_nothing_before_its_first_renewal_came(void **state)
{
    (void)state;
    struct pl_lease lease;
    pl_lease_init(&lease);
    assert_false(pl_lease_holds(&lease, START_MS));
    pl_lease_ask(&lease, START_MS);
    assert_false(pl_lease_holds(&lease, START_MS));
    assert_int_equal(pl_lease_left_ms(&lease, START_MS), 0);
    pl_lease_renewed(&lease, START_MS + 1);
    assert_true(pl_lease_holds(&lease, START_MS + 1));
}

static void the_first_renewal_is_sent_at_once(void **state)
{
    (void)state;
    struct pl_lease lease;
    pl_lease_init(&lease);
    assert_true(pl_lease_is_time(&lease, 0));
}

static void renewals_are_sent_a_second_apart_and_one_at_a_time(void **state)
{
    (void)state;
    struct pl_lease lease;
    pl_lease_init(&lease);
    pl_lease_ask(&lease, 0);
    assert_false(pl_lease_is_time(&lease, 10 * PL_LEASE_EVERY_MS));
    pl_lease_renewed(&lease, 5);
    assert_false(pl_lease_is_time(&lease, PL_LEASE_EVERY_MS - 1));
    assert_true(pl_lease_is_time(&lease, PL_LEASE_EVERY_MS));
}

static void a_failed_renewal_is_tried_again_after_a_second(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS);
    pl_lease_ask(&lease, START_MS + 1000);
    pl_lease_failed(&lease);
    assert_true(pl_lease_holds(&lease, START_MS + 1000));
    assert_false(pl_lease_is_time(&lease, START_MS + 1999));
    assert_true(pl_lease_is_time(&lease, START_MS + 2000));
}

static void a_lease_counts_from_when_its_renewal_was_sent(void **state)
{
    (void)state;
    struct pl_lease lease;
    pl_lease_init(&lease);
    renew(&lease, START_MS, START_MS + 900);
    assert_int_equal(pl_lease_left_ms(&lease, START_MS + 1000), PL_LEASE_TTL_MS - 1000);
    assert_true(pl_lease_holds(&lease, START_MS + PL_LEASE_TTL_MS));
    assert_false(pl_lease_holds(&lease, START_MS + PL_LEASE_TTL_MS + 1));
    assert_int_equal(lease.state, PL_LEASE_LAPSED);
    assert_int_equal(pl_lease_left_ms(&lease, START_MS + PL_LEASE_TTL_MS + 1), 0);
}

static void an_answer_that_took_longer_than_the_lease_renews_nothing(void **state)
{
    (void)state;
    struct pl_lease lease;
    pl_lease_init(&lease);
    renew(&lease, START_MS, START_MS + PL_LEASE_TTL_MS + 1);
    assert_int_equal(lease.state, PL_LEASE_ENTERING);
    lease = held_from(START_MS, START_MS);
    assert_false(pl_lease_holds(&lease, START_MS + 5000));
    renew(&lease, START_MS + 5000, START_MS + 9001);
    assert_int_equal(lease.state, PL_LEASE_LAPSED);
}

static void a_lapsed_lease_goes_on_trying_and_is_held_again(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS);
    int64_t later_ms = START_MS + 60000;
    assert_false(pl_lease_holds(&lease, later_ms));
    assert_true(pl_lease_is_time(&lease, later_ms));
    renew(&lease, later_ms, later_ms + 3);
    assert_true(pl_lease_holds(&lease, later_ms + 3));
}

static void an_answer_nobody_asked_for_changes_nothing(void **state)
{
    (void)state;
    struct pl_lease lease;
    pl_lease_init(&lease);
    pl_lease_renewed(&lease, START_MS);
    assert_int_equal(lease.state, PL_LEASE_ENTERING);
    assert_false(lease.is_steady);
}

static void a_fenced_lease_is_never_held_again(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS);
    pl_lease_ask(&lease, START_MS + 1000);
    pl_lease_fence(&lease);
    assert_false(pl_lease_holds(&lease, START_MS + 1000));
    assert_false(pl_lease_is_time(&lease, START_MS + 99000));
    pl_lease_renewed(&lease, START_MS + 1001);
    assert_int_equal(lease.state, PL_LEASE_FENCED);
    pl_lease_fence(&lease);
    assert_int_equal(lease.state, PL_LEASE_FENCED);
}

static void an_answer_after_the_fence_does_not_undo_it(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS);
    pl_lease_fence(&lease);
    lease.is_asking = true;
    pl_lease_renewed(&lease, START_MS + 1);
    assert_int_equal(lease.state, PL_LEASE_FENCED);
    assert_false(pl_lease_holds(&lease, START_MS + 1));
}

static void a_fenced_node_enters_again_as_from_the_beginning(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS + 9000);
    pl_lease_fence(&lease);
    pl_lease_enter_again(&lease);
    assert_int_equal(lease.state, PL_LEASE_ENTERING);
    assert_true(pl_lease_is_time(&lease, START_MS + 9001));
    renew(&lease, START_MS + 9001, START_MS + 9002);
    assert_true(pl_lease_holds(&lease, START_MS + 9002));
    assert_false(pl_lease_may_take_over(&lease, START_MS + 9002));
}

static void a_lease_that_was_left_stays_so(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS);
    pl_lease_leave(&lease);
    pl_lease_leave(&lease);
    pl_lease_fence(&lease);
    assert_int_equal(lease.state, PL_LEASE_LEFT);
    assert_false(pl_lease_is_time(&lease, START_MS + 5000));
    assert_false(pl_lease_holds(&lease, START_MS));
}

static void only_the_edges_of_the_diagram_are_walked(void **state)
{
    (void)state;
    static const char *const may[] = {
        [PL_LEASE_ENTERING] = ".h.fl", [PL_LEASE_HELD] = "..lfx", [PL_LEASE_LAPSED] = ".h.fl",
        [PL_LEASE_FENCED] = "e...l",   [PL_LEASE_LEFT] = ".....",
    };
    for (unsigned from = 0; from < 5; from++)
        for (unsigned to = 0; to < 5; to++)
            assert_int_equal(pl_lease_may((enum pl_lease_state)from, (enum pl_lease_state)to),
                             may[from][to] != '.');
    assert_false(pl_lease_may((enum pl_lease_state)5, PL_LEASE_HELD));
    assert_false(pl_lease_may(PL_LEASE_HELD, (enum pl_lease_state)5));
}

static void a_writer_is_stuck_after_five_seconds_of_silence(void **state)
{
    (void)state;
    assert_false(pl_lease_writer_is_stuck(START_MS, START_MS + 4999));
    assert_true(pl_lease_writer_is_stuck(START_MS, START_MS + 5000));
}

/* --- taking over ----------------------------------------------------------------------------- */

static void who_renewed_for_a_whole_lease_may_take_over(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS + 4000);
    assert_true(pl_lease_may_take_over(&lease, START_MS + 4005));
}

static void who_has_just_entered_may_not_take_over(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS + 3000);
    assert_false(pl_lease_may_take_over(&lease, START_MS + 4004));
}

static void one_renewal_that_came_late_begins_the_count_anew(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS + 9000);
    int64_t came_ms = START_MS + 9005 + PL_LEASE_STEADY_MS + 1;
    renew(&lease, START_MS + 10000, came_ms);
    assert_true(pl_lease_holds(&lease, came_ms));
    assert_false(pl_lease_may_take_over(&lease, came_ms));
    for (int64_t ms = came_ms + 1000; ms < came_ms + PL_LEASE_TTL_MS; ms += 1000) {
        renew(&lease, ms, ms);
        assert_false(pl_lease_may_take_over(&lease, ms));
    }
    renew(&lease, came_ms + PL_LEASE_TTL_MS, came_ms + PL_LEASE_TTL_MS);
    assert_true(pl_lease_may_take_over(&lease, came_ms + PL_LEASE_TTL_MS));
}

static void a_renewal_at_the_last_moment_is_in_time(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS + 9000);
    int64_t came_ms = START_MS + 9005 + PL_LEASE_STEADY_MS;
    renew(&lease, START_MS + 10000, came_ms);
    assert_true(pl_lease_may_take_over(&lease, came_ms));
}

static void one_renewal_that_failed_begins_the_count_anew(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS + 9000);
    pl_lease_ask(&lease, START_MS + 9500);
    pl_lease_failed(&lease);
    assert_false(pl_lease_may_take_over(&lease, START_MS + 9501));
    renew(&lease, START_MS + 10000, START_MS + 10001);
    assert_false(pl_lease_may_take_over(&lease, START_MS + 10001));
}

static void who_waits_for_a_renewal_too_long_may_not_take_over(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS + 9000);
    assert_true(pl_lease_may_take_over(&lease, START_MS + 9005 + PL_LEASE_STEADY_MS));
    assert_false(pl_lease_may_take_over(&lease, START_MS + 9005 + PL_LEASE_STEADY_MS + 1));
}

static void who_holds_no_lease_may_not_take_over(void **state)
{
    (void)state;
    struct pl_lease lease = held_from(START_MS, START_MS + 9000);
    pl_lease_fence(&lease);
    assert_false(pl_lease_may_take_over(&lease, START_MS + 9005));
}

/* --- the others' ----------------------------------------------------------------------------- */

static const struct pl_lease_row row = {PL_NODE_STATE_UP, .until_ms = 9000, .renewed_ms = 5000};

static void a_lease_that_has_passed_is_due(void **state)
{
    (void)state;
    assert_false(pl_lease_is_due(&row, 9000, false));
    assert_true(pl_lease_is_due(&row, 9001, false));
}

static void a_node_nobody_hears_is_due_after_two_seconds(void **state)
{
    (void)state;
    assert_false(pl_lease_is_due(&row, 6999, true));
    assert_true(pl_lease_is_due(&row, 7000, true));
    assert_false(pl_lease_is_due(&row, 7000, false));
}

static void a_draining_node_is_due_like_any_other(void **state)
{
    (void)state;
    struct pl_lease_row draining = row;
    draining.state = PL_NODE_STATE_DRAINING;
    assert_true(pl_lease_is_due(&draining, 9001, false));
    assert_false(pl_lease_is_due(&draining, 9000, false));
}

static void a_node_that_is_gone_is_not_taken_over_twice(void **state)
{
    (void)state;
    struct pl_lease_row gone = row;
    gone.state = PL_NODE_STATE_GONE;
    assert_false(pl_lease_is_due(&gone, 99000, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_holds_nothing_before_its_first_renewal_came),
        cmocka_unit_test(the_first_renewal_is_sent_at_once),
        cmocka_unit_test(renewals_are_sent_a_second_apart_and_one_at_a_time),
        cmocka_unit_test(a_failed_renewal_is_tried_again_after_a_second),
        cmocka_unit_test(a_lease_counts_from_when_its_renewal_was_sent),
        cmocka_unit_test(an_answer_that_took_longer_than_the_lease_renews_nothing),
        cmocka_unit_test(a_lapsed_lease_goes_on_trying_and_is_held_again),
        cmocka_unit_test(an_answer_nobody_asked_for_changes_nothing),
        cmocka_unit_test(a_fenced_lease_is_never_held_again),
        cmocka_unit_test(an_answer_after_the_fence_does_not_undo_it),
        cmocka_unit_test(a_fenced_node_enters_again_as_from_the_beginning),
        cmocka_unit_test(a_lease_that_was_left_stays_so),
        cmocka_unit_test(only_the_edges_of_the_diagram_are_walked),
        cmocka_unit_test(a_writer_is_stuck_after_five_seconds_of_silence),
        cmocka_unit_test(who_renewed_for_a_whole_lease_may_take_over),
        cmocka_unit_test(who_has_just_entered_may_not_take_over),
        cmocka_unit_test(one_renewal_that_came_late_begins_the_count_anew),
        cmocka_unit_test(a_renewal_at_the_last_moment_is_in_time),
        cmocka_unit_test(one_renewal_that_failed_begins_the_count_anew),
        cmocka_unit_test(who_waits_for_a_renewal_too_long_may_not_take_over),
        cmocka_unit_test(who_holds_no_lease_may_not_take_over),
        cmocka_unit_test(a_lease_that_has_passed_is_due),
        cmocka_unit_test(a_node_nobody_hears_is_due_after_two_seconds),
        cmocka_unit_test(a_draining_node_is_due_like_any_other),
        cmocka_unit_test(a_node_that_is_gone_is_not_taken_over_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
