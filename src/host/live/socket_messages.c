/* What a client says on its socket, and what it is answered. */
#include "server/socket_int.h"

#include "base/mem.h"
#include "json/number.h"
#include "json/text.h"
#include "server/auth.h"
#include "server/chatting.h"
#include "server/setup.h"
#include "server/spell.h"

#define MAX_ID_BYTES 256

/* --- answers --------------------------------------------------------------------------------- */

void pl_socket_say(struct pl_live *live, const char *event, struct pl_str data)
{
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_spell_event(&frame, PL_LANE_WS, event, data, -1, 0);
    if (frame.status == PL_OK)
        pl_live_answer(live, pl_buf_str(&frame));
}

static void ack_bytes(struct pl_live *live, struct pl_str id, const char *key, struct pl_str value)
{
    struct pl_buf text PL_CLEANUP_BUF, frame PL_CLEANUP_BUF;
    pl_buf_init(&text, 0);
    pl_buf_init(&frame, 0);
    pl_buf_adds(&text, "{\"ack\":");
    pl_buf_add(&text, id);
    pl_buf_addf(&text, ",\"ok\":%s", strcmp(key, "error") ? "true" : "false");
    if (value.len) {
        pl_buf_addf(&text, ",\"%s\":", key);
        pl_buf_add(&text, value);
    }
    pl_buf_addc(&text, '}');
    pl_ws_frame_write(&frame, PL_WS_TEXT, pl_buf_str(&text));
    if (text.status == PL_OK && frame.status == PL_OK)
        pl_live_answer(live, pl_buf_str(&frame));
}

void pl_socket_ack(struct pl_live *live, struct pl_str id, struct pl_str data)
{
    if (id.len)
        ack_bytes(live, id, "data", data);
}

void pl_socket_refuse(struct pl_live *live, struct pl_str id, struct pl_str problem)
{
    if (id.len)
        ack_bytes(live, id, "error", problem);
    else
        pl_socket_say(live, "system:error", problem);
}

/* --- messages -------------------------------------------------------------------------------- */

/* A client's frame. */
struct message {
    struct pl_arena *arena;
    struct pl_json_doc doc;
    const struct pl_json_node *data; /* an object; NULL: none was sent */
    struct pl_str id;                /* JSON; empty: no answer is wanted */
};

static void refuse(struct pl_live *live, struct pl_str id, enum pl_problem problem,
                   const struct pl_error *err, const char *detail)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_problem_write(problem, detail, err, "", &body);
    if (body.status != PL_OK)
        return;
    pl_socket_refuse(live, id, pl_buf_str(&body));
}

static enum pl_status text_of(const struct message *m, const char *name, struct pl_str *ret)
{
    return pl_member_text(m->arena, &m->doc, m->data, name, ret);
}

