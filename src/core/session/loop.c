/* A loop calls the model, runs the tool calls, and calls the model again, until the model makes no
 * more calls. Nothing here recurses: code that changes something that another loop waits for marks
 * that loop as due, and pl_step_go_on handles the due loops, children first. */
#include "session/session_int.h"

#include "json/text.h"

struct pl_agent_loop *pl_agent_loop_find(const struct pl_session *s, struct pl_str id)
{
    for (size_t i = 0; i < s->loops.len; i++)
        if (!s->loops.ptr[i]->is_done && pl_str_eq(pl_str_of(s->loops.ptr[i]->id.text), id))
            return s->loops.ptr[i];
    return NULL;
}

struct pl_agent_loop *pl_agent_loop_of_call(const struct pl_session *s,
                                            struct pl_str parent_call_id)
{
    for (size_t i = 0; i < s->loops.len; i++) {
        struct pl_agent_loop *loop = s->loops.ptr[i];
        if (!loop->is_done && loop->parent &&
            pl_str_eq(pl_str_of(loop->parent_call_id.text), parent_call_id))
            return loop;
    }
    return NULL;
}

struct pl_tool_call *pl_tool_call_find(const struct pl_session *s, struct pl_str id,
                                       struct pl_agent_loop **ret_loop)
{
    for (size_t i = 0; i < s->loops.len; i++) {
        struct pl_turn *turn = s->loops.ptr[i]->turn;
        for (size_t k = 0; turn && k < turn->calls.len; k++)
            if (pl_str_eq(pl_str_of(turn->calls.ptr[k].id.text), id)) {
                *ret_loop = s->loops.ptr[i];
                return &turn->calls.ptr[k];
            }
    }
    return NULL;
}

void pl_agent_loop_destroy(struct pl_agent_loop *loop)
{
    if (!loop)
        return;
    pl_turn_destroy(loop->turn);
    pl_mem_free(loop->model);
    pl_mem_free(loop);
}

static void copy_id(struct pl_id *to, struct pl_str id)
{
    *to = (struct pl_id){0};
    memcpy(to->text, id.len ? id.ptr : "", id.len < PL_ID_MAX ? id.len : PL_ID_MAX - 1);
}

struct pl_agent_loop *pl_agent_loop_add(struct pl_step *x, struct pl_agent_loop *parent,
                                        struct pl_str parent_call_id, struct pl_str model,
                                        int64_t context_window)
{
    struct pl_agent_loop *loop = pl_mem_alloc(1, sizeof *loop);
    if (!loop || !pl_vec_push(&x->s->loops, loop)) {
        pl_mem_free(loop);
        x->is_oom = true;
        return NULL;
    }
    *loop = (struct pl_agent_loop){.parent = parent, .context_window = context_window};
    loop->depth = parent ? parent->depth + 1 : 0;
    copy_id(&loop->parent_call_id, parent_call_id);
    if (parent)
        loop->id = pl_id_take(x->event->seed, "loop_");
    else
        copy_id(&loop->id, PL_STR("root"));
    if (!parent) {
        loop->is_full = x->s->is_full;
        loop->n_compactions = x->s->n_compactions;
    }
    struct pl_str owned = {0};
    pl_step_set_text(x, &owned, model);
    loop->model = (char *)owned.ptr;
    return loop;
}

/* --- turns ----------------------------------------------------------------------------------- */

struct pl_turn *pl_turn_create(struct pl_step *x, const struct pl_agent_loop *loop,
                               enum pl_turn_role role)
{
    struct pl_turn *turn = pl_mem_alloc(1, sizeof *turn);
    if (!turn) {
        x->is_oom = true;
        return NULL;
    }
    pl_turn_init(turn);
    turn->id = pl_id_take(x->event->seed, "turn_");
    turn->loop_id = pl_turn_keep(turn, pl_str_of(loop->id.text));
    turn->sequence = x->s->record.next_entry++;
    turn->role = role;
    turn->started_ms = turn->saved_ms = x->now_ms;
    turn->context_window = loop->context_window;
    turn->language = x->s->language;
    if (role == PL_TURN_ROLE_ASSISTANT && loop->model)
        turn->model = pl_turn_keep(turn, pl_str_of(loop->model));
    if (role != PL_TURN_ROLE_USER && x->s->trace_id[0])
        turn->trace_id = pl_turn_keep(turn, pl_str_of(x->s->trace_id));
    if (loop->parent)
        turn->parent_call_id = pl_turn_keep(turn, pl_str_of(loop->parent_call_id.text));
    return turn;
}

void pl_turn_destroy(struct pl_turn *turn)
{
    if (!turn)
        return;
    pl_turn_deinit(turn);
    pl_mem_free(turn);
}

