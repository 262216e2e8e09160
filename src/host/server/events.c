/* A session's events as an event stream (WHATWG HTML 9.2): GET …/events. The client only listens;
 * where it was, it says with Last-Event-ID or ?since=EPOCH:SEQUENCE. */
#include "base/decimal.h"
#include "base/mem.h"
#include "server/live.h"
#include "server/spell.h"

struct sse_live {
    struct pl_live live; /* first */
    struct pl_timer end; /* there is nothing more to listen to */
    bool is_over;
};

static void free_over(struct pl_turn_end *end)
{
    pl_mem_free(PL_CONTAINER_OF(end, struct pl_live, flush));
}

static void drop(struct pl_live *live)
{
    struct sse_live *sse = (struct sse_live *)live;
    if (sse->is_over)
        return;
    sse->is_over = true;
    pl_timer_stop(live->shard->loop, &sse->end);
    pl_live_deinit(live);
    live->flush.fn = free_over;
    pl_loop_at_turn_end(live->shard->loop, &live->flush);
}

static void say(struct pl_live *live, const char *event, struct pl_str data)
{
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_spell_event(&frame, PL_LANE_SSE, event, data, -1, 0);
    if (frame.status == PL_OK)
        pl_live_answer(live, pl_buf_str(&frame));
}

/* The protocol has no close codes: the last event says why. */
static void sse_close(struct pl_live *live, uint16_t code, const char *reason)
{
    /* The flush below finds the reader gone, and says so by calling this again. */
    if (live->is_closing)
        return;
    if (code == PL_WS_CLOSE_GOING_AWAY) {
        say(live, "system:going_away", PL_STR("{\"retry_ms\":1000}"));
    } else if (code) {
        char data[160];
        int n = snprintf(data, sizeof data,
                         "{\"code\":\"closed\",\"close_code\":%u,\"detail\":\"%s\"}", code, reason);
        say(live, "system:error", (struct pl_str){data, (size_t)n});
    }
    live->is_closing = true;
    pl_live_flush(live);
    drop(live);
}

static void on_subscribed(struct pl_live *live, struct pl_subscription *sub,
                          const struct pl_ask *ask, const char *mode)
{
    (void)live, (void)ask, (void)mode;
    sub->is_acknowledged = true;
}

static void on_end_due(struct pl_timer *timer)
{
    struct sse_live *sse = PL_CONTAINER_OF(timer, struct sse_live, end);
    sse_close(&sse->live, 0, NULL);
}

/* Whoever calls is not done with the subscription yet: the stream ends in the next turn. */
static void on_refused(struct pl_live *live, struct pl_subscription *sub, const struct pl_ask *ask)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_sub_write_refusal(sub, ask, &body);
    if (body.status == PL_OK)
        say(live, "system:error", pl_buf_str(&body));
    pl_timer_start(live->shard->loop, &((struct sse_live *)live)->end, 0, on_end_due);
}

static void beat(struct pl_live *live)
{
    pl_live_answer(live, PL_STR(": beat\n\n"));
}

static const struct pl_live_kind kind = {
    .on_subscribed = on_subscribed,
    .on_refused = on_refused,
    .beat = beat,
    .close = sse_close,
};

static void on_read(void *ctx, char *bytes, size_t n)
{
    (void)ctx, (void)bytes, (void)n;
}

static void on_end(void *ctx)
{
    drop(ctx);
}

static void on_writable(void *ctx)
{
    pl_live_flush(ctx);
}

static const struct pl_conn_ops conn_ops = {on_read, on_end, on_writable};

/* "EPOCH:SEQUENCE" */
static struct pl_since read_position(struct pl_str text)
{
    struct pl_since since = {0};
    const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    if (!colon)
        return since;
    size_t at = (size_t)(colon - text.ptr);
    since.is_given = pl_decimal_read(pl_str_slice(text, 0, at), &since.epoch) &&
                     pl_decimal_read(pl_str_slice(text, at + 1, text.len), &since.sequence);
    return since;
}

static const char response_head[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    "X-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
    "Connection: close\r\n\r\n";

void pl_events_open(struct pl_exchange *x, struct pl_str session_id)
{
    struct pl_str position = pl_http_header_get(x->head, "last-event-id");
    if (!position.len)
        position = pl_target_param(&x->target, "since");
    struct pl_since since = read_position(position);
    bool is_whole = pl_str_eq(pl_target_param(&x->target, "content"), PL_STR("always"));
    struct pl_shard *shard = x->shard;
    struct sse_live *sse = pl_mem_alloc(1, sizeof *sse);
    char *who = pl_live_who(&x->caller);
    char id[64];
    if (!sse || !who || session_id.len >= sizeof id) {
        pl_mem_free(sse);
        pl_mem_free(who);
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is no memory for this.");
        pl_exchange_finish(x);
        return;
    }
    /* The exchange, and with it the id, is over once the connection is taken. */
    memcpy(id, session_id.ptr, session_id.len);
    struct pl_buf rest PL_CLEANUP_BUF;
    pl_buf_init(&rest, 0);
    struct pl_hold place = {0};
    struct pl_conn *conn = pl_exchange_take_conn(x, PL_STR(response_head), &rest, &place);
    if (!conn) {
        pl_mem_free(who);
        pl_mem_free(sse);
        return;
    }
    *sse = (struct sse_live){0};
    pl_live_init(&sse->live, &kind, shard, conn);
    sse->live.who = who;
    sse->live.place = place;
    pl_conn_switch(conn, &conn_ops, &sse->live);
    if (!pl_live_subscribe(&sse->live, (struct pl_str){id, session_id.len},
                           is_whole ? PL_LANE_SSE_WHOLE : PL_LANE_SSE, since))
        drop(&sse->live);
}
