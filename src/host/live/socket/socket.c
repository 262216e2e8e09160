/* A WebSocket of the API (RFC 6455, subprotocol parley.v1). Frames are {"event":E,"data":{…}}; a
 * client's frame may have an "id" and then gets {"ack":id,…}. */
#include "live/socket/socket_int.h"

#include "access/meter/meter.h"
#include "access/auth.h"
#include "base/mem.h"
#include "io/clock.h"
#include "http/limits/body_memory.h"
#include "http/trace.h"

#define CLOSE_MS   5000
#define GO_AWAY_MS 1000 /* instead of CLOSE_MS if the server is going away */
#define MAX_MISSED 2    /* heartbeats without an answer */
#define RATE_PER_S 50
#define RATE_BURST 200

static struct pl_ws_live *ws_of(struct pl_live *live)
{
    return (struct pl_ws_live *)live;
}

/* --- the end --------------------------------------------------------------------------------- */

void pl_socket_free_if_over(struct pl_ws_live *ws)
{
    if (ws->live.state == PL_LIVE_OVER && !ws->n_asks && !ws->live.flush.is_waiting)
        pl_mem_free(ws);
}

static void on_turn_end_over(struct pl_loop_hook *end)
{
    pl_socket_free_if_over((struct pl_ws_live *)PL_CONTAINER_OF(end, struct pl_live, flush));
}

/* Closes immediately. The struct is freed at the end of the iteration, because the caller may still
 * read it. */
static void drop(struct pl_ws_live *ws)
{
    struct pl_live *live = &ws->live;
    if (live->state == PL_LIVE_OVER)
        return;
    pl_timer_stop(live->shard->loop, &ws->deadline);
    pl_ws_deinit(&ws->ws);
    pl_buf_deinit(&ws->waiting);
    pl_body_memory_give(live->shard, &ws->hold, (size_t)ws->hold.n);
    pl_live_deinit(live);
    live->flush.fn = on_turn_end_over;
    pl_loop_hook_add(live->shard->loop, &live->flush);
}

static void on_deadline(struct pl_timer *timer)
{
    struct pl_ws_live *ws = PL_CONTAINER_OF(timer, struct pl_ws_live, deadline);
    if (pl_live_is_closing(&ws->live))
        drop(ws);
    else
        ws->live.kind->close(&ws->live, PL_WS_CLOSE_AUTH_TIMEOUT,
                             "the first message must be auth, within 10 seconds");
}

static void ws_close(struct pl_live *live, uint16_t code, const char *reason)
{
    struct pl_ws_live *ws = ws_of(live);
    if (!code) {
        drop(ws);
        return;
    }
    if (pl_live_is_closing(live))
        return; /* the first reason is final; the deadline closes the connection */
    if (code == PL_WS_CLOSE_GOING_AWAY)
        pl_socket_say(live, "system:going_away", PL_STR("{\"retry_ms\":1000}"));
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
    pl_live_become(live, PL_LIVE_CLOSING);
    pl_live_limit(live, &ws->deadline, code == PL_WS_CLOSE_GOING_AWAY ? GO_AWAY_MS : CLOSE_MS,
                  on_deadline);
}

/* --- bytes ----------------------------------------------------------------------------------- */

/* A token bucket: 50 messages a second, bursts of 200. */
static bool takes_token(struct pl_ws_live *ws)
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

static void on_message(struct pl_ws_live *ws, const struct pl_ws_message *message)
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
        if (!pl_live_is_closing(live))
            ws_close(live,
                     message->close_code == PL_WS_CLOSE_NO_STATUS ? PL_WS_CLOSE_NORMAL
                                                                  : message->close_code,
                     "");
        pl_live_flush(live);
        drop(ws);
        return;
    case PL_WS_TEXT:
        if (!pl_live_is_closing(live))
            pl_socket_read(ws, message->payload);
        break;
    default:
        ws_close(live, PL_WS_CLOSE_UNSUPPORTED, "messages must be text");
        return;
    }
    if (!takes_token(ws) && !pl_live_is_closing(live))
        ws_close(live, PL_WS_CLOSE_RATE, "at most 50 messages a second");
}

/* The part of a message that has arrived uses the memory for bodies until the message is
 * complete. */
static void count_bytes(struct pl_ws_live *ws)
{
    struct pl_live *live = &ws->live;
    size_t n = ws->ws.message.len, n_held = (size_t)ws->hold.n;
    if (n <= n_held) {
        pl_body_memory_give(live->shard, &ws->hold, n_held - n);
        return;
    }
    struct pl_str user = live->who ? pl_live_user(live) : (struct pl_str){0};
    struct pl_body_owner owner = pl_body_owner(user, live->conn);
    if (pl_body_memory_take(live->shard, &ws->hold, &owner, n - n_held, n) == PL_TAKING_DONE)
        return;
    ws->has_failed = true;
    pl_ws_deinit(&ws->ws);
    pl_body_memory_give(live->shard, &ws->hold, n_held);
    ws_close(live, PL_WS_CLOSE_TRY_LATER, "the memory for messages is used up");
}

