/* The cost of a long stream: rows and `content` stay within a multiple of the text, and a delta
 * needs no additional memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "session/session.h"

#include <stdlib.h>

static size_t n_allocations;

static void *counting(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    n_allocations += size != 0;
    if (size)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

struct cost {
    size_t n_text, n_frames, n_frame_bytes, n_row_bytes;
};

static struct cost stream(size_t n_deltas, int64_t ms_each)
{
    const struct pl_session_record record = {.id = PL_STR("sess_1"), .user_id = PL_STR("u")};
    struct pl_id_seed seed = {.unix_ms = 1767225600000, .random = {1, 2}};
    struct pl_session *session = NULL;
    struct pl_session_out out;
    struct cost cost = {0};
    pl_session_out_init(&out);
    assert_int_equal(pl_session_create(&record, &out, &session, NULL), PL_OK);
    struct pl_session_event event = {.kind = PL_SE_CHAT, .seed = &seed};
    event.chat.message = PL_STR("\"go\"");
    assert_int_equal(pl_session_apply(session, &event, &out, NULL), PL_OK);
    struct pl_id turn = {0};
    memcpy(turn.text, out.effects.ptr[0].turn_id.ptr, out.effects.ptr[0].turn_id.len);
    event = (struct pl_session_event){.kind = PL_SE_MODEL_TEXT, .seed = &seed};
    event.model.loop_id = PL_STR("root");
    event.model.turn_id = pl_str_of(turn.text);
    event.model.text = PL_STR("word ");
    n_allocations = 0;
    for (size_t i = 0; i < n_deltas; i++) {
        seed.unix_ms += ms_each;
        assert_int_equal(pl_session_apply(session, &event, &out, NULL), PL_OK);
        cost.n_text += event.model.text.len;
        cost.n_frames += out.frames.len;
        for (size_t k = 0; k < out.frames.len; k++)
            cost.n_frame_bytes += out.frames.ptr[k].data.len;
        for (size_t k = 0; k < out.rows.len; k++)
            cost.n_row_bytes += out.rows.ptr[k].turn.body.len;
    }
    pl_session_destroy(session);
    pl_session_out_deinit(&out);
    return cost;
}

static void deltas_are_gathered_and_content_costs_a_multiple(void **state)
{
    (void)state;
    struct cost cost = stream(40000, 0);
    assert_true(cost.n_frames <= cost.n_text / PL_SESSION_COALESCE_BYTES + 1);
    assert_true(cost.n_frame_bytes < 4 * cost.n_text);
}

static void checkpoints_cost_a_multiple_of_the_text(void **state)
{
    (void)state;
    struct cost small = stream(40000, 0), large = stream(160000, 0);
    assert_true(small.n_row_bytes < 12 * small.n_text);
    assert_true(large.n_row_bytes < 12 * large.n_text);
}

static void a_delta_allocates_nothing_of_its_own(void **state)
{
    (void)state;
    pl_mem_set_hook(counting, NULL);
    stream(100000, 0);
    pl_mem_set_hook(NULL, NULL);
    assert_true(n_allocations < 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deltas_are_gathered_and_content_costs_a_multiple),
        cmocka_unit_test(checkpoints_cost_a_multiple_of_the_text),
        cmocka_unit_test(a_delta_allocates_nothing_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
