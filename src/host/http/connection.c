/* Turns bytes into requests, and enforces the deadlines of clients.
 *
 *     machine connection
 *
 *     HEAD -> GIVEN -> BODY -> ANSWER -> IDLE -> HEAD
 *     GIVEN, BODY -> HEAD, IDLE         it was answered at once
 *     GIVEN -> ANSWER
 *     ANSWER -> HEAD, BODY              the next request has begun; a piece of an upload is kept
 *     IDLE, BODY, ANSWER -> GIVEN       a whole head was there
 *     HEAD -> IDLE                      nothing but line breaks
 *     HEAD, IDLE -> ANSWER              a head that is refused, to a client that does not read
 *     HEAD, GIVEN, BODY, ANSWER, IDLE -> LINGER -> CLOSED
 *     HEAD, GIVEN, BODY, ANSWER, IDLE -> CLOSED
 *
 * While a request is being answered, the parser pauses. Input is kept (one read's worth, then
 * reading is paused) and parsed after the answer was sent. So answers keep the order of the
 * requests, and a client that does not read its answers is not read from. */
#include "http/connection.h"

#include "base/mem.h"
#include "base/table.h"
#include "http/limits/address_limit.h"
#include "io/move.h"
#include "shard/log.h"
#include "wire/proxy_header.h"

#include <stdio.h>
#include <sys/socket.h>

enum { MAX_LINGERED = 1 << 20, MAX_REFUSED = 1000 };

