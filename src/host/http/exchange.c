/* A request from its head to the last byte of its answer (RFC 9110, RFC 9112).
 *
 *     machine exchange
 *
 *     NEW -> HEAD -> BODY -> CHECK -> CLAIM -> RUN -> RUNNING -> SETTLE -> SEND -> OVER
 *     HEAD -> ASKING -> BODY             the key may be new on another node
 *     BODY -> HELD -> BODY               a piece of an upload is away
 *     CHECK -> CHECKING -> CLAIM         the body is large
 *     CLAIM -> LOOKING -> RUN            there is an Idempotency-Key
 *     SETTLE -> SETTLING -> SEND         … and the answer was not kept with the deed
 *     SEND -> READING -> SEND            piece by piece
 *     SEND -> MAKING -> SEND             an answer that goes out while it is made
 *     NEW, HEAD, ASKING, BODY, HELD, CHECK, CHECKING, CLAIM, LOOKING -> SEND      refused, or replayed
 *     HEAD, ASKING -> DISCARD -> SEND    refused; the connection is kept
 *     RUNNING -> TAKEN -> OVER           a WebSocket or an event stream
 *     SEND -> ORPHANED -> BROKEN
 *     ASKING, BODY, HELD, DISCARD, SEND, TAKEN -> BROKEN
 *
 * A request refused by its head alone still has a small body read, so that the connection can be
 * kept. A large body is not read, and the connection ends with the answer.
 *
 * A step is a function that runs when its state is entered. A handler may answer before it returns,
 * so one loop runs the steps and is never entered twice (pl_exchange_wake). */
#include "http/exchange_int.h"

#include "base/mem.h"
#include "base/table.h"
#include "http/connection.h"
#include "http/guard.h"
#include "http/request_log.h"
#include "http/routes/route_times.h"
#include "http/trace.h"
#include "io/move.h"
#include "shard/log.h"

#include <assert.h>

enum {
    MIN_ROOM = 64 << 10,       /* least bytes read, and left, to read a body into its buffer … */
    MAX_ROOM = 256 << 10,      /* … at most this much at once */
    DISCARD_BYTES = 256 << 10, /* the most that is discarded to keep the connection */
    PARSE_HERE_BYTES = 256 << 10,
    MIN_TAKEN = PL_CONN_BLOCK_BYTES / 4 * 3, /* the least for which a read buffer is kept */
};

