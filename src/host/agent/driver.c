/* The lifetime of a driver: it is loaded, breaks and is loaded again, and leaves the memory.
 *
 *     machine driver
 *
 *     NEW -> LOADING -> READY -> DELETING -> GONE
 *     NEW -> READY                        a new session
 *     LOADING, READY, DELETING -> BROKEN
 *     BROKEN -> LOADING                   a command arrives, or work has to be settled
 *     NEW, READY, BROKEN -> GONE
 */
#include "agent/driver_int.h"
#include "agent/running_turns.h"
#include "base/mem.h"
#include "cluster/owning.h"
#include "io/move.h"

#include <assert.h>

#define TO(name) PL_TO(PL_DRIVER_##name)
static const struct pl_state states[] = {
    [PL_DRIVER_NEW] = {"new", TO(LOADING) | TO(READY) | TO(GONE)},
    [PL_DRIVER_LOADING] = {"loading", TO(READY) | TO(BROKEN), PL_WAIT_OPEN, PL_CANCEL_LATER,
                           .why = "a worker always comes back; it waits for queue_wait_ms at most"},
    [PL_DRIVER_READY] = {"ready", TO(DELETING) | TO(BROKEN) | TO(GONE), PL_WAIT_SET, PL_CANCEL_ENDS,
                         .why = "PL_DRIVER_IDLE_MS after it was last needed"},
    [PL_DRIVER_DELETING] = {"deleting", TO(GONE) | TO(BROKEN), PL_WAIT_OPEN, PL_CANCEL_LATER,
                            .why = "the store always comes back"},
    [PL_DRIVER_BROKEN] = {"broken", TO(LOADING) | TO(GONE), PL_WAIT_SET, PL_CANCEL_ENDS,
                          .why = "the end of the turn, or PL_DRIVER_RETRY_MS"},
    [PL_DRIVER_GONE] = {"gone", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("driver", states);

void pl_driver_become(struct pl_driver *driver, enum pl_driver_state to)
{
    driver->state = (enum pl_driver_state)pl_move(&machine, driver, driver->state, to);
}

void pl_driver_lend(struct pl_driver *driver, enum pl_driver_away what)
{
    assert(!(driver->away & what));
    driver->away |= what;
}

void pl_driver_is_back(struct pl_driver *driver, enum pl_driver_away what)
{
    assert(driver->away & what);
    driver->away &= ~(unsigned)what;
}

enum pl_status pl_drivers_create(struct pl_shard *shard, struct pl_drivers **ret_drivers)
{
    struct pl_drivers *drivers = pl_mem_alloc(1, sizeof *drivers);
    if (!drivers)
        return PL_NOMEM;
    *drivers = (struct pl_drivers){.shard = shard};
    pl_session_out_init(&drivers->out);
    pl_feeds_init(&drivers->feeds, shard);
    *ret_drivers = drivers;
    return PL_OK;
}

size_t pl_drivers_n_running(const struct pl_drivers *drivers)
{
    return drivers->n_running;
}

/* --- life ------------------------------------------------------------------------------------ */

struct pl_driver *pl_driver_find(struct pl_drivers *drivers, struct pl_str id)
{
    struct pl_table_link *link = pl_table_get(&drivers->by_id, id);
    return link ? PL_CONTAINER_OF(link, struct pl_driver, link) : NULL;
}

struct pl_driver *pl_driver_create(struct pl_drivers *drivers, struct pl_str id)
{
    struct pl_driver *driver = pl_mem_alloc(1, sizeof *driver);
    char *text = pl_mem_alloc(id.len + 1, 1);
    if (!driver || !text) {
        pl_mem_free(driver);
        pl_mem_free(text);
        return NULL;
    }
    memcpy(text, id.ptr, id.len);
    text[id.len] = '\0';
    *driver = (struct pl_driver){.drivers = drivers, .id = text};
    pl_buf_init(&driver->agent_start, 0);
    pl_buf_init(&driver->told_model, 0);
    driver->link.key = (struct pl_str){text, id.len};
    pl_feed_init(&driver->feed, &drivers->feeds, driver->link.key);
    if (!pl_table_put(&drivers->by_id, &driver->link)) {
        pl_mem_free(text);
        pl_mem_free(driver);
        return NULL;
    }
    pl_metric_add(&drivers->shard->metrics, PL_METRIC_sessions_loaded, 1);
    return driver;
}

/* No commit and no job of it may be in progress. */
static void destroy(struct pl_driver *driver)
{
    struct pl_drivers *drivers = driver->drivers;
    bool is_deleted = driver->state == PL_DRIVER_GONE;
    assert(!driver->away);
    if (driver->state != PL_DRIVER_GONE)
        pl_driver_become(driver, PL_DRIVER_GONE);
    if (!drivers->is_ending)
        pl_driver_tell_end(driver, is_deleted ? "deleted" : "idle");
    pl_driver_count(driver, false);
    pl_activities_cancel(driver);
    pl_timer_stop(drivers->shard->loop, &driver->tick);
    pl_timer_stop(drivers->shard->loop, &driver->idle);
    pl_timer_stop(drivers->shard->loop, &driver->retry);
    pl_timer_stop(drivers->shard->loop, &driver->limit);
    while (driver->pendings) {
        struct pl_pending *next = driver->pendings->next;
        pl_pending_destroy(driver->pendings);
        driver->pendings = next;
    }
    pl_batch_destroy(driver->batch);
    pl_buf_deinit(&driver->agent_start);
    pl_buf_deinit(&driver->told_model);
    pl_feed_deinit(&driver->feed);
    pl_session_destroy(PL_TAKE(driver->session));
    pl_queued_memory_follow(driver);
    pl_table_remove(&drivers->by_id, &driver->link);
    pl_metric_add(&drivers->shard->metrics, PL_METRIC_sessions_loaded, -1);
    if (pl_drivers_home(drivers) && !drivers->is_ending)
        pl_drivers_home(drivers)->left(drivers->shard, driver->link.key);
    pl_mem_free(driver->id);
    pl_mem_free(driver);
}

void pl_drivers_destroy(struct pl_drivers *drivers)
{
    if (!drivers)
        return;
    struct pl_table_link *link;
    while ((link = pl_table_next(&drivers->by_id, NULL)))
        destroy(PL_CONTAINER_OF(link, struct pl_driver, link));
    pl_table_deinit(&drivers->by_id);
    pl_session_out_deinit(&drivers->out);
    pl_feeds_deinit(&drivers->feeds);
    pl_mem_free(drivers);
}

void pl_driver_count(struct pl_driver *driver, bool is_running)
{
    if (is_running == driver->is_counted)
        return;
    struct pl_drivers *drivers = driver->drivers;
    int change = is_running ? 1 : -1;
    driver->is_counted = is_running;
    drivers->n_running += (size_t)change;
    pl_metric_add(&drivers->shard->metrics, PL_METRIC_turns_running, change);
    pl_running_change(drivers->shard->server, pl_session_record(driver->session)->user_id, change);
}

/* --- loading --------------------------------------------------------------------------------- */

struct load {
    struct pl_job job;
    struct pl_driver *driver;
    struct pl_store *store;
    struct pl_arena arena;
    struct pl_driver_claim claim;
    struct pl_session_record record;
    struct pl_open_rows rows;
    enum pl_status status;
    struct pl_error err;
};

static void load_run(struct pl_job *job)
{
    struct load *load = PL_CONTAINER_OF(job, struct load, job);
    struct pl_str id = load->driver->link.key;
    /* The owner first: the rows read after it cannot be older. */
    load->status = pl_driver_look_at_owner(load->store, id, &load->claim, &load->err);
    if (load->status == PL_OK)
        load->status = pl_store_session_get(load->store, &load->arena, (struct pl_str){0}, id,
                                            &load->record, &load->err);
    if (load->status == PL_OK)
        load->status = pl_store_open_rows(load->store, &load->arena, id, &load->rows, &load->err);
}

bool pl_driver_recover(struct pl_driver *driver)
{
    if (!driver->is_unsettled)
        return true;
    driver->is_unsettled = false;
    pl_timer_stop(driver->drivers->shard->loop, &driver->retry);
    pl_driver_apply(driver, &(struct pl_session_event){.kind = PL_SE_RECOVER});
    /* The epoch has changed: every subscriber starts again. */
    if (driver->state == PL_DRIVER_READY)
        pl_feed_resync(&driver->feed, false);
    pl_driver_apply(driver, &(struct pl_session_event){.kind = PL_SE_GO_ON});
    return driver->state == PL_DRIVER_READY;
}

static void on_retry(struct pl_timer *timer)
{
    struct pl_driver *driver = PL_CONTAINER_OF(timer, struct pl_driver, retry);
    if (driver->state == PL_DRIVER_BROKEN)
        pl_driver_load(driver);
    else if (driver->state == PL_DRIVER_READY)
        (void)pl_driver_recover(driver);
}

static void retry_later(struct pl_driver *driver)
{
    if (!pl_timer_is_on(&driver->retry))
        pl_timer_start(driver->drivers->shard->loop, &driver->retry, PL_DRIVER_RETRY_MS, on_retry);
}

static void fail_load(struct pl_driver *driver, enum pl_status status, const struct pl_error *err)
{
    while (driver->commands) {
        struct pl_session_command *command = driver->commands;
        driver->commands = command->next;
        pl_driver_refuse(command, pl_problem_of(status), status == PL_NOT_FOUND ? NULL : err);
    }
    pl_driver_refuse_resters(driver, pl_problem_of(status), err);
    pl_driver_become(driver, PL_DRIVER_BROKEN);
    driver->is_unsettled = driver->is_unsettled && status != PL_NOT_FOUND;
    pl_driver_settle(driver);
}

/* A killed node may have left waiting messages. If somebody uses the session before resume_queued.h
 * finds it, only this node can resume it, because it owns it now. */
static void go_on(struct pl_driver *driver)
{
    if (pl_session_queued_bytes(driver->session) &&
        !pl_life_is_ending(&driver->drivers->shard->server->life))
        pl_driver_apply(driver, &(struct pl_session_event){.kind = PL_SE_GO_ON});
}

static void load_done(struct pl_job *job)
{
    struct load *load = PL_CONTAINER_OF(job, struct load, job);
    struct pl_driver *driver = load->driver;
    enum pl_status status = load->status;
    struct pl_error err = load->err;
    pl_driver_is_back(driver, PL_AWAY_LOAD);
    if (job->is_refused)
        status = pl_fail(&err, PL_IO, "no worker was free in time");
    /* If this node was taken over meanwhile, the loaded state is outdated. */
    if (status == PL_OK && !pl_driver_is_still_me(driver, &load->claim))
        status = pl_fail(&err, PL_CONFLICT, "this node was taken over by another one");
    if (status == PL_OK) {
        const struct pl_open_rows *rows = &load->rows;
        status = pl_session_load(&load->record, rows->turns, rows->n_turns, rows->questions,
                                 rows->n_questions, rows->queued, rows->n_queued, &driver->session,
                                 &err);
    }
    bool was_running = load->record.status == PL_SESSION_RUNNING;
    driver->node = load->claim.node;
    driver->generation = load->claim.generation;
    pl_arena_deinit(&load->arena);
    pl_mem_free(load);
    if (status == PL_CONFLICT && pl_drivers_home(driver->drivers)) {
        pl_driver_hand_over(driver);
        return;
    }
    if (status != PL_OK) {
        fail_load(driver, status, &err);
        return;
    }
    pl_driver_become(driver, PL_DRIVER_READY);
    pl_driver_tell_start(driver, PL_STR("resume"));
    pl_queued_memory_follow(driver);
    /* Only a driver that broke finds a running session: its work is lost. */
    driver->is_unsettled = was_running;
    if (!was_running)
        go_on(driver);
    else if (driver->has_failed)
        retry_later(driver);
    else
        (void)pl_driver_recover(driver);
    pl_driver_go_through_commands(driver);
    pl_driver_settle(driver);
}

void pl_driver_load(struct pl_driver *driver)
{
    struct pl_shard *shard = driver->drivers->shard;
    struct load *load = pl_mem_alloc(1, sizeof *load);
    pl_driver_become(driver, PL_DRIVER_LOADING);
    if (!load) {
        fail_load(driver, PL_NOMEM, NULL);
        return;
    }
    *load = (struct load){.driver = driver, .store = shard->server->store};
    if (pl_drivers_home(driver->drivers))
        load->claim.node = pl_drivers_home(driver->drivers)->me(shard->server);
    pl_arena_init(&load->arena, 0);
    load->job = (struct pl_job){
        .owner = pl_owner_of(driver->commands ? driver->commands->user_id : (struct pl_str){0}),
        .wait_ms = shard->setup->config.queue_wait_ms,
        .run = load_run,
        .done = load_done,
    };
    pl_driver_lend(driver, PL_AWAY_LOAD);
    pl_workers_submit(shard->server->workers, shard->loop, &load->job);
}

/* --- settling -------------------------------------------------------------------------------- */

static bool is_needed(const struct pl_driver *driver)
{
    return !pl_driver_is_at_rest(driver) || driver->commands || driver->resters ||
           driver->activities || driver->feed.n_listeners || driver->is_unsettled ||
           (driver->session && (pl_session_is_running(driver->session) ||
                                pl_session_next_tick_ms(driver->session) != INT64_MAX));
}

bool pl_driver_leave(struct pl_driver *driver)
{
    if (driver->settle.is_waiting || is_needed(driver))
        return false;
    destroy(driver);
    return true;
}

static void on_idle(struct pl_timer *timer);

/* With nodes it is checked more often: other nodes may want the session sooner. */
static void start_idle(struct pl_driver *driver)
{
    pl_timer_start(driver->drivers->shard->loop, &driver->idle,
                   pl_drivers_home(driver->drivers) ? PL_OWNING_QUIET_MS : PL_DRIVER_IDLE_MS,
                   on_idle);
}

static bool is_idle(const struct pl_driver *driver)
{
    const struct pl_session_home *home = pl_drivers_home(driver->drivers);
    struct pl_shard *shard = driver->drivers->shard;
    return !home ||
           pl_loop_now_ms(shard->loop) - driver->idle_since_ms >= home->quiet_ms(shard->server);
}

static void on_idle(struct pl_timer *timer)
{
    struct pl_driver *driver = PL_CONTAINER_OF(timer, struct pl_driver, idle);
    if (driver->settle.is_waiting || !is_idle(driver))
        start_idle(driver);
    else if (pl_driver_leave(driver))
        return;
    else if (pl_driver_is_loaded(driver) && pl_driver_is_at_rest(driver) &&
             !pl_session_is_running(driver->session))
        pl_feed_forget(&driver->feed); /* a subscriber that returns this late gets the changed
                                          turns */
}

static void maybe_shut_down(struct pl_drivers *drivers)
{
    if (!drivers->on_shut_down)
        return;
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&drivers->by_id, link));) {
        const struct pl_driver *driver = PL_CONTAINER_OF(link, struct pl_driver, link);
        if (!pl_driver_is_at_rest(driver) || driver->activities)
            return;
    }
    void (*done)(void *) = drivers->on_shut_down;
    drivers->on_shut_down = NULL;
    done(drivers->shut_down_ctx);
}

