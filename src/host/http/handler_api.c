/* Functions for the handler of a route: answer, use a worker, take the connection over. */
#include "base/table.h"
#include "http/connection.h"
#include "http/exchange_int.h"
#include "http/request_log.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void pl_exchange_finish(struct pl_exchange *x)
{
    if (x->reply.status == PL_LIMIT) {
        pl_buf_clear(&x->headers);
        pl_exchange_problem(x, PL_PROBLEM_PAYLOAD_TOO_LARGE, NULL,
                            "The answer would have more than %zu bytes; request less at a time.",
                            x->reply.max);
    } else if (x->reply.status != PL_OK || x->headers.status != PL_OK) {
        pl_buf_clear(&x->headers);
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "There is not enough memory for the "
                            "answer.");
    }
    struct pl_exchange_own *own = pl_exchange_own(x);
    assert(own->n_away == 0);
    own->gone = NULL;
    bool is_change = x->route && x->route->tells && !x->is_problem && !x->is_replayed;
    if (is_change && x->status < 300 && x->shard->server->tell_change)
        x->shard->server->tell_change(x);
    pl_exchange_become(own, PL_X_SETTLE);
    pl_exchange_wake(own);
}

void pl_exchange_problem(struct pl_exchange *x, enum pl_problem problem, const struct pl_error *err,
                         const char *detail, ...)
{
    char text[512] = "";
    if (detail) {
        va_list args;
        va_start(args, detail);
        vsnprintf(text, sizeof text, detail, args);
        va_end(args);
    }
    x->is_problem = true;
    x->status = pl_problem_info(problem)->http_status;
    x->problem_detail = (struct pl_str){0};
    if (x->status >= 500 && problem != PL_PROBLEM_UPSTREAM_FAILED)
        x->problem_detail =
            pl_arena_dup(&x->arena, pl_str_of(detail ? text : pl_problem_info(problem)->title));
    x->content_type = "application/problem+json";
    struct pl_exchange_own *own = pl_exchange_own(x);
    own->static_body = (struct pl_str){0};
    own->sending.read = NULL;
    own->sending.n_left = 0;
    pl_buf_clear(&x->reply);
    /* Without an id, the head was not processed yet. */
    if (!x->request_id[0])
        pl_exchange_set_id(x);
    const struct pl_route_family *family = x->route ? NULL : pl_family_of(x->target.path);
    const char *says = detail ? text : pl_problem_info(problem)->title;
    if (x->route && x->route->say_problem)
        x->route->say_problem(x, problem, pl_exchange_words(x, says));
    else if (family)
        family->say_problem(x, problem, pl_exchange_words(x, says));
    else
        pl_problem_write(problem, detail ? text : NULL, err, x->request_id,
                         pl_exchange_wants_chinese(x), &x->reply);
}

void pl_exchange_fail(struct pl_exchange *x, enum pl_status status, const struct pl_error *err)
{
    const char *detail = err && err->message[0] ? err->message : pl_status_info(status)->text;
    pl_exchange_problem(x, pl_problem_of(status), err && err->has_position ? err : NULL, "%s",
                        detail);
}

void pl_exchange_fail_commit(struct pl_exchange *x, enum pl_status status,
                             const struct pl_error *err)
{
    if (status == PL_LIMIT)
        pl_exchange_problem(x, PL_PROBLEM_STORAGE_FULL, NULL, "%s", err->message);
    else
        pl_exchange_fail(x, status, err);
}

void pl_exchange_note_used(struct pl_exchange *x, struct pl_str model, int64_t input,
                           int64_t output)
{
    x->used_model = pl_arena_dup(&x->arena, model);
    x->used_input = input > 0 ? input : 0;
    x->used_output = output > 0 ? output : 0;
}

void pl_exchange_add_used(struct pl_exchange *x, struct pl_str model, int64_t input, int64_t output)
{
    PL_CLEANUP_BUF struct pl_buf list;
    pl_buf_init(&list, 0);
    pl_buf_add(&list, x->used_model);
    pl_log_add_model(&list, model);
    if (list.status == PL_OK)
        pl_exchange_note_used(x, pl_buf_str(&list), x->used_input + (input > 0 ? input : 0),
                              x->used_output + (output > 0 ? output : 0));
}

void *pl_exchange_room(struct pl_exchange *x, size_t n_bytes)
{
    void *room = pl_arena_zalloc(&x->arena, 1, n_bytes);
    if (!room) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        pl_exchange_finish(x);
    }
    return room;
}

void pl_exchange_lend(struct pl_exchange *x)
{
    pl_exchange_own(x)->n_away++;
}

void pl_exchange_is_back(struct pl_exchange *x)
{
    assert(pl_exchange_own(x)->n_away > 0);
    pl_exchange_own(x)->n_away--;
}