void pl_turn_say(struct pl_step *x, struct pl_turn *turn)
{
    if (turn->is_oom) {
        x->is_oom = true;
        pl_turn_destroy(turn);
        return;
    }
    pl_step_tell_turn(x, PL_FRAME_TURN_START, turn);
    pl_turn_set_status(x, turn, PL_TURN_COMPLETED);
    pl_step_tell_turn(x, PL_FRAME_TURN_END, turn);
    pl_step_put_turn(x, turn);
    pl_turn_destroy(turn);
}

void pl_turn_set_status(struct pl_step *x, struct pl_turn *turn, enum pl_turn_status status)
{
    if (!pl_turn_may_become(turn->status, status))
        return;
    turn->status = status;
    struct pl_json_out out = pl_patch_begin(x, turn, "set_status", true);
    pl_out_member(&out, "status", pl_str_of(pl_turn_status_text(status)));
    pl_patch_end(x, turn, &out);
}

void pl_turn_cancel_calls(struct pl_step *x, struct pl_turn *turn)
{
    pl_turn_flush(x, turn, true);
    for (size_t i = 0; i < turn->calls.len; i++) {
        struct pl_tool_call *call = &turn->calls.ptr[i];
        if (!pl_tool_call_may_become(call->status, PL_TOOL_CALL_CANCELLED))
            continue;
        call->ref = (struct pl_str){0};
        pl_tool_call_set_status(x, turn, call, PL_TOOL_CALL_CANCELLED);
    }
}

void pl_agent_loop_end_turn(struct pl_step *x, struct pl_agent_loop *loop,
                            enum pl_turn_status status, struct pl_str error)
{
    struct pl_turn *turn = loop->turn;
    pl_turn_flush(x, turn, true);
    if (!pl_turn_may_become(turn->status, status))
        return;
    pl_turn_set_status(x, turn, status);
    turn->duration_ms = x->now_ms > turn->started_ms ? x->now_ms - turn->started_ms : 0;
    turn->model = turn->end.model.ptr ? turn->end.model : turn->model;
    turn->usage = turn->end.usage;
    turn->timing = turn->end.timing;
    pl_turn_set_metadata(turn, x->s->record.id);
    turn->error = pl_turn_keep(turn, error);
    pl_step_tell_turn(x, PL_FRAME_TURN_END, turn);
    pl_step_put_turn(x, turn);
    x->is_oom |= turn->is_oom;
    pl_turn_destroy(turn);
    loop->turn = NULL;
}

/* --- going on -------------------------------------------------------------------------------- */

static void open_turn(struct pl_step *x, struct pl_agent_loop *loop)
{
    loop->turn = pl_turn_create(x, loop, PL_TURN_ROLE_ASSISTANT);
    if (!loop->turn)
        return;
    pl_step_tell_turn(x, PL_FRAME_TURN_START, loop->turn);
    struct pl_session_effect effect = {
        .kind = PL_EFFECT_CALL_MODEL,
        .loop_id = pl_str_of(loop->id.text),
        .turn_id = pl_str_of(loop->turn->id.text),
        .model = loop->model ? pl_str_of(loop->model) : (struct pl_str){0},
        .mode = x->s->mode,
        .language = x->s->language,
        .trace_id = pl_str_of(x->s->trace_id),
        .key_id = pl_str_of(x->s->key_id),
    };
    pl_step_want(x, &effect);
}

void pl_agent_loop_call_model(struct pl_step *x, struct pl_agent_loop *loop)
{
    if (!loop->parent)
        pl_chat_take_steers(x, loop);
    if (x->s->working_ms && x->now_ms - x->s->working_ms > PL_SESSION_MAX_MS) {
        pl_agent_loop_fail(x, loop, PL_STR("The work on one message took longer than 30 minutes"));
    } else if (!loop->is_full || loop->is_tight) {
        open_turn(x, loop);
    } else if (loop->n_compactions < PL_SESSION_MAX_COMPACTIONS) {
        pl_agent_loop_summarise(x, loop, "auto");
    } else {
        loop->n_compactions = 0;
        pl_agent_loop_fail(x, loop,
                           PL_STR("The conversation still fills the model's window after it was "
                                  "summarised twice in a row"));
    }
}

/* Gives the parent's call its result and removes the loop. */
static void report(struct pl_step *x, struct pl_agent_loop *loop, bool is_error,
                   struct pl_str result)
{
    struct pl_agent_loop *parent = loop->parent;
    struct pl_agent_loop *found = NULL;
    struct pl_tool_call *call =
        pl_tool_call_find(x->s, pl_str_of(loop->parent_call_id.text), &found);
    loop->is_done = true;
    if (!parent || !call || found != parent)
        return;
    int64_t duration_ms = x->now_ms > call->started_ms ? x->now_ms - call->started_ms : 0;
    pl_tool_call_settle(x, parent, call, is_error, result, duration_ms);
}

static struct pl_str quoted(struct pl_step *x, struct pl_str text)
{
    pl_buf_clear(&x->out->text);
    pl_json_quote(&x->out->text, text.len ? text : PL_STR(""));
    return pl_step_take_text(x);
}

