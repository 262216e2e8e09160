/* Ends from outside: a person stops everything, the server shuts down in order, or it crashed. */
#include "session/session_int.h"

/* Cancels the work for this loop: its results have no receiver any more. */
static void cancel_work(struct pl_step *x, const struct pl_agent_loop *loop)
{
    struct pl_session_effect effect = {
        .kind = PL_EFFECT_CANCEL_MODEL,
        .loop_id = pl_str_of(loop->id.text),
    };
    if (loop->summary.id.text[0]) {
        effect.compaction_id = pl_str_of(loop->summary.id.text);
        pl_step_want(x, &effect);
    }
    const struct pl_turn *turn = loop->turn;
    if (!turn)
        return;
    effect.turn_id = pl_str_of(turn->id.text);
    effect.compaction_id = (struct pl_str){0};
    if (!turn->has_ended)
        pl_step_want(x, &effect);
    effect.kind = PL_EFFECT_CANCEL_TOOL;
    for (size_t i = 0; i < turn->calls.len; i++) {
        const struct pl_tool_call *call = &turn->calls.ptr[i];
        if (!call->is_started || call->status != PL_TOOL_CALL_PENDING ||
            pl_agent_loop_of_call(x->s, pl_str_of(call->id.text)))
            continue;
        effect.tool_call_id = pl_str_of(call->id.text);
        effect.tool_name = call->tool_name;
        pl_step_want(x, &effect);
    }
}

/* After a crash it is unknown how far a call got: it counts as failed and is not repeated
 * automatically. */
static void fail_calls(struct pl_step *x, struct pl_agent_loop *loop)
{
    for (size_t i = 0; i < loop->turn->calls.len; i++)
        if (loop->turn->calls.ptr[i].status == PL_TOOL_CALL_PENDING)
            pl_tool_call_fail(
                x, loop, &loop->turn->calls.ptr[i], PL_TOOL_ERROR_INTERRUPTED,
                PL_STR("The server stopped while this ran; nobody knows how far it got"));
}

/* Children first, so that everything in a parent's turn is settled when the turn is sent. */
static void interrupt_all(struct pl_step *x, bool is_crash)
{
    pl_asides_cancel(x, !is_crash);
    for (size_t i = x->s->loops.len; i > 0; i--)
        if (!is_crash)
            cancel_work(x, x->s->loops.ptr[i - 1]);
    for (size_t i = x->s->loops.len; i > 0; i--) {
        struct pl_agent_loop *loop = x->s->loops.ptr[i - 1];
        if (loop->turn) {
            pl_turn_flush(x, loop->turn, true);
            pl_questions_cancel(x, loop->turn);
            if (is_crash)
                fail_calls(x, loop);
            pl_turn_cancel_calls(x, loop->turn);
            pl_agent_loop_end_turn(x, loop, PL_TURN_INTERRUPTED, (struct pl_str){0});
        }
        loop->is_done = true;
    }
    pl_session_sweep(x->s);
}

void pl_step_stop_all(struct pl_step *x, struct pl_str reason)
{
    interrupt_all(x, false);
    if (x->s->is_chatting)
        pl_chat_end(x, PL_SESSION_INTERRUPTED, reason, true);
    else if (x->s->queue.len)
        pl_chat_end(x, x->s->record.status, reason, true);
}

enum pl_status pl_step_stop(struct pl_step *x)
{
    bool has_work = x->s->loops.len || x->s->queue.len;
    pl_step_stop_all(x, PL_STR("stopped"));
    pl_buf_clear(&x->out->text);
    pl_buf_addf(&x->out->text, "{\"stopped\":%s}", has_work ? "true" : "false");
    x->out->reply = pl_step_take_text(x);
    return PL_OK;
}

/* Whether everything waits for a person: then a restart loses nothing. */
static bool only_waits(const struct pl_session *s)
{
    for (size_t i = 0; i < s->loops.len; i++) {
        const struct pl_agent_loop *loop = s->loops.ptr[i];
        if (!loop->turn || loop->turn->status != PL_TURN_PAUSED || (i && !loop->parent))
            return false;
    }
    return s->loops.len;
}

static void settle(struct pl_step *x, bool is_crash, struct pl_str reason)
{
    pl_asides_cancel(x, !is_crash);
    if (only_waits(x->s)) {
        pl_step_set_status(x, PL_SESSION_WAITING);
        return;
    }
    interrupt_all(x, is_crash);
    if (x->s->is_chatting)
        pl_chat_end(x, PL_SESSION_INTERRUPTED, reason, false);
}

enum pl_status pl_step_shut_down(struct pl_step *x)
{
    settle(x, false, PL_STR("the server went down"));
    return PL_OK;
}

enum pl_status pl_step_recover(struct pl_step *x)
{
    x->s->record.epoch++;
    settle(x, true, PL_STR("the server stopped unexpectedly"));
    x->has_durable = true; /* the new epoch must be in the row */
    return PL_OK;
}

/* Queued messages were acknowledged, so they are handled after a restart, too. Not in a replay,
 * whose messages are recorded: an interrupted replay stays stopped. */
enum pl_status pl_step_take_up(struct pl_step *x)
{
    x->may_start_next = !x->s->record.replay_state.len;
    return PL_OK;
}
