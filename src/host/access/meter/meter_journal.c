/* Running calls are in a ring, oldest first, and each call knows its number. The ring holds no
 * pointers to owners, so an owner may be freed at any time. */
#include "access/meter/meter_journal.h"
#include "access/meter/meter_runs.h"
#include "access/meter/meter_sums.h"

#include "base/mem.h"
#include "shard/log.h"

struct begun {
    bool has_ended;
    int64_t at_ms; /* by the loop's clock */
    int64_t day, tokens, cost_micro;
    char id[PL_ID_MAX], user_id[PL_ID_MAX], key_id[PL_ID_MAX];
    char model[PL_METER_MODEL_MAX];
};

/* Rows of open_calls to delete. */
struct closes {
    struct pl_id *ids; /* owned */
    size_t n, n_room;
};

/* Ended calls: one transaction. */
struct ends {
    struct closes closes;
    struct pl_meter_sums sums;
    struct pl_meter_runs runs;
};

struct pl_meter_journal {
    struct pl_shard *shard; /* borrowed */
    struct pl_timer timer;
    uint64_t first, next; /* numbers: of the oldest in the ring, of the next call */
    struct ends ends;
    struct begun begun[PL_METER_GATHER_MAX];
};

/* Ends that were submitted, until they are stored. */
struct sent {
    struct pl_meter_journal *journal; /* borrowed */
    struct ends ends;
};

/* --- ends ------------------------------------------------------------------------------------ */

/* A call and its run have the same UUID. */
static struct pl_id name_call(const char *run_id)
{
    struct pl_id id;
    enum { N_PREFIX = sizeof "call_" - 1 };
    const char *uuid = strchr(run_id, '_');
    memcpy(id.text, "call_", N_PREFIX);
    pl_meter_keep(id.text + N_PREFIX, sizeof id.text - N_PREFIX, pl_str_of(uuid ? uuid + 1 : ""));
    return id;
}

static bool has_room(struct closes *closes)
{
    if (closes->n < closes->n_room)
        return true;
    size_t n_room = closes->n_room ? 2 * closes->n_room : 32;
    struct pl_id *ids = n_room <= PL_METER_CLOSES_MAX
                            ? pl_mem_grow(closes->ids, n_room, sizeof *closes->ids)
                            : NULL;
    if (!ids)
        return false;
    closes->ids = ids;
    closes->n_room = n_room;
    return true;
}

static void ends_deinit(struct ends *ends)
{
    pl_mem_free(ends->closes.ids);
    pl_meter_sums_deinit(&ends->sums);
    pl_meter_runs_deinit(&ends->runs);
    *ends = (struct ends){0};
}

static bool ends_are_none(const struct ends *ends)
{
    return !ends->closes.n && !ends->sums.rows.n_links && !ends->runs.n;
}

/* False: out of memory. The runs are then dropped, the rest is kept. */
static bool put_ends(struct ends *ends, struct pl_batch *batch)
{
    size_t n = pl_batch_n_writes(batch) + ends->closes.n;
    for (size_t i = 0; i < ends->closes.n; i++)
        pl_batch_close_call(batch, pl_str_of(ends->closes.ids[i].text));
    n += pl_meter_sums_put(&ends->sums, batch);
    n += pl_meter_runs_take(&ends->runs, batch);
    if (pl_batch_n_writes(batch) == n)
        return true;
    pl_meter_runs_tell(&ends->runs, NULL, false);
    return false;
}

/* The store refused them: they wait again, if there is memory. */
static void take_back(struct ends *to, const struct ends *ends)
{
    for (size_t i = 0; i < ends->closes.n && has_room(&to->closes); i++)
        to->closes.ids[to->closes.n++] = ends->closes.ids[i];
    pl_meter_sums_add_all(&to->sums, &ends->sums);
}

/* --- running calls --------------------------------------------------------------------------- */

