/* The commit queue: the output of each apply waits here until its rows are durable, and leaves from
 * the front. */
#include "agent/driver_int.h"
#include "base/mem.h"
#include "ext/run/ext.h"
#include "live/lists.h"
#include "store/node/owners.h"

static void submit(struct pl_driver *driver);
static void release(struct pl_driver *driver);

void pl_pending_destroy(struct pl_pending *pending)
{
    pl_published_deinit(&pending->events);
    pl_arena_deinit(&pending->arena);
    pl_mem_free(pending);
}

/* --- committing ------------------------------------------------------------------------------ */

/* A commit that reaches a limit has filled the disk. */
static enum pl_problem problem_of_commit(const struct pl_driver *driver, enum pl_status status)
{
    if (status == PL_LIMIT)
        return PL_PROBLEM_STORAGE_FULL;
    /* Another node owns the session now: a retry will reach it. */
    if (status == PL_NOT_FOUND && driver->generation)
        return PL_PROBLEM_OVERLOADED;
    return pl_problem_of(status);
}

static void on_committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_driver *driver = ctx;
    struct pl_metrics *metrics = &driver->drivers->shard->metrics;
    pl_driver_is_back(driver, PL_AWAY_COMMIT);
    pl_span_end(driver->drivers->shard->server->tracer, &driver->commit,
                &(struct pl_span_about){.name = "commit",
                                        .kind = PL_SPAN_INTERNAL,
                                        .error = status == PL_OK ? (struct pl_str){0}
                                                                 : PL_STR("commit_failed")});
    pl_driver_settle(driver);
    if (status != PL_OK) {
        pl_metric_add(metrics, PL_METRIC_commit_failures_total, 1);
        pl_driver_break(driver, problem_of_commit(driver, status), err);
        return;
    }
    pl_metric_add(metrics, PL_METRIC_commits_total, 1);
    if (!pl_driver_is_loaded(driver))
        return;
    driver->has_failed = false;
    driver->n_committed = driver->n_submitted;
    submit(driver);
    release(driver);
    pl_driver_go_through_commands(driver);
}

static void submit(struct pl_driver *driver)
{
    if ((driver->away & PL_AWAY_COMMIT) || driver->is_gathering || !driver->batch)
        return;
    struct pl_shard *shard = driver->drivers->shard;
    driver->n_submitted++;
    const struct pl_span *whole = driver->turn.id[0] ? &driver->turn : &driver->by;
    if (shard->server->tracer && whole->id[0]) {
        struct pl_id_seed seed = pl_shard_seed(shard);
        pl_span_begin_part(&driver->commit, whole, (struct pl_str){0}, seed.random[0]);
    }
    pl_driver_lend(driver, PL_AWAY_COMMIT);
    pl_store_submit(shard->server->store, shard->loop, PL_TAKE(driver->batch), on_committed,
                    driver);
}

