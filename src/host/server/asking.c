#include "server/asking.h"

#include "base/table.h"
#include "server/exchange_int.h"

struct asking {
    struct pl_ask ask;
    struct pl_exchange *x;
    void (*then)(struct pl_exchange *x, struct pl_ask *ask);
    bool is_filled; /* the answer is in the exchange */
};

struct pl_exchange *pl_ask_exchange(struct pl_ask *ask)
{
    return PL_CONTAINER_OF(ask, struct asking, ask)->x;
}

void pl_exchange_position(struct pl_exchange *x, const struct pl_ask *ask)
{
    pl_exchange_header(x, "X-Stream-Position", "%lld:%lld", (long long)ask->epoch,
                       (long long)ask->position);
}

/* What the session said, as the answer. Once: with an Idempotency-Key it is needed before the
 * transaction, in which it is kept. */
static void fill_answer(struct asking *asking)
{
    struct pl_exchange *x = asking->x;
    const struct pl_ask *ask = &asking->ask;
    if (asking->is_filled)
        return;
    asking->is_filled = true;
    x->status = x->route->status;
    if (ask->kind == PL_ASK_CREATE) {
        pl_exchange_header(x, "Location", "/api/sessions/%.*s", PL_STR_ARG(ask->session_id));
        (void)pl_exchange_etag(x, ask->version);
    }
    pl_exchange_position(x, ask);
    pl_buf_add(&x->reply, pl_buf_str(&ask->reply));
}

void pl_exchange_answer(struct pl_exchange *x, struct pl_ask *ask)
{
    fill_answer(PL_CONTAINER_OF(ask, struct asking, ask));
    pl_ask_deinit(ask);
    pl_exchange_finish(x);
}

void pl_exchange_answer_problem(struct pl_exchange *x, struct pl_ask *ask)
{
    if (PL_CONTAINER_OF(ask, struct asking, ask)->is_filled)
        pl_buf_clear(&x->headers);
    pl_exchange_problem(x, ask->problem, &ask->err, NULL);
    pl_ask_deinit(ask);
    pl_exchange_finish(x);
}

static void on_answer(struct pl_ask *ask)
{
    struct asking *asking = PL_CONTAINER_OF(ask, struct asking, ask);
    struct pl_exchange *x = asking->x;
    if (ask->problem == PL_PROBLEM_NOT_FOUND && !ask->err.message[0])
        (void)pl_fail(&ask->err, PL_NOT_FOUND, "You have no session %.*s.",
                      (int)(ask->session_id.len < 80 ? ask->session_id.len : 80),
                      ask->session_id.ptr);
    if (ask->problem != PL_PROBLEM_COUNT) {
        pl_exchange_answer_problem(x, ask);
        return;
    }
    if (asking->then)
        asking->then(x, ask);
    else
        pl_exchange_answer(x, ask);
}

void pl_ask_claim(struct pl_ask *ask, struct pl_batch *batch)
{
    struct asking *asking = PL_CONTAINER_OF(ask, struct asking, ask);
    struct pl_exchange_own *own = pl_exchange_own(asking->x);
    if (!own->claim.key.len)
        return;
    if (!own->kept_reply.ptr)
        fill_answer(asking);
    pl_claim_add(own, batch);
}

struct pl_ask *pl_exchange_ask(struct pl_exchange *x, enum pl_ask_kind kind,
                               struct pl_str session_id,
                               void (*then)(struct pl_exchange *x, struct pl_ask *ask))
{
    struct asking *asking = pl_arena_zalloc(&x->arena, 1, sizeof *asking);
    if (!asking) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is no memory for this now.");
        pl_exchange_finish(x);
        return NULL;
    }
    asking->x = x;
    asking->then = then;
    pl_ask_init(&asking->ask, kind, x->shard, x->caller.user_id, session_id);
    asking->ask.done = on_answer;
    if (pl_exchange_own(x)->claim.key.len)
        asking->ask.extend = pl_ask_claim;
    return &asking->ask;
}

void pl_exchange_look(struct pl_exchange *x,
                      void (*then)(struct pl_exchange *x, struct pl_ask *ask))
{
    struct pl_ask *ask = pl_exchange_ask(x, PL_ASK_LOOK, x->args[0], then);
    if (ask)
        pl_ask_send(ask);
}

struct pl_ask *pl_exchange_ask_create(struct pl_exchange *x)
{
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    struct pl_id id = pl_id_take(&seed, "sess_");
    struct pl_str text = pl_arena_dup(&x->arena, pl_str_of(id.text));
    if (!text.ptr) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL, "There is no memory for this now.");
        pl_exchange_finish(x);
        return NULL;
    }
    struct pl_ask *ask = pl_exchange_ask(x, PL_ASK_CREATE, text, NULL);
    if (ask)
        ask->record = (struct pl_session_record){
            .id = text,
            .user_id = x->caller.user_id,
            .intent = PL_STR(""),
            .status = PL_SESSION_CREATED,
            .created_ms = seed.unix_ms,
            .updated_ms = seed.unix_ms,
            .memory_enabled = true,
            .version = 1,
            .epoch = 1,
        };
    return ask;
}