#define TO(name)  PL_TO(PL_X_##name)
#define A_WORKER  "a worker always comes back; until must_end it waits for queue_wait_ms at most"
#define THE_STORE "the store always comes back"
static const struct pl_state states[] = {
    [PL_X_NEW] = {"new", TO(HEAD) | TO(SEND), PL_WAIT_NONE},
    [PL_X_HEAD] = {"head", TO(ASKING) | TO(BODY) | TO(DISCARD) | TO(SEND), PL_WAIT_NONE},
    [PL_X_ASKING] = {"asking", TO(BODY) | TO(DISCARD) | TO(SEND) | TO(BROKEN), PL_WAIT_OPEN,
                     PL_CANCEL_LATER, .why = A_WORKER},
    [PL_X_BODY] = {"body", TO(HELD) | TO(CHECK) | TO(SEND) | TO(BROKEN), PL_WAIT_SET,
                   PL_CANCEL_ENDS, .why = "the connection holds the body to its rate"},
    [PL_X_HELD] = {"held", TO(BODY) | TO(SEND) | TO(BROKEN), PL_WAIT_OPEN, PL_CANCEL_LATER,
                   .why = "a worker and the store always come back"},
    [PL_X_DISCARD] = {"discard", TO(SEND) | TO(BROKEN), PL_WAIT_SET, PL_CANCEL_ENDS,
                      .why = "the connection holds the body to its rate"},
    [PL_X_CHECK] = {"check", TO(CHECKING) | TO(CLAIM) | TO(SEND), PL_WAIT_NONE},
    [PL_X_CHECKING] = {"checking", TO(CLAIM) | TO(SEND), PL_WAIT_OPEN, PL_CANCEL_NONE,
                       .why = A_WORKER},
    [PL_X_CLAIM] = {"claim", TO(LOOKING) | TO(RUN) | TO(SEND), PL_WAIT_NONE},
    [PL_X_LOOKING] = {"looking", TO(RUN) | TO(SEND), PL_WAIT_OPEN, PL_CANCEL_NONE, .why = A_WORKER},
    [PL_X_RUN] = {"run", TO(RUNNING), PL_WAIT_NONE},
    [PL_X_RUNNING] = {"running", TO(SETTLE) | TO(TAKEN), PL_WAIT_OPEN, PL_CANCEL_NONE,
                      .why = "its owner has limits of its own, and answers; what was begun is "
                             "not ended by time alone"},
    [PL_X_SETTLE] = {"settle", TO(SETTLING) | TO(SEND), PL_WAIT_NONE},
    [PL_X_SETTLING] = {"settling", TO(SEND), PL_WAIT_OPEN, PL_CANCEL_NONE, .why = THE_STORE},
    [PL_X_SEND] = {"send", TO(READING) | TO(MAKING) | TO(ORPHANED) | TO(OVER) | TO(BROKEN),
                   PL_WAIT_SET, PL_CANCEL_ENDS,
                   .why = "the connection notices a client that takes nothing for 30 s"},
    [PL_X_READING] = {"reading", TO(SEND), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = A_WORKER},
    [PL_X_MAKING] = {"making", TO(SEND), PL_WAIT_OPEN, PL_CANCEL_NONE,
                     .why = "the producer of the answer has limits of its own, is told when the "
                            "client is gone, and ends it"},
    [PL_X_ORPHANED] = {"orphaned", TO(BROKEN), PL_WAIT_OPEN, PL_CANCEL_NONE,
                       .why = "the producer of the answer was told, and ends it"},
    [PL_X_TAKEN] = {"taken", TO(OVER) | TO(BROKEN), PL_WAIT_NONE},
    [PL_X_OVER] = {"over", 0},
    [PL_X_BROKEN] = {"broken", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("exchange", states);

void pl_exchange_become(struct pl_exchange_own *own, enum pl_x_state to)
{
    own->state = (enum pl_x_state)pl_move(&machine, own, own->state, to);
}

static struct pl_exchange_own *own_of_job(struct pl_job *job)
{
    return pl_exchange_own(PL_CONTAINER_OF(job, struct pl_exchange, job));
}

/* Chooses the next state, which runs at once: `return next(…)` ends a step. */
static bool next(struct pl_exchange_own *own, enum pl_x_state to)
{
    pl_exchange_become(own, to);
    return true;
}

static void go_to(struct pl_exchange_own *own, enum pl_x_state to)
{
    pl_exchange_become(own, to);
    pl_exchange_wake(own);
}

/* --- the head -------------------------------------------------------------------------------- */

static bool is_body_long(const struct pl_http_head *head)
{
    return head->expects_continue || head->content_length > DISCARD_BYTES;
}

static bool is_begun(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    if (x->route->upload)
        x->route->upload->begin(x);
    return !x->is_problem;
}

static void say_continue(struct pl_exchange_own *own)
{
    struct pl_str go_on = PL_STR("HTTP/1.1 100 Continue\r\n\r\n");
    size_t n_sent = 0;
    if (pl_conn_write(own->x.conn->conn, &go_on, 1, &n_sent) != PL_OK || n_sent < go_on.len)
        own->must_close = true;
}

/* The state after the head. */
static enum pl_x_state after_head(struct pl_exchange_own *own, bool is_admitted)
{
    struct pl_exchange *x = &own->x;
    if (is_admitted && is_begun(own)) {
        if (x->head->expects_continue)
            say_continue(own);
        return PL_X_BODY;
    }
    if (!own->must_close && !is_body_long(x->head))
        return PL_X_DISCARD;
    own->must_close = true;
    return PL_X_SEND;
}

static void find_on_worker(struct pl_job *job)
{
    struct pl_exchange *x = &own_of_job(job)->x;
    x->shard->server->guard->find(x);
}

/* The client may be gone by now. */
static void is_asked(struct pl_job *job)
{
    struct pl_exchange_own *own = own_of_job(job);
    struct pl_exchange *x = &own->x;
    own->asking = PL_ASKING_DONE;
    if (!x->conn) {
        go_to(own, PL_X_BROKEN);
        return;
    }
    enum pl_x_state to = after_head(own, !x->is_problem && pl_exchange_admit_caller(own));
    pl_exchange_become(own, to);
    if (pl_exchange_wants_body(own))
        pl_http_conn_go_on(x->conn);
    else
        pl_exchange_wake(own);
}

static bool run_head(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    pl_exchange_set_id(x);
    pl_trace_continue(x);
    bool is_admitted = pl_exchange_admit(own);
    if (own->asking == PL_ASKING_WANTED) {
        pl_exchange_become(own, PL_X_ASKING);
        pl_exchange_submit(x, PL_WORK_STORE, find_on_worker, is_asked);
        return false;
    }
    return next(own, after_head(own, is_admitted));
}

/* --- the body -------------------------------------------------------------------------------- */

bool pl_exchange_wants_body(const struct pl_exchange_own *own)
{
    return own->state == PL_X_BODY || own->state == PL_X_DISCARD;
}

static void refuse_memory(struct pl_exchange *x, enum pl_taking taking)
{
    if (taking == PL_TAKING_OVER_OWN)
        pl_exchange_problem(x, PL_PROBLEM_RATE_LIMITED, NULL,
                            "Your requests use your share of the memory for bodies and answers; "
                            "send this again after one of them was answered.");
    else if (taking != PL_TAKING_DONE)
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "The memory for request bodies is used up; try again in a moment.");
}

/* An upload holds at most two pieces in memory. */
void pl_exchange_ask_body_memory(struct pl_exchange_own *own, size_t n_body)
{
    struct pl_exchange *x = &own->x;
    struct pl_body_owner owner = pl_body_owner(x->caller.user_id, x->conn->conn);
    if (x->route->upload && n_body > x->route->upload->piece_bytes)
        n_body = x->route->upload->piece_bytes;
    refuse_memory(x, pl_body_memory_ask(x->shard, &owner, n_body));
}

static bool take_memory(struct pl_exchange_own *own, size_t n)
{
    struct pl_exchange *x = &own->x;
    struct pl_body_owner owner = pl_body_owner(x->caller.user_id, x->conn->conn);
    enum pl_taking taking =
        pl_body_memory_take(x->shard, &own->body_hold, &owner, n, own->body.len + n);
    refuse_memory(x, taking);
    return taking == PL_TAKING_DONE;
}

void pl_exchange_give_body_memory(struct pl_exchange_own *own, size_t n)
{
    pl_body_memory_give(own->x.shard, &own->body_hold, n);
}

void pl_exchange_drop_body(struct pl_exchange_own *own)
{
    pl_exchange_give_body_memory(own, (size_t)own->body_hold.n);
    if (own->body.cap == PL_CONN_BLOCK_BYTES)
        pl_conn_give_block(own->x.shard->loop, PL_TAKE(own->body.ptr));
    pl_buf_deinit(&own->body);
    own->body_at = 0;
}

void pl_exchange_let_body_go(struct pl_exchange *x)
{
    pl_exchange_drop_body(pl_exchange_own(x));
    x->body_text = (struct pl_str){0};
}

/* Small amounts are not worth a lock: the number of requests limits them. */
void pl_exchange_count_memory(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    size_t n = x->arena.n_bytes + x->reply.cap, n_had = (size_t)own->kept_hold.n;
    if (n <= PL_BODY_SMALL_BYTES || !x->caller.user_id.len)
        n = 0;
    if (n <= n_had) {
        pl_body_memory_give(x->shard, &own->kept_hold, n_had - n);
        return;
    }
    struct pl_body_owner owner = pl_body_owner(x->caller.user_id, NULL);
    bool must_go_on = own->must_end || pl_sending_has_begun(&own->sending) || x->is_problem;
    refuse_memory(x, pl_body_memory_keep(x->shard, &own->kept_hold, &owner, n - n_had,
                                         (size_t)own->body_hold.n + n, must_go_on));
}

/* If one read brought the whole body and nothing after it, the read buffer becomes the body's
 * buffer. Not if much of that buffer would be unused. */
static bool take_block(struct pl_exchange_own *own, struct pl_str piece)
{
    const struct pl_http_head *head = own->x.head;
    if (piece.len < MIN_TAKEN || own->body.len || head->is_chunked ||
        piece.len != head->content_length || own->x.route->upload ||
        pl_http1_rest(own->x.conn->http).len)
        return false;
    char *block = pl_conn_take_block(own->x.conn->conn, piece.ptr);
    if (!block)
        return false;
    pl_buf_deinit(&own->body);
    own->body.ptr = block;
    own->body.cap = PL_CONN_BLOCK_BYTES;
    own->body_at = (size_t)(piece.ptr - block);
    own->body.len = own->body_at + piece.len;
    return true;
}

/* False: the body does not fit, and a problem was made. */
static bool gather(struct pl_exchange_own *own, struct pl_str piece)
{
    struct pl_exchange *x = &own->x;
    if (own->n_body > own->max_body) {
        pl_exchange_problem(x, PL_PROBLEM_PAYLOAD_TOO_LARGE, NULL,
                            "The body has more than the maximum of %zu bytes.", own->max_body);
        return false;
    }
    if (!take_memory(own, piece.len))
        return false;
    if (piece.len && piece.ptr == own->body.ptr + own->body.len)
        own->body.len += piece.len; /* it was read directly into this buffer */
    else if (!take_block(own, piece))
        pl_buf_add(&own->body, piece);
    if (own->body.status != PL_OK)
        pl_exchange_fail(x, own->body.status, NULL);
    return own->body.status == PL_OK;
}

/* Only with a known length, because chunks have other bytes between them. Reserves no more memory
 * than the client has sent already: a length alone proves nothing. */
bool pl_exchange_body_room(struct pl_exchange_own *own, char **ret_to, size_t *ret_n)
{
    const struct pl_http_head *head = own->x.head;
    if (own->state != PL_X_BODY || own->x.route->upload || head->is_chunked ||
        own->n_body != own->body.len || own->n_body < MIN_ROOM ||
        own->n_body + MIN_ROOM > head->content_length)
        return false;
    uint64_t n = head->content_length - own->n_body;
    n = n < own->n_body ? n : own->n_body;
    n = n < MAX_ROOM ? n : MAX_ROOM;
    char *to = pl_buf_reserve(&own->body, (size_t)n);
    if (!to)
        return false;
    *ret_to = to;
    *ret_n = (size_t)n;
    return true;
}

/* Stops reading the body. The connection ends with the answer. */
static void refuse_body(struct pl_exchange_own *own)
{
    own->must_close = true;
    pl_exchange_drop_body(own);
    go_to(own, PL_X_SEND);
}

void pl_exchange_body(struct pl_exchange_own *own, struct pl_str piece)
{
    struct pl_exchange *x = &own->x;
    own->n_body += piece.len;
    pl_metric_add(&x->shard->metrics, PL_METRIC_request_bytes_total, (int64_t)piece.len);
    if (own->state == PL_X_DISCARD) {
        if (own->n_body > DISCARD_BYTES)
            refuse_body(own);
    } else if (!gather(own, piece)) {
        refuse_body(own);
    } else if (x->route->upload) {
        pl_upload_gathered(own);
    }
}

void pl_exchange_body_end(struct pl_exchange_own *own)
{
    own->x.body_text = pl_str_slice(pl_buf_str(&own->body), own->body_at, own->body.len);
    go_to(own, own->state == PL_X_DISCARD ? PL_X_SEND : PL_X_CHECK);
}

void pl_exchange_refuse(struct pl_exchange_own *own, enum pl_problem problem, const char *detail)
{
    /* The rest of a refused body may be late: keep the first problem. */
    if (own->state != PL_X_DISCARD || problem != PL_PROBLEM_TIMEOUT)
        pl_exchange_problem(&own->x, problem, NULL, "%s", detail);
    refuse_body(own);
}

static void check_on_worker(struct pl_job *job)
{
    pl_exchange_check_body(own_of_job(job));
}

static void is_checked(struct pl_job *job)
{
    struct pl_exchange_own *own = own_of_job(job);
    go_to(own, own->x.is_problem ? PL_X_SEND : PL_X_CLAIM);
}

static bool run_check(struct pl_exchange_own *own)
{
    const struct pl_route *route = own->x.route;
    bool has_schema = route->request && !(route->flags & PL_ROUTE_RAW_BODY);
    if (route->upload || (has_schema && own->x.body_text.len > PARSE_HERE_BYTES)) {
        pl_exchange_become(own, PL_X_CHECKING);
        pl_exchange_submit(&own->x, PL_WORK_CPU,
                           route->upload ? pl_upload_look_last : check_on_worker, is_checked);
        return false;
    }
    if (has_schema)
        pl_exchange_check_body(own);
    return next(own, own->x.is_problem ? PL_X_SEND : PL_X_CLAIM);
}

/* --- the work -------------------------------------------------------------------------------- */

static void look_on_worker(struct pl_job *job)
{
    struct pl_exchange *x = &own_of_job(job)->x;
    x->shard->server->claim_ops->look(x);
}

static void is_looked_up(struct pl_job *job)
{
    struct pl_exchange_own *own = own_of_job(job);
    go_to(own, own->x.is_replayed || own->x.is_problem ? PL_X_SEND : PL_X_RUN);
}

static bool run_claim(struct pl_exchange_own *own)
{
    bool has_key = false;
    if (!(own->x.route->flags & PL_ROUTE_IDEMPOTENT))
        return next(own, PL_X_RUN);
    if (!own->x.shard->server->claim_ops->begin(&own->x, &has_key))
        return next(own, PL_X_SEND);
    if (!has_key)
        return next(own, PL_X_RUN);
    pl_exchange_become(own, PL_X_LOOKING);
    pl_exchange_submit(&own->x, PL_WORK_STORE, look_on_worker, is_looked_up);
    return false;
}

static bool run_route(struct pl_exchange_own *own)
{
    pl_exchange_become(own, PL_X_RUNNING);
    own->has_run = true;
    own->x.route->run(&own->x);
    /* Answered already; or its owner wakes it later. */
    return own->state != PL_X_RUNNING;
}

static bool run_settle(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    if (!x->shard->server->claim_ops->settle(x))
        return next(own, PL_X_SEND);
    pl_exchange_become(own, PL_X_SETTLING);
    return false;
}

void pl_exchange_settled(struct pl_exchange *x)
{
    go_to(pl_exchange_own(x), PL_X_SEND);
}

/* --- the answer ------------------------------------------------------------------------------ */

/* Half an answer cannot become a problem. If the answer is still being produced, the producer ends
 * it: the close tells it that the client is gone. */
static bool break_off(struct pl_exchange_own *own)
{
    own->must_close = true;
    if (own->sending.flow == PL_FLOW_NONE)
        return next(own, PL_X_BROKEN);
    pl_exchange_become(own, PL_X_ORPHANED);
    pl_http_conn_close(own->x.conn);
    return true;
}

static bool run_send(struct pl_exchange_own *own)
{
    bool is_over = false, is_open = false;
    /* The client may send its next request, to another shard, as soon as it has this answer. */
    own->x.shard->server->claim_ops->end(&own->x);
    if (own->x.conn && pl_sending_go(own, &is_over) != PL_OK)
        return break_off(own);
    if (own->state == PL_X_READING)
        return false;
    /* The producer of the answer ends it. */
    is_open = own->sending.flow == PL_FLOW_OPEN;
    if (!is_open && (is_over || !own->x.conn))
        return next(own, PL_X_OVER);
    if (is_open && (!own->x.conn || pl_flow_is_idle(own)))
        pl_exchange_become(own, PL_X_MAKING);
    return false;
}

/* There is more to send, or the client is gone. */
static bool run_making(struct pl_exchange_own *own)
{
    return next(own, PL_X_SEND);
}

static bool run_orphaned(struct pl_exchange_own *own)
{
    return own->sending.flow != PL_FLOW_OPEN && next(own, PL_X_BROKEN);
}

/* --- life ------------------------------------------------------------------------------------ */

static void end(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    struct pl_http_conn *conn = x->conn;
    bool is_broken = own->state == PL_X_BROKEN;
    enum pl_http_end how = is_broken         ? PL_HTTP_BROKEN
                           : own->must_close ? PL_HTTP_LAST
                                             : PL_HTTP_KEPT;
    assert(own->n_away == 0);
    if (!is_broken) {
        pl_metric_add(&x->shard->metrics, PL_METRIC_http_requests_total, 1);
        if (x->status >= 500)
            pl_metric_add(&x->shard->metrics, PL_METRIC_http_errors_total, 1);
        if (x->route)
            pl_route_times_note(x->shard->route_times, x->route,
                                pl_loop_now_ms(x->shard->loop) - x->started_ms);
        pl_log_request(x);
        pl_trace_end(x);
    }
    pl_upload_end(own);
    pl_exchange_give_back(own);
    if (conn)
        pl_http_conn_done(conn, how);
}

/* A step returns true if it chose another state. NULL: there is nothing to do but wait. */
static bool (*const steps[])(struct pl_exchange_own *own) = {
    [PL_X_HEAD] = run_head,     [PL_X_CHECK] = run_check,       [PL_X_CLAIM] = run_claim,
    [PL_X_RUN] = run_route,     [PL_X_SETTLE] = run_settle,     [PL_X_SEND] = run_send,
    [PL_X_MAKING] = run_making, [PL_X_ORPHANED] = run_orphaned, [PL_X_BROKEN] = NULL,
};

static bool run_step(struct pl_exchange_own *own)
{
    return steps[own->state] && steps[own->state](own);
}

void pl_exchange_wake(struct pl_exchange_own *own)
{
    if (own->pump != PL_PUMP_RESTS) {
        own->pump = PL_PUMP_AGAIN;
        return;
    }
    do
        own->pump = PL_PUMP_RUNS;
    while (!pl_machine_is_last(&machine, own->state) &&
           (run_step(own) || own->pump == PL_PUMP_AGAIN));
    own->pump = PL_PUMP_RESTS;
    if (pl_machine_is_last(&machine, own->state))
        end(own);
}

void pl_exchange_start(struct pl_exchange_own *own)
{
    own->x.head = pl_http1_head(own->x.conn->http);
    own->x.method = own->x.head->method;
    own->must_close = !own->x.head->is_keep_alive || own->x.conn->refusal;
    go_to(own, PL_X_HEAD);
}

void pl_exchange_lose_conn(struct pl_exchange_own *own, struct pl_http1 *http)
{
    void (*gone)(struct pl_exchange * x) = own->gone;
    pl_log_client(&own->x, own->address);
    own->x.conn = NULL;
    own->http = http;
    own->gone = NULL;
    if (gone)
        gone(&own->x);
    else if (own->state == PL_X_BODY || own->state == PL_X_DISCARD)
        go_to(own, PL_X_BROKEN);
    else if (own->state == PL_X_SEND || own->state == PL_X_MAKING)
        pl_exchange_wake(own);
}

void pl_exchange_writable(struct pl_exchange_own *own)
{
    if (own->state == PL_X_SEND)
        pl_exchange_wake(own);
}
