/* A session's events as an event stream (WHATWG HTML 9.2): the answer to GET …/events, and on
 * request to POST …/chat. The client only listens; it gives its position as Last-Event-ID or
 * ?since=EPOCH:SEQUENCE.
 *
 * The stream of a chat has the events from its chat:start to its chat:end, and ends with them. A
 * reader that was too slow gets a snapshot, which says whether the chat is over. */
#include "access/meter/meter.h"
#include "base/text/decimal.h"
#include "base/mem.h"
#include "http/request_log.h"
#include "json/json.h"
#include "json/number.h"
#include "json/text.h"
#include "live/encode.h"
#include "live/listener.h"

enum { MAX_MODELS = 1000 }; /* bytes of model names in a line of the log */

enum chat_phase {
    CHAT_NONE,    /* all events, without end */
    CHAT_AWAITED, /* not yet begun */
    CHAT_BEGUN,
    CHAT_OVER, /* the queue is sent, then the stream ends */
};

struct sse_live {
    struct pl_live live; /* first */
    struct pl_timer end; /* ends the stream */
    enum chat_phase phase;
    bool is_blind;    /* out of memory: an event could not be read, and it may have been the end */
    int64_t position; /* of the chat in the queue; 0: it began immediately */
    struct pl_held_line
        *line;            /* owned: the log line of the chat, written at its end; may be NULL */
    struct pl_buf models; /* the models that answered in it, separated by commas */
    int64_t n_input, n_output; /* their tokens */
    int64_t n_head;            /* bytes of the answer's head */
};

static const char response_head[] =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
    "X-Accel-Buffering: no\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
    "Connection: close\r\n";

static void free_over(struct pl_loop_hook *end)
{
    pl_mem_free(PL_CONTAINER_OF(end, struct pl_live, flush));
}

/* Logs the request when its stream ends. */
static void write_line(struct sse_live *sse)
{
    struct pl_str models = sse->models.status == PL_OK ? pl_buf_str(&sse->models) : PL_STR("");
    pl_log_held(PL_TAKE(sse->line), sse->live.shard,
                &(struct pl_held_end){
                    .model = models,
                    .n_input = sse->n_input,
                    .n_output = sse->n_output,
                    .bytes_out = sse->live.n_sent + sse->n_head,
                    .is_aborted = sse->phase != CHAT_OVER || sse->live.out.len,
                });
    pl_buf_deinit(&sse->models);
}

static void drop(struct pl_live *live)
{
    struct sse_live *sse = (struct sse_live *)live;
    if (live->state == PL_LIVE_OVER)
        return;
    pl_timer_stop(live->shard->loop, &sse->end);
    write_line(sse);
    pl_live_deinit(live);
    live->flush.fn = free_over;
    pl_loop_hook_add(live->shard->loop, &live->flush);
}

static void say(struct pl_live *live, const char *event, struct pl_str data)
{
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_encode_event(&frame, PL_LANE_SSE, event, data, -1, 0);
    if (frame.status == PL_OK)
        pl_live_answer(live, pl_buf_str(&frame));
}

/* The protocol has no close codes, so the last event gives the reason. */
static void sse_close(struct pl_live *live, uint16_t code, const char *reason)
{
    /* The flush below calls this function again if the reader is gone. */
    if (pl_live_is_closing(live))
        return;
    if (code == PL_WS_CLOSE_GOING_AWAY) {
        say(live, "system:going_away", PL_STR("{\"retry_ms\":1000}"));
    } else if (code) {
        char data[160];
        int n = snprintf(data, sizeof data,
                         "{\"code\":\"closed\",\"close_code\":%u,\"detail\":\"%s\"}", code, reason);
        say(live, "system:error", (struct pl_str){data, (size_t)n});
    }
    pl_live_become(live, PL_LIVE_CLOSING);
    pl_live_flush(live);
    drop(live);
}

static void on_subscribed(struct pl_live *live, struct pl_subscription *sub,
                          const struct pl_session_command *command, const char *mode)
{
    (void)live, (void)command, (void)mode;
    sub->is_acknowledged = true;
}

