/* The WebSocket of an extension that runs elsewhere, on the shard that accepted it. Bytes go
 * through two pipes to the shard of the instance (socket.h). It is one of the hub's connections,
 * so a revoked key, a disabled user or the end of the server closes it like any other. */
#include "ext/run/channel/socket.h"

#include "access/meter/meter.h"
#include "base/mem.h"
#include "ext/run/ext_int.h"
#include "http/limits/body_memory.h"
#include "io/watch.h"
#include "live/listener.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    CLOSE_MS = 5000,   /* for the other side's close */
    GO_AWAY_MS = 1000, /* the same if the server ends */
    PULSE_MS = 10000,
    MAX_MISSED = 2, /* pings without any answer: a dead connection is found in 30 s */
    BLOCK = 64 << 10,
};

struct socket {
    struct pl_live live; /* first */
    struct pl_ws ws;
    struct pl_hold hold; /* the received part of a message, counted as memory for bodies */
    struct pl_timer deadline, pulse;
    struct pl_ext_shard *exts; /* borrowed; counts it */
    struct pl_ext_wire *wire;  /* held */
    struct pl_watch to_watch, from_watch;
    unsigned n_watches; /* not removed yet */
    struct pl_buf to;   /* lines for the host that its pipe has not taken */
    size_t n_to;        /* of `to`: already sent */
    struct pl_buf from; /* of the host: waiting lines, and the beginning of one */
    size_t n_scanned;   /* of `from`: has no line feed */
    uint8_t n_missed;
    bool has_failed; /* the input broke the protocol: nothing more is read */
};