static struct begun *begun_at(struct pl_meter_journal *journal, uint64_t number)
{
    return &journal->begun[number % PL_METER_GATHER_MAX];
}

/* NULL: it is a row already. */
static struct begun *find_begun(struct pl_meter_journal *journal, const struct pl_meter_call *call)
{
    uint64_t at = call->number - 1;
    return at >= journal->first ? begun_at(journal, at) : NULL;
}

static void put_open(const struct begun *begun, struct pl_batch *batch)
{
    pl_batch_open_call(batch, &(struct pl_open_call){
                                  .id = pl_str_of(begun->id),
                                  .user_id = pl_str_of(begun->user_id),
                                  .key_id = pl_str_of(begun->key_id),
                                  .model = pl_str_of(begun->model),
                                  .day = begun->day,
                                  .tokens = begun->tokens,
                                  .cost_micro = begun->cost_micro,
                              });
}

/* Calls that began before and still run become rows. Returns the first call that stays in the ring;
 * UINT64_MAX: out of memory. */
static uint64_t put_begun(struct pl_meter_journal *journal, int64_t before_ms,
                          struct pl_batch *batch)
{
    size_t n = pl_batch_n_writes(batch);
    uint64_t at = journal->first;
    for (; at < journal->next; at++) {
        const struct begun *begun = begun_at(journal, at);
        if (!begun->has_ended && begun->at_ms > before_ms)
            break;
        n += !begun->has_ended;
        if (!begun->has_ended)
            put_open(begun, batch);
    }
    return pl_batch_n_writes(batch) == n ? at : UINT64_MAX;
}

/* --- commits --------------------------------------------------------------------------------- */

/* Everything that is due, as a batch. NULL: nothing, or out of memory; then it stays. */
static struct pl_batch *take(struct pl_meter_journal *journal, int64_t before_ms)
{
    struct pl_batch *batch = pl_batch_create();
    uint64_t first = batch ? put_begun(journal, before_ms, batch) : UINT64_MAX;
    if (first != UINT64_MAX && put_ends(&journal->ends, batch)) {
        journal->first = first;
        if (pl_batch_n_writes(batch))
            return batch;
    }
    pl_batch_destroy(batch);
    return NULL;
}

static void on_timer(struct pl_timer *timer);

/* The server has stopped, and calls end with it: nothing is submitted any more, everything waits
 * for pl_meter_journal_take(). */
static bool is_over(const struct pl_meter_journal *journal)
{
    return pl_life_is_over(&journal->shard->server->life);
}

static void wake_in(struct pl_meter_journal *journal, int64_t delay_ms)
{
    if (!pl_timer_is_on(&journal->timer) && !is_over(journal))
        pl_timer_start(journal->shard->loop, &journal->timer, delay_ms, on_timer);
}

static void stored(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct sent *sent = ctx;
    struct pl_meter_journal *journal = sent->journal;
    struct pl_shard *shard = journal->shard;
    pl_meter_runs_tell(&sent->ends.runs, shard->server, status == PL_OK);
    if (status != PL_OK) {
        pl_log_say(shard->server->log, shard, PL_LOG_WARNING,
                   "the usage of calls could not be stored: %s", err->message);
        take_back(&journal->ends, &sent->ends);
        pl_timer_stop(shard->loop, &journal->timer);
        wake_in(journal, PL_METER_AGAIN_MS);
    }
    ends_deinit(&sent->ends);
    pl_mem_free(sent);
}

static void submit(struct pl_meter_journal *journal, int64_t before_ms)
{
    struct sent *sent = is_over(journal) ? NULL : pl_mem_alloc(1, sizeof *sent);
    struct pl_batch *batch = sent ? take(journal, before_ms) : NULL;
    if (!batch) {
        pl_mem_free(sent);
        return;
    }
    *sent = (struct sent){.journal = journal, .ends = journal->ends};
    journal->ends = (struct ends){0};
    pl_store_submit(journal->shard->server->store, journal->shard->loop, batch, stored, sent);
}

