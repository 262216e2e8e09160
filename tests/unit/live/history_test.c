#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/history.h"

static void add(struct pl_history *history, int64_t sequence, struct pl_str whole, size_t max_bytes)
{
    struct pl_session_frame frame = {.kind = PL_FRAME_TURN_PATCH,
                                     .sequence = sequence,
                                     .data = PL_STR("{\"patch\":1}"),
                                     .whole = whole};
    assert_non_null(pl_history_add(history, &frame, max_bytes));
}

static void fill(struct pl_history *history, int64_t n, size_t max_bytes)
{
    for (int64_t i = 1; i <= n; i++)
        add(history, i, (struct pl_str){0}, max_bytes);
}

static void all_that_was_missed_can_be_replayed(void **state)
{
    (void)state;
    struct pl_history history = {0};
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    fill(&history, 5, SIZE_MAX);
    assert_true(pl_history_covers(&history, PL_LANE_SSE, 2, 5));
    assert_int_equal(pl_history_spell(&history, PL_LANE_SSE, 7, 2, &to), 3);
    pl_buf_addc(&to, '\0');
    assert_null(strstr(to.ptr, "id: 7:2\n"));
    assert_non_null(strstr(to.ptr, "id: 7:3\n"));
    assert_non_null(strstr(to.ptr, "id: 7:5\n"));
    pl_history_deinit(&history);
}

static void nothing_is_missing_to_one_who_has_the_last(void **state)
{
    (void)state;
    struct pl_history history = {0};
    assert_true(pl_history_covers(&history, PL_LANE_WS, 5, 5));
    assert_false(pl_history_covers(&history, PL_LANE_WS, 6, 5));
}

static void what_was_dropped_is_not_covered(void **state)
{
    (void)state;
    struct pl_history history = {0};
    fill(&history, 100, 1000);
    assert_true(history.n_bytes <= 1000);
    assert_false(pl_history_covers(&history, PL_LANE_WS, 0, 100));
    assert_true(pl_history_covers(&history, PL_LANE_WS, history.first->sequence - 1, 100));
    assert_false(pl_history_covers(&history, PL_LANE_WS, history.first->sequence - 2, 100));
    pl_history_deinit(&history);
}

static void the_newest_stays_however_long_it_is(void **state)
{
    (void)state;
    struct pl_history history = {0};
    fill(&history, 3, 1);
    assert_ptr_equal(history.first, history.last);
    assert_int_equal(history.last->sequence, 3);
    pl_history_deinit(&history);
}

static void who_wants_the_content_is_not_replayed_patches_without_it(void **state)
{
    (void)state;
    struct pl_history history = {0};
    add(&history, 1, PL_STR("{\"patch\":1,\"content\":[]}"), SIZE_MAX);
    assert_true(pl_history_covers(&history, PL_LANE_WS_WHOLE, 0, 1));
    add(&history, 2, (struct pl_str){0}, SIZE_MAX);
    assert_false(pl_history_covers(&history, PL_LANE_WS_WHOLE, 0, 2));
    assert_true(pl_history_covers(&history, PL_LANE_WS, 0, 2));
    pl_history_deinit(&history);
}

static void sessions_share_what_a_shard_has(void **state)
{
    (void)state;
    assert_int_equal(pl_history_share(1), PL_HISTORY_MAX_BYTES);
    assert_int_equal(pl_history_share(4), PL_HISTORY_SHARD_BYTES / 4);
    assert_int_equal(pl_history_share(1000000), PL_HISTORY_MIN_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_was_missed_can_be_replayed),
        cmocka_unit_test(nothing_is_missing_to_one_who_has_the_last),
        cmocka_unit_test(what_was_dropped_is_not_covered),
        cmocka_unit_test(the_newest_stays_however_long_it_is),
        cmocka_unit_test(who_wants_the_content_is_not_replayed_patches_without_it),
        cmocka_unit_test(sessions_share_what_a_shard_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
