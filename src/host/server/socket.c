/* A WebSocket of the API (RFC 6455, subprotocol parley.v1): frames {"event":E,"data":{…}}, a
 * client's may carry "id" and then gets {"ack":id,…}. */
#include "base/mem.h"
#include "json/number.h"
#include "json/text.h"
#include "json/write.h"
#include "server/auth.h"
#include "server/chatting.h"
#include "server/live.h"
#include "server/spell.h"

#define AUTH_MS      10000
#define CLOSE_MS     5000
#define GO_AWAY_MS   1000 /* the same when somebody waits for our end */
#define MAX_MISSED   2 /* beats without an answer */
#define RATE_PER_S   50
#define RATE_BURST   200
#define MAX_ID_BYTES 256

struct ws_live {
    struct pl_live live; /* first */
    struct pl_ws ws;
    struct pl_timer deadline; /* for the first message, and for the other side's close */
    int64_t tokens_ms;        /* when a token was last earned */
    uint16_t n_tokens;
    uint16_t n_asks; /* on their way: the memory stays until they are back */
    uint8_t n_missed;
    bool has_failed; /* what came broke the protocol */
    bool is_over;
};

static struct ws_live *ws_of(struct pl_live *live)
{
    return (struct ws_live *)live;
}

/* --- the end --------------------------------------------------------------------------------- */

static void free_if_over(struct ws_live *ws)
{
    if (ws->is_over && !ws->n_asks && !ws->live.flush.is_waiting)
        pl_mem_free(ws);
}

static void on_turn_end_over(struct pl_turn_end *end)
{
    free_if_over((struct ws_live *)PL_CONTAINER_OF(end, struct pl_live, flush));
}

/* Now. The struct is freed at the end of the turn: whoever called us may still look at it. */
static void drop(struct ws_live *ws)
{
    struct pl_live *live = &ws->live;
    if (ws->is_over)
        return;
    ws->is_over = true;
    pl_timer_stop(live->shard->loop, &ws->deadline);
    pl_ws_deinit(&ws->ws);
    pl_live_deinit(live);
    live->flush.fn = on_turn_end_over;
    pl_loop_at_turn_end(live->shard->loop, &live->flush);
}

static void on_deadline(struct pl_timer *timer)
{
    struct ws_live *ws = PL_CONTAINER_OF(timer, struct ws_live, deadline);
    if (ws->live.is_closing)
        drop(ws);
    else
        ws->live.kind->close(&ws->live, PL_WS_CLOSE_AUTH_TIMEOUT,
                             "the first message must be auth, within 10 seconds");
}

static void say(struct pl_live *live, const char *event, struct pl_str data)
{
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_spell_event(&frame, PL_LANE_WS, event, data, -1, 0);
    if (frame.status == PL_OK)
        pl_live_answer(live, pl_buf_str(&frame));
}

static void ws_close(struct pl_live *live, uint16_t code, const char *reason)
{
    struct ws_live *ws = ws_of(live);
    if (!code) {
        drop(ws);
        return;
    }
    if (live->is_closing)
        return; /* the first reason stands; the deadline ends it */
    if (code == PL_WS_CLOSE_GOING_AWAY)
        say(live, "system:going_away", PL_STR("{\"retry_ms\":1000}"));
    while (live->subs)
        pl_live_unsubscribe(live, live->subs);
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_ws_close_write(&frame, code, pl_str_of(reason));
    if (frame.status != PL_OK) {
        drop(ws);
        return;
    }
    if (code == PL_WS_CLOSE_TOO_SLOW)
        pl_outbox_drop(&live->out);
    pl_live_answer(live, pl_buf_str(&frame));
    live->is_closing = true;
    pl_timer_start(live->shard->loop, &ws->deadline,
                   code == PL_WS_CLOSE_GOING_AWAY ? GO_AWAY_MS : CLOSE_MS, on_deadline);
}

/* --- messages -------------------------------------------------------------------------------- */

/* A client's frame. */
struct message {
    struct pl_arena *arena;
    struct pl_json_doc doc;
    const struct pl_json_node *data; /* an object; NULL: none was sent */
    struct pl_str id;                /* JSON; empty: no answer is wanted */
};

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

static void ack(struct pl_live *live, struct pl_str id, struct pl_str data)
{
    if (id.len)
        ack_bytes(live, id, "data", data);
}

static void refuse(struct pl_live *live, struct pl_str id, enum pl_problem problem,
                   const struct pl_error *err, const char *detail)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_problem_write(problem, detail, err, "", &body);
    if (body.status != PL_OK)
        return;
    if (id.len)
        ack_bytes(live, id, "error", pl_buf_str(&body));
    else
        say(live, "system:error", pl_buf_str(&body));
}

