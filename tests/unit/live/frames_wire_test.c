/* Events of a session there and back, unformatted, and formatted as the session's own server
 * does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live/history.h"
#include "live/wire/frames_wire.h"

static struct pl_session_frame frames[PL_FRAME_COUNT];

static struct pl_frames_letter make_letter(void)
{
    for (int i = 0; i < PL_FRAME_COUNT; i++)
        frames[i] = (struct pl_session_frame){
            .kind = (enum pl_frame_kind)i,
            .is_durable = i % 2,
            .sequence = 7 + i,
            .data = PL_STR("{\"a\":\n1}"),
            .whole =
                i == PL_FRAME_TURN_PATCH ? PL_STR("{\"a\":1,\"content\":[]}") : (struct pl_str){0},
        };
    return (struct pl_frames_letter){.session_id = PL_STR("sess_1"),
                                     .epoch = 3,
                                     .first = 7,
                                     .frames = frames,
                                     .n_frames = PL_FRAME_COUNT};
}

static void frames_are_equal(const struct pl_session_frame *a, const struct pl_session_frame *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->is_durable, b->is_durable);
    assert_int_equal(a->sequence, b->sequence);
    assert_true(pl_str_eq(a->data, b->data));
    assert_true(pl_str_eq(a->whole, b->whole));
    assert_int_equal(!a->whole.ptr, !b->whole.ptr);
}

static void a_letter_comes_as_it_was_sent(void **state)
{
    (void)state;
    struct pl_frames_letter sent = make_letter(), got;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_arena_init(&arena, 0);
    pl_buf_init(&bytes, 0);
    assert_int_equal(pl_frames_wire_write(&sent, &bytes, NULL), PL_OK);
    assert_int_equal(pl_frames_wire_read(pl_buf_str(&bytes), &arena, &got, NULL), PL_OK);
    assert_true(pl_str_eq(got.session_id, sent.session_id));
    assert_int_equal(got.epoch, 3);
    assert_int_equal(got.first, 7);
    assert_false(got.is_resync || got.is_gone);
    assert_int_equal(got.n_frames, PL_FRAME_COUNT);
    for (size_t i = 0; i < got.n_frames; i++)
        frames_are_equal(&got.frames[i], &frames[i]);
}

static void a_resync_says_whether_the_session_is_gone(void **state)
{
    (void)state;
    for (int gone = 0; gone < 2; gone++) {
        struct pl_frames_letter got,
            sent = {.session_id = PL_STR("s"), .epoch = 1, .is_resync = true, .is_gone = gone};
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_arena_init(&arena, 0);
        pl_buf_init(&bytes, 0);
        assert_int_equal(pl_frames_wire_write(&sent, &bytes, NULL), PL_OK);
        assert_int_equal(pl_frames_wire_read(pl_buf_str(&bytes), &arena, &got, NULL), PL_OK);
        assert_true(got.is_resync);
        assert_int_equal(got.is_gone, gone);
        assert_int_equal(got.n_frames, 0);
    }
}

/* A letter with one frame of `n` bytes of data. */
static void write_long(size_t n, struct pl_buf *to, struct pl_frames_letter *ret_letter,
                       struct pl_arena *arena)
{
    struct pl_frames_letter sent = make_letter();
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    pl_buf_fill(&data, 'x', n);
    frames[0].data = pl_buf_str(&data);
    sent.n_frames = 1;
    pl_buf_init(to, 0);
    assert_int_equal(pl_frames_wire_write(&sent, to, NULL), PL_OK);
    assert_int_equal(pl_frames_wire_read(pl_buf_str(to), arena, ret_letter, NULL), PL_OK);
}

static void what_no_letter_has_room_for_is_a_resync(void **state)
{
    (void)state;
    size_t n_around = 0;
    static const int more[] = {-1, 0, 1, 1000, 4 * PL_NODE_LETTER_MAX};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        struct pl_frames_letter got;
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf bytes;
        pl_arena_init(&arena, 0);
        if (!n_around) {
            write_long(1, &bytes, &got, &arena);
            n_around = bytes.len - 1;
            pl_buf_deinit(&bytes);
        }
        write_long((size_t)((int)(PL_FRAMES_WIRE_MAX - n_around) + more[i]), &bytes, &got, &arena);
        assert_true(bytes.len <= PL_FRAMES_WIRE_MAX);
        assert_int_equal(got.is_resync, more[i] > 0);
        assert_int_equal(got.n_frames, more[i] <= 0);
        assert_int_equal(got.first, 7);
    }
}

