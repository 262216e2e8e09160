#include "base/mem.h"
#include "server/driver_int.h"

enum pl_status pl_drivers_create(struct pl_shard *shard, struct pl_drivers **ret_drivers)
{
    struct pl_drivers *drivers = pl_mem_alloc(1, sizeof *drivers);
    if (!drivers)
        return PL_NOMEM;
    *drivers = (struct pl_drivers){.shard = shard};
    pl_session_out_init(&drivers->out);
    pl_buf_init(&drivers->spelled, 0);
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
    driver->link.key = (struct pl_str){text, id.len};
    if (!pl_table_put(&drivers->by_id, &driver->link)) {
        pl_mem_free(text);
        pl_mem_free(driver);
        return NULL;
    }
    pl_metric_add(&drivers->shard->metrics, PL_METRIC_sessions_loaded, 1);
    return driver;
}

/* No commit and no job of it may be on its way. */
static void destroy(struct pl_driver *driver)
{
    struct pl_drivers *drivers = driver->drivers;
    pl_driver_count(driver, false);
    pl_runs_cancel(driver);
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
    pl_publish_forget(driver);
    pl_session_destroy(driver->session);
    pl_table_remove(&drivers->by_id, &driver->link);
    pl_metric_add(&drivers->shard->metrics, PL_METRIC_sessions_loaded, -1);
    pl_mem_free(driver->listeners);
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
    pl_buf_deinit(&drivers->spelled);
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
    struct pl_session_record record;
    struct pl_open_rows rows;
    enum pl_status status;
    struct pl_error err;
};

static void load_run(struct pl_job *job)
{
    struct load *load = PL_CONTAINER_OF(job, struct load, job);
    struct pl_str id = load->driver->link.key;
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
    /* The epoch is another: whoever listens begins anew. */
    if (driver->state == PL_DRIVER_READY)
        pl_publish_resync(driver, false);
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
    while (driver->asks) {
        struct pl_ask *ask = driver->asks;
        driver->asks = ask->next;
        pl_driver_refuse(ask, pl_problem_of(status), status == PL_NOT_FOUND ? NULL : err);
    }
    pl_driver_refuse_resters(driver, pl_problem_of(status), err);
    driver->state = PL_DRIVER_BROKEN;
    driver->is_unsettled = driver->is_unsettled && status != PL_NOT_FOUND;
    pl_driver_settle(driver);
}

static void load_done(struct pl_job *job)
{
    struct load *load = PL_CONTAINER_OF(job, struct load, job);
    struct pl_driver *driver = load->driver;
    enum pl_status status = load->status;
    struct pl_error err = load->err;
    if (job->is_refused)
        status = pl_fail(&err, PL_IO, "too much is waiting before this");
    if (status == PL_OK) {
        const struct pl_open_rows *rows = &load->rows;
        status = pl_session_load(&load->record, rows->turns, rows->n_turns, rows->questions,
                                 rows->n_questions, rows->queued, rows->n_queued, &driver->session,
                                 &err);
    }
    bool was_running = load->record.status == PL_SESSION_RUNNING;
    pl_arena_deinit(&load->arena);
    pl_mem_free(load);
    if (status != PL_OK) {
        fail_load(driver, status, &err);
        return;
    }
    driver->state = PL_DRIVER_READY;
    /* Only a driver that broke finds it so: what it was doing is lost. */
    driver->is_unsettled = was_running;
    if (was_running && driver->has_failed)
        retry_later(driver);
    else
        (void)pl_driver_recover(driver);
    pl_driver_go_through_asks(driver);
    pl_driver_settle(driver);
}

void pl_driver_load(struct pl_driver *driver)
{
    struct pl_shard *shard = driver->drivers->shard;
    struct load *load = pl_mem_alloc(1, sizeof *load);
    if (!load) {
        fail_load(driver, PL_NOMEM, NULL);
        return;
    }
    *load = (struct load){.driver = driver, .store = shard->server->store};
    pl_arena_init(&load->arena, 0);
    load->job = (struct pl_job){
        .owner = pl_owner_of(driver->asks ? driver->asks->user_id : (struct pl_str){0}),
        .wait_ms = shard->setup->config.queue_wait_ms,
        .run = load_run,
        .done = load_done,
    };
    driver->state = PL_DRIVER_LOADING;
    pl_workers_submit(shard->server->workers, shard->loop, &load->job);
}