static enum pl_status text_of(const struct message *m, const char *name, struct pl_str *ret)
{
    return pl_member_text(m->arena, &m->doc, m->data, name, ret);
}

static void on_auth(struct ws_live *ws, const struct message *m)
{
    struct pl_live *live = &ws->live;
    struct pl_auth *auth = live->shard->server->auth;
    int64_t now_ms = pl_loop_unix_ms(live->shard->loop);
    struct pl_str key, ticket;
    if (text_of(m, "key", &key) != PL_OK || text_of(m, "ticket", &ticket) != PL_OK)
        return refuse(live, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    struct pl_caller caller = {0};
    bool is_known = (key.len && pl_auth_check_key(auth, m->arena, key, now_ms, &caller)) ||
                    (ticket.len && pl_auth_ticket_take(auth, m->arena, ticket, now_ms, &caller));
    if (!is_known || live->who) {
        ws_close(live, PL_WS_CLOSE_UNAUTHORIZED,
                 live->who ? "authenticated already" : "the key or ticket is not valid");
        return;
    }
    if (!pl_live_set_caller(live, &caller)) {
        ws_close(live, PL_WS_CLOSE_INTERNAL, "out of memory");
        return;
    }
    pl_timer_stop(live->shard->loop, &ws->deadline);
    ack(live, m->id, (struct pl_str){0});
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
static void on_subscribe(struct ws_live *ws, const struct message *m)
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

static void on_unsubscribe(struct ws_live *ws, const struct message *m)
{
    struct pl_str session_id;
    if (text_of(m, "session_id", &session_id) != PL_OK)
        return refuse(&ws->live, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    struct pl_subscription *sub = pl_live_find(&ws->live, session_id);
    if (sub)
        pl_live_unsubscribe(&ws->live, sub);
    ack(&ws->live, m->id, (struct pl_str){0});
}

static void on_ping(struct ws_live *ws, const struct message *m)
{
    say(&ws->live, "pong", m->data ? pl_json_span(&m->doc, m->data) : PL_STR("{}"));
    ack(&ws->live, m->id, (struct pl_str){0});
}

/* --- messages to a session ------------------------------------------------------------------- */

struct sending {
    struct pl_ask ask;
    struct ws_live *ws; /* n_asks keeps it */
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
    struct ws_live *ws = sending->ws;
    ws->n_asks--;
    if (ws->is_over)
        free_if_over(ws);
    else if (ask->problem != PL_PROBLEM_COUNT)
        refuse(&ws->live, sending->id, ask->problem, &ask->err, NULL);
    else
        ack(&ws->live, sending->id, pl_buf_str(&ask->reply));
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
    if (sending->status == PL_OK) {
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
    sending->job.run = repeats_run;
    sending->job.done = repeats_done;
    pl_workers_submit(ask->home->server->workers, ask->home->loop, &sending->job);
}

typedef enum pl_status read_event_fn(struct sending *sending, const struct pl_json_doc *doc,
                                     const struct pl_json_node *data, struct pl_error *err);

static enum pl_status read_chat(struct sending *sending, const struct pl_json_doc *doc,
                                const struct pl_json_node *data, struct pl_error *err)
{
    return pl_chat_parse(&sending->arena, doc, data, &sending->ask.event, err);
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
static void send_event(struct ws_live *ws, const struct message *m, read_event_fn *read)
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
        refuse(&ws->live, m->id,
               status == PL_INVALID ? PL_PROBLEM_INVALID_REQUEST : pl_problem_of(status), &err,
               NULL);
        sending_destroy(sending);
        return;
    }
    ws->n_asks++;
    sending->ask.done = on_sent;
    pl_ask_send(&sending->ask);
}

static void on_chat_send(struct ws_live *ws, const struct message *m)
{
    send_event(ws, m, read_chat);
}

static void on_chat_stop(struct ws_live *ws, const struct message *m)
{
    send_event(ws, m, read_stop);
}

static void on_chat_compact(struct ws_live *ws, const struct message *m)
{
    send_event(ws, m, read_compact);
}

static const struct {
    const char *event;
    bool is_public;
    void (*run)(struct ws_live *ws, const struct message *m);
} handlers[] = {
    {"auth", true, on_auth},
    {"ping", true, on_ping},
    {"session:subscribe", false, on_subscribe},
    {"session:unsubscribe", false, on_unsubscribe},
    {"chat:send", false, on_chat_send},
    {"chat:stop", false, on_chat_stop},
    {"chat:compact", false, on_chat_compact},
};

static void dispatch(struct ws_live *ws, const struct message *m, const struct pl_json_node *event)
{
    for (size_t i = 0; event && i < sizeof handlers / sizeof *handlers; i++) {
        if (!pl_json_text_is(&m->doc, event, pl_str_of(handlers[i].event)))
            continue;
        if (!handlers[i].is_public && !ws->live.who)
            ws_close(&ws->live, PL_WS_CLOSE_UNAUTHORIZED, "the first message must be auth");
        else
            handlers[i].run(ws, m);
        return;
    }
    refuse(&ws->live, m->id, PL_PROBLEM_INVALID_REQUEST, NULL,
           "No such event; a client sends auth, ping, session:subscribe, session:unsubscribe, "
           "chat:send, chat:stop or chat:compact.");
}

static void on_text(struct ws_live *ws, struct pl_str text)
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

/* --- bytes ----------------------------------------------------------------------------------- */

/* 50 messages a second, 200 at once. */
static bool takes_token(struct ws_live *ws)
{
    int64_t now_ms = pl_loop_now_ms(ws->live.shard->loop);
    int64_t n_earned = (now_ms - ws->tokens_ms) * RATE_PER_S / 1000;
    if (n_earned > 0) {
        int64_t n = ws->n_tokens + n_earned;
        ws->n_tokens = (uint16_t)(n < RATE_BURST ? n : RATE_BURST);
        ws->tokens_ms = now_ms;
    }
    if (!ws->n_tokens)
        return false;
    ws->n_tokens--;
    return true;
}

static void on_message(struct ws_live *ws, const struct pl_ws_message *message)
{
    struct pl_live *live = &ws->live;
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_metric_add(&live->shard->metrics, PL_METRIC_socket_messages_in_total, 1);
    ws->n_missed = 0;
    switch (message->opcode) {
    case PL_WS_PONG:
        return;
    case PL_WS_PING:
        pl_ws_frame_write(&frame, PL_WS_PONG, message->payload);
        if (frame.status == PL_OK)
            pl_live_answer(live, pl_buf_str(&frame));
        break;
    case PL_WS_CLOSE:
        if (!live->is_closing)
            ws_close(live,
                     message->close_code == PL_WS_CLOSE_NO_STATUS ? PL_WS_CLOSE_NORMAL
                                                                  : message->close_code,
                     "");
        pl_live_flush(live);
        drop(ws);
        return;
    case PL_WS_TEXT:
        if (!live->is_closing)
            on_text(ws, message->payload);
        break;
    default:
        ws_close(live, PL_WS_CLOSE_UNSUPPORTED, "messages are text");
        return;
    }
    if (!takes_token(ws) && !live->is_closing)
        ws_close(live, PL_WS_CLOSE_RATE, "at most 50 messages a second");
}

static void on_read(void *ctx, char *bytes, size_t n)
{
    struct ws_live *ws = ctx;
    struct pl_error err = {0};
    /* Behind an error nothing can be told apart; the other side will close, or the deadline. */
    if (ws->has_failed)
        return;
    pl_ws_feed(&ws->ws, bytes, n);
    while (!ws->is_over) {
        struct pl_ws_message message;
        enum pl_status status = pl_ws_next(&ws->ws, &message, &err);
        if (status == PL_NOT_FOUND)
            return;
        if (status != PL_OK) {
            ws->has_failed = true;
            ws_close(&ws->live, ws->ws.close_code, err.message);
            return;
        }
        on_message(ws, &message);
    }
}

static void on_end(void *ctx)
{
    drop(ctx);
}

static void on_writable(void *ctx)
{
    pl_live_flush(&((struct ws_live *)ctx)->live);
}

static const struct pl_conn_ops conn_ops = {on_read, on_end, on_writable};

static void beat(struct pl_live *live)
{
    struct ws_live *ws = ws_of(live);
    if (ws->n_missed++ >= MAX_MISSED) {
        drop(ws);
        return;
    }
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_ws_frame_write(&frame, PL_WS_PING, (struct pl_str){0});
    if (frame.status == PL_OK)
        pl_live_answer(live, pl_buf_str(&frame));
}

/* --- subscriptions --------------------------------------------------------------------------- */

static void forget_ack(struct pl_subscription *sub)
{
    pl_mem_free(PL_TAKE(sub->ack_id));
    sub->n_ack_id = 0;
    sub->is_acknowledged = true;
}

static void on_subscribed(struct pl_live *live, struct pl_subscription *sub,
                          const struct pl_ask *ask, const char *mode)
{
    struct pl_buf data PL_CLEANUP_BUF;
    pl_buf_init(&data, 0);
    pl_buf_addf(
        &data,
        "{\"session_id\":\"%s\",\"mode\":\"%s\",\"position\":{\"epoch\":%lld,\"sequence\":%lld}}",
        sub->id, mode, (long long)ask->epoch, (long long)ask->position);
    if (!sub->is_acknowledged && data.status == PL_OK)
        ack(live, (struct pl_str){sub->ack_id, sub->n_ack_id}, pl_buf_str(&data));
    forget_ack(sub);
}

static void on_refused(struct pl_live *live, struct pl_subscription *sub, const struct pl_ask *ask)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_sub_write_refusal(sub, ask, &body);
    if (body.status == PL_OK && sub->n_ack_id)
        ack_bytes(live, (struct pl_str){sub->ack_id, sub->n_ack_id}, "error", pl_buf_str(&body));
    else if (body.status == PL_OK)
        say(live, "system:error", pl_buf_str(&body));
    forget_ack(sub);
}

static const struct pl_live_kind kind = {
    .on_subscribed = on_subscribed,
    .on_refused = on_refused,
    .beat = beat,
    .close = ws_close,
};

/* --- the handshake --------------------------------------------------------------------------- */

static bool is_handshake(struct pl_exchange *x, char accept[PL_WS_ACCEPT_SIZE])
{
    const struct pl_http_head *head = x->head;
    struct pl_str upgrade = pl_http_header_get(head, "upgrade");
    struct pl_str version = pl_http_header_get(head, "sec-websocket-version");
    if (x->method != PL_METHOD_GET || !head->is_upgrade || !pl_http_list_has(upgrade, "websocket"))
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "This is a WebSocket: connect with Upgrade: websocket.");
    else if (!pl_str_eq(version, PL_STR("13")))
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "Only version 13 of WebSocket is spoken here.");
    else if (!pl_ws_accept(pl_http_header_get(head, "sec-websocket-key"), accept))
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "Sec-WebSocket-Key must be 16 bytes in base64.");
    else
        return true;
    return false;
}