#define TO(name) PL_TO(PL_PHASE_##name)
static const struct pl_state states[] = {
    [PL_PHASE_HEAD] = {"head", TO(GIVEN) | TO(IDLE) | TO(ANSWER) | TO(LINGER) | TO(CLOSED),
                       PL_WAIT_MS, PL_CANCEL_ENDS, .limit_ms = PL_HTTP_HEAD_MS},
    [PL_PHASE_GIVEN] = {"given",
                        TO(BODY) | TO(ANSWER) | TO(HEAD) | TO(IDLE) | TO(LINGER) | TO(CLOSED)},
    [PL_PHASE_BODY] = {"body",
                       TO(ANSWER) | TO(GIVEN) | TO(HEAD) | TO(IDLE) | TO(LINGER) | TO(CLOSED),
                       PL_WAIT_MS, PL_CANCEL_ENDS, .limit_ms = PL_HTTP_LOOK_MS},
    [PL_PHASE_ANSWER] = {"answer",
                         TO(IDLE) | TO(HEAD) | TO(GIVEN) | TO(BODY) | TO(LINGER) | TO(CLOSED),
                         PL_WAIT_MS, PL_CANCEL_ENDS, .limit_ms = PL_HTTP_SEND_MS},
    [PL_PHASE_IDLE] = {"idle", TO(HEAD) | TO(GIVEN) | TO(ANSWER) | TO(LINGER) | TO(CLOSED),
                       PL_WAIT_MS, PL_CANCEL_ENDS, .limit_ms = PL_HTTP_IDLE_MS},
    [PL_PHASE_LINGER] = {"linger", TO(CLOSED), PL_WAIT_MS, PL_CANCEL_ENDS,
                         .limit_ms = PL_HTTP_LINGER_MS},
    [PL_PHASE_CLOSED] = {"closed", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("connection", states);

static void become(struct pl_http_conn *conn, enum pl_conn_phase to)
{
    conn->phase = (enum pl_conn_phase)pl_move(&machine, conn, conn->phase, to);
}

static const struct pl_conn_ops ops;

/* --- clocks ---------------------------------------------------------------------------------- */

static void on_timer(struct pl_timer *timer);

/* Moving the deadline later is free: the timer fires at the old time and is started again. */
static void set_deadline(struct pl_http_conn *conn, int64_t delay_ms)
{
    struct pl_loop *loop = conn->shard->loop;
    conn->deadline_ms = pl_loop_now_ms(loop) + delay_ms;
    if (!pl_timer_is_on(&conn->timer) || conn->timer.due_ms > conn->deadline_ms)
        pl_timer_start(loop, &conn->timer, delay_ms, on_timer);
}

/* Counts the bytes of the last ten checks. With this sliding window a burst buys ten seconds, not
 * an hour. */
static bool is_body_slow(struct pl_exchange_own *x)
{
    size_t *mark = &x->body_marks[++x->n_looks % PL_HTTP_SLOW_LOOKS];
    bool is_slow =
        x->n_looks >= PL_HTTP_SLOW_LOOKS && x->n_body - *mark < (size_t)PL_HTTP_SLOW_BYTES;
    *mark = x->n_body;
    return is_slow;
}

static void refuse(struct pl_http_conn *conn, enum pl_problem problem, const char *detail)
{
    if (!conn->x)
        conn->x = pl_exchange_take(conn->shard, conn);
    if (conn->x)
        pl_exchange_refuse(conn->x, problem, detail);
    else
        pl_http_conn_close(conn);
}

static void on_late(struct pl_http_conn *conn)
{
    if (conn->phase == PL_PHASE_LINGER) {
        pl_http_conn_close(conn);
    } else if (!conn->x) {
        if (pl_http1_is_idle(conn->http))
            pl_http_conn_close(conn);
        else
            refuse(conn, PL_PROBLEM_TIMEOUT, "The head of the request took more than 10 seconds.");
    } else if (pl_exchange_wants_body(conn->x)) {
        if (is_body_slow(conn->x))
            refuse(conn, PL_PROBLEM_TIMEOUT,
                   "The body came at less than 1 KiB per second for 10 seconds.");
        else
            set_deadline(conn, PL_HTTP_LOOK_MS);
    } else if (conn->x->state == PL_X_SEND && pl_sending_has_begun(&conn->x->sending) &&
               !pl_flow_is_idle(conn->x)) {
        if (pl_spool_is_large(conn->x) && pl_spool_start(conn->x) == PL_OK)
            set_deadline(conn, PL_HTTP_SEND_MS);
        else
            pl_http_conn_close(conn);
    } else {
        set_deadline(conn, PL_HTTP_SEND_MS);
    }
}

static void on_timer(struct pl_timer *timer)
{
    struct pl_http_conn *conn = PL_CONTAINER_OF(timer, struct pl_http_conn, timer);
    int64_t left_ms = conn->deadline_ms - pl_loop_now_ms(conn->shard->loop);
    if (left_ms <= 0) {
        on_late(conn);
        return;
    }
    /* The connection is idle: free the memory of its last head. */
    if (conn->phase == PL_PHASE_IDLE)
        pl_http1_trim(conn->http);
    pl_timer_start(conn->shard->loop, timer, left_ms, on_timer);
}

void pl_http_conn_sent(struct pl_http_conn *conn)
{
    set_deadline(conn, conn->x && pl_spool_is_large(conn->x) ? PL_SPOOL_MS : PL_HTTP_SEND_MS);
}

/* --- parsing --------------------------------------------------------------------------------- */

static void refuse_bytes(struct pl_http_conn *conn, enum pl_status status,
                         const struct pl_error *err)
{
    enum pl_problem problem = status == PL_NOMEM   ? PL_PROBLEM_OVERLOADED
                              : status != PL_LIMIT ? PL_PROBLEM_INVALID_REQUEST
                              : pl_http1_is_target_too_long(conn->http)
                                  ? PL_PROBLEM_URI_TOO_LONG
                                  : PL_PROBLEM_HEADERS_TOO_LARGE;
    refuse(conn, problem, err->message);
}

static void on_head(struct pl_http_conn *conn)
{
    conn->x = pl_exchange_take(conn->shard, conn);
    if (!conn->x) {
        pl_http_conn_close(conn);
        return;
    }
    if (conn->phase != PL_PHASE_GIVEN)
        become(conn, PL_PHASE_GIVEN);
    pl_exchange_start(conn->x);
}

/* Whether more requests may come. */
static bool is_open(const struct pl_http_conn *conn)
{
    return conn->phase != PL_PHASE_LINGER && conn->phase != PL_PHASE_CLOSED;
}

static bool can_parse(const struct pl_http_conn *conn)
{
    return is_open(conn) && (!conn->x || pl_exchange_wants_body(conn->x));
}

/* Parses until the bytes are used up or a request must be answered first. */
static void parse(struct pl_http_conn *conn, struct pl_str bytes)
{
    struct pl_error err = {0};
    enum pl_http1_event event = PL_HTTP1_HEAD;
    pl_http1_feed(conn->http, bytes);
    conn->is_parsing = true;
    while (can_parse(conn) && event != PL_HTTP1_MORE) {
        enum pl_status status = pl_http1_next(conn->http, &event, &err);
        if (status != PL_OK) {
            refuse_bytes(conn, status, &err);
            break;
        }
        if (event == PL_HTTP1_HEAD)
            on_head(conn);
        else if (event == PL_HTTP1_BODY)
            pl_exchange_body(conn->x, pl_http1_body(conn->http));
        else if (event == PL_HTTP1_END)
            pl_exchange_body_end(conn->x);
    }
    conn->is_parsing = false;
}

static void free_conn(struct pl_http_conn *conn)
{
    pl_buf_deinit(&conn->rest);
    pl_mem_free(conn);
}

/* The clock of a phase starts with the phase, not with the latest byte. */
static void enter(struct pl_http_conn *conn, enum pl_conn_phase phase)
{
    if (conn->phase == phase)
        return;
    become(conn, phase);
    set_deadline(conn, states[phase].limit_ms);
}

/* Keeps input that is not parsed yet: the caller's buffer does not last. */
static void keep_rest(struct pl_http_conn *conn)
{
    pl_buf_add(&conn->rest, pl_http1_rest(conn->http));
    pl_http1_feed(conn->http, (struct pl_str){0});
}

/* Chooses the next wait after parsing, and its deadline. */
static void wait_for_more(struct pl_http_conn *conn)
{
    if (conn->phase == PL_PHASE_CLOSED) {
        free_conn(conn);
    } else if (conn->phase == PL_PHASE_LINGER) {
        return;
    } else if (conn->x && !pl_exchange_wants_body(conn->x)) {
        keep_rest(conn);
        if (conn->rest.status != PL_OK)
            pl_http_conn_close(conn);
        else
            enter(conn, PL_PHASE_ANSWER);
    } else if (conn->has_ended) {
        pl_http_conn_close(conn);
    } else if (conn->x) {
        enter(conn, PL_PHASE_BODY);
    } else if (pl_http1_is_idle(conn->http)) {
        enter(conn, PL_PHASE_IDLE);
    } else {
        enter(conn, PL_PHASE_HEAD);
    }
}

static void parse_rest(struct pl_http_conn *conn)
{
    while (conn->rest.len && can_parse(conn)) {
        struct pl_buf rest = conn->rest;
        pl_buf_init(&conn->rest, 0);
        parse(conn, pl_buf_str(&rest));
        if (is_open(conn))
            keep_rest(conn);
        pl_buf_deinit(&rest);
    }
    if (conn->is_paused && can_parse(conn)) {
        conn->is_paused = false;
        pl_conn_resume(conn->conn);
    }
    wait_for_more(conn);
}

/* Storing a piece takes our time, not the client's, so its rate is measured from now on. The end of
 * a message may come without another byte. */
void pl_http_conn_go_on(struct pl_http_conn *conn)
{
    conn->x->n_looks = 0;
    conn->x->body_marks[0] = conn->x->n_body;
    if (!conn->rest.len)
        parse(conn, (struct pl_str){0});
    parse_rest(conn);
}

/* --- PROXY protocol -------------------------------------------------------------------------- */

/* The client replaces the proxy, in the log and in the connections of its address. */
static void believe(struct pl_http_conn *conn, const struct pl_proxy_header *header)
{
    PL_CLEANUP_BUF struct pl_buf address;
    pl_buf_init(&address, 0);
    if (!header->has_source)
        return;
    if (header->is_unix) {
        snprintf(conn->peer, sizeof conn->peer, "unix");
        return;
    }
    pl_address_write(&header->source, &address);
    snprintf(conn->peer, sizeof conn->peer, "%.*s", PL_STR_ARG(pl_buf_str(&address)));
    pl_address_limit_leave(conn->shard->server, &conn->place);
    struct pl_network network =
        pl_network_of(header->source.is_v6 ? AF_INET6 : AF_INET, header->source.bytes);
    if (pl_address_limit_enter_as(conn->shard, &network, &conn->place) != PL_ARRIVAL_FINE &&
        !conn->refusal) {
        conn->refusal = PL_HTTP_ADDRESS_FULL;
        pl_metric_add(&conn->shard->metrics, PL_METRIC_http_refused_total, 1);
    }
}

static void read_proxy_header(struct pl_http_conn *conn, struct pl_str bytes)
{
    struct pl_proxy_header header;
    pl_buf_add(&conn->rest, bytes);
    if (conn->rest.status != PL_OK) {
        pl_http_conn_close(conn);
        return;
    }
    enum pl_proxy_result result = pl_proxy_header_read(pl_buf_str(&conn->rest), &header);
    if (result == PL_PROXY_MORE)
        return;
    conn->awaits_proxy = false;
    if (result == PL_PROXY_WRONG) {
        pl_log_say(conn->shard->server->log, conn->shard, PL_LOG_WARNING,
                   "%s, which is one of proxy_protocol, sent no PROXY header; the connection is "
                   "closed",
                   conn->peer);
        pl_buf_clear(&conn->rest);
        refuse(conn, PL_PROBLEM_INVALID_REQUEST,
               "Connections from this address must begin with a PROXY header (proxy_protocol).");
        return;
    }
    believe(conn, &header);
    conn->rest.len -= header.n_bytes;
    memmove(conn->rest.ptr, conn->rest.ptr + header.n_bytes, conn->rest.len);
    if (conn->rest.len)
        parse_rest(conn);
}

static void on_read(void *ctx, char *bytes, size_t n)
{
    struct pl_http_conn *conn = ctx;
    struct pl_str text = {bytes, n};
    if (conn->awaits_proxy) {
        read_proxy_header(conn, text);
        return;
    }
    if (conn->phase == PL_PHASE_LINGER) {
        conn->n_lingered += n;
        if (conn->n_lingered > MAX_LINGERED)
            pl_http_conn_close(conn);
        return;
    }
    if (!can_parse(conn)) {
        pl_buf_add(&conn->rest, text);
        conn->is_paused = true;
        pl_conn_pause(conn->conn);
        if (conn->rest.status != PL_OK)
            pl_http_conn_close(conn);
        return;
    }
    parse(conn, text);
    wait_for_more(conn);
}

static void on_end(void *ctx)
{
    struct pl_http_conn *conn = ctx;
    bool is_answering = conn->x && !pl_exchange_wants_body(conn->x);
    conn->has_ended = true;
    /* A client may close its side after the request and still wait for the answer. */
    if (!is_answering || conn->x->gone)
        pl_http_conn_close(conn);
}

static void on_writable(void *ctx)
{
    struct pl_http_conn *conn = ctx;
    if (conn->x)
        pl_exchange_writable(conn->x);
}

/* The rest of a long body is read directly into the body's buffer. */
static bool get_room(void *ctx, char **ret_to, size_t *ret_n)
{
    struct pl_http_conn *conn = ctx;
    return conn->phase == PL_PHASE_BODY && can_parse(conn) &&
           pl_exchange_body_room(conn->x, ret_to, ret_n);
}

static const struct pl_conn_ops ops = {on_read, on_end, on_writable, get_room};

/* --- life ------------------------------------------------------------------------------------ */

void pl_http_conn_open(struct pl_shard *shard, struct pl_conn *bare, bool is_control)
{
    int64_t n_max = (int64_t)shard->setup->config.max_connections,
            n = pl_metric_sum(shard->server, PL_METRIC_http_connections);
    struct pl_http_conn *conn = NULL;
    struct pl_hold place = {0};
    struct pl_peer peer;
    pl_conn_peer(bare, &peer);
    /* A connection from a proxy is counted for its client, once the proxy has named it. */
    bool awaits_proxy =
        !is_control && pl_proxy_is_named(peer.address, shard->setup->config.proxy_protocol);
    enum pl_arrival arrival =
        awaits_proxy ? PL_ARRIVAL_FINE : pl_address_limit_enter(shard, bare, &place);
    if (n < n_max + MAX_REFUSED && arrival != PL_ARRIVAL_DROPPED)
        conn = pl_mem_alloc(1, sizeof *conn);
    struct pl_http1 *http = conn ? pl_http1_create() : NULL;
    enum pl_http_refusal refusal = n >= n_max && !is_control       ? PL_HTTP_FULL
                                   : arrival == PL_ARRIVAL_REFUSED ? PL_HTTP_ADDRESS_FULL
                                                                   : PL_HTTP_WELCOME;
    if (refusal || arrival == PL_ARRIVAL_DROPPED)
        pl_metric_add(&shard->metrics, PL_METRIC_http_refused_total, 1);
    if (!http) {
        pl_mem_free(conn);
        pl_address_limit_leave(shard->server, &place);
        pl_conn_close(bare);
        return;
    }
    *conn = (struct pl_http_conn){
        .shard = shard,
        .next = shard->conns,
        .conn = bare,
        .http = http,
        .is_unix = strcmp(peer.address, "unix") == 0,
        .is_tls = peer.is_tls,
        .is_control = is_control && peer.is_local_user,
        .awaits_proxy = awaits_proxy,
        .refusal = refusal,
        .place = place,
    };
    pl_buf_init(&conn->rest, 0);
    snprintf(conn->peer, sizeof conn->peer, "%s", peer.address);
    if (conn->next)
        conn->next->prev = conn;
    shard->conns = conn;
    shard->n_conns++;
    pl_metric_add(&shard->metrics, PL_METRIC_http_connections, 1);
    pl_conn_start(bare, &ops, conn);
    set_deadline(conn, refusal ? PL_HTTP_LINGER_MS : PL_HTTP_HEAD_MS);
}

/* Removes it from the list. The owner of the exchange keeps the exchange. */
static void detach(struct pl_http_conn *conn)
{
    struct pl_shard *shard = conn->shard;
    become(conn, PL_PHASE_CLOSED);
    pl_timer_stop(shard->loop, &conn->timer);
    if (conn->prev)
        conn->prev->next = conn->next;
    else
        shard->conns = conn->next;
    if (conn->next)
        conn->next->prev = conn->prev;
    struct pl_http1 *http = PL_TAKE(conn->http);
    if (conn->x)
        pl_exchange_lose_conn(PL_TAKE(conn->x), http);
    else
        pl_http1_destroy(http);
    if (!conn->is_parsing)
        free_conn(conn);
}

void pl_http_conn_close(struct pl_http_conn *conn)
{
    if (conn->phase == PL_PHASE_CLOSED)
        return;
    pl_conn_close(PL_TAKE(conn->conn));
    pl_address_limit_leave(conn->shard->server, &conn->place);
    conn->shard->n_conns--;
    pl_metric_add(&conn->shard->metrics, PL_METRIC_http_connections, -1);
    detach(conn);
}

void pl_http_conn_retire(struct pl_http_conn *conn)
{
    if (!conn->x && conn->phase != PL_PHASE_LINGER)
        pl_http_conn_close(conn);
}

struct pl_conn *pl_http_conn_take(struct pl_http_conn *conn, struct pl_buf *ret_rest,
                                  struct pl_hold *ret_place)
{
    struct pl_conn *bare = PL_TAKE(conn->conn);
    keep_rest(conn);
    *ret_rest = conn->rest;
    *ret_place = conn->place;
    pl_buf_init(&conn->rest, 0);
    if (conn->is_paused)
        pl_conn_resume(bare);
    detach(conn);
    return bare;
}

/* Everything is sent. Closes our side and gives the client a little time to read: closing both
 * sides at once would make the kernel discard sent data if the client is still sending. */
static void linger(struct pl_http_conn *conn)
{
    enter(conn, PL_PHASE_LINGER);
    if (conn->is_paused) {
        conn->is_paused = false;
        pl_conn_resume(conn->conn);
    }
    pl_buf_clear(&conn->rest);
    pl_conn_shutdown(conn->conn);
}

void pl_http_conn_done(struct pl_http_conn *conn, enum pl_http_end end)
{
    conn->x = NULL;
    if (end == PL_HTTP_BROKEN || conn->has_ended)
        pl_http_conn_close(conn);
    else if (end == PL_HTTP_LAST)
        linger(conn);
    else if (!conn->is_parsing)
        parse_rest(conn);
}

void pl_http_conns_drop_user(struct pl_shard *shard, struct pl_str user_id)
{
    for (struct pl_http_conn *conn = shard->conns, *next; conn; conn = next) {
        next = conn->next;
        const struct pl_exchange *x = conn->x ? &conn->x->x : NULL;
        if (x && pl_exchange_is_flowing(x) && pl_str_eq(x->caller.user_id, user_id))
            pl_http_conn_close(conn);
    }
}
