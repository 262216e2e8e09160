/* A chat lasts from a user's message to chat:end. A session has one chat at a time. A message that
 * arrives during a chat is queued, steers the chat, interrupts it or is refused; its sender decides
 * (when_busy). */
#include "session/session_int.h"

#include "base/ascii.h"

/* --- the user's message ---------------------------------------------------------------------- */

void pl_chat_speak(struct pl_step *x, struct pl_agent_loop *loop, const struct pl_said *said)
{
    struct pl_turn *turn = pl_turn_create(x, loop, PL_TURN_ROLE_USER);
    if (!turn)
        return;
    if (said->client_message_id.len)
        turn->client_message_id = pl_turn_keep(turn, said->client_message_id);
    pl_mode_change(x, turn, said->mode, false);
    pl_message_fill(x, turn, said->message);
    struct pl_id id = turn->id;
    pl_turn_say(x, turn);
    if (said->is_queued || x->is_oom)
        return;
    pl_buf_clear(&x->out->text);
    pl_buf_addf(&x->out->text, "{\"queued\":false,\"turn_id\":\"%s\"}", id.text);
    x->out->reply = pl_step_take_text(x);
}

static bool is_trace(struct pl_str text)
{
    bool has_digit = false;
    for (size_t i = 0; i < text.len; i++) {
        bool is_hex = pl_ascii_is_hex(text.ptr[i]) && !(text.ptr[i] >= 'A' && text.ptr[i] <= 'F');
        if (!is_hex)
            return false;
        has_digit |= text.ptr[i] != '0';
    }
    return text.len == PL_TRACE_ID && has_digit;
}

/* Without a valid trace_id, the digits of a new UUID are the trace. */
void pl_step_set_trace(struct pl_step *x, struct pl_str trace_id)
{
    char *to = x->s->trace_id;
    memset(to, 0, sizeof x->s->trace_id);
    if (is_trace(trace_id)) {
        memcpy(to, trace_id.ptr, trace_id.len);
        return;
    }
    struct pl_id id = pl_id_take(x->event->seed, "");
    for (const char *c = id.text; *c && to < x->s->trace_id + PL_TRACE_ID; c++)
        if (*c != '-')
            *to++ = *c;
}

void pl_step_set_key(struct pl_step *x, struct pl_str key_id)
{
    memset(x->s->key_id, 0, sizeof x->s->key_id);
    if (key_id.len && key_id.len < sizeof x->s->key_id)
        memcpy(x->s->key_id, key_id.ptr, key_id.len);
}

/* A model in the message becomes the session's model. */
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

/* Sets this chat's values for settings of the session; {NULL, 0} removes them. */
static void set_override(struct pl_step *x, struct pl_str override)
{
    if (pl_str_eq(x->s->record.chat_override, override))
        return;
    pl_step_set_text(x, &x->s->record.chat_override, override);
    x->has_settings = true;
}

/* --- start and end --------------------------------------------------------------------------- */

static void tell_start(struct pl_step *x, const struct pl_said *said)
{
    enum pl_chat_mode mode = said->mode == PL_CHAT_MODE_KEEP ? x->s->mode : said->mode;
    struct pl_json_out out = pl_frame_begin(x, PL_FRAME_CHAT_START, true);
    pl_out_member(&out, "client_message_id",
                  said->client_message_id.len ? said->client_message_id : (struct pl_str){0});
    pl_out_member(&out, "model", x->s->record.model);
    pl_out_member(&out, "mode", pl_str_of(pl_chat_mode_text(mode)));
    pl_json_out_key(&out, "queued");
    pl_json_out_bool(&out, said->is_queued);
    if (said->is_queued) {
        pl_json_out_key(&out, "position");
        pl_json_out_int(&out, said->position);
    }
    pl_frame_end(x, &out);
}

/* A session without a name is named after its first message. */
static void name_session(struct pl_step *x, const struct pl_said *said)
{
    struct pl_json_doc doc;
    if (x->s->record.intent.len || pl_step_json(x, said->message, &doc) != PL_OK)
        return;
    pl_buf_clear(&x->out->text);
    x->is_oom |= pl_message_title(&doc, doc.root, &x->out->text) != PL_OK;
    struct pl_str title = pl_step_take_text(x);
    if (x->is_oom || !title.len)
        return;
    pl_step_set_text(x, &x->s->record.intent, title);
    x->is_changed = true;
}

static void start(struct pl_step *x, const struct pl_said *said)
{
    struct pl_session *s = x->s;
    s->language = said->language;
    choose_model(x, said);
    name_session(x, said);
    pl_replay_count(x);
    set_override(x, said->override);
    s->is_chatting = true;
    s->n_calls = 0;
    pl_step_set_trace(x, said->trace_id);
    pl_step_set_key(x, said->key_id);
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
    else /* load has parsed every body: memory ran out */
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
        if (pl_queued_read(queued, &x->out->arena, &said) != PL_OK) {
            x->is_oom = true;
        } else {
            if (said.override.ptr)
                set_override(x, said.override);
            if (said.trace_id.len)
                pl_step_set_trace(x, said.trace_id);
            pl_step_set_key(x, said.key_id);
            pl_chat_speak(x, root, &said);
        }
        pl_queued_destroy(queued);
    }
}

/* Lists the messages that will never be handled, and removes them. */
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
    set_override(x, (struct pl_str){0});
    /* No chat is left to steer: these become ordinary messages. */
    for (size_t i = 0; i < s->queue.len; i++)
        s->queue.ptr[i]->steers = false;
    pl_step_set_status(x, status);
}

/* --- the event ------------------------------------------------------------------------------- */

static enum pl_status read_override(struct pl_step *x, struct pl_str *ret_override)
{
    struct pl_json_doc doc;
    if (!x->event->chat.override.len)
        return PL_OK;
    enum pl_status status = pl_step_json(x, x->event->chat.override, &doc);
    if (status != PL_OK)
        return status;
    if (pl_json_kind(doc.root) != PL_JSON_OBJECT)
        return pl_step_refuse(x, PL_INVALID, PL_REFUSAL_INVALID,
                              "What a chat says in place of the session must be an object");
    *ret_override = pl_json_count(doc.root) ? doc.text : (struct pl_str){0};
    return PL_OK;
}

enum pl_status pl_step_chat(struct pl_step *x)
{
    struct pl_session *s = x->s;
    enum pl_when_busy when_busy = x->event->chat.when_busy;
    enum pl_status status = pl_message_check(x, x->event->chat.message, x->event->chat.is_recorded);
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
        .language = x->event->chat.language,
        .trace_id = x->event->chat.trace_id,
        .key_id = x->event->chat.key_id,
    };
    status = read_override(x, &said.override);
    if (status != PL_OK)
        return status;
    if (s->questions.len && when_busy != PL_BUSY_INTERRUPT)
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_QUESTION_PENDING,
                              s->questions.ptr[0]->is_client
                                  ? "A call waits for its client; give its result, or interrupt"
                                  : "A question is open; answer it, or interrupt");
    if (s->loops.len && when_busy == PL_BUSY_REJECT)
        return pl_step_refuse(x, PL_CONFLICT, PL_REFUSAL_BUSY,
                              "The session is busy; wait, enqueue, steer or interrupt");
    if (s->loops.len && when_busy != PL_BUSY_INTERRUPT) {
        said.steers = when_busy == PL_BUSY_STEER && s->is_chatting;
        return pl_queue_add(x, &said);
    }
    if (s->loops.len)
        pl_step_stop_all(x, PL_STR("interrupted by a new message"));
    pl_asides_cancel(x, true);
    start(x, &said);
    return PL_OK;
}
