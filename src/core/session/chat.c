/* A chat: from a user's message to chat:end. One at a time; what comes meanwhile waits, steers,
 * interrupts or is refused, as its sender wishes. */
#include "session/session_int.h"

/* --- what the user said ---------------------------------------------------------------------- */

static void add_bare_block(struct pl_turn *turn, enum pl_block_type type, struct pl_str content)
{
    struct pl_block *block = pl_turn_add_block(turn, type);
    if (block)
        block->content = pl_turn_keep(turn, content);
}

static void change_mode(struct pl_step *x, struct pl_turn *turn, enum pl_chat_mode mode)
{
    if (mode == PL_MODE_KEEP || mode == x->s->mode)
        return;
    bool is_entering = mode == PL_MODE_PLANNING;
    x->s->mode = mode;
    x->s->record.is_planning = is_entering;
    add_bare_block(turn, PL_BLOCK_MODE_CHANGE,
                   is_entering ? PL_STR("{\"from\":\"executing\",\"to\":\"planning\"}")
                               : PL_STR("{\"from\":\"planning\",\"to\":\"executing\"}"));
    add_bare_block(turn, is_entering ? PL_BLOCK_PLANNING_ENTER : PL_BLOCK_PLANNING_EXIT,
                   (struct pl_str){0});
}

void pl_chat_speak(struct pl_step *x, struct pl_agent_loop *loop, const struct pl_said *said)
{
    struct pl_turn *turn = pl_turn_create(x, loop, PL_TURN_ROLE_USER);
    if (!turn)
        return;
    if (said->client_message_id.len)
        turn->client_message_id = pl_turn_keep(turn, said->client_message_id);
    change_mode(x, turn, said->mode);
    pl_message_fill(x, turn, said->message);
    struct pl_id id = turn->id;
    pl_turn_say(x, turn);
    if (said->is_queued || x->is_oom)
        return;
    pl_buf_clear(&x->out->text);
    pl_buf_addf(&x->out->text, "{\"queued\":false,\"turn_id\":\"%s\"}", id.text);
    x->out->reply = pl_step_take_text(x);
}

/* The model this message names is the session's from now on. */
static void choose_model(struct pl_step *x, const struct pl_said *said)
{
    if (!said->model.len)
        return;
    x->s->context_window = said->context_window;
    if (pl_str_eq(said->model, x->s->record.model))
        return;
    pl_step_set_text(x, &x->s->record.model, said->model);
    x->is_changed = true;
}

/* --- start and end --------------------------------------------------------------------------- */

static void tell_start(struct pl_step *x, const struct pl_said *said)
{
    enum pl_chat_mode mode = said->mode == PL_MODE_KEEP ? x->s->mode : said->mode;
    struct pl_json_out out = pl_frame_begin(x, PL_FRAME_CHAT_START, true);
    pl_out_member(&out, "client_message_id",
                  said->client_message_id.len ? said->client_message_id : (struct pl_str){0});
    pl_out_member(&out, "model", x->s->record.model);
    pl_out_member(&out, "mode", pl_str_of(pl_chat_mode_text(mode)));
    pl_json_out_key(&out, "queued");
    pl_json_out_bool(&out, said->is_queued);
    pl_frame_end(x, &out);
}

static void start(struct pl_step *x, const struct pl_said *said)
{
    struct pl_session *s = x->s;
    choose_model(x, said);
    s->is_chatting = true;
    s->n_calls = 0;
    struct pl_agent_loop *root =
        pl_agent_loop_add(x, NULL, (struct pl_str){0}, s->record.model, s->context_window);
    if (!root)
        return;
    tell_start(x, said);
    pl_chat_speak(x, root, said);
    pl_step_set_status(x, PL_SESSION_RUNNING);
    if (!x->is_oom)
        pl_agent_loop_call_model(x, root);
}

void pl_chat_start_next(struct pl_step *x)
{
    struct pl_said said;
    struct pl_queued *queued = pl_queue_take(x, 0);
    if (pl_queued_read(queued, &x->out->arena, &said) == PL_OK)
        start(x, &said);
    else /* load has read every body, so only memory can be missing */
        x->is_oom = true;
    pl_queued_destroy(queued);
}

void pl_chat_take_steers(struct pl_step *x, struct pl_agent_loop *root)
{
    for (size_t i = 0; i < x->s->queue.len && !x->is_oom;) {
        if (!x->s->queue.ptr[i]->steers) {
            i++;
            continue;
        }
        struct pl_said said;
        struct pl_queued *queued = pl_queue_take(x, i);
        if (pl_queued_read(queued, &x->out->arena, &said) == PL_OK)
            pl_chat_speak(x, root, &said);
        else
            x->is_oom = true;
        pl_queued_destroy(queued);
    }
}

/* Names the messages that will never be taken, and forgets them. */
static void cancel_queue(struct pl_step *x, struct pl_json_out *out)
{
    struct pl_session *s = x->s;
    pl_json_out_key(out, "cancelled_messages");
    pl_json_out_open(out, '[');
    while (s->queue.len) {
        struct pl_queued *queued = pl_queue_take(x, 0);
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "position");
        pl_json_out_int(out, queued->position);
        pl_out_member(out, "client_message_id",
                      queued->client_message_id.len ? queued->client_message_id
                                                    : (struct pl_str){0});
        pl_json_out_close(out, '}');
        pl_queued_destroy(queued);
    }
    pl_json_out_close(out, ']');
}

void pl_chat_end(struct pl_step *x, enum pl_session_status status, struct pl_str reason,
                 bool cancels_queue)
{
    struct pl_session *s = x->s;
    struct pl_json_out out = pl_frame_begin(x, PL_FRAME_CHAT_END, true);
    pl_out_member(&out, "status", pl_str_of(pl_session_status_text(status)));
    if (reason.ptr)
        pl_out_member(&out, "reason", reason);
    if (cancels_queue && s->queue.len)
        cancel_queue(x, &out);
    pl_frame_end(x, &out);
    s->is_chatting = false;
    /* There is nothing left to steer: they are messages like any other. */
    for (size_t i = 0; i < s->queue.len; i++)
        s->queue.ptr[i]->steers = false;
    pl_step_set_status(x, status);
}

/* --- the event ------------------------------------------------------------------------------- */

enum pl_status pl_step_chat(struct pl_step *x)
{
    struct pl_session *s = x->s;
    enum pl_when_busy when_busy = x->event->chat.when_busy;
    enum pl_status status = pl_message_check(x, x->event->chat.message);
    if (status != PL_OK)
        return status;
    struct pl_json_doc message;
    status = pl_step_json(x, x->event->chat.message, &message);
    if (status != PL_OK)
        return status;
    struct pl_said said = {
        .message = message.text,
        .client_message_id = x->event->chat.client_message_id,
        .model = x->event->chat.model,
        .context_window = x->event->chat.context_window,
        .mode = x->event->chat.mode,
    };
    if (s->questions.len && when_busy != PL_BUSY_INTERRUPT)
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_QUESTION_PENDING,
                              "A question is waiting: answer it, or interrupt");
    if (s->loops.len && when_busy == PL_BUSY_REJECT)
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_BUSY,
                              "The session is busy: wait, enqueue, steer or interrupt");
    if (s->loops.len && when_busy != PL_BUSY_INTERRUPT) {
        said.steers = when_busy == PL_BUSY_STEER && s->is_chatting;
        return pl_queue_add(x, &said);
    }
    if (s->loops.len)
        pl_step_stop_all(x, PL_STR("interrupted by a new message"));
    start(x, &said);
    return PL_OK;
}
