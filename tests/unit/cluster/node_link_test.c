/* Links: numbers, gaps, beats, caps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/node_fields.h"
#include "cluster/node_link.h"

enum { ASK = PL_NODE_LETTER_ASK, FRAMES = PL_NODE_LETTER_FRAMES, MAX = PL_NODE_LINK_WAITING_MAX };

/* --- sending --------------------------------------------------------------------------------- */

static void letters_are_numbered_from_one(void **state)
{
    (void)state;
    struct pl_node_link_out link = {0};
    uint64_t number = 0;
    for (uint64_t i = 1; i < 5; i++) {
        assert_true(pl_node_link_send(&link, FRAMES, 100, &number));
        assert_true(number == i);
    }
    assert_int_equal(link.n_waiting, 400);
}

static void frames_beyond_the_cap_are_dropped_and_leave_a_gap(void **state)
{
    (void)state;
    struct pl_node_link_out link = {0};
    uint64_t number = 0;
    assert_true(pl_node_link_send(&link, FRAMES, MAX, &number));
    assert_false(pl_node_link_send(&link, FRAMES, 1, &number));
    assert_true(number == 2);
    assert_int_equal(link.n_waiting, MAX);
    assert_int_equal(link.n_dropped, 1);
    pl_node_link_sent(&link, 1);
    assert_true(pl_node_link_send(&link, FRAMES, 1, &number));
    assert_true(number == 3);
}

static void asks_and_answers_are_never_dropped(void **state)
{
    (void)state;
    struct pl_node_link_out link = {.n_waiting = MAX};
    uint64_t number = 0;
    assert_true(pl_node_link_send(&link, ASK, 5000, &number));
    assert_true(pl_node_link_send(&link, PL_NODE_LETTER_ANSWER, 5000, &number));
    assert_int_equal(link.n_dropped, 0);
    assert_int_equal(link.n_waiting, MAX + 10000);
    assert_false(pl_node_link_send(&link, FRAMES, 0, &number));
}

static void a_size_that_cannot_be_is_dropped(void **state)
{
    (void)state;
    struct pl_node_link_out link = {0};
    uint64_t number = 0;
    assert_false(pl_node_link_send(&link, FRAMES, SIZE_MAX, &number));
    assert_int_equal(link.n_waiting, 0);
}

static void no_more_goes_out_than_waits(void **state)
{
    (void)state;
    struct pl_node_link_out link = {.n_waiting = 10};
    pl_node_link_sent(&link, 11);
    assert_int_equal(link.n_waiting, 0);
}

static void a_beat_is_due_every_second(void **state)
{
    (void)state;
    assert_false(pl_node_link_is_beat_due(5000, 5999));
    assert_true(pl_node_link_is_beat_due(5000, 6000));
}

/* --- receiving ------------------------------------------------------------------------------- */

static void letters_in_order_are_taken(void **state)
{
    (void)state;
    struct pl_node_link_in link = {0};
    for (uint64_t i = 1; i < 9; i++)
        assert_int_equal(pl_node_link_got(&link, FRAMES, i), PL_NODE_LINK_TAKE);
    assert_int_equal(link.n_gaps, 0);
}

static void a_missing_number_asks_again_once(void **state)
{
    (void)state;
    struct pl_node_link_in link = {0};
    assert_int_equal(pl_node_link_got(&link, FRAMES, 1), PL_NODE_LINK_TAKE);
    assert_int_equal(pl_node_link_got(&link, FRAMES, 4), PL_NODE_LINK_RESYNC);
    assert_int_equal(pl_node_link_got(&link, FRAMES, 5), PL_NODE_LINK_TAKE);
    assert_int_equal(link.n_gaps, 1);
}

static void the_first_letter_may_be_missing_too(void **state)
{
    (void)state;
    struct pl_node_link_in link = {0};
    assert_int_equal(pl_node_link_got(&link, ASK, 2), PL_NODE_LINK_RESYNC);
}

static void frames_that_come_twice_or_late_are_dropped(void **state)
{
    (void)state;
    struct pl_node_link_in link = {.last = 7};
    assert_int_equal(pl_node_link_got(&link, FRAMES, 7), PL_NODE_LINK_DROP);
    assert_int_equal(pl_node_link_got(&link, FRAMES, 3), PL_NODE_LINK_DROP);
    assert_true(link.last == 7);
}

static void an_ask_that_comes_late_is_taken(void **state)
{
    (void)state;
    struct pl_node_link_in link = {.last = 7};
    assert_int_equal(pl_node_link_got(&link, ASK, 6), PL_NODE_LINK_TAKE);
    assert_int_equal(pl_node_link_got(&link, PL_NODE_LETTER_ANSWER, 7), PL_NODE_LINK_TAKE);
    assert_true(link.last == 7);
}

static void a_letter_to_everybody_has_no_number(void **state)
{
    (void)state;
    struct pl_node_link_in link = {.last = 7};
    assert_int_equal(pl_node_link_got(&link, PL_NODE_LETTER_BELL, 0), PL_NODE_LINK_TAKE);
    assert_true(link.last == 7);
}