static void on_auth(struct pl_ws_live *ws, const struct message *m)
{
    struct pl_live *live = &ws->live;
    struct pl_auth *auth = live->shard->server->auth;
    int64_t now_ms = pl_loop_unix_ms(live->shard->loop);
    struct pl_str key, ticket;
    if (text_of(m, "key", &key) != PL_OK || text_of(m, "ticket", &ticket) != PL_OK)
        return refuse(live, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    struct pl_caller caller = {0};
    enum pl_status status = PL_NOT_FOUND;
    if (key.len)
        status = pl_auth_check_key(auth, m->arena, key, now_ms, &caller);
    if (status == PL_NOT_FOUND && ticket.len)
        status =
            pl_auth_ticket_take(auth, m->arena, ticket, pl_loop_now_ms(live->shard->loop), &caller);
    if (status == PL_NOMEM)
        return refuse(live, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    if (status != PL_OK || live->who) {
        live->kind->close(live, PL_WS_CLOSE_UNAUTHORIZED,
                          live->who ? "authenticated already" : "the key or ticket is not valid");
        return;
    }
    live->who = pl_live_who(&caller);
    if (!live->who) {
        live->kind->close(live, PL_WS_CLOSE_INTERNAL, "out of memory");
        return;
    }
    ws->ws.max_message = PL_WS_MAX_MESSAGE;
    pl_timer_stop(live->shard->loop, &ws->deadline);
    pl_socket_ack(live, m->id, (struct pl_str){0});
}

static int64_t int_of(const struct message *m, const struct pl_json_node *object, const char *name)
{
    const struct pl_json_node *node = pl_json_get(&m->doc, object, pl_str_of(name));
    int64_t value = -1;
    bool is_int = node && pl_json_kind(node) == PL_JSON_NUMBER &&
                  pl_json_number_int64(pl_json_span(&m->doc, node), &value);
    return is_int ? value : -1;
}

/* The id of a subscribe waits in the subscription's name; few carry one for long. */
static void on_subscribe(struct pl_ws_live *ws, const struct message *m)
{
    struct pl_live *live = &ws->live;
    struct pl_str session_id, content;
    if (text_of(m, "session_id", &session_id) != PL_OK || text_of(m, "content", &content) != PL_OK)
        return refuse(live, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    const struct pl_json_node *since =
        m->data ? pl_json_get(&m->doc, m->data, PL_STR("since")) : NULL;
    struct pl_since from = {0};
    if (since && pl_json_kind(since) == PL_JSON_OBJECT)
        from = (struct pl_since){true, int_of(m, since, "epoch"), int_of(m, since, "sequence")};
    if (!session_id.len)
        return refuse(live, m->id, PL_PROBLEM_INVALID_REQUEST, NULL, "A session_id is missing.");
    const struct pl_subscription *old = pl_live_find(live, session_id);
    if (old && old->n_ack_id)
        refuse(live, (struct pl_str){old->ack_id, old->n_ack_id}, PL_PROBLEM_CONFLICT, NULL,
               "A later subscribe took the place of this one.");
    enum pl_lane lane = pl_str_eq(content, PL_STR("always")) ? PL_LANE_WS_WHOLE : PL_LANE_WS;
    struct pl_subscription *sub = pl_live_subscribe(live, session_id, lane, from);
    if (!sub)
        return refuse(live, m->id, PL_PROBLEM_RATE_LIMITED, NULL,
                      "A socket listens to at most 256 sessions.");
    if (m->id.len) {
        sub->ack_id = pl_mem_alloc(m->id.len, 1);
        if (sub->ack_id)
            memcpy(sub->ack_id, m->id.ptr, m->id.len);
        sub->n_ack_id = sub->ack_id ? m->id.len : 0;
    }
}

static void on_unsubscribe(struct pl_ws_live *ws, const struct message *m)
{
    struct pl_str session_id;
    if (text_of(m, "session_id", &session_id) != PL_OK)
        return refuse(&ws->live, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    struct pl_subscription *sub = pl_live_find(&ws->live, session_id);
    if (sub)
        pl_live_unsubscribe(&ws->live, sub);
    pl_socket_ack(&ws->live, m->id, (struct pl_str){0});
}

static void on_ping(struct pl_ws_live *ws, const struct message *m)
{
    pl_socket_say(&ws->live, "pong", m->data ? pl_json_span(&m->doc, m->data) : PL_STR("{}"));
    pl_socket_ack(&ws->live, m->id, (struct pl_str){0});
}

/* --- messages to a session ------------------------------------------------------------------- */

struct sending {
    struct pl_ask ask;
    struct pl_ws_live *ws; /* n_asks keeps it */
    struct pl_arena arena;
    struct pl_str id; /* arena, as the event's strings */
    struct pl_job job;
    enum pl_status status; /* of the job */
};

static void sending_destroy(struct sending *sending)
{
    pl_ask_deinit(&sending->ask);
    pl_arena_deinit(&sending->arena);
    pl_mem_free(sending);
}

static void finish_sending(struct sending *sending)
{
    struct pl_ask *ask = &sending->ask;
    struct pl_ws_live *ws = sending->ws;
    ws->n_asks--;
    if (ws->is_over)
        pl_socket_free_if_over(ws);
    else if (ask->problem != PL_PROBLEM_COUNT)
        refuse(&ws->live, sending->id, ask->problem, &ask->err, NULL);
    else
        pl_socket_ack(&ws->live, sending->id, pl_buf_str(&ask->reply));
    sending_destroy(sending);
}

/* Was the question answered so before? */
static void repeats_run(struct pl_job *job)
{
    struct sending *sending = PL_CONTAINER_OF(job, struct sending, job);
    struct pl_ask *ask = &sending->ask;
    sending->status =
        pl_answer_repeats(ask->home->server->store, &sending->arena, ask->session_id,
                          ask->event.answer.tool_call_id, ask->event.answer.answer, &ask->err);
}

static void repeats_done(struct pl_job *job)
{
    struct sending *sending = PL_CONTAINER_OF(job, struct sending, job);
    struct pl_ask *ask = &sending->ask;
    if (job->is_refused) {
        ask->problem = PL_PROBLEM_OVERLOADED;
    } else if (sending->status == PL_OK) {
        ask->problem = PL_PROBLEM_COUNT;
        pl_answer_write_repeated(&ask->reply, ask->event.answer.tool_call_id);
    } else if (sending->status != PL_CONFLICT) {
        ask->problem = pl_problem_of(sending->status);
    }
    finish_sending(sending);
}

static void on_sent(struct pl_ask *ask)
{
    struct sending *sending = PL_CONTAINER_OF(ask, struct sending, ask);
    if (ask->event.kind != PL_SE_ANSWER || ask->problem != PL_PROBLEM_QUESTION_NOT_PENDING) {
        finish_sending(sending);
        return;
    }
    sending->job = (struct pl_job){
        .owner = pl_owner_of(ask->user_id),
        .wait_ms = ask->home->setup->config.queue_wait_ms,
        .run = repeats_run,
        .done = repeats_done,
    };
    pl_workers_submit(ask->home->server->workers, ask->home->loop, &sending->job);
}

typedef enum pl_status read_event_fn(struct sending *sending, const struct pl_json_doc *doc,
                                     const struct pl_json_node *data, struct pl_error *err);

static enum pl_status read_chat(struct sending *sending, const struct pl_json_doc *doc,
                                const struct pl_json_node *data, struct pl_error *err)
{
    return pl_chat_parse(sending->ask.home->setup->models, &sending->arena, doc, data,
                         &sending->ask.event, err);
}

static enum pl_status read_stop(struct sending *sending, const struct pl_json_doc *doc,
                                const struct pl_json_node *data, struct pl_error *err)
{
    (void)doc, (void)data, (void)err;
    sending->ask.event.kind = PL_SE_STOP;
    return PL_OK;
}

static enum pl_status read_compact(struct sending *sending, const struct pl_json_doc *doc,
                                   const struct pl_json_node *data, struct pl_error *err)
{
    (void)doc, (void)data, (void)err;
    sending->ask.event.kind = PL_SE_COMPACT;
    sending->ask.event.compact.trigger = PL_STR("manual");
    return PL_OK;
}

/* The frame's bytes are the socket's: they are copied, and read again there. */
static void send_event(struct pl_ws_live *ws, const struct message *m, read_event_fn *read)
{
    struct sending *sending = pl_mem_alloc(1, sizeof *sending);
    if (!sending)
        return refuse(&ws->live, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    *sending = (struct sending){.ws = ws};
    struct pl_arena *arena = &sending->arena;
    pl_arena_init(arena, 0);
    struct pl_str data = m->data ? pl_json_span(&m->doc, m->data) : PL_STR("{}");
    struct pl_str text = pl_arena_dup(arena, data),
                  user = pl_arena_dup(arena, pl_live_user(&ws->live));
    sending->id = pl_arena_dup(arena, m->id);
    pl_ask_init(&sending->ask, PL_ASK_EVENT, ws->live.shard, user, (struct pl_str){0});
    struct pl_json_doc doc;
    struct pl_error err = {0};
    struct pl_json_opts opts = {.refuses_nul = true};
    enum pl_status status =
        text.ptr && user.ptr ? pl_json_parse(arena, text, &opts, &doc, &err) : PL_NOMEM;
    if (status == PL_OK)
        status = pl_member_text(arena, &doc, doc.root, "session_id", &sending->ask.session_id);
    if (status == PL_OK)
        status = read(sending, &doc, doc.root, &err);
    if (status == PL_OK && !sending->ask.session_id.len)
        status = pl_fail(&err, PL_INVALID, "A session_id is missing.");
    if (status != PL_OK) {
        refuse(&ws->live, m->id, pl_problem_of(status), &err, NULL);
        sending_destroy(sending);
        return;
    }
    ws->n_asks++;
    sending->ask.done = on_sent;
    pl_ask_send(&sending->ask);
}

static void on_chat_send(struct pl_ws_live *ws, const struct message *m)
{
    send_event(ws, m, read_chat);
}

static void on_chat_stop(struct pl_ws_live *ws, const struct message *m)
{
    send_event(ws, m, read_stop);
}

static void on_chat_compact(struct pl_ws_live *ws, const struct message *m)
{
    send_event(ws, m, read_compact);
}

static const struct {
    const char *event;
    bool is_public;
    void (*run)(struct pl_ws_live *ws, const struct message *m);
} handlers[] = {
    {"auth", true, on_auth},
    {"ping", true, on_ping},
    {"session:subscribe", false, on_subscribe},
    {"session:unsubscribe", false, on_unsubscribe},
    {"chat:send", false, on_chat_send},
    {"chat:stop", false, on_chat_stop},
    {"chat:compact", false, on_chat_compact},
};

static void dispatch(struct pl_ws_live *ws, const struct message *m,
                     const struct pl_json_node *event)
{
    for (size_t i = 0; event && i < sizeof handlers / sizeof *handlers; i++) {
        if (!pl_json_text_is(&m->doc, event, pl_str_of(handlers[i].event)))
            continue;
        if (!handlers[i].is_public && !ws->live.who)
            ws->live.kind->close(&ws->live, PL_WS_CLOSE_UNAUTHORIZED,
                                 "the first message must be auth");
        else
            handlers[i].run(ws, m);
        return;
    }
    refuse(&ws->live, m->id, PL_PROBLEM_INVALID_REQUEST, NULL,
           "No such event; a client sends auth, ping, session:subscribe, session:unsubscribe, "
           "chat:send, chat:stop or chat:compact.");
}

void pl_socket_read(struct pl_ws_live *ws, struct pl_str text)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct message m = {.arena = &arena};
    struct pl_error err = {0};
    struct pl_json_opts opts = {.refuses_nul = true};
    enum pl_status status = pl_json_parse(&arena, text, &opts, &m.doc, &err);
    if (status != PL_OK || pl_json_kind(m.doc.root) != PL_JSON_OBJECT) {
        refuse(&ws->live, (struct pl_str){0}, PL_PROBLEM_INVALID_REQUEST, &err,
               "A frame is a JSON object {\"event\":…,\"data\":{…}}.");
        return;
    }
    const struct pl_json_node *id = pl_json_get(&m.doc, m.doc.root, PL_STR("id"));
    const struct pl_json_node *event = pl_json_get(&m.doc, m.doc.root, PL_STR("event"));
    const struct pl_json_node *data = pl_json_get(&m.doc, m.doc.root, PL_STR("data"));
    if (id && !pl_json_is_container(id) && id->len <= MAX_ID_BYTES)
        m.id = pl_json_span(&m.doc, id);
    if (data && pl_json_kind(data) == PL_JSON_OBJECT)
        m.data = data;
    dispatch(ws, &m, event && pl_json_kind(event) == PL_JSON_STRING ? event : NULL);
}