/* Ends the stream of a chat that is over, if its last event was sent. */
static void end_if_sent(struct sse_live *sse)
{
    const struct pl_live *live = &sse->live;
    if (sse->phase != CHAT_OVER || (!live->out.len && !live->is_lagging))
        sse_close(&sse->live, 0, NULL);
}

static void on_end_due(struct pl_timer *timer)
{
    struct sse_live *sse = PL_CONTAINER_OF(timer, struct sse_live, end);
    if (sse->phase == CHAT_OVER)
        pl_live_flush(&sse->live);
    if (sse->live.state >= PL_LIVE_CLOSING)
        return;
    if (sse->is_blind)
        sse_close(&sse->live, PL_WS_CLOSE_TRY_LATER, "out of memory; follow the session");
    else
        end_if_sent(sse);
}

/* The caller still uses the subscription, so the stream ends in the next iteration. */
static void on_refused(struct pl_live *live, struct pl_subscription *sub,
                       const struct pl_session_command *command)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_subscription_write_refusal(sub, command, &body);
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

/* --- the events of one chat ------------------------------------------------------------------ */

static int64_t int_of(const struct pl_json_doc *doc, const struct pl_json_node *object,
                      const char *key)
{
    int64_t value = 0;
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(key));
    bool is_int =
        pl_json_is(n, PL_JSON_NUMBER) && pl_json_number_int64(pl_json_span(doc, n), &value);
    return is_int ? value : 0;
}

/* Whether a list of messages has the one with this position in the queue. */
static bool has_position(const struct pl_json_doc *doc, const struct pl_json_node *list,
                         int64_t position)
{
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return false;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        if (int_of(doc, n, "position") == position)
            return true;
    return false;
}

/* These return the phase of the chat after an event with this data. */
static enum chat_phase read_start(struct sse_live *sse, const struct pl_json_doc *data)
{
    return int_of(data, data->root, "position") == sse->position ? CHAT_BEGUN : sse->phase;
}

/* Also counts the model and its usage. */
static enum chat_phase read_turn_end(struct sse_live *sse, const struct pl_json_doc *data)
{
    const struct pl_json_node *turn = pl_json_get(data, data->root, PL_STR("turn"));
    const struct pl_json_node *usage =
        pl_json_is(turn, PL_JSON_OBJECT) ? pl_json_get(data, turn, PL_STR("usage")) : NULL;
    const struct pl_json_node *model =
        pl_json_is(turn, PL_JSON_OBJECT) ? pl_json_get(data, turn, PL_STR("model")) : NULL;
    if (sse->phase != CHAT_BEGUN || !pl_json_is(model, PL_JSON_STRING))
        return sse->phase;
    if (sse->models.len + pl_json_raw(data, model).len < MAX_MODELS)
        pl_log_add_model(&sse->models, pl_json_raw(data, model));
    if (pl_json_is(usage, PL_JSON_OBJECT)) {
        sse->n_input += int_of(data, usage, "input_tokens");
        sse->n_output += int_of(data, usage, "output_tokens");
    }
    return sse->phase;
}

static enum chat_phase read_chat_end(struct sse_live *sse, const struct pl_json_doc *data)
{
    const struct pl_json_node *list = pl_json_get(data, data->root, PL_STR("cancelled_messages"));
    bool is_cancelled = sse->position && has_position(data, list, sse->position);
    return sse->phase == CHAT_BEGUN || is_cancelled ? CHAT_OVER : sse->phase;
}

static enum chat_phase read_snapshot(struct sse_live *sse, const struct pl_json_doc *data)
{
    const struct pl_json_node *session = pl_json_get(data, data->root, PL_STR("session"));
    const struct pl_json_node *queue = pl_json_get(data, data->root, PL_STR("queue"));
    const struct pl_json_node *status =
        pl_json_is(session, PL_JSON_OBJECT) ? pl_json_get(data, session, PL_STR("status")) : NULL;
    bool is_at_work = pl_json_is(status, PL_JSON_STRING) &&
                      (pl_json_text_is(data, status, PL_STR("running")) ||
                       pl_json_text_is(data, status, PL_STR("waiting_for_input")));
    if (sse->position && has_position(data, queue, sse->position))
        return CHAT_AWAITED;
    return is_at_work ? CHAT_BEGUN : CHAT_OVER;
}

