#include "server/errand.h"

#include "base/table.h"
#include "server/chatting.h"
#include "server/copying.h"

static struct pl_errand *errand_of(struct pl_ask *ask)
{
    return PL_CONTAINER_OF(ask, struct pl_errand, ask);
}

/* On the session's shard: the turns it begins with, behind the session's own row. */
static void extend(struct pl_ask *ask, struct pl_batch *batch)
{
    struct pl_errand *errand = errand_of(ask);
    struct pl_server *server = errand->home->server;
    struct pl_copying copying = {
        .record = {.id = errand->record.id},
        .seed = pl_shard_seed(pl_shard_of_session(server, errand->record.id)),
        .batch = batch,
    };
    for (size_t i = 0; i < errand->n_turns; i++)
        pl_copying_add(&copying, &errand->turns[i]);
    if (errand->extend)
        errand->extend(errand, batch);
}

static void take_problem(struct pl_errand *errand)
{
    errand->problem = errand->ask.problem;
    errand->err = errand->ask.err;
    pl_ask_deinit(&errand->ask);
}

static void on_rest(struct pl_ask *ask)
{
    struct pl_errand *errand = errand_of(ask);
    errand->status = ask->status;
    take_problem(errand);
    errand->done(errand);
}

void pl_errand_wait(struct pl_errand *errand)
{
    pl_ask_init(&errand->ask, PL_ASK_REST, errand->home, errand->record.user_id, errand->record.id);
    errand->ask.waits_for_person = errand->waits_for_person;
    errand->ask.done = on_rest;
    pl_ask_send(&errand->ask);
}

static void on_created(struct pl_ask *ask)
{
    struct pl_errand *errand = errand_of(ask);
    take_problem(errand);
    errand->status = PL_SESSION_RUNNING;
    bool goes_on = errand->problem == PL_PROBLEM_COUNT && errand->done;
    if (errand->started)
        errand->started(errand);
    if (goes_on)
        pl_errand_wait(errand);
}

void pl_errand_send(struct pl_errand *errand)
{
    struct pl_session_record *record = &errand->record;
    struct pl_id_seed seed = pl_shard_seed(errand->home);
    if (!record->id.len) {
        errand->id = pl_id_take(&seed, "sess_");
        record->id = pl_str_of(errand->id.text);
    }
    record->created_ms = record->updated_ms = seed.unix_ms;
    record->next_entry = (int64_t)errand->n_turns;
    if (!record->intent.ptr)
        record->intent = PL_STR("");
    errand->says = (struct pl_session_event){.kind = PL_SE_CHAT};
    errand->says.chat.message = errand->message;
    struct pl_ask *ask = &errand->ask;
    pl_ask_init(ask, PL_ASK_CREATE, errand->home, record->user_id, record->id);
    ask->record = *record;
    ask->says = &errand->says;
    ask->n_says = 1;
    ask->extend = extend;
    ask->done = on_created;
    pl_ask_send(ask);
}