static void a_gap_is_refused(void **state)
{
    (void)state;
    struct pl_frames_letter sent = make_letter();
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    frames[3].sequence++;
    assert_int_equal(pl_frames_wire_write(&sent, &bytes, NULL), PL_INVALID);
    sent.n_frames = 0; /* neither frames nor a resync */
    assert_int_equal(pl_frames_wire_write(&sent, &bytes, NULL), PL_INVALID);
    assert_int_equal(bytes.len, 0);
}

static void a_letter_that_is_cut_anywhere_is_refused(void **state)
{
    (void)state;
    struct pl_frames_letter sent = make_letter(), got = {.epoch = 99};
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    assert_int_equal(pl_frames_wire_write(&sent, &bytes, NULL), PL_OK);
    for (size_t n = 0; n < bytes.len; n++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        struct pl_error err = {0};
        pl_arena_init(&arena, 0);
        assert_int_equal(pl_frames_wire_read((struct pl_str){bytes.ptr, n}, &arena, &got, &err),
                         PL_SYNTAX);
        assert_true(err.message[0]);
        assert_int_equal(got.epoch, 99);
    }
}

static void a_replay_for_another_server_reads_as_one_of_its_own(void **state)
{
    (void)state;
    struct pl_frames_letter all = make_letter();
    struct pl_history history = {0};
    for (size_t i = 0; i < all.n_frames; i++)
        assert_non_null(pl_history_add(&history, &frames[i], SIZE_MAX));
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf list;
    pl_arena_init(&arena, 0);
    pl_buf_init(&list, 0);
    struct pl_session_frame *got = NULL;
    size_t n = 0;
    assert_int_equal(pl_history_collect(&history, 8, &list), PL_FRAME_COUNT - 2);
    assert_int_equal(pl_frames_wire_read_list(pl_buf_str(&list), &arena, &got, &n, NULL), PL_OK);
    assert_int_equal(n, PL_FRAME_COUNT - 2);
    for (size_t i = 0; i < n; i++)
        frames_are_equal(&got[i], &frames[i + 2]);
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++) {
        PL_CLEANUP_BUF struct pl_buf here, there;
        pl_buf_init(&here, 0);
        pl_buf_init(&there, 0);
        assert_int_equal(pl_history_spell(&history, (enum pl_lane)lane, 3, 8, &here), n);
        pl_frames_spell(got, n, (enum pl_lane)lane, 3, &there);
        assert_true(here.len > 0 && pl_str_eq(pl_buf_str(&here), pl_buf_str(&there)));
        assert_true(pl_frames_fit(got, n, (enum pl_lane)lane));
    }
    got[0].whole = (struct pl_str){0}; /* the patch */
    assert_false(pl_frames_fit(got, n, PL_LANE_SSE_WHOLE));
    assert_true(pl_frames_fit(got, n, PL_LANE_SSE));
    pl_history_deinit(&history);
}

static void an_empty_list_is_one(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_session_frame *got = NULL;
    size_t n = 9;
    pl_arena_init(&arena, 0);
    assert_int_equal(pl_frames_wire_read_list(PL_STR(""), &arena, &got, &n, NULL), PL_OK);
    assert_int_equal(n, 0);
    assert_int_equal(pl_frames_wire_read_list(PL_STR("n12345678"), &arena, &got, &n, NULL),
                     PL_SYNTAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_comes_as_it_was_sent),
        cmocka_unit_test(a_resync_says_whether_the_session_is_gone),
        cmocka_unit_test(what_no_letter_has_room_for_is_a_resync),
        cmocka_unit_test(a_gap_is_refused),
        cmocka_unit_test(a_letter_that_is_cut_anywhere_is_refused),
        cmocka_unit_test(a_replay_for_another_server_reads_as_one_of_its_own),
        cmocka_unit_test(an_empty_list_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