/* --- settling -------------------------------------------------------------------------------- */

static bool is_needed(const struct pl_driver *driver)
{
    return !pl_driver_is_at_rest(driver) || driver->asks || driver->resters || driver->runs ||
           driver->n_listeners || driver->is_unsettled ||
           (driver->session && pl_session_is_running(driver->session));
}

static void on_idle(struct pl_timer *timer)
{
    struct pl_driver *driver = PL_CONTAINER_OF(timer, struct pl_driver, idle);
    if (driver->settle.is_waiting)
        pl_timer_start(driver->drivers->shard->loop, timer, PL_DRIVER_IDLE_MS, on_idle);
    else if (!is_needed(driver))
        destroy(driver);
    else if (driver->state == PL_DRIVER_READY && pl_driver_is_at_rest(driver) &&
             !pl_session_is_running(driver->session))
        pl_publish_forget(driver); /* who comes back so late is told the changed turns */
}

static void maybe_shut_down(struct pl_drivers *drivers)
{
    if (!drivers->on_shut_down)
        return;
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&drivers->by_id, link));) {
        const struct pl_driver *driver = PL_CONTAINER_OF(link, struct pl_driver, link);
        if (!pl_driver_is_at_rest(driver) || driver->runs)
            return;
    }
    void (*done)(void *) = drivers->on_shut_down;
    drivers->on_shut_down = NULL;
    done(drivers->shut_down_ctx);
}

static void forget(struct pl_driver *driver)
{
    while (driver->asks) {
        struct pl_ask *ask = driver->asks;
        driver->asks = ask->next;
        pl_driver_refuse(ask, PL_PROBLEM_NOT_FOUND, NULL);
    }
    pl_driver_refuse_resters(driver, PL_PROBLEM_NOT_FOUND, NULL);
    destroy(driver);
}

static void settle(struct pl_turn_end *end)
{
    struct pl_driver *driver = PL_CONTAINER_OF(end, struct pl_driver, settle);
    struct pl_drivers *drivers = driver->drivers;
    if (!pl_driver_is_at_rest(driver))
        return;
    if (driver->is_deleting && driver->state == PL_DRIVER_READY) {
        pl_publish_resync(driver, true);
        driver->state = PL_DRIVER_GONE;
    }
    if (driver->state == PL_DRIVER_READY)
        pl_driver_answer_resters(driver);
    if (driver->state == PL_DRIVER_BROKEN && (driver->asks || driver->resters))
        pl_driver_load(driver);
    else if (driver->state == PL_DRIVER_BROKEN && driver->is_unsettled)
        retry_later(driver);
    else if (driver->state != PL_DRIVER_READY)
        forget(driver);
    else
        pl_timer_start(drivers->shard->loop, &driver->idle, PL_DRIVER_IDLE_MS, on_idle);
    maybe_shut_down(drivers);
}

void pl_driver_settle(struct pl_driver *driver)
{
    driver->settle.fn = settle;
    pl_loop_at_turn_end(driver->drivers->shard->loop, &driver->settle);
}

void pl_drivers_shut_down(struct pl_drivers *drivers, void (*done)(void *ctx), void *ctx)
{
    drivers->on_shut_down = done;
    drivers->shut_down_ctx = ctx;
    for (struct pl_table_link *link = NULL; (link = pl_table_next(&drivers->by_id, link));) {
        struct pl_driver *driver = PL_CONTAINER_OF(link, struct pl_driver, link);
        if (driver->state == PL_DRIVER_READY && pl_session_is_running(driver->session))
            pl_driver_apply(driver, &(struct pl_session_event){.kind = PL_SE_SHUT_DOWN});
        pl_driver_refuse_resters(driver, PL_PROBLEM_OVERLOADED, NULL);
    }
    maybe_shut_down(drivers);
}
