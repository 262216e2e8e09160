/* A request from its head to the last byte of its answer (RFC 9110, RFC 9112).
 *
 *     HEAD -> BODY -> CHECK -> CLAIM -> RUN -> SETTLE -> SEND
 *        \       \       \        \______________________/
 *         \_______\_______\___ a refusal skips what lies between
 *
 * A refusal made by the head alone waits for a small body, so that the connection can be kept; a
 * large one is not read, and the connection ends with the answer. */
#include "server/exchange_int.h"

#include "base/table.h"
#include "server/http_conn.h"
#include "server/log.h"
#include "server/trace.h"

enum {
    DISCARD_BYTES = 256 << 10, /* of a body nobody will look at, to keep the connection */
    PARSE_HERE_BYTES = 256 << 10,
};

enum step { STEP_HEAD, STEP_BODY, STEP_CHECK, STEP_CLAIM, STEP_RUN, STEP_SETTLE, STEP_SEND };

static struct pl_exchange_own *own_of(struct pl_task *task)
{
    return pl_exchange_own(PL_CONTAINER_OF(task, struct pl_exchange, task));
}

static struct pl_exchange_own *own_of_job(struct pl_job *job)
{
    return pl_exchange_own(PL_CONTAINER_OF(job, struct pl_exchange, job));
}

static enum pl_task_result next(struct pl_exchange_own *own, enum step step)
{
    pl_task_goto(&own->x.task, step);
    return PL_TASK_AGAIN;
}

/* --- the head -------------------------------------------------------------------------------- */

static enum pl_task_result run_head(struct pl_task *task)
{
    struct pl_exchange_own *own = own_of(task);
    struct pl_exchange *x = &own->x;
    if (!x->request_id[0]) /* one that is refused has its own already */
        pl_exchange_set_id(x);
    if (own->is_refused)
        return next(own, STEP_SEND);
    pl_trace_continue(x);
    own->is_refused = !pl_exchange_admit(own);
    if (!own->is_refused && x->route->upload) {
        x->route->upload->begin(x);
        own->is_refused = x->is_problem;
    }
    return next(own, STEP_BODY);
}

/* --- the body -------------------------------------------------------------------------------- */

static bool is_body_long(const struct pl_http_head *head)
{
    return head->expects_continue || head->content_length > DISCARD_BYTES;
}

/* No deadline here: the connection holds the body to its rate. */
static enum pl_task_result run_body(struct pl_task *task)
{
    struct pl_exchange_own *own = own_of(task);
    struct pl_exchange *x = &own->x;
    if (own->is_held)
        return PL_TASK_WAIT;
    if (!x->conn) {
        own->is_failed = true;
        return PL_TASK_END;
    }
    if (own->is_body_over)
        return next(own, own->is_refused ? STEP_SEND : STEP_CHECK);
    if (own->is_refused && (own->must_close || is_body_long(x->head))) {
        own->must_close = true;
        return next(own, STEP_SEND);
    }
    if (x->head->expects_continue && own->n_body == 0) {
        struct pl_str go_on = PL_STR("HTTP/1.1 100 Continue\r\n\r\n");
        size_t n_sent = 0;
        if (pl_conn_write(x->conn->conn, &go_on, 1, &n_sent) != PL_OK || n_sent < go_on.len)
            own->must_close = true;
    }
    return PL_TASK_WAIT;
}

bool pl_exchange_wants_body(const struct pl_exchange_own *own)
{
    return own->x.task.step == STEP_BODY && !own->is_body_over && !own->is_held;
}

static void refuse_memory(struct pl_exchange *x, enum pl_taking taking)
{
    if (taking == PL_TAKING_OVER_OWN)
        pl_exchange_problem(x, PL_PROBLEM_RATE_LIMITED, NULL,
                            "Your requests use your share of the memory for bodies and answers; "
                            "send this again when one of them was answered.");
    else if (taking != PL_TAKING_DONE)
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "The bodies of all requests use the memory for them; try again in a "
                            "moment.");
}

/* Of an upload no more than two pieces are ever there. */
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
    pl_buf_deinit(&own->body);
}

/* Small amounts are not worth a lock: as many requests as there may be have so much. */
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
    bool must_go_on = own->must_end || own->sending.is_started || x->is_problem;
    refuse_memory(x, pl_body_memory_keep(x->shard, &own->kept_hold, &owner, n - n_had,
                                         (size_t)own->body_hold.n + n, must_go_on));
}