static void forget(struct pl_driver *driver)
{
    while (driver->commands) {
        struct pl_session_command *command = driver->commands;
        driver->commands = command->next;
        pl_driver_refuse(command, PL_PROBLEM_NOT_FOUND, NULL);
    }
    pl_driver_refuse_resters(driver, PL_PROBLEM_NOT_FOUND, NULL);
    destroy(driver);
}

static void settle(struct pl_loop_hook *end)
{
    struct pl_driver *driver = PL_CONTAINER_OF(end, struct pl_driver, settle);
    struct pl_drivers *drivers = driver->drivers;
    if (!pl_driver_is_at_rest(driver))
        return;
    if (driver->state == PL_DRIVER_DELETING) {
        pl_feed_resync(&driver->feed, true);
        pl_driver_become(driver, PL_DRIVER_GONE);
    }
    if (driver->state == PL_DRIVER_READY)
        pl_driver_answer_resters(driver);
    if (driver->state == PL_DRIVER_BROKEN && (driver->commands || driver->resters))
        pl_driver_load(driver);
    else if (driver->state == PL_DRIVER_BROKEN && driver->is_unsettled)
        retry_later(driver);
    else if (driver->state != PL_DRIVER_READY)
        forget(driver);
    else {
        driver->idle_since_ms = pl_loop_now_ms(drivers->shard->loop);
        start_idle(driver);
    }
    maybe_shut_down(drivers);
}

void pl_driver_settle(struct pl_driver *driver)
{
    driver->settle.fn = settle;
    pl_loop_hook_add(driver->drivers->shard->loop, &driver->settle);
}

void pl_drivers_shut_down(struct pl_drivers *drivers, void (*done)(void *ctx), void *ctx)
{
    drivers->on_shut_down = done;
    drivers->shut_down_ctx = ctx;
    drivers->is_ending = true;
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&drivers->by_id, link));) {
        struct pl_driver *driver = PL_CONTAINER_OF(link, struct pl_driver, link);
        if (pl_driver_is_loaded(driver) && pl_session_is_running(driver->session))
            pl_driver_apply(driver, &(struct pl_session_event){.kind = PL_SE_SHUT_DOWN});
        pl_driver_tell_end(driver, "server");
        pl_driver_refuse_resters(driver, PL_PROBLEM_OVERLOADED, NULL);
    }
    maybe_shut_down(drivers);
}
