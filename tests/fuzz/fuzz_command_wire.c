/* Any bytes as a command of another server, as its answer, and as events. Accepted input is written
 * again as the same bytes and read again. */
#include "live/wire/command_wire.h"
#include "live/wire/frames_wire.h"

#include <assert.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_ask(struct pl_str bytes)
{
    struct pl_session_command got;
    struct pl_error err = {0};
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf first, second;
    pl_arena_init(&arena, 0);
    pl_buf_init(&first, 0);
    pl_buf_init(&second, 0);
    pl_session_command_init(&got, PL_COMMAND_LOOK, NULL, PL_STR("u"), PL_STR("s"));
    enum pl_status status = pl_command_wire_read_ask(bytes, &arena, &got, &err);
    if (status != PL_OK) {
        assert(err.message[0] && got.kind == PL_COMMAND_LOOK && got.session_id.len == 1);
        return;
    }
    if (pl_command_wire_write_ask(&got, &first, NULL) != PL_OK ||
        pl_command_wire_read_ask(pl_buf_str(&first), &arena, &got, NULL) != PL_OK ||
        pl_command_wire_write_ask(&got, &second, NULL) != PL_OK)
        abort();
    assert(pl_str_eq(pl_buf_str(&first), pl_buf_str(&second)));
}

static void read_answer(struct pl_str bytes)
{
    struct pl_session_command got;
    PL_CLEANUP_BUF struct pl_buf first, second;
    pl_buf_init(&first, 0);
    pl_buf_init(&second, 0);
    pl_session_command_init(&got, PL_COMMAND_LOOK, NULL, PL_STR("u"), PL_STR("s"));
    if (pl_command_wire_read_answer(bytes, &got, NULL) == PL_OK) {
        if (pl_command_wire_write_answer(&got, &first, NULL) != PL_OK ||
            pl_command_wire_read_answer(pl_buf_str(&first), &got, NULL) != PL_OK ||
            pl_command_wire_write_answer(&got, &second, NULL) != PL_OK)
            abort();
        assert(pl_str_eq(pl_buf_str(&first), pl_buf_str(&second)));
    } else {
        assert(got.problem == PL_PROBLEM_COUNT && !got.reply.len);
    }
    pl_buf_deinit(&got.reply);
}

static void read_frames(struct pl_str bytes)
{
    struct pl_frames_letter letter;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf again, spelled;
    pl_arena_init(&arena, 0);
    pl_buf_init(&again, 0);
    pl_buf_init(&spelled, 0);
    if (pl_frames_wire_read(bytes, &arena, &letter, NULL) != PL_OK)
        return;
    enum pl_status status = pl_frames_wire_write(&letter, &again, NULL);
    assert(status == PL_OK || status == PL_LIMIT);
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
        pl_frames_spell(letter.frames, letter.n_frames, (enum pl_lane)lane, letter.epoch, &spelled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str bytes = {(const char *)data, size};
    read_ask(bytes);
    read_answer(bytes);
    read_frames(bytes);
    return 0;
}
