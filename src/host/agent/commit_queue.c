/* The line: what an apply brought waits here for its rows to be durable, and leaves from the front.
 */
#include "base/mem.h"
#include "server/driver_int.h"

static void submit(struct pl_driver *driver);
static void release(struct pl_driver *driver);

void pl_pending_destroy(struct pl_pending *pending)
{
    for (size_t lane = 0; lane < PL_LANE_COUNT; lane++)
        pl_chunk_unref(pending->chunks[lane]);
    pl_arena_deinit(&pending->arena);
    pl_mem_free(pending);
}

/* --- committing ------------------------------------------------------------------------------ */

/* A limit that a commit runs into is the disk's. */
static enum pl_problem problem_of_commit(enum pl_status status)
{
    return status == PL_LIMIT ? PL_PROBLEM_STORAGE_FULL : pl_problem_of(status);
}

static void on_committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_driver *driver = ctx;
    struct pl_metrics *metrics = &driver->drivers->shard->metrics;
    driver->is_committing = false;
    pl_driver_settle(driver);
    if (status != PL_OK) {
        pl_metric_add(metrics, PL_METRIC_commit_failures_total, 1);
        pl_driver_break(driver, problem_of_commit(status), err);
        return;
    }
    pl_metric_add(metrics, PL_METRIC_commits_total, 1);
    if (driver->state != PL_DRIVER_READY)
        return;
    driver->has_failed = false;
    driver->n_committed = driver->n_submitted;
    submit(driver);
    release(driver);
    pl_driver_go_through_asks(driver);
}

static void submit(struct pl_driver *driver)
{
    if (driver->is_committing || driver->is_gathering || !driver->batch)
        return;
    struct pl_shard *shard = driver->drivers->shard;
    driver->n_submitted++;
    driver->is_committing = true;
    pl_store_submit(shard->server->store, shard->loop, PL_TAKE(driver->batch), on_committed,
                    driver);
}

struct pl_batch *pl_line_batch(struct pl_driver *driver)
{
    if (!driver->batch)
        driver->batch = pl_batch_create();
    return driver->batch;
}

/* --- waiting --------------------------------------------------------------------------------- */

static bool has_durable_frame(const struct pl_session_out *out)
{
    for (size_t i = 0; i < out->frames.len; i++)
        if (out->frames.ptr[i].is_durable)
            return true;
    return false;
}

bool pl_effect_copy(struct pl_arena *arena, const struct pl_session_effect *effect,
                    struct pl_session_effect *ret_copy)
{
    struct pl_session_effect copy = *effect;
    struct pl_str *strings[] = {&copy.loop_id,       &copy.turn_id,  &copy.model,
                                &copy.compaction_id, &copy.trigger,  &copy.tool_call_id,
                                &copy.tool_name,     &copy.arguments};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        struct pl_str kept = pl_arena_dup(arena, *strings[i]);
        if (!kept.ptr && strings[i]->len)
            return false;
        *strings[i] = kept;
    }
    *ret_copy = copy;
    return true;
}

static bool keep_effects(struct pl_pending *pending, const struct pl_session_out *out)
{
    if (!out->effects.len)
        return true;
    pending->effects = pl_arena_alloc(&pending->arena, out->effects.len, sizeof *pending->effects);
    if (!pending->effects)
        return false;
    for (size_t i = 0; i < out->effects.len; i++)
        if (!pl_effect_copy(&pending->arena, &out->effects.ptr[i],
                            &pending->effects[pending->n_effects++]))
            return false;
    return true;
}

/* False: out of memory, and the driver is to break. */
static bool enqueue(struct pl_driver *driver, struct pl_ask *ask, bool must_commit)
{
    const struct pl_session_out *out = &driver->drivers->out;
    bool has_rows = out->rows.len || must_commit;
    struct pl_pending *pending = pl_mem_alloc(1, sizeof *pending);
    if (!pending)
        return false;
    *pending = (struct pl_pending){.ask = ask};
    pl_arena_init(&pending->arena, 0);
    if (!keep_effects(pending, out) || pl_publish_spell(driver, out, pending) != PL_OK ||
        (has_rows && !pl_line_batch(driver))) {
        pl_pending_destroy(pending);
        return false;
    }
    for (size_t i = 0; i < out->rows.len; i++)
        pl_batch_put_row(driver->batch, &out->rows.ptr[i]);
    /* A checkpoint alone is awaited by nobody. */
    bool waits = must_commit || (has_rows && (ask || pending->n_effects || has_durable_frame(out)));
    pending->commit_no = waits ? driver->n_submitted + 1 : 0;
    if (driver->last_pending)
        driver->last_pending->next = pending;
    else
        driver->pendings = pending;
    driver->last_pending = pending;
    return true;
}

