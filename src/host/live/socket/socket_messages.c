/* The messages of a client on its socket, and their answers. */
#include "live/socket/socket.h"

#include "base/mem.h"
#include "http/json_members.h"
#include "http/routes/request_schema.h"
#include "http/trace.h"
#include "json/number.h"
#include "json/text.h"
#include "live/encode.h"
#include "live/lists.h"
#include "live/socket/socket_int.h"

#define MAX_ID_BYTES 256

/* --- answers --------------------------------------------------------------------------------- */

void pl_socket_say(struct pl_live *live, const char *event, struct pl_str data)
{
    struct pl_buf frame PL_CLEANUP_BUF;
    pl_buf_init(&frame, 0);
    pl_encode_event(&frame, PL_LANE_WS, event, data, -1, 0);
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

void pl_socket_succeed(struct pl_ws_live *ws, struct pl_str id, struct pl_str data)
{
    pl_socket_ack(&ws->live, id, data);
}

struct pl_shard *pl_socket_shard(const struct pl_ws_live *ws)
{
    return ws->live.shard;
}

struct pl_str pl_socket_user(const struct pl_ws_live *ws)
{
    return pl_live_user(&ws->live);
}

struct pl_str pl_socket_key(const struct pl_ws_live *ws)
{
    return pl_live_key(&ws->live);
}

bool pl_socket_is_chinese(const struct pl_ws_live *ws)
{
    return ws->live.is_chinese;
}

void pl_socket_begin_answer(struct pl_ws_live *ws)
{
    ws->n_asks++;
}

bool pl_socket_end_answer(struct pl_ws_live *ws)
{
    bool is_over = ws->live.state == PL_LIVE_OVER;
    ws->n_asks--;
    if (is_over)
        pl_socket_free_if_over(ws);
    return !is_over;
}

/* --- messages -------------------------------------------------------------------------------- */

void pl_socket_fail(struct pl_ws_live *ws, struct pl_str id, enum pl_problem problem,
                    const struct pl_error *err, const char *detail)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_problem_write(problem, detail, err, "", ws->live.is_chinese, &body);
    if (body.status != PL_OK)
        return;
    pl_socket_refuse(&ws->live, id, pl_buf_str(&body));
}

static enum pl_status text_of(const struct pl_socket_message *m, const char *name,
                              struct pl_str *ret)
{
    return pl_member_text(m->arena, &m->doc, m->data, name, ret);
}

static int64_t int_of(const struct pl_socket_message *m, const struct pl_json_node *object,
                      const char *name)
{
    const struct pl_json_node *node = pl_json_get(&m->doc, object, pl_str_of(name));
    int64_t value = -1;
    bool is_int = node && pl_json_kind(node) == PL_JSON_NUMBER &&
                  pl_json_number_int64(pl_json_span(&m->doc, node), &value);
    return is_int ? value : -1;
}