static struct socket *socket_of(struct pl_live *live)
{
    return (struct socket *)live;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void free_if_over(struct socket *s)
{
    if (s->live.state != PL_LIVE_OVER || s->n_watches || s->live.flush.is_waiting)
        return;
    struct pl_ext_shard *exts = s->exts;
    pl_mem_free(s);
    exts->n_live--;
    if (exts->is_stopping)
        pl_loop_hook_add(exts->loop, &exts->stop_hook);
}

static void on_turn_end_over(struct pl_loop_hook *end)
{
    free_if_over((struct socket *)PL_CONTAINER_OF(end, struct pl_live, flush));
}

static void on_to_buried(struct pl_watch *watch)
{
    struct socket *s = PL_CONTAINER_OF(watch, struct socket, to_watch);
    s->n_watches--;
    free_if_over(s);
}

static void on_from_buried(struct pl_watch *watch)
{
    struct socket *s = PL_CONTAINER_OF(watch, struct socket, from_watch);
    s->n_watches--;
    free_if_over(s);
}

static void shut_to(struct socket *s)
{
    int *fd = &s->wire->to_host[1];
    if (*fd < 0)
        return;
    pl_watch_end(s->live.shard->loop, &s->to_watch, on_to_buried);
    close(*fd);
    *fd = -1;
}

static void shut_from(struct socket *s)
{
    int *fd = &s->wire->to_socket[0];
    if (*fd < 0)
        return;
    pl_watch_end(s->live.shard->loop, &s->from_watch, on_from_buried);
    close(*fd);
    *fd = -1;
}

/* The pipes tell the instance that it ended, the wire tells why. The first reason counts. */
static void part(struct socket *s, bool is_fault, const char *why)
{
    struct pl_ext_wire *wire = s->wire;
    if (!atomic_load(&wire->has_socket_said)) {
        wire->is_fault = is_fault;
        snprintf(wire->socket_why, sizeof wire->socket_why, "%s", why);
        atomic_store(&wire->has_socket_said, true);
    }
    shut_to(s);
    shut_from(s);
}

/* Closes now. The struct is freed at the end of this turn of the loop, because our caller may still
 * read it. */
static void drop(struct socket *s)
{
    struct pl_live *live = &s->live;
    if (live->state == PL_LIVE_OVER)
        return;
    part(s, false, "its connection was closed");
    pl_ext_wire_release(PL_TAKE(s->wire));
    pl_timer_stop(live->shard->loop, &s->deadline);
    pl_timer_stop(live->shard->loop, &s->pulse);
    pl_ws_deinit(&s->ws);
    pl_buf_deinit(&s->to);
    pl_buf_deinit(&s->from);
    pl_body_memory_give(live->shard, &s->hold, (size_t)s->hold.n);
    pl_live_deinit(live);
    live->flush.fn = on_turn_end_over;
    pl_loop_hook_add(live->shard->loop, &live->flush);
}

static void on_deadline(struct pl_timer *timer)
{
    drop(PL_CONTAINER_OF(timer, struct socket, deadline));
}

static bool is_fault(uint16_t code)
{
    return code == PL_WS_CLOSE_PROTOCOL || code == PL_WS_CLOSE_UNSUPPORTED ||
           code == PL_WS_CLOSE_INVALID_TEXT || code == PL_WS_CLOSE_TOO_BIG ||
           code == PL_WS_CLOSE_TOO_SLOW;
}

static void socket_close(struct pl_live *live, uint16_t code, const char *reason)
{
    struct socket *s = socket_of(live);
    if (!code) {
        drop(s);
        return;
    }
    if (pl_live_is_closing(live))
        return; /* the first reason counts; the deadline ends it */
    part(s, is_fault(code), reason);
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_ws_close_write(&frame, code, pl_str_of(reason));
    if (frame.status != PL_OK) {
        drop(s);
        return;
    }
    if (code == PL_WS_CLOSE_TOO_SLOW)
        pl_outbox_drop(&live->out);
    pl_live_answer(live, pl_buf_str(&frame));
    pl_live_become(live, PL_LIVE_CLOSING);
    pl_timer_stop(live->shard->loop, &s->pulse);
    pl_live_limit(live, &s->deadline, code == PL_WS_CLOSE_GOING_AWAY ? GO_AWAY_MS : CLOSE_MS,
                  on_deadline);
    pl_conn_resume(live->conn); /* to receive the other side's close */
}

/* --- from the other machine ---------------------------------------------------------------------- */

/* Writes as much as the pipe takes. The connection is not read while something waits. */
static void flush_to(struct socket *s)
{
    int fd = s->wire->to_host[1];
    while (s->n_to < s->to.len) {
        ssize_t n = write(fd, s->to.ptr + s->n_to, s->to.len - s->n_to);
        if (n <= 0)
            break; /* full, or the instance is over: its watch tells */
        s->n_to += (size_t)n;
    }
    bool waits = s->n_to < s->to.len;
    if (!waits) {
        s->n_to = 0;
        if (s->to.cap > 2 * BLOCK)
            pl_buf_deinit(&s->to);
        else
            pl_buf_clear(&s->to);
    }
    pl_watch_want(s->live.shard->loop, &s->to_watch, waits ? EPOLLOUT : 0);
    if (waits)
        pl_conn_pause(s->live.conn);
    else
        pl_conn_resume(s->live.conn);
}

/* A message is a line. A line feed inside it can only be space between values, or an error. The
 * carriage return that replaces it is the same. */
static void hear_text(struct socket *s, struct pl_str text)
{
    size_t at = s->to.len;
    pl_buf_add(&s->to, text);
    pl_buf_addc(&s->to, '\n');
    if (s->to.status != PL_OK) {
        socket_close(&s->live, PL_WS_CLOSE_TRY_LATER, "the server is out of memory");
        return;
    }
    for (char *c = s->to.ptr + at, *end = c + text.len; (c = memchr(c, '\n', (size_t)(end - c)));)
        *c = '\r';
}

static void on_message(struct socket *s, const struct pl_ws_message *message)
{
    struct pl_live *live = &s->live;
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_metric_add(&live->shard->metrics, PL_METRIC_socket_messages_in_total, 1);
    s->n_missed = 0;
    switch (message->opcode) {
    case PL_WS_TEXT:
        if (!pl_live_is_closing(live))
            hear_text(s, message->payload);
        break;
    case PL_WS_PING:
        pl_ws_frame_write(&frame, PL_WS_PONG, message->payload);
        if (frame.status == PL_OK)
            pl_live_answer(live, pl_buf_str(&frame));
        break;
    case PL_WS_PONG:
        break;
    case PL_WS_CLOSE:
        part(s, false, "it closed its connection");
        if (!pl_live_is_closing(live))
            socket_close(live, PL_WS_CLOSE_NORMAL, "");
        pl_live_flush(live);
        drop(s);
        break;
    default:
        socket_close(live, PL_WS_CLOSE_UNSUPPORTED, "it sent a binary message; frames are text");
        break;
    }
}

/* The received part of a message uses the memory for bodies until the message is complete. */
static void count_bytes(struct socket *s)
{
    struct pl_live *live = &s->live;
    size_t n = s->ws.message.len, n_held = (size_t)s->hold.n;
    if (n <= n_held) {
        pl_body_memory_give(live->shard, &s->hold, n_held - n);
        return;
    }
    struct pl_body_owner owner = pl_body_owner(pl_live_user(live), live->conn);
    if (pl_body_memory_take(live->shard, &s->hold, &owner, n - n_held, n) == PL_TAKING_DONE)
        return;
    s->has_failed = true;
    pl_ws_deinit(&s->ws);
    pl_body_memory_give(live->shard, &s->hold, n_held);
    socket_close(live, PL_WS_CLOSE_TRY_LATER, "the memory for messages is used up");
}

static void on_read(void *ctx, char *bytes, size_t n)
{
    struct socket *s = ctx;
    struct pl_error err = {0};
    if (s->has_failed)
        return; /* input after an error is ignored */
    pl_ws_feed(&s->ws, bytes, n);
    enum pl_status status = PL_OK;
    while (s->live.state != PL_LIVE_OVER && status == PL_OK) {
        struct pl_ws_message message;
        status = pl_ws_next(&s->ws, &message, &err);
        if (status == PL_OK)
            on_message(s, &message);
    }
    if (s->live.state == PL_LIVE_OVER)
        return;
    if (status == PL_NOT_FOUND) {
        count_bytes(s);
    } else {
        s->has_failed = true;
        socket_close(&s->live, s->ws.close_code,
                     s->ws.close_code == PL_WS_CLOSE_TOO_BIG ? "it sent a line of more than 8 MiB"
                                                             : err.message);
    }
    if (!pl_live_is_closing(&s->live) && s->to.len)
        flush_to(s);
}

static void on_end(void *ctx)
{
    drop(ctx);
}

/* --- from the host ---------------------------------------------------------------------------- */

/* Whether the queue is short, if necessary after a flush. False: on_writable follows, or the
 * connection is over. */
static bool has_room(struct socket *s)
{
    struct pl_live *live = &s->live;
    if (!pl_live_is_closing(live) && live->out.n_bytes > PL_LIVE_LITTLE)
        pl_live_flush(live);
    return !pl_live_is_closing(live) && live->out.n_bytes <= PL_LIVE_LITTLE;
}

static void send_line(struct socket *s, struct pl_str line)
{
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_ws_frame_write(&frame, PL_WS_TEXT, line);
    if (frame.status == PL_OK)
        pl_live_answer(&s->live, pl_buf_str(&frame));
    else
        socket_close(&s->live, PL_WS_CLOSE_TRY_LATER, "the server is out of memory");
}

/* Hands out complete lines while the queue is short; without room, the host must wait. */
static void hand_out(struct socket *s)
{
    struct pl_live *live = &s->live;
    size_t done = 0;
    bool is_roomy = has_room(s);
    while (is_roomy) {
        size_t from = s->n_scanned > done ? s->n_scanned : done;
        char *end =
            s->from.len > from ? memchr(s->from.ptr + from, '\n', s->from.len - from) : NULL;
        s->n_scanned = end ? 0 : s->from.len;
        if (!end)
            break;
        send_line(s, (struct pl_str){s->from.ptr + done, (size_t)(end - s->from.ptr) - done});
        done = (size_t)(end - s->from.ptr) + 1;
        is_roomy = has_room(s);
    }
    if (pl_live_is_closing(live))
        return;
    if (done)
        memmove(s->from.ptr, s->from.ptr + done, s->from.len - done);
    s->from.len -= done;
    s->n_scanned -= s->n_scanned > done ? done : s->n_scanned;
    if (!s->from.len && s->from.cap > 2 * BLOCK)
        pl_buf_deinit(&s->from);
    if (s->wire->to_socket[0] >= 0)
        pl_watch_want(live->shard->loop, &s->from_watch, is_roomy ? EPOLLIN : 0);
}

/* False: no input now, or its end. */
static bool read_block(struct socket *s)
{
    char *to = pl_buf_reserve(&s->from, BLOCK);
    ssize_t n = to ? read(s->wire->to_socket[0], to, BLOCK) : -1;
    if (!to) {
        socket_close(&s->live, PL_WS_CLOSE_TRY_LATER, "the server is out of memory");
    } else if (n > 0) {
        s->from.len += (size_t)n;
    } else if (n == 0) {
        shut_from(s);
    }
    return n > 0;
}

static void on_from(struct pl_watch *watch, uint32_t events)
{
    struct socket *s = PL_CONTAINER_OF(watch, struct socket, from_watch);
    (void)events;
    if (read_block(s))
        hand_out(s);
}

/* The instance is over: sends its last lines, and the reason. */
static void on_host_over(struct socket *s)
{
    struct pl_ext_wire *wire = s->wire;
    while (!pl_live_is_closing(&s->live) && wire->to_socket[0] >= 0 && read_block(s))
        hand_out(s);
    if (pl_live_is_closing(&s->live))
        return;
    if (atomic_load(&wire->has_host_said))
        socket_close(&s->live, wire->host_code, wire->host_why);
    else
        socket_close(&s->live, PL_WS_CLOSE_INTERNAL, "the server has ended it");
}

static void on_to(struct pl_watch *watch, uint32_t events)
{
    struct socket *s = PL_CONTAINER_OF(watch, struct socket, to_watch);
    if (events & (EPOLLERR | EPOLLHUP))
        on_host_over(s);
    else
        flush_to(s);
}

static void on_writable(void *ctx)
{
    struct socket *s = ctx;
    pl_live_flush(&s->live);
    if (!pl_live_is_closing(&s->live))
        hand_out(s);
}

static const struct pl_conn_ops conn_ops = {on_read, on_end, on_writable};

/* --- the pulse -------------------------------------------------------------------------------- */

static void on_pulse(struct pl_timer *timer)
{
    struct socket *s = PL_CONTAINER_OF(timer, struct socket, pulse);
    struct pl_buf frame PL_CLEANUP_BUF;
    if (s->n_missed++ >= MAX_MISSED) {
        part(s, false, "its connection is dead");
        drop(s);
        return;
    }
    pl_buf_init(&frame, 0);
    pl_ws_frame_write(&frame, PL_WS_PING, (struct pl_str){0});
    if (frame.status == PL_OK)
        pl_live_answer(&s->live, pl_buf_str(&frame));
    pl_timer_start(s->live.shard->loop, timer, PULSE_MS, on_pulse);
}

/* The hub's beat looks for readers that do not read; the pulse is ours. */
static void beat(struct pl_live *live)
{
    (void)live;
}

static const struct pl_live_kind kind = {.beat = beat, .close = socket_close, .outlasts = true};

/* --- opening ---------------------------------------------------------------------------------- */

static bool watch_pipe(struct socket *s, struct pl_watch *watch, int *fd, uint32_t events,
                       void (*fn)(struct pl_watch *, uint32_t))
{
    if (pl_watch_start(s->live.shard->loop, watch, *fd, events, fn) == PL_OK) {
        s->n_watches++;
        return true;
    }
    close(*fd);
    *fd = -1;
    return false;
}

static bool watch_pipes(struct socket *s)
{
    bool is_to = watch_pipe(s, &s->to_watch, &s->wire->to_host[1], 0, on_to);
    bool is_from = watch_pipe(s, &s->from_watch, &s->wire->to_socket[0], EPOLLIN, on_from);
    return is_to && is_from;
}

static void refuse(struct pl_exchange *x)
{
    pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is not enough memory for a socket.");
    pl_exchange_finish(x);
}

/* Takes the connection and creates the struct; NULL after finishing the exchange. */
static struct socket *take(struct pl_exchange *x, const char *accept, struct pl_buf *ret_rest)
{
    struct pl_shard *shard = x->shard;
    struct pl_buf head PL_CLEANUP_BUF;
    pl_buf_init(&head, 0);
    pl_buf_addf(&head,
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Accept: %.*s\r\nSec-WebSocket-Protocol: pi.ext.v1\r\n%s\r\n",
                PL_WS_ACCEPT_SIZE, accept, shard->server->node_header);
    struct socket *s = pl_mem_alloc(1, sizeof *s);
    char *who = s ? pl_live_who(&x->caller) : NULL;
    if (!who || head.status != PL_OK) {
        pl_mem_free(who);
        pl_mem_free(s);
        refuse(x);
        return NULL;
    }
    enum pl_scope scope = x->caller.scope;
    struct pl_hold place = {0};
    struct pl_conn *conn = NULL;
    bool has_entered = pl_live_enter(x);
    if (!has_entered)
        pl_exchange_finish(x);
    else
        conn = pl_exchange_take_conn(x, pl_buf_str(&head), ret_rest, &place);
    if (!conn) {
        if (has_entered)
            pl_meter_leave_socket(shard->server->meter, pl_str_of(who));
        pl_mem_free(who);
        pl_mem_free(s);
        return NULL;
    }
    *s = (struct socket){0};
    pl_live_init(&s->live, &kind, shard, conn);
    s->live.who = who;
    s->live.scope = scope;
    s->live.is_metered = true;
    s->live.place = place;
    pl_live_become(&s->live, PL_LIVE_OPEN);
    return s;
}

void pl_ext_socket_open(struct pl_exchange *x, struct pl_ext_shard *exts, struct pl_ext_wire *wire,
                        const char accept[PL_WS_ACCEPT_SIZE])
{
    struct pl_buf rest PL_CLEANUP_BUF;
    pl_buf_init(&rest, 0);
    struct socket *s = take(x, accept, &rest);
    if (!s) {
        for (int i = 0; i < 2; i++) { /* the instance sees the end at once */
            int *fd = i ? &wire->to_socket[0] : &wire->to_host[1];
            close(*fd);
            *fd = -1;
        }
        pl_ext_wire_release(wire);
        return;
    }
    s->exts = exts;
    s->wire = wire;
    exts->n_live++;
    pl_ws_init(&s->ws);
    s->ws.max_message = PL_EXT_LINE_BYTES;
    pl_buf_init(&s->to, 0);
    pl_buf_init(&s->from, 0);
    pl_conn_switch(s->live.conn, &conn_ops, s);
    if (!watch_pipes(s)) {
        drop(s);
        return;
    }
    pl_timer_start(s->live.shard->loop, &s->pulse, PULSE_MS, on_pulse);
    if (rest.len)
        on_read(s, rest.ptr, rest.len);
}