static void release(struct pl_driver *driver)
{
    while (driver->state == PL_DRIVER_READY && driver->pendings &&
           driver->pendings->commit_no <= driver->n_committed) {
        struct pl_pending *pending = driver->pendings;
        driver->pendings = pending->next;
        if (!driver->pendings)
            driver->last_pending = NULL;
        pl_publish_deliver(driver, pending);
        if (pending->ask)
            pl_driver_answer(pending->ask);
        for (size_t i = 0; i < pending->n_effects; i++)
            pl_effect_run(driver, &pending->effects[i]);
        pl_pending_destroy(pending);
    }
}

/* Whoever only wanted to look gets another look, at what is really there. */
static void refuse_pendings(struct pl_driver *driver, enum pl_problem problem,
                            const struct pl_error *err)
{
    struct pl_pending *looks = NULL; /* newest first */
    while (driver->pendings) {
        struct pl_pending *pending = driver->pendings;
        driver->pendings = pending->next;
        pending->next = looks;
        looks = pending;
    }
    driver->last_pending = NULL;
    while (looks) {
        struct pl_pending *next = looks->next;
        if (looks->ask && !pl_driver_put_back(driver, looks->ask))
            pl_driver_refuse(looks->ask, problem, err);
        pl_pending_destroy(looks);
        looks = next;
    }
}

void pl_driver_break(struct pl_driver *driver, enum pl_problem problem, const struct pl_error *err)
{
    if (driver->state != PL_DRIVER_READY)
        return;
    pl_driver_count(driver, false);
    driver->state = PL_DRIVER_BROKEN;
    driver->has_failed = true;
    driver->is_unsettled = pl_session_record(driver->session)->status == PL_SESSION_RUNNING;
    pl_runs_cancel(driver);
    pl_timer_stop(driver->drivers->shard->loop, &driver->tick);
    refuse_pendings(driver, problem, err);
    pl_batch_destroy(PL_TAKE(driver->batch));
    pl_publish_forget(driver);
    pl_session_destroy(PL_TAKE(driver->session));
    pl_publish_resync(driver, false);
    pl_driver_settle(driver);
}

/* --- applying -------------------------------------------------------------------------------- */

static void on_tick(struct pl_timer *timer)
{
    struct pl_driver *driver = PL_CONTAINER_OF(timer, struct pl_driver, tick);
    pl_driver_apply(driver, &(struct pl_session_event){.kind = PL_SE_TICK});
}

static void set_tick(struct pl_driver *driver)
{
    struct pl_loop *loop = driver->drivers->shard->loop;
    int64_t next_ms = pl_session_next_tick_ms(driver->session);
    if (next_ms == INT64_MAX) {
        pl_timer_stop(loop, &driver->tick);
        return;
    }
    int64_t delay_ms = next_ms - pl_loop_unix_ms(loop);
    if (delay_ms < 0)
        delay_ms = 0;
    /* It is never further away, unless the wall clock was put back meanwhile. */
    if (delay_ms > PL_SESSION_CHECKPOINT_MS)
        delay_ms = PL_SESSION_CHECKPOINT_MS;
    if (!pl_timer_is_on(&driver->tick) || driver->tick.due_ms > pl_loop_now_ms(loop) + delay_ms)
        pl_timer_start(loop, &driver->tick, delay_ms, on_tick);
}

enum pl_status pl_line_apply(struct pl_driver *driver, struct pl_session_event event,
                             struct pl_error *err)
{
    struct pl_drivers *drivers = driver->drivers;
    struct pl_id_seed seed = pl_shard_seed(drivers->shard);
    event.seed = &seed;
    drivers->out.wants_whole = pl_publish_wants_whole(driver);
    return pl_session_apply(driver->session, &event, &drivers->out, err);
}

void pl_line_carry_out(struct pl_driver *driver, struct pl_ask *ask, bool must_commit)
{
    const struct pl_session_out *out = &driver->drivers->out;
    if (ask || must_commit || out->frames.len || out->rows.len || out->effects.len) {
        if (!enqueue(driver, ask, must_commit)) {
            if (ask)
                pl_driver_refuse(ask, PL_PROBLEM_OVERLOADED, NULL);
            pl_driver_break(driver, PL_PROBLEM_OVERLOADED, NULL);
            return;
        }
        submit(driver);
        pl_driver_count(driver, pl_session_is_running(driver->session));
        pl_turn_limit_follow(driver);
        pl_driver_settle(driver);
    }
    set_tick(driver);
    release(driver);
}

void pl_driver_apply(struct pl_driver *driver, const struct pl_session_event *event)
{
    if (driver->state != PL_DRIVER_READY)
        return;
    struct pl_error err = {0};
    enum pl_status status = pl_line_apply(driver, *event, &err);
    if (status == PL_OK)
        pl_line_carry_out(driver, NULL, false);
    else
        pl_driver_break(driver, pl_problem_of(status), &err);
}