static void job_is_home(struct pl_job *job)
{
    struct pl_exchange *x = PL_CONTAINER_OF(job, struct pl_exchange, job);
    pl_exchange_is_back(x);
    if (job->is_refused)
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "The server is busy; try again in a moment.");
    pl_exchange_count_memory(pl_exchange_own(x));
    x->job_done(job);
}

/* Estimates the most memory that work on a document takes; small ones are not counted. */
static size_t work_bytes(const struct pl_exchange *x, enum pl_work lane)
{
    enum { SMALL = 256 << 10, TIMES = 16 };
    size_t n_body = x->body_text.len;
    size_t n = x->n_doc > n_body ? x->n_doc : n_body;
    return lane == PL_WORK_CPU && n > SMALL ? n * TIMES : 0;
}

void pl_exchange_submit(struct pl_exchange *x, enum pl_work lane, void (*run)(struct pl_job *),
                        void (*done)(struct pl_job *))
{
    const struct pl_server *server = x->shard->server;
    bool is_begun = pl_exchange_own(x)->must_end;
    x->job = (struct pl_job){
        .lane = lane,
        .owner = pl_owner_of(x->caller.user_id),
        .wait_ms = is_begun ? 0 : x->setup->config.queue_wait_ms,
        .is_begun = is_begun,
        .n_bytes = work_bytes(x, lane),
        .run = run,
        .done = job_is_home,
    };
    x->job_done = done;
    pl_exchange_lend(x);
    pl_workers_submit(server->workers, x->shard->loop, &x->job);
}

void pl_exchange_must_end(struct pl_exchange *x)
{
    pl_exchange_own(x)->must_end = true;
}

static void work_on_worker(struct pl_job *job)
{
    struct pl_exchange *x = PL_CONTAINER_OF(job, struct pl_exchange, job);
    x->work(x);
}

static void work_is_done(struct pl_job *job)
{
    struct pl_exchange *x = PL_CONTAINER_OF(job, struct pl_exchange, job);
    pl_exchange_own(x)->must_end = true;
    if (x->after)
        x->after(x);
    else
        pl_exchange_finish(x);
}

void pl_exchange_work_in(struct pl_exchange *x, enum pl_work lane,
                         void (*work)(struct pl_exchange *), void (*after)(struct pl_exchange *))
{
    x->work = work;
    x->after = after;
    pl_exchange_submit(x, lane, work_on_worker, work_is_done);
}

void pl_exchange_work(struct pl_exchange *x, void (*work)(struct pl_exchange *),
                      void (*after)(struct pl_exchange *))
{
    pl_exchange_work_in(x, PL_WORK_STORE, work, after);
}

void pl_exchange_compute(struct pl_exchange *x, void (*work)(struct pl_exchange *),
                         void (*after)(struct pl_exchange *))
{
    pl_exchange_work_in(x, PL_WORK_CPU, work, after);
}

struct pl_claim *pl_exchange_claim(struct pl_exchange *x)
{
    return &pl_exchange_own(x)->claim;
}

void pl_exchange_keep_instead(struct pl_exchange *x, struct pl_str reply)
{
    pl_exchange_own(x)->kept_reply = reply;
}

struct pl_str pl_exchange_kept_reply(const struct pl_exchange *x)
{
    return ((const struct pl_exchange_own *)x)->kept_reply;
}

void pl_exchange_set_body_digest(struct pl_exchange *x, struct pl_str digest)
{
    pl_exchange_own(x)->body_digest = digest;
}

struct pl_str pl_exchange_body_digest(const struct pl_exchange *x)
{
    return ((const struct pl_exchange_own *)x)->body_digest;
}

void pl_exchange_clear_when_sent(struct pl_exchange *x, _Atomic(bool) *busy)
{
    pl_exchange_own(x)->sending.busy = busy;
}

bool pl_exchange_is_read_from(const struct pl_exchange *x)
{
    return ((const struct pl_exchange_own *)x)->sending.read != NULL;
}

struct pl_conn *pl_exchange_take_conn(struct pl_exchange *x, struct pl_str response_head,
                                      struct pl_buf *ret_rest, struct pl_hold *ret_place)
{
    struct pl_exchange_own *own = pl_exchange_own(x);
    struct pl_http_conn *http_conn = x->conn;
    struct pl_conn *conn = NULL;
    size_t n_sent = 0;
    pl_exchange_become(own, PL_X_TAKEN);
    /* A head is small and input has just arrived: after a short write the client is dead. */
    if (http_conn && pl_conn_write(http_conn->conn, &response_head, 1, &n_sent) == PL_OK &&
        n_sent == response_head.len) {
        conn = pl_http_conn_take(http_conn, ret_rest, ret_place);
    }
    own->must_close = own->must_close || !conn;
    pl_exchange_become(own, conn ? PL_X_OVER : PL_X_BROKEN);
    pl_exchange_wake(own);
    return conn;
}