bool pl_meter_journal_is_empty(const struct pl_meter_journal *journal)
{
    return journal->first == journal->next && ends_are_none(&journal->ends);
}

static void on_timer(struct pl_timer *timer)
{
    struct pl_meter_journal *journal = PL_CONTAINER_OF(timer, struct pl_meter_journal, timer);
    submit(journal, pl_loop_now_ms(journal->shard->loop) - PL_METER_GATHER_MS);
    if (!pl_meter_journal_is_empty(journal))
        wake_in(journal, PL_METER_GATHER_MS);
}

/* --- calls ----------------------------------------------------------------------------------- */

static bool is_full(const struct pl_meter_journal *journal)
{
    return journal->next - journal->first == PL_METER_GATHER_MAX;
}

void pl_meter_journal_begin(struct pl_meter_journal *journal, struct pl_meter_call *call)
{
    if (is_full(journal))
        submit(journal, begun_at(journal, journal->first)->at_ms);
    if (is_full(journal))
        return;
    struct begun *begun = begun_at(journal, journal->next);
    call->number = ++journal->next;
    *begun = (struct begun){.at_ms = pl_loop_now_ms(journal->shard->loop),
                            .day = pl_meter_day(call->started_ms),
                            .tokens = call->tokens,
                            .cost_micro = call->cost_micro};
    memcpy(begun->id, name_call(call->run_id).text, sizeof begun->id);
    memcpy(begun->user_id, call->user_id, sizeof begun->user_id);
    memcpy(begun->key_id, call->key_id, sizeof begun->key_id);
    memcpy(begun->model, call->model, sizeof begun->model);
    wake_in(journal, PL_METER_GATHER_MS);
}

void pl_meter_journal_end_in(struct pl_meter_journal *journal, const struct pl_meter_call *call,
                             struct pl_batch *batch)
{
    struct begun *begun = find_begun(journal, call);
    if (begun)
        begun->has_ended = true;
    else
        pl_batch_close_call(batch, pl_str_of(name_call(call->run_id).text));
}

void pl_meter_journal_end(struct pl_meter_journal *journal, const struct pl_meter_call *call,
                          const struct pl_usage_row *row, const struct pl_model_run *run)
{
    struct ends *ends = &journal->ends;
    struct begun *begun = find_begun(journal, call);
    if ((!begun && !has_room(&ends->closes)) || !pl_meter_sums_add(&ends->sums, row))
        return;
    if (begun)
        begun->has_ended = true;
    else
        ends->closes.ids[ends->closes.n++] = name_call(call->run_id);
    if (ends->runs.n == PL_METER_RUNS_MAX)
        submit(journal, INT64_MIN);
    pl_meter_runs_add(&ends->runs, run);
    if (call->is_run_known)
        submit(journal, INT64_MIN);
    wake_in(journal, PL_METER_GATHER_MS);
}

/* --- life ------------------------------------------------------------------------------------ */

struct pl_meter_journal *pl_meter_journal_create(struct pl_shard *shard)
{
    struct pl_meter_journal *journal = pl_mem_alloc(1, sizeof *journal);
    if (!journal)
        return NULL;
    memset(journal, 0, offsetof(struct pl_meter_journal, begun));
    journal->shard = shard;
    return journal;
}

struct pl_batch *pl_meter_journal_take(struct pl_meter_journal *journal)
{
    if (pl_meter_journal_is_empty(journal))
        return NULL;
    pl_timer_stop(journal->shard->loop, &journal->timer);
    struct pl_batch *batch = take(journal, INT64_MAX);
    if (batch)
        ends_deinit(&journal->ends);
    return batch;
}

void pl_meter_journal_destroy(struct pl_meter_journal *journal)
{
    if (!journal)
        return;
    ends_deinit(&journal->ends);
    pl_mem_free(journal);
}