void pl_exchange_body(struct pl_exchange_own *own, struct pl_str piece)
{
    struct pl_exchange *x = &own->x;
    own->n_body += piece.len;
    pl_metric_add(&x->shard->metrics, PL_METRIC_request_bytes_total, (int64_t)piece.len);
    if (own->is_refused) {
        own->must_close = own->n_body > DISCARD_BYTES;
    } else if (own->n_body > own->max_body) {
        pl_exchange_problem(x, PL_PROBLEM_PAYLOAD_TOO_LARGE, NULL,
                            "The body may have %zu bytes here, and this one has more.",
                            own->max_body);
        own->is_refused = own->must_close = true;
    } else if (!take_memory(own, piece.len)) {
        own->is_refused = own->must_close = true;
    } else {
        pl_buf_add(&own->body, piece);
        if (own->body.status != PL_OK) {
            pl_exchange_fail(x, own->body.status, NULL);
            own->is_refused = own->must_close = true;
        } else if (x->route->upload) {
            pl_upload_gathered(own);
        }
    }
    if (own->is_refused && own->must_close) {
        pl_exchange_drop_body(own);
        pl_task_wake(&x->task);
    }
}

void pl_exchange_body_end(struct pl_exchange_own *own)
{
    own->is_body_over = true;
    own->x.body_text = pl_buf_str(&own->body);
    pl_task_wake(&own->x.task);
}

void pl_exchange_refuse(struct pl_exchange_own *own, enum pl_problem problem, const char *detail)
{
    bool is_begun = own->x.task.kind != NULL;
    /* The rest of a refused body may be late: what was wrong first is what counts. */
    if (!own->is_refused || problem != PL_PROBLEM_TIMEOUT)
        pl_exchange_problem(&own->x, problem, NULL, "%s", detail);
    own->is_refused = own->must_close = true;
    pl_exchange_drop_body(own);
    if (is_begun)
        pl_task_wake(&own->x.task);
    else
        pl_exchange_start(own);
}

static void check_on_worker(struct pl_job *job)
{
    pl_exchange_check_body(own_of_job(job));
}

static void wake_from_job(struct pl_job *job)
{
    struct pl_exchange_own *own = own_of_job(job);
    own->is_parsed = true;
    pl_task_wake(&own->x.task);
}

/* No deadline: a worker always comes back. */
static enum pl_task_result run_check(struct pl_task *task)
{
    struct pl_exchange_own *own = own_of(task);
    const struct pl_route *route = own->x.route;
    if (!own->is_parsed && route->upload) {
        if (!own->is_looking)
            pl_exchange_submit(&own->x, PL_WORK_CPU, pl_upload_look_last, wake_from_job);
        own->is_looking = true;
        return PL_TASK_WAIT;
    }
    if (!own->is_parsed && route->request && !(route->flags & PL_ROUTE_RAW_BODY)) {
        if (own->body.len > PARSE_HERE_BYTES) {
            if (!own->x.job.run)
                pl_exchange_submit(&own->x, PL_WORK_CPU, check_on_worker, wake_from_job);
            return PL_TASK_WAIT;
        }
        pl_exchange_check_body(own);
    }
    return next(own, own->x.is_problem ? STEP_SEND : STEP_CLAIM);
}

/* --- the work -------------------------------------------------------------------------------- */

static void look_on_worker(struct pl_job *job)
{
    pl_claim_look(&own_of_job(job)->x);
}

static void wake_from_look(struct pl_job *job)
{
    struct pl_exchange_own *own = own_of_job(job);
    own->claim.is_looked = true;
    pl_task_wake(&own->x.task);
}

/* No deadline: a worker always comes back. */
static enum pl_task_result run_claim(struct pl_task *task)
{
    struct pl_exchange_own *own = own_of(task);
    struct pl_exchange *x = &own->x;
    bool has_key = own->claim.is_listed;
    if (!(x->route->flags & PL_ROUTE_IDEMPOTENT))
        return next(own, STEP_RUN);
    if (own->claim.is_looked)
        return next(own, x->is_answered || x->is_problem ? STEP_SEND : STEP_RUN);
    if (has_key)
        return PL_TASK_WAIT;
    if (!pl_claim_begin(own, &has_key))
        return next(own, STEP_SEND);
    if (!has_key)
        return next(own, STEP_RUN);
    pl_exchange_submit(&own->x, PL_WORK_STORE, look_on_worker, wake_from_look);
    return PL_TASK_WAIT;
}

/* No deadline: whoever has the exchange answers it, and work is never cancelled by time alone. */
static enum pl_task_result run_route(struct pl_task *task)
{
    struct pl_exchange_own *own = own_of(task);
    if (!own->is_running) {
        own->is_running = true;
        own->x.route->run(&own->x);
    }
    if (own->is_taken)
        return PL_TASK_END;
    return own->x.is_answered ? next(own, STEP_SETTLE) : PL_TASK_WAIT;
}