static const struct {
    struct pl_str event;
    enum chat_phase (*read)(struct sse_live *sse, const struct pl_json_doc *data);
} chat_events[] = {
    {{"chat:start", 10}, read_start},
    {{"turn:end", 8}, read_turn_end},
    {{"chat:end", 8}, read_chat_end},
    {{"session:snapshot", 16}, read_snapshot},
};

/* The text after `name` in an event, to the end of its line. */
static struct pl_str field_of(struct pl_str event, struct pl_str name)
{
    const char *at = memmem(event.ptr, event.len, name.ptr, name.len);
    if (!at)
        return (struct pl_str){0};
    struct pl_str rest = pl_str_slice(event, (size_t)(at - event.ptr) + name.len, event.len);
    const char *end = memchr(rest.ptr, '\n', rest.len);
    return pl_str_slice(rest, 0, end ? (size_t)(end - rest.ptr) : rest.len);
}

/* The phase after this event. */
static enum chat_phase phase_after(struct sse_live *sse, struct pl_str event)
{
    struct pl_str name = field_of(event, PL_STR("event: "));
    struct pl_str text = field_of(event, PL_STR("\ndata: "));
    for (size_t i = 0; i < sizeof chat_events / sizeof *chat_events; i++) {
        struct pl_arena arena PL_CLEANUP_ARENA;
        struct pl_json_doc data;
        pl_arena_init(&arena, 0);
        if (!pl_str_eq(name, chat_events[i].event))
            continue;
        if (pl_json_parse(&arena, text, &pl_json_own, &data, NULL) != PL_OK)
            sse->is_blind = true; /* the server wrote it, so the only cause is a lack of memory */
        else if (pl_json_kind(data.root) == PL_JSON_OBJECT)
            return chat_events[i].read(sse, &data);
    }
    return sse->phase;
}

static struct pl_str choose_chat(struct pl_live *live, struct pl_str events)
{
    struct sse_live *sse = (struct sse_live *)live;
    size_t from = events.len, at = 0;
    while (at < events.len && sse->phase != CHAT_OVER) {
        struct pl_str rest = pl_str_slice(events, at, events.len);
        const char *blank = memmem(rest.ptr, rest.len, "\n\n", 2);
        size_t n = blank ? (size_t)(blank - rest.ptr) + 2 : rest.len;
        enum chat_phase before = sse->phase;
        sse->phase = phase_after(sse, pl_str_slice(rest, 0, n));
        bool is_chosen = before == CHAT_BEGUN || sse->phase > CHAT_AWAITED;
        if (is_chosen && from > at)
            from = at;
        at += n;
    }
    if ((sse->phase == CHAT_OVER || sse->is_blind) && !pl_live_is_closing(live))
        pl_timer_start(live->shard->loop, &sse->end, 0, on_end_due);
    return from < at ? pl_str_slice(events, from, at) : (struct pl_str){0};
}

static const struct pl_live_kind chat_kind = {
    .on_subscribed = on_subscribed,
    .on_refused = on_refused,
    .beat = beat,
    .close = sse_close,
    .choose = choose_chat,
};

/* --- opening --------------------------------------------------------------------------------- */

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
    struct sse_live *sse = ctx;
    pl_live_flush(ctx);
    if (sse->phase == CHAT_OVER && sse->live.state < PL_LIVE_CLOSING)
        end_if_sent(sse);
}

static const struct pl_conn_ops conn_ops = {on_read, on_end, on_writable};

/* "EPOCH:SEQUENCE" */
static bool read_position(struct pl_str text, struct pl_since *ret_since)
{
    const char *colon = text.len ? memchr(text.ptr, ':', text.len) : NULL;
    size_t at = colon ? (size_t)(colon - text.ptr) : 0;
    struct pl_since since = {.is_given = true};
    if (!colon || !pl_decimal_read(pl_str_slice(text, 0, at), &since.epoch) ||
        !pl_decimal_read(pl_str_slice(text, at + 1, text.len), &since.sequence))
        return false;
    *ret_since = since;
    return true;
}

