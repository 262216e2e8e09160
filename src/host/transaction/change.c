/* Runs plan, commit and tell in turn. Plans again after a conflict, a limited number of times. */
#include "transaction/change.h"

#include "transaction/commit.h"
#include "transaction/idempotency.h"

/* The most plans of one change. With more concurrent writers the client is asked to retry. */
enum { MAX_TRIES = 100 };

struct change {
    struct pl_exchange *x; /* the change is in its arena */
    pl_change_plan_fn *plan;
    pl_change_tell_fn *tell;
    void *ctx;
    struct pl_batch *batch; /* owned until it is submitted */
    int n_tries;
};

static void planned(struct pl_exchange *x);

static void plan_on_worker(struct pl_exchange *x)
{
    struct change *change = x->state;
    if (change->n_tries++ && !pl_claim_again(x))
        return;
    change->batch = pl_batch_create();
    if (change->batch)
        change->plan(x, change->batch, change->ctx);
    else
        pl_exchange_fail(x, PL_NOMEM, NULL);
}

static void tell_on_worker(struct pl_exchange *x)
{
    struct change *change = x->state;
    change->tell(x, change->ctx);
}

/* PL_LIMIT comes from the disk, unless a second plan finds one of our own limits. */
static bool may_plan_again(const struct change *change, enum pl_status status)
{
    return (status == PL_CONFLICT && change->n_tries < MAX_TRIES) ||
           (status == PL_LIMIT && change->n_tries == 1);
}

static void committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct change *change = ctx;
    struct pl_exchange *x = change->x;
    if (may_plan_again(change, status)) {
        pl_exchange_work(x, plan_on_worker, planned);
        return;
    }
    if (status == PL_OK) {
        if (change->tell) {
            pl_exchange_work(x, tell_on_worker, NULL);
            return;
        }
    } else if (status == PL_CONFLICT) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "Too many others are changing this; try again.");
    } else {
        pl_exchange_fail_commit(x, status, err);
    }
    pl_exchange_finish(x);
}

static void planned(struct pl_exchange *x)
{
    struct change *change = x->state;
    struct pl_batch *batch = change->batch;
    change->batch = NULL;
    if (x->is_problem || x->is_replayed) {
        pl_batch_destroy(batch);
        pl_exchange_finish(x);
        return;
    }
    pl_claim_add(x, batch);
    pl_store_submit(x->shard->server->store, x->shard->loop, batch, committed, change);
}

void pl_exchange_change(struct pl_exchange *x, pl_change_plan_fn *plan, pl_change_tell_fn *tell,
                        void *ctx)
{
    struct change *change = pl_exchange_room(x, sizeof *change);
    if (!change)
        return;
    *change = (struct change){.x = x, .plan = plan, .tell = tell, .ctx = ctx};
    x->state = change;
    if (pl_exchange_claim(x)->is_done)
        pl_exchange_work(x, tell_on_worker, NULL);
    else
        pl_exchange_work(x, plan_on_worker, planned);
}