/* Who brings nothing says it in the first message; who brings something wrong is told now. */
static bool may_enter(struct pl_exchange *x)
{
    struct pl_str ticket = pl_target_param(&x->target, "ticket");
    if (x->caller.user_id.len)
        return true;
    if (!ticket.ptr && pl_http_header_get(x->head, "authorization").ptr) {
        pl_exchange_problem(x, PL_PROBLEM_UNAUTHORIZED, NULL, "The key is not valid.");
        return false;
    }
    if (!ticket.ptr)
        return true;
    if (pl_auth_ticket_take(x->shard->server->auth, &x->arena, ticket,
                            pl_loop_unix_ms(x->shard->loop), &x->caller))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_UNAUTHORIZED, NULL,
                        "The ticket is used or too old; get another from POST /api/ws-tickets.");
    return false;
}

void pl_socket_open(struct pl_exchange *x)
{
    char accept[PL_WS_ACCEPT_SIZE];
    if (!is_handshake(x, accept) || !may_enter(x)) {
        pl_exchange_finish(x);
        return;
    }
    struct ws_live *ws = pl_mem_alloc(1, sizeof *ws);
    if (!ws) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is no memory for a socket.");
        pl_exchange_finish(x);
        return;
    }
    *ws = (struct ws_live){.n_tokens = RATE_BURST};
    struct pl_buf head PL_CLEANUP_BUF, rest PL_CLEANUP_BUF;
    pl_buf_init(&head, 0);
    pl_buf_init(&rest, 0);
    bool has_protocol =
        pl_http_list_has(pl_http_header_get(x->head, "sec-websocket-protocol"), "parley.v1");
    pl_buf_addf(&head,
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Accept: %.*s\r\n%s\r\n",
                PL_WS_ACCEPT_SIZE, accept,
                has_protocol ? "Sec-WebSocket-Protocol: parley.v1\r\n" : "");
    struct pl_shard *shard = x->shard;
    char *who = NULL;
    struct pl_live keep = {0};
    bool is_ready =
        head.status == PL_OK && (!x->caller.user_id.len || pl_live_set_caller(&keep, &x->caller));
    who = keep.who;
    struct pl_conn *conn = is_ready ? pl_exchange_take_conn(x, pl_buf_str(&head), &rest) : NULL;
    if (!conn) {
        pl_mem_free(who);
        pl_mem_free(ws);
        if (!is_ready) {
            pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is no memory for a socket.");
            pl_exchange_finish(x);
        }
        return;
    }
    pl_live_init(&ws->live, &kind, shard, conn);
    ws->live.who = who;
    ws->tokens_ms = pl_loop_now_ms(shard->loop);
    pl_ws_init(&ws->ws);
    if (!who)
        pl_timer_start(shard->loop, &ws->deadline, AUTH_MS, on_deadline);
    pl_conn_switch(conn, &conn_ops, ws);
    if (rest.len)
        on_read(ws, rest.ptr, rest.len);
}
