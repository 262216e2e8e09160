#include "transaction/commit.h"

#include "transaction/idempotency.h"

static void committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_exchange *x = ctx;
    pl_exchange_is_back(x);
    if (status == PL_OK) {
        if (x->after) {
            x->after(x);
            return;
        }
    } else {
        pl_exchange_fail_commit(x, status, err);
    }
    pl_exchange_finish(x);
}

void pl_exchange_commit_repeatable(struct pl_exchange *x, struct pl_batch *batch,
                                   void (*after)(struct pl_exchange *))
{
    x->after = after;
    pl_exchange_must_end(x);
    if (batch) {
        pl_exchange_lend(x);
        pl_store_submit(x->shard->server->store, x->shard->loop, batch, committed, x);
        return;
    }
    pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_finish(x);
}

void pl_exchange_commit(struct pl_exchange *x, struct pl_batch *batch,
                        void (*after)(struct pl_exchange *))
{
    x->after = after;
    pl_exchange_must_end(x);
    if (!batch) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        pl_exchange_finish(x);
        return;
    }
    pl_exchange_lend(x);
    if (pl_exchange_claim(x)->is_done) {
        pl_batch_destroy(batch);
        committed(x, PL_OK, NULL);
        return;
    }
    pl_claim_add(x, batch);
    pl_store_submit(x->shard->server->store, x->shard->loop, batch, committed, x);
}