static void settled(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_exchange_own *own = ctx;
    /* What was done is done, and the answer is true: only a repetition would not find it. */
    if (status != PL_OK)
        pl_log_say(own->x.shard->server->log, own->x.shard, PL_LOG_WARNING,
                   "an answer could not be kept for its Idempotency-Key: %s", err->message);
    own->claim.is_settled = true;
    pl_task_wake(&own->x.task);
}

/* No deadline: the store always comes back. */
static enum pl_task_result run_settle(struct pl_task *task)
{
    struct pl_exchange_own *own = own_of(task);
    struct pl_exchange *x = &own->x;
    if (own->claim.is_settled)
        return next(own, STEP_SEND);
    if (own->claim.is_settling)
        return PL_TASK_WAIT;
    struct pl_batch *batch = pl_claim_settle(own);
    if (!batch)
        return next(own, STEP_SEND);
    own->claim.is_settling = true;
    pl_store_submit(x->shard->server->store, x->shard->loop, batch, settled, own);
    return PL_TASK_WAIT;
}

/* No deadline: the connection notices a client that takes nothing. */
static enum pl_task_result run_send(struct pl_task *task)
{
    struct pl_exchange_own *own = own_of(task);
    bool is_over = false;
    if (own->sending.is_reading)
        return PL_TASK_WAIT;
    /* Whoever has this answer may ask again at once, of another shard. */
    pl_claim_end(own);
    if (own->x.conn && pl_sending_go(own, &is_over) != PL_OK) {
        own->must_close = own->is_failed = true;
        is_over = true;
        if (own->sending.is_flowing)
            pl_http_conn_close(own->x.conn);
    }
    /* Whoever makes the answer ends it. */
    if (own->sending.is_flowing && !own->sending.is_flow_over)
        return PL_TASK_WAIT;
    return is_over || !own->x.conn ? PL_TASK_END : PL_TASK_WAIT;
}

/* --- life ------------------------------------------------------------------------------------ */

static void end(struct pl_task *task)
{
    struct pl_exchange_own *own = own_of(task);
    struct pl_exchange *x = &own->x;
    struct pl_http_conn *conn = x->conn;
    enum pl_http_end how = own->is_failed    ? PL_HTTP_BROKEN
                           : own->must_close ? PL_HTTP_LAST
                                             : PL_HTTP_KEPT;
    if (!own->is_failed) {
        pl_metric_add(&x->shard->metrics, PL_METRIC_http_requests_total, 1);
        if (x->status >= 500)
            pl_metric_add(&x->shard->metrics, PL_METRIC_http_errors_total, 1);
        pl_log_request(x);
    }
    pl_upload_end(own);
    pl_exchange_give_back(own);
    if (conn)
        pl_http_conn_done(conn, how);
}

static const struct pl_task_step steps[] = {
    [STEP_HEAD] = {"head", run_head, 0},    [STEP_BODY] = {"body", run_body, 0},
    [STEP_CHECK] = {"check", run_check, 0}, [STEP_CLAIM] = {"claim", run_claim, 0},
    [STEP_RUN] = {"run", run_route, 0},     [STEP_SETTLE] = {"settle", run_settle, 0},
    [STEP_SEND] = {"send", run_send, 0},
};
static const struct pl_task_kind kind = {"exchange", steps, sizeof steps / sizeof *steps, end};

void pl_exchange_start(struct pl_exchange_own *own)
{
    if (!own->is_refused) {
        own->x.head = pl_http1_head(own->x.conn->http);
        own->x.method = own->x.head->method;
        own->must_close = !own->x.head->is_keep_alive || own->x.conn->refusal;
    }
    pl_task_init(&own->x.task, own->x.shard->loop, &kind);
    pl_task_start(&own->x.task);
}

void pl_exchange_lose_conn(struct pl_exchange_own *own, struct pl_http1 *http)
{
    void (*gone)(struct pl_exchange * x) = own->gone;
    own->x.conn = NULL;
    own->http = http;
    own->gone = NULL;
    if (gone) {
        gone(&own->x);
        return;
    }
    if (!own->is_taken && (own->x.task.step == STEP_BODY || own->x.task.step == STEP_SEND))
        pl_task_wake(&own->x.task);
}

void pl_exchange_writable(struct pl_exchange_own *own)
{
    if (own->x.task.step == STEP_SEND)
        pl_task_wake(&own->x.task);
}