/* At most the bytes that were read before the connection was paused. */
static void keep_waiting(struct pl_ws_live *ws, const char *bytes, size_t n)
{
    if (n)
        pl_buf_add(&ws->waiting, (struct pl_str){bytes, n});
    if (ws->waiting.status == PL_OK)
        return;
    ws->has_failed = true;
    ws_close(&ws->live, PL_WS_CLOSE_INTERNAL, "out of memory");
}

static void on_read(void *ctx, char *bytes, size_t n)
{
    struct pl_ws_live *ws = ctx;
    struct pl_error err = {0};
    /* After an error the input has no meaning. The client will close the connection, or the
     * deadline will. */
    if (ws->has_failed)
        return;
    if (ws->is_held) {
        keep_waiting(ws, bytes, n);
        return;
    }
    pl_ws_feed(&ws->ws, bytes, n);
    while (ws->live.state != PL_LIVE_OVER) {
        struct pl_ws_message message;
        enum pl_status status = pl_ws_next(&ws->ws, &message, &err);
        if (status == PL_NOT_FOUND) {
            count_bytes(ws);
            return;
        }
        if (status != PL_OK) {
            ws->has_failed = true;
            ws_close(&ws->live, ws->ws.close_code, err.message);
            return;
        }
        on_message(ws, &message);
        if (ws->is_held) {
            keep_waiting(ws, ws->ws.input, ws->ws.n_input);
            ws->ws.n_input = 0;
            return;
        }
    }
}

void pl_socket_hold(struct pl_ws_live *ws)
{
    ws->is_held = true;
    pl_conn_pause(ws->live.conn);
}

void pl_socket_release(struct pl_ws_live *ws)
{
    struct pl_buf waiting = ws->waiting;
    ws->is_held = false;
    if (ws->live.state == PL_LIVE_OVER)
        return;
    pl_buf_init(&ws->waiting, 0);
    pl_conn_resume(ws->live.conn);
    if (waiting.len)
        on_read(ws, waiting.ptr, waiting.len);
    pl_buf_deinit(&waiting);
}

static void on_end(void *ctx)
{
    drop(ctx);
}

static void on_writable(void *ctx)
{
    pl_live_flush(&((struct pl_ws_live *)ctx)->live);
}

static const struct pl_conn_ops conn_ops = {on_read, on_end, on_writable};

static void beat(struct pl_live *live)
{
    struct pl_ws_live *ws = ws_of(live);
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
                          const struct pl_session_command *command, const char *mode)
{
    struct pl_buf data PL_CLEANUP_BUF;
    pl_buf_init(&data, 0);
    pl_buf_addf(
        &data,
        "{\"session_id\":\"%s\",\"mode\":\"%s\",\"position\":{\"epoch\":%lld,\"sequence\":%lld}}",
        sub->id, mode, (long long)command->epoch, (long long)command->position);
    if (!sub->is_acknowledged && data.status == PL_OK)
        pl_socket_ack(live, (struct pl_str){sub->ack_id, sub->n_ack_id}, pl_buf_str(&data));
    forget_ack(sub);
}

static void on_refused(struct pl_live *live, struct pl_subscription *sub,
                       const struct pl_session_command *command)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_subscription_write_refusal(sub, command, &body);
    if (body.status == PL_OK)
        pl_socket_refuse(live, (struct pl_str){sub->ack_id, sub->n_ack_id}, pl_buf_str(&body));
    forget_ack(sub);
}

static const struct pl_live_kind kind = {
    .on_subscribed = on_subscribed,
    .on_refused = on_refused,
    .beat = beat,
    .close = ws_close,
    .hears_user = true,
};

/* --- the handshake --------------------------------------------------------------------------- */

bool pl_socket_is_handshake(struct pl_exchange *x, char accept[PL_WS_ACCEPT_SIZE])
{
    const struct pl_http_head *head = x->head;
    struct pl_str upgrade = pl_http_header_get(head, "upgrade");
    struct pl_str version = pl_http_header_get(head, "sec-websocket-version");
    if (head->is_http10) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "A WebSocket handshake needs HTTP/1.1, but this request is HTTP/1.0.");
    } else if (x->method != PL_METHOD_GET || !head->is_upgrade ||
               !pl_http_list_has(upgrade, "websocket")) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "This is a WebSocket: connect with Upgrade: websocket.");
    } else if (!pl_str_eq(version, PL_STR("13"))) {
        /* RFC 6455 4.4: name the supported version, so that the client can try it. */
        pl_exchange_header(x, "Sec-WebSocket-Version", "13");
        pl_exchange_header(x, "Upgrade", "websocket");
        pl_exchange_header(x, "Connection", "Upgrade");
        pl_exchange_problem(x, PL_PROBLEM_UPGRADE_REQUIRED, NULL,
                            "Send Sec-WebSocket-Version: 13; no other version is supported.");
    } else if (!pl_ws_accept(pl_http_header_get(head, "sec-websocket-key"), accept)) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "Sec-WebSocket-Key must be 16 bytes in base64.");
    } else {
        return true;
    }
    return false;
}

