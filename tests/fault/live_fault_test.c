/* Commands and events for another server with every allocation refused in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fault/fault.h"
#include "live/wire/command_wire.h"
#include "live/wire/frames_wire.h"
#include "unit/live/commands.h"

static enum pl_status asks(void *ctx)
{
    struct pl_session_command sent = full_command(PL_COMMAND_EVENT, ctx), got;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_arena_init(&arena, 0);
    pl_buf_init(&bytes, 0);
    pl_session_command_init(&got, PL_COMMAND_LOOK, NULL, PL_STR("u"), PL_STR("s"));
    enum pl_status status = pl_command_wire_write_ask(&sent, &bytes, NULL);
    if (status != PL_OK) {
        assert_int_equal(bytes.len, 0);
        return status;
    }
    status = pl_command_wire_read_ask(pl_buf_str(&bytes), &arena, &got, NULL);
    assert_int_equal(got.kind, status == PL_OK ? PL_COMMAND_EVENT : PL_COMMAND_LOOK);
    return status;
}

static void an_ask_survives_every_refused_allocation(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_EVENTS; i++)
        assert_true(pl_fault_each(asks, (void *)&events[i]) > 1);
}

static enum pl_status answers(void *ctx)
{
    (void)ctx;
    struct pl_session_command given = full_command(PL_COMMAND_LOOK, &events[0]);
    struct pl_session_command asked = full_command(PL_COMMAND_LOOK, &events[0]);
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&bytes, 0);
    answer_fully(&given);
    enum pl_status status = given.reply.status;
    if (status == PL_OK)
        status = pl_command_wire_write_answer(&given, &bytes, NULL);
    if (status == PL_OK)
        status = pl_command_wire_read_answer(pl_buf_str(&bytes), &asked, NULL);
    assert_int_equal(asked.problem, status == PL_OK ? PL_PROBLEM_SESSION_BUSY : PL_PROBLEM_COUNT);
    pl_buf_deinit(&given.reply);
    pl_buf_deinit(&asked.reply);
    return status;
}

static void an_answer_survives_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(answers, NULL) > 2);
}

static enum pl_status sends_frames(void *ctx)
{
    (void)ctx;
    struct pl_session_frame frame = {.kind = PL_FRAME_TURN_PATCH,
                                     .sequence = 5,
                                     .data = PL_STR("{}"),
                                     .whole = PL_STR("{\"content\":[]}")};
    struct pl_frames_letter got = {0}, sent = {.session_id = PL_STR("sess_1"),
                                               .epoch = 1,
                                               .first = 5,
                                               .frames = &frame,
                                               .n_frames = 1};
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf bytes, spelled;
    pl_arena_init(&arena, 0);
    pl_buf_init(&bytes, 0);
    pl_buf_init(&spelled, 0);
    enum pl_status status = pl_frames_wire_write(&sent, &bytes, NULL);
    if (status == PL_OK)
        status = pl_frames_wire_read(pl_buf_str(&bytes), &arena, &got, NULL);
    if (status != PL_OK)
        return status;
    pl_frames_spell(got.frames, got.n_frames, PL_LANE_SSE_WHOLE, got.epoch, &spelled);
    return spelled.status;
}

static void frames_survive_every_refused_allocation(void **state)
{
    (void)state;
    assert_true(pl_fault_each(sends_frames, NULL) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ask_survives_every_refused_allocation),
        cmocka_unit_test(an_answer_survives_every_refused_allocation),
        cmocka_unit_test(frames_survive_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