/* The parameters of a new stream. */
struct opening {
    struct pl_str session_id;
    struct pl_since since;
    enum pl_lane lane;
    const struct pl_live_kind *kind;
    enum chat_phase phase;
    int64_t position;
};

static void open_stream(struct pl_exchange *x, const struct opening *opening)
{
    struct pl_str session_id = opening->session_id;
    struct pl_shard *shard = x->shard;
    struct sse_live *sse = pl_mem_alloc(1, sizeof *sse);
    char *who = pl_live_who(&x->caller);
    char id[64];
    if (!sse || !who || session_id.len >= sizeof id) {
        pl_mem_free(sse);
        pl_mem_free(who);
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is not enough memory for this.");
        pl_exchange_finish(x);
        return;
    }
    /* Taking the connection ends the exchange, which owns the id. */
    memcpy(id, session_id.ptr, session_id.len);
    struct pl_buf rest PL_CLEANUP_BUF;
    pl_buf_init(&rest, 0);
    struct pl_hold place = {0};
    if (!pl_live_enter(x)) {
        pl_mem_free(who);
        pl_mem_free(sse);
        pl_exchange_finish(x);
        return;
    }
    bool is_chinese = pl_exchange_wants_chinese(x);
    /* The request of a chat is logged at its end, with the usage; other streams are logged now. */
    struct pl_held_line *line = opening->phase == CHAT_NONE ? NULL : pl_log_hold(x);
    char head[512];
    int n_head = snprintf(head, sizeof head, "%s%s\r\n", response_head, shard->server->node_header);
    struct pl_conn *conn = pl_exchange_take_conn(x, pl_str_of(head), &rest, &place);
    if (!conn) {
        pl_log_held(line, shard, &(struct pl_held_end){.is_aborted = true});
        pl_meter_leave_socket(shard->server->meter, pl_str_of(who));
        pl_mem_free(who);
        pl_mem_free(sse);
        return;
    }
    *sse = (struct sse_live){
        .phase = opening->phase, .position = opening->position, .line = line, .n_head = n_head};
    pl_buf_init(&sse->models, 0);
    pl_live_init(&sse->live, opening->kind, shard, conn);
    pl_live_become(&sse->live, PL_LIVE_OPEN);
    sse->live.who = who;
    sse->live.is_metered = true;
    sse->live.is_chinese = is_chinese;
    sse->live.place = place;
    pl_conn_switch(conn, &conn_ops, &sse->live);
    if (!pl_live_subscribe(&sse->live, (struct pl_str){id, session_id.len}, opening->lane,
                           opening->since))
        drop(&sse->live);
}

/* A Last-Event-ID of another form comes from another server: everything is sent. */
void pl_events_open(struct pl_exchange *x, struct pl_str session_id)
{
    struct pl_str last = pl_http_header_get(x->head, "last-event-id");
    struct pl_str position = pl_target_param(&x->target, "since");
    bool is_whole = pl_target_param(&x->target, "content").ptr; /* "always" */
    struct pl_since since = {0};
    if (position.ptr && !read_position(position, &since)) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "The parameter since must be EPOCH:SEQUENCE, the id of an event.");
        pl_exchange_finish(x);
        return;
    }
    if (last.len && !read_position(last, &since))
        since = (struct pl_since){0};
    open_stream(x, &(struct opening){
                       .session_id = session_id,
                       .since = since,
                       .lane = is_whole ? PL_LANE_SSE_WHOLE : PL_LANE_SSE,
                       .kind = &kind,
                   });
}

void pl_chat_events_open(struct pl_exchange *x, const struct pl_chat_events *chat)
{
    open_stream(x, &(struct opening){
                       .session_id = chat->session_id,
                       .since = {true, chat->epoch, chat->since},
                       .lane = PL_LANE_SSE,
                       .kind = &chat_kind,
                       .phase = chat->is_begun ? CHAT_BEGUN : CHAT_AWAITED,
                       .position = chat->position,
                   });
}