static bool may_listen(struct pl_exchange *x)
{
    if (pl_scope_reaches(x->caller.scope, PL_FOR_SESSIONS | PL_FOR_READ))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                        "This key has the scope \"%s\", which opens no socket.",
                        pl_scope_word(x->caller.scope));
    return false;
}

/* Without a key the first message must have one; a wrong key is refused now. */
static bool may_enter(struct pl_exchange *x)
{
    if (x->caller.user_id.len)
        return may_listen(x);
    if (!pl_http_header_get(x->head, "authorization").ptr)
        return true;
    pl_exchange_problem(x, PL_PROBLEM_UNAUTHORIZED, NULL, "The key is not valid.");
    return false;
}

static void take_ticket(struct pl_exchange *x)
{
    enum pl_status status =
        pl_auth_ticket_take(x->shard->server->auth, &x->arena,
                            pl_target_param(&x->target, "ticket"), pl_clock_ms(), &x->caller);
    if (status == PL_OK)
        (void)may_listen(x);
    else if (status == PL_NOT_FOUND)
        pl_exchange_problem(
            x, PL_PROBLEM_UNAUTHORIZED, NULL,
            "The ticket is used or expired; get another from POST /api/ws-tickets.");
    else
        pl_exchange_fail(x, status, NULL);
}

static void upgrade(struct pl_exchange *x);

/* A worker takes a ticket that is a row. */
void pl_socket_open(struct pl_exchange *x)
{
    char accept[PL_WS_ACCEPT_SIZE];
    bool has_ticket = !x->caller.user_id.len && pl_target_param(&x->target, "ticket").ptr;
    bool is_shared = pl_auth_is_shared(x->shard->server->auth);
    bool may_go_on = pl_socket_is_handshake(x, accept) && (has_ticket || may_enter(x));
    if (may_go_on && has_ticket && is_shared) {
        pl_exchange_work(x, take_ticket, upgrade);
        return;
    }
    if (may_go_on && has_ticket)
        take_ticket(x);
    upgrade(x);
}

static void upgrade(struct pl_exchange *x)
{
    char accept[PL_WS_ACCEPT_SIZE];
    /* The client may have gone while the ticket was taken. */
    if (x->is_problem || !x->conn || !pl_socket_is_handshake(x, accept)) {
        pl_exchange_finish(x);
        return;
    }
    struct pl_ws_live *ws = pl_mem_alloc(1, sizeof *ws);
    if (!ws) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "There is not enough memory for a "
                            "socket.");
        pl_exchange_finish(x);
        return;
    }
    *ws = (struct pl_ws_live){.n_tokens = RATE_BURST};
    bool is_chinese = pl_exchange_wants_chinese(x);
    struct pl_str trace_id = pl_trace_id(x);
    if (trace_id.len)
        memcpy(ws->trace_id, trace_id.ptr, trace_id.len);
    struct pl_buf head PL_CLEANUP_BUF, rest PL_CLEANUP_BUF;
    pl_buf_init(&head, 0);
    pl_buf_init(&rest, 0);
    bool has_protocol =
        pl_http_list_has(pl_http_header_get(x->head, "sec-websocket-protocol"), "parley.v1");
    pl_buf_addf(&head,
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Accept: %.*s\r\n%s%s\r\n",
                PL_WS_ACCEPT_SIZE, accept, x->shard->server->node_header,
                has_protocol ? "Sec-WebSocket-Protocol: parley.v1\r\n" : "");
    struct pl_shard *shard = x->shard;
    bool is_known = x->caller.user_id.len;
    char *who = is_known ? pl_live_who(&x->caller) : NULL;
    enum pl_scope scope = x->caller.scope;
    if (is_known && !pl_live_enter(x)) {
        pl_mem_free(who);
        pl_mem_free(ws);
        pl_exchange_finish(x);
        return;
    }
    bool is_ready = head.status == PL_OK && (who || !is_known);
    struct pl_hold place = {0};
    struct pl_conn *conn =
        is_ready ? pl_exchange_take_conn(x, pl_buf_str(&head), &rest, &place) : NULL;
    if (!conn) {
        if (who)
            pl_meter_leave_socket(shard->server->meter, pl_str_of(who));
        pl_mem_free(who);
        pl_mem_free(ws);
        if (!is_ready) {
            pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                                "There is not enough memory for a "
                                "socket.");
            pl_exchange_finish(x);
        }
        return;
    }
    pl_live_init(&ws->live, &kind, shard, conn);
    ws->live.is_chinese = is_chinese;
    ws->live.who = who;
    ws->live.scope = scope;
    ws->live.is_metered = who != NULL;
    ws->live.place = place;
    ws->tokens_ms = pl_loop_now_ms(shard->loop);
    pl_ws_init(&ws->ws);
    if (who) {
        pl_live_become(&ws->live, PL_LIVE_OPEN);
    } else {
        ws->ws.max_message = PL_SOCKET_FIRST_BYTES;
        pl_live_limit(&ws->live, &ws->deadline, 0, on_deadline);
    }
    pl_conn_switch(conn, &conn_ops, ws);
    if (rest.len)
        on_read(ws, rest.ptr, rest.len);
}
