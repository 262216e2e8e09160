#include "service/sessions/copies/copying.h"

#include "transaction/commit.h"

/* Answers 201 with the session once it is stored; takes the batch. On the shard. */
static void commit(struct pl_session_copy *copying, struct pl_exchange *x, struct pl_str report)
{
    struct pl_batch *batch = pl_session_copy_take(copying);
    x->status = 201;
    pl_exchange_header(x, "Location", "/api/sessions/%s", copying->id.text);
    (void)pl_exchange_etag(x, copying->record.version);
    pl_session_record_write(&copying->record, &x->reply);
    if (report.len && x->reply.status == PL_OK) {
        x->reply.len--; /* the closing brace, added again below */
        pl_buf_adds(&x->reply, ",\"report\":");
        pl_buf_add(&x->reply, report);
        pl_buf_addc(&x->reply, '}');
    }
    pl_exchange_commit(x, batch, NULL);
}

void pl_copying_finish_with(struct pl_exchange *x, struct pl_str report)
{
    if (x->is_problem)
        pl_exchange_finish(x);
    else
        commit(x->state, x, report);
}

void pl_copying_finish(struct pl_exchange *x)
{
    pl_copying_finish_with(x, (struct pl_str){0});
}

struct pl_session_copy *pl_copying_begin(struct pl_exchange *x)
{
    struct pl_session_copy *copying = pl_arena_zalloc(&x->arena, 1, sizeof *copying);
    x->state = copying;
    if (copying && pl_session_copy_begin(copying, x) == PL_OK)
        return copying;
    pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is not enough memory for this.");
    return NULL;
}

void pl_copying_fail(struct pl_exchange *x, struct pl_session_copy *copying, enum pl_status status,
                     const struct pl_error *err)
{
    pl_batch_destroy(copying->batch);
    pl_exchange_fail(x, status, err);
}