struct pl_batch *pl_commit_queue_batch(struct pl_driver *driver)
{
    if (!driver->batch) {
        driver->batch = pl_batch_create();
        if (driver->batch && driver->generation)
            pl_batch_expect_owner(driver->batch, driver->link.key, &driver->node,
                                  driver->generation);
    }
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
    struct pl_str *strings[] = {
        &copy.loop_id,      &copy.turn_id,   &copy.model,     &copy.compaction_id, &copy.trigger,
        &copy.tool_call_id, &copy.tool_name, &copy.arguments, &copy.trace_id,      &copy.key_id};
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

static enum pl_status encode(struct pl_driver *driver, const struct pl_session_out *out,
                             struct pl_published *published)
{
    if (!out->frames.len)
        return PL_OK;
    return pl_feed_encode(&driver->feed, out, pl_session_record(driver->session)->epoch,
                          driver->drivers->by_id.n_links, published);
}

/* Followers of lists get a session if it differs from what they got last. Streamed text changes no
 * list. */
static void keep_listed(struct pl_driver *driver, struct pl_pending *pending)
{
    const struct pl_session_record *record = pl_session_record(driver->session);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    if (record->version == driver->listed_version ||
        !pl_lists_are_followed(driver->drivers->shard->server))
        return;
    driver->listed_version = record->version;
    pl_buf_adds(&text, "{\"session\":");
    pl_session_write(driver->session, &text);
    pl_buf_addc(&text, '}');
    if (text.status == PL_OK)
        pending->listed = pl_arena_dup(&pending->arena, pl_buf_str(&text));
}

/* False: out of memory; the caller breaks the driver. */
static bool enqueue(struct pl_driver *driver, struct pl_session_command *command, bool must_commit)
{
    const struct pl_session_out *out = &driver->drivers->out;
    bool has_rows = out->rows.len || must_commit;
    struct pl_pending *pending = pl_mem_alloc(1, sizeof *pending);
    if (!pending)
        return false;
    *pending = (struct pl_pending){.command = command};
    pl_arena_init(&pending->arena, 0);
    if (!keep_effects(pending, out) || encode(driver, out, &pending->events) != PL_OK ||
        (has_rows && !pl_commit_queue_batch(driver))) {
        pl_pending_destroy(pending);
        return false;
    }
    for (size_t i = 0; i < out->rows.len; i++)
        pl_batch_put_row(driver->batch, &out->rows.ptr[i]);
    keep_listed(driver, pending);
    /* Nobody waits for a mere checkpoint. */
    bool waits =
        must_commit || (has_rows && (command || pending->n_effects || has_durable_frame(out)));
    pending->commit_no = waits ? driver->n_submitted + 1 : 0;
    if (driver->last_pending)
        driver->last_pending->next = pending;
    else
        driver->pendings = pending;
    driver->last_pending = pending;
    return true;
}

/* If all readers were told to resync while this reader waited in the queue, the feed no longer
 * counts it, and a gap would follow its answer. So it subscribes again. */
static bool begins_again(struct pl_driver *driver, struct pl_session_command *command)
{
    if (command->kind != PL_COMMAND_SUBSCRIBE)
        return false;
    bool is_counted = command->subscription ? pl_feed_has(&driver->feed, command->subscription)
                                            : pl_feed_has_node(&driver->feed, &command->asker);
    return !is_counted && pl_driver_put_back(driver, command);
}

static void release(struct pl_driver *driver)
{
    while (pl_driver_is_loaded(driver) && driver->pendings &&
           driver->pendings->commit_no <= driver->n_committed) {
        struct pl_pending *pending = driver->pendings;
        driver->pendings = pending->next;
        if (!driver->pendings)
            driver->last_pending = NULL;
        pl_feed_deliver(&driver->feed, &pending->events);
        if (pending->listed.len)
            pl_lists_tell(driver->drivers->shard->server,
                          pl_session_record(driver->session)->user_id, "session:updated",
                          pending->listed);
        if (pending->command && !begins_again(driver, pending->command))
            pl_driver_answer(pending->command);
        for (size_t i = 0; i < pending->n_effects; i++)
            pl_effect_run(driver, &pending->effects[i]);
        pl_pending_destroy(pending);
    }
}

/* Commands that only read are queued again, and read the stored state. */
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
        if (looks->command && !pl_driver_put_back(driver, looks->command))
            pl_driver_refuse(looks->command, problem, err);
        pl_pending_destroy(looks);
        looks = next;
    }
}

void pl_driver_break(struct pl_driver *driver, enum pl_problem problem, const struct pl_error *err)
{
    if (!pl_driver_is_loaded(driver))
        return;
    pl_driver_count(driver, false);
    pl_driver_become(driver, PL_DRIVER_BROKEN);
    driver->has_failed = true;
    driver->is_unsettled = pl_session_record(driver->session)->status == PL_SESSION_RUNNING;
    pl_activities_cancel(driver);
    pl_timer_stop(driver->drivers->shard->loop, &driver->tick);
    refuse_pendings(driver, problem, err);
    pl_batch_destroy(PL_TAKE(driver->batch));
    pl_feed_forget(&driver->feed);
    pl_session_destroy(PL_TAKE(driver->session));
    pl_queued_memory_follow(driver);
    pl_feed_resync(&driver->feed, false);
    pl_driver_settle(driver);
}