void pl_agent_loop_fail(struct pl_step *x, struct pl_agent_loop *loop, struct pl_str reason)
{
    if (loop->parent) {
        pl_buf_clear(&x->out->text);
        pl_tool_error_write(&x->out->text, PL_TOOL_ERROR_AGENT_FAILED, reason);
        report(x, loop, true, pl_step_take_text(x));
        return;
    }
    loop->is_done = true;
    if (!x->s->is_chatting)
        return;
    pl_chat_end(x, PL_SESSION_FAILED, reason, false);
    x->may_start_next = true;
}

/* The last text of a turn, as JSON: the result of an Agent call. */
static struct pl_str last_text(struct pl_step *x, const struct pl_turn *turn)
{
    for (size_t i = turn->blocks.len; i > 0; i--)
        if (turn->blocks.ptr[i - 1].type == PL_BLOCK_TEXT)
            return quoted(x, pl_buf_str(&turn->blocks.ptr[i - 1].text));
    return quoted(x, PL_STR(""));
}

static void finish_turn(struct pl_step *x, struct pl_agent_loop *loop)
{
    struct pl_turn *turn = loop->turn;
    bool had_calls = turn->calls.len && !turn->is_last, is_over = turn->is_over;
    struct pl_str result = loop->parent && !had_calls ? last_text(x, turn) : (struct pl_str){0};
    struct pl_str reason = PL_STR("The limit of 128 tool calls for one message was reached");
    if (turn->status == PL_TURN_PAUSED)
        pl_turn_set_status(x, turn, PL_TURN_STREAMING);
    pl_agent_loop_end_turn(x, loop, is_over ? PL_TURN_FAILED : PL_TURN_COMPLETED,
                           is_over ? reason : (struct pl_str){0});
    if (is_over) {
        pl_agent_loop_fail(x, loop, reason);
    } else if (had_calls) {
        pl_agent_loop_call_model(x, loop);
    } else if (loop->parent) {
        report(x, loop, false, result);
    } else {
        loop->is_done = true;
        pl_chat_end(x, PL_SESSION_COMPLETED, (struct pl_str){0}, false);
        x->may_start_next = true;
    }
}

/* Whether every open call waits for a person. Then the turn waits, too. */
static bool waits(const struct pl_session *s, const struct pl_turn *turn)
{
    for (size_t i = 0; i < turn->calls.len; i++)
        if (!pl_tool_call_is_terminal(&turn->calls.ptr[i]) &&
            !pl_tool_call_waits(s, &turn->calls.ptr[i]))
            return false;
    return true;
}

static void advance(struct pl_step *x, struct pl_agent_loop *loop)
{
    if (!loop->turn || !loop->turn->has_ended)
        return;
    pl_tool_calls_start(x, loop);
    if (x->is_oom || loop->turn->is_oom)
        return;
    if (!pl_turn_has_open_calls(loop->turn)) {
        if (!loop->parent && loop->turn->status == PL_TURN_PAUSED) {
            pl_turn_set_status(x, loop->turn, PL_TURN_STREAMING);
            pl_step_set_status(x, PL_SESSION_RUNNING);
        }
        finish_turn(x, loop);
        return;
    }
    bool is_waiting = waits(x->s, loop->turn);
    pl_turn_set_status(x, loop->turn, is_waiting ? PL_TURN_PAUSED : PL_TURN_STREAMING);
    if (loop->parent)
        loop->parent->is_due = true;
    else
        pl_step_set_status(x, is_waiting ? PL_SESSION_WAITING : PL_SESSION_RUNNING);
}

static struct pl_agent_loop *last_due(const struct pl_session *s)
{
    for (size_t i = s->loops.len; i > 0; i--)
        if (s->loops.ptr[i - 1]->is_due && !s->loops.ptr[i - 1]->is_done)
            return s->loops.ptr[i - 1];
    return NULL;
}

void pl_session_sweep(struct pl_session *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->loops.len; i++) {
        struct pl_agent_loop *loop = s->loops.ptr[i];
        if (!loop->is_done) {
            s->loops.ptr[n++] = loop;
            continue;
        }
        if (!loop->parent) {
            s->is_full = loop->is_full;
            s->n_compactions = loop->n_compactions;
        }
        pl_agent_loop_destroy(loop);
    }
    s->loops.len = n;
}

static void drain(struct pl_step *x)
{
    for (struct pl_agent_loop *loop; !x->is_oom && (loop = last_due(x->s));) {
        loop->is_due = false;
        advance(x, loop);
        x->is_oom |= loop->turn && loop->turn->is_oom;
    }
}

void pl_step_go_on(struct pl_step *x)
{
    for (;;) {
        drain(x);
        pl_session_sweep(x->s);
        if (x->is_oom || !x->may_start_next || x->s->loops.len || !x->s->queue.len)
            return;
        x->may_start_next = false;
        pl_chat_start_next(x);
    }
}
