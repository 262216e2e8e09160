/* A body that is passed to its route while it arrives (route.h, struct pl_upload).
 *
 *     gathering ──a piece is there──> looked at (worker) ──> kept (route) ──> gathering …
 *         └──END──> the last piece is looked at ──> claim ──> run
 *
 * From the first arrow to the last the exchange is held, and the connection reads nothing. So a
 * body of any length costs the memory of one piece, and a slow store slows the client down. */
#include "http/exchange_int.h"

#include "base/table.h"
#include "http/connection.h"

static struct pl_exchange *exchange_of(struct pl_job *job)
{
    return PL_CONTAINER_OF(job, struct pl_exchange, job);
}

/* The client may be gone by now, or the piece may have been refused. */
static void let_go(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    own->must_close = own->must_close || x->is_problem;
    pl_exchange_become(own, !x->conn ? PL_X_BROKEN : x->is_problem ? PL_X_SEND : PL_X_BODY);
    if (own->state == PL_X_BODY)
        pl_http_conn_go_on(x->conn);
    else
        pl_exchange_wake(own);
}

static void look(struct pl_job *job)
{
    struct pl_exchange *x = exchange_of(job);
    x->route->upload->look(x, false);
}

static void looked(struct pl_job *job)
{
    struct pl_exchange *x = exchange_of(job);
    if (x->conn && !x->is_problem)
        x->route->upload->keep(x);
    else
        let_go(pl_exchange_own(x));
}

void pl_upload_gathered(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    size_t n = x->route->upload->piece_bytes;
    if (own->body.len < n)
        return;
    pl_exchange_become(own, PL_X_HELD);
    x->body_text = pl_str_slice(pl_buf_str(&own->body), 0, n);
    pl_exchange_submit(x, PL_WORK_CPU, look, looked);
}

void pl_exchange_piece_kept(struct pl_exchange *x, enum pl_status status,
                            const struct pl_error *err)
{
    struct pl_exchange_own *own = pl_exchange_own(x);
    size_t n = x->body_text.len;
    if (status != PL_OK)
        pl_exchange_fail_commit(x, status, err);
    memmove(own->body.ptr, own->body.ptr + n, own->body.len - n);
    own->body.len -= n;
    pl_exchange_give_body_memory(own, n);
    let_go(own);
}

void pl_upload_look_last(struct pl_job *job)
{
    struct pl_exchange *x = exchange_of(job);
    x->route->upload->look(x, true);
}

void pl_upload_end(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    bool is_unwanted = x->is_problem || !own->has_run;
    if (x->route && x->route->upload && x->state && is_unwanted)
        x->route->upload->drop(x);
}