/* --- applying -------------------------------------------------------------------------------- */

static void on_tick(struct pl_timer *timer)
{
    struct pl_driver *driver = PL_CONTAINER_OF(timer, struct pl_driver, tick);
    pl_driver_apply(driver, &(struct pl_session_event){.kind = PL_SE_TICK});
}

/* Whether earlier changes are not all stored. */
static bool is_behind(const struct pl_driver *driver)
{
    return driver->batch || driver->away & PL_AWAY_COMMIT;
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
    /* A checkpoint that waits for the store is always due. */
    int64_t least_ms = is_behind(driver) ? PL_SESSION_COALESCE_MS : 0;
    if (delay_ms < least_ms)
        delay_ms = least_ms;
    /* It is never further away, unless the wall clock was set back meanwhile. */
    if (delay_ms > PL_SESSION_CHECKPOINT_MS)
        delay_ms = PL_SESSION_CHECKPOINT_MS;
    if (!pl_timer_is_on(&driver->tick) || driver->tick.due_ms > pl_loop_now_ms(loop) + delay_ms)
        pl_timer_start(loop, &driver->tick, delay_ms, on_tick);
}

/* Whether an extension checks calls of the session's own tools. False for events that cannot start
 * a call. */
static bool gates_calls(const struct pl_driver *driver, const struct pl_session_event *event)
{
    static const enum pl_ext_hook hooks[] = {PL_EXT_HOOK_TOOL_CALL, PL_EXT_HOOK_TOOL_CALL_FINAL};
    static const char *const tools[] = {"AskUserQuestion", "Agent"};
    struct pl_ext_server *ext = driver->drivers->shard->server->ext;
    bool starts_none = event->kind == PL_SE_MODEL_TEXT || event->kind == PL_SE_MODEL_BLOCK ||
                       event->kind == PL_SE_TICK;
    if (starts_none || !pl_ext_server_has_any(ext))
        return false;
    for (size_t i = 0; i < 4; i++)
        if (pl_ext_wants(ext, pl_session_record(driver->session)->user_id, hooks[i / 2],
                         pl_str_of(tools[i % 2])))
            return true;
    return false;
}

enum pl_status pl_commit_queue_apply(struct pl_driver *driver, struct pl_session_event event,
                                     struct pl_error *err)
{
    struct pl_drivers *drivers = driver->drivers;
    struct pl_id_seed seed = pl_shard_seed(drivers->shard);
    event.seed = &seed;
    drivers->out.wants_whole = pl_feed_wants_whole(&driver->feed);
    drivers->out.is_behind = is_behind(driver);
    drivers->out.gates_calls = gates_calls(driver, &event);
    return pl_session_apply(driver->session, &event, &drivers->out, err);
}

void pl_commit_queue_carry_out(struct pl_driver *driver, struct pl_session_command *command,
                               bool must_commit)
{
    const struct pl_session_out *out = &driver->drivers->out;
    if (command || must_commit || out->frames.len || out->rows.len || out->effects.len) {
        if (!enqueue(driver, command, must_commit)) {
            if (command)
                pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
            pl_driver_break(driver, PL_PROBLEM_OVERLOADED, NULL);
            return;
        }
        submit(driver);
        pl_driver_tell_extensions(driver);
        pl_driver_count(driver, pl_session_is_running(driver->session));
        pl_turn_limit_follow(driver);
        pl_queued_memory_follow(driver);
        pl_driver_settle(driver);
    }
    set_tick(driver);
    release(driver);
}

void pl_driver_apply(struct pl_driver *driver, const struct pl_session_event *event)
{
    if (!pl_driver_is_loaded(driver))
        return;
    struct pl_error err = {0};
    enum pl_status status = pl_commit_queue_apply(driver, *event, &err);
    if (status == PL_OK)
        pl_commit_queue_carry_out(driver, NULL, false);
    else
        pl_driver_break(driver, pl_problem_of(status), &err);
}