/* The subscription keeps the id of the message until the session answers. */
static void on_subscribe(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    struct pl_live *live = &ws->live;
    struct pl_str session_id, content;
    if (text_of(m, "session_id", &session_id) != PL_OK || text_of(m, "content", &content) != PL_OK)
        return pl_socket_fail(ws, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    const struct pl_json_node *since =
        m->data ? pl_json_get(&m->doc, m->data, PL_STR("since")) : NULL;
    struct pl_since from = {0};
    if (since && pl_json_kind(since) == PL_JSON_OBJECT)
        from = (struct pl_since){true, int_of(m, since, "epoch"), int_of(m, since, "sequence")};
    const struct pl_subscription *old = pl_live_find(live, session_id);
    if (old && old->n_ack_id)
        pl_socket_fail(ws, (struct pl_str){old->ack_id, old->n_ack_id}, PL_PROBLEM_CONFLICT, NULL,
                       "A later subscribe replaced this one.");
    enum pl_lane lane = pl_str_eq(content, PL_STR("always")) ? PL_LANE_WS_WHOLE : PL_LANE_WS;
    struct pl_subscription *sub = pl_live_subscribe(live, session_id, lane, from);
    if (!sub)
        return pl_socket_fail(ws, m->id, PL_PROBLEM_RATE_LIMITED, NULL,
                              "A socket can follow at most 256 sessions.");
    if (m->id.len) {
        sub->ack_id = pl_mem_alloc(m->id.len, 1);
        if (sub->ack_id)
            memcpy(sub->ack_id, m->id.ptr, m->id.len);
        sub->n_ack_id = sub->ack_id ? m->id.len : 0;
    }
}

static void on_unsubscribe(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    struct pl_str session_id;
    if (text_of(m, "session_id", &session_id) != PL_OK)
        return pl_socket_fail(ws, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
    struct pl_subscription *sub = pl_live_find(&ws->live, session_id);
    if (sub)
        pl_live_unsubscribe(&ws->live, sub);
    pl_socket_ack(&ws->live, m->id, (struct pl_str){0});
}

static void on_ping(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    pl_socket_say(&ws->live, "pong", m->data ? pl_json_span(&m->doc, m->data) : PL_STR("{}"));
    pl_socket_ack(&ws->live, m->id, (struct pl_str){0});
}

static void on_user_subscribe(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    pl_lists_follow(&ws->live, true);
    pl_socket_ack(&ws->live, m->id, (struct pl_str){0});
}

static void on_user_unsubscribe(struct pl_ws_live *ws, const struct pl_socket_message *m)
{
    pl_lists_follow(&ws->live, false);
    pl_socket_ack(&ws->live, m->id, (struct pl_str){0});
}

static const struct pl_socket_event own_events[] = {
    {"auth", true, PL_FOR_ANYBODY, "SocketAuth", pl_socket_on_auth},
    {"ping", true, PL_FOR_ANYBODY, "AnyObject", on_ping},
    {"session:subscribe", false, PL_FOR_SESSIONS | PL_FOR_READ, "SocketSubscribe", on_subscribe},
    {"session:unsubscribe", false, PL_FOR_SESSIONS | PL_FOR_READ, "SocketSession", on_unsubscribe},
    {"user:subscribe", false, PL_FOR_READ, "SocketNothing", on_user_subscribe},
    {"user:unsubscribe", false, PL_FOR_READ, "SocketNothing", on_user_unsubscribe},
    {NULL, false, 0, NULL, NULL},
};

static const struct pl_socket_event *find_event(const struct pl_socket_event *events,
                                                const struct pl_socket_message *m,
                                                const struct pl_json_node *name)
{
    for (; name && events->event; events++)
        if (pl_json_text_is(&m->doc, name, pl_str_of(events->event)))
            return events;
    return NULL;
}

/* "auth, ping, … or chat:compact". */
static void write_events(const struct pl_socket_event *more, struct pl_buf *to)
{
    for (const struct pl_socket_event *event = own_events; event->event; event++)
        pl_buf_addf(to, "%s%s", event == own_events ? "" : ", ", event->event);
    for (; more->event; more++)
        pl_buf_addf(to, "%s%s", more[1].event ? ", " : " or ", more->event);
}

/* Checks a node against a schema, like the body of a route. True: it is valid. */
static bool fits(struct pl_ws_live *ws, const struct pl_socket_message *m, const char *what,
                 const char *schema, const struct pl_json_doc *doc, const struct pl_json_node *node)
{
    struct pl_schema_report report;
    struct pl_error err = {0};
    enum pl_status status =
        pl_request_schema_check(schema, m->arena, doc, node,
                                ws->live.is_chinese ? PL_SCHEMA_ZH : PL_SCHEMA_EN, &report, &err);
    if (status != PL_OK) {
        pl_socket_fail(ws, m->id, pl_problem_of(status), &err, NULL);
        return false;
    }
    if (report.is_valid)
        return true;
    struct pl_buf says PL_CLEANUP_BUF, body PL_CLEANUP_BUF;
    pl_buf_init(&says, 0);
    pl_buf_init(&body, 0);
    pl_buf_addf(&says, "%s is invalid: %.*s", what, PL_STR_ARG(pl_request_schema_says(&report)));
    pl_buf_addc(&says, '\0');
    pl_problem_write(PL_PROBLEM_INVALID_REQUEST, says.status == PL_OK ? says.ptr : NULL, NULL, "",
                     ws->live.is_chinese, &body);
    pl_request_schema_add_places(&report, &body);
    if (body.status == PL_OK)
        pl_socket_refuse(&ws->live, m->id, pl_buf_str(&body));
    return false;
}

static bool fits_event(struct pl_ws_live *ws, const struct pl_socket_message *m,
                       const struct pl_socket_event *event)
{
    struct pl_json_doc none;
    if (m->data)
        return fits(ws, m, "The data of the frame", event->schema, &m->doc, m->data);
    if (pl_json_parse(m->arena, PL_STR("{}"), NULL, &none, NULL) != PL_OK) {
        pl_socket_fail(ws, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
        return false;
    }
    return fits(ws, m, "The data of the frame", event->schema, &none, none.root);
}

/* False: the message was refused. */
static bool read_trace(struct pl_ws_live *ws, struct pl_socket_message *m)
{
    const struct pl_json_node *given = pl_json_get(&m->doc, m->doc.root, PL_STR("traceparent"));
    struct pl_str text = {0};
    m->trace_id = pl_str_of(ws->trace_id);
    if (!given)
        return true;
    if (pl_json_text(m->arena, &m->doc, given, &text) != PL_OK) {
        pl_socket_fail(ws, m->id, PL_PROBLEM_OVERLOADED, NULL, NULL);
        return false;
    }
    m->trace_id = pl_trace_read(text);
    if (m->trace_id.len)
        return true;
    pl_socket_fail(ws, m->id, PL_PROBLEM_INVALID_REQUEST, NULL,
                   "traceparent must be one of W3C Trace Context: "
                   "00-, 32 digits, -, 16 digits, -, 2 digits, in lower-case hexadecimal.");
    return false;
}

static void dispatch(struct pl_ws_live *ws, const struct pl_socket_message *m,
                     const struct pl_json_node *name)
{
    const struct pl_socket_event *more = ws->live.shard->server->socket_events;
    const struct pl_socket_event *event = find_event(own_events, m, name);
    if (!event)
        event = find_event(more, m, name);
    if (event && !event->is_public && !ws->live.who) {
        ws->live.kind->close(&ws->live, PL_WS_CLOSE_UNAUTHORIZED, "the first message must be auth");
    } else if (event && !event->is_public && !pl_scope_reaches(ws->live.scope, event->scopes)) {
        pl_socket_fail(ws, m->id, PL_PROBLEM_FORBIDDEN, NULL,
                       "The scope of this key does not reach this.");
    } else if (event) {
        if (fits_event(ws, m, event))
            event->run(ws, m);
    } else {
        struct pl_buf says PL_CLEANUP_BUF;
        pl_buf_init(&says, 0);
        pl_buf_adds(&says, "Unknown event; a client sends ");
        write_events(more, &says);
        pl_buf_add(&says, (struct pl_str){".", 2}); /* and its NUL */
        pl_socket_fail(ws, m->id, PL_PROBLEM_INVALID_REQUEST, NULL,
                       says.status == PL_OK ? says.ptr : NULL);
    }
}

void pl_socket_read(struct pl_ws_live *ws, struct pl_str text)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_socket_message m = {.arena = &arena};
    struct pl_error err = {0};
    struct pl_json_opts opts = {.refuses_nul = true};
    enum pl_status status = pl_json_parse(&arena, text, &opts, &m.doc, &err);
    if (status != PL_OK || pl_json_kind(m.doc.root) != PL_JSON_OBJECT) {
        pl_socket_fail(ws, (struct pl_str){0}, PL_PROBLEM_INVALID_REQUEST, &err,
                       "A frame must be a JSON object {\"event\":…,\"data\":{…}}.");
        return;
    }
    const struct pl_json_node *id = pl_json_get(&m.doc, m.doc.root, PL_STR("id"));
    const struct pl_json_node *event = pl_json_get(&m.doc, m.doc.root, PL_STR("event"));
    const struct pl_json_node *data = pl_json_get(&m.doc, m.doc.root, PL_STR("data"));
    if (id && !pl_json_is_container(id) && id->len <= MAX_ID_BYTES)
        m.id = pl_json_span(&m.doc, id);
    if (!fits(ws, &m, "The frame", "SocketFrame", &m.doc, m.doc.root) || !read_trace(ws, &m))
        return;
    if (data && pl_json_kind(data) == PL_JSON_OBJECT)
        m.data = data;
    dispatch(ws, &m, event && pl_json_kind(event) == PL_JSON_STRING ? event : NULL);
}