static void a_beat_ahead_of_what_came_asks_again_once(void **state)
{
    (void)state;
    struct pl_node_link_in link = {.last = 7};
    assert_int_equal(pl_node_link_beat(&link, 9), PL_NODE_LINK_RESYNC);
    assert_int_equal(pl_node_link_beat(&link, 9), PL_NODE_LINK_TAKE);
    assert_int_equal(pl_node_link_got(&link, FRAMES, 9), PL_NODE_LINK_DROP);
    assert_int_equal(pl_node_link_got(&link, FRAMES, 10), PL_NODE_LINK_TAKE);
    assert_int_equal(link.n_gaps, 1);
}

static void a_beat_that_was_overtaken_says_nothing(void **state)
{
    (void)state;
    struct pl_node_link_in link = {.last = 7};
    assert_int_equal(pl_node_link_beat(&link, 5), PL_NODE_LINK_TAKE);
    assert_int_equal(pl_node_link_beat(&link, 0), PL_NODE_LINK_TAKE);
    assert_true(link.last == 7);
}

/* --- beats ----------------------------------------------------------------------------------- */

static void a_beat_tells_each_receiver_its_own_number(void **state)
{
    (void)state;
    static const struct pl_node_id a = {{1}}, b = {{2}}, c = {{3}};
    PL_CLEANUP_BUF struct pl_buf body;
    uint64_t last = 99;
    pl_buf_init(&body, 0);
    pl_node_beat_add(&body, &a, 5);
    pl_node_beat_add(&body, &b, UINT64_MAX);
    assert_int_equal(pl_node_beat_find(pl_buf_str(&body), &a, &last), PL_OK);
    assert_true(last == 5);
    assert_int_equal(pl_node_beat_find(pl_buf_str(&body), &b, &last), PL_OK);
    assert_true(last == UINT64_MAX);
    assert_int_equal(pl_node_beat_find(pl_buf_str(&body), &c, &last), PL_OK);
    assert_true(last == 0);
    last = 99;
    assert_int_equal(pl_node_beat_find(PL_STR(""), &a, &last), PL_OK);
    assert_true(last == 0);
}

static void a_beat_that_is_cut_or_of_other_fields_is_none(void **state)
{
    (void)state;
    static const struct pl_node_id a = {{1}};
    PL_CLEANUP_BUF struct pl_buf body, odd;
    uint64_t last = 99;
    pl_buf_init(&body, 0);
    pl_buf_init(&odd, 0);
    pl_node_beat_add(&body, &a, 5);
    for (size_t n = 1; n < body.len; n++)
        assert_int_equal(pl_node_beat_find((struct pl_str){body.ptr, n}, &a, &last), PL_SYNTAX);
    pl_node_fields_put_number(&odd, 5);
    pl_node_fields_put_id(&odd, &a);
    assert_int_equal(pl_node_beat_find(pl_buf_str(&odd), &a, &last), PL_SYNTAX);
    assert_true(last == 99);
}

/* --- back-pressure --------------------------------------------------------------------------- */

static void a_session_with_a_mebibyte_waiting_reads_no_more(void **state)
{
    (void)state;
    assert_true(pl_node_session_may_read(PL_NODE_SESSION_WAITING_MAX - 1));
    assert_false(pl_node_session_may_read(PL_NODE_SESSION_WAITING_MAX));
}

static void a_node_with_256_mebibytes_waiting_takes_no_work(void **state)
{
    (void)state;
    assert_true(pl_node_may_work(PL_NODE_WAITING_MAX - 1));
    assert_false(pl_node_may_work(PL_NODE_WAITING_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_numbered_from_one),
        cmocka_unit_test(frames_beyond_the_cap_are_dropped_and_leave_a_gap),
        cmocka_unit_test(asks_and_answers_are_never_dropped),
        cmocka_unit_test(a_size_that_cannot_be_is_dropped),
        cmocka_unit_test(no_more_goes_out_than_waits),
        cmocka_unit_test(a_beat_is_due_every_second),
        cmocka_unit_test(letters_in_order_are_taken),
        cmocka_unit_test(a_missing_number_asks_again_once),
        cmocka_unit_test(the_first_letter_may_be_missing_too),
        cmocka_unit_test(frames_that_come_twice_or_late_are_dropped),
        cmocka_unit_test(an_ask_that_comes_late_is_taken),
        cmocka_unit_test(a_letter_to_everybody_has_no_number),
        cmocka_unit_test(a_beat_ahead_of_what_came_asks_again_once),
        cmocka_unit_test(a_beat_that_was_overtaken_says_nothing),
        cmocka_unit_test(a_beat_tells_each_receiver_its_own_number),
        cmocka_unit_test(a_beat_that_is_cut_or_of_other_fields_is_none),
        cmocka_unit_test(a_session_with_a_mebibyte_waiting_reads_no_more),
        cmocka_unit_test(a_node_with_256_mebibytes_waiting_takes_no_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
