/* The scan for due tasks: a worker looks, its findings are acted upon, then the scheduler sleeps.
 *
 *     machine scheduler
 *
 *     ASLEEP -> LOOKING -> ACTING -> ASLEEP
 *     ACTING -> LOOKING                   there may be more
 *     LOOKING -> LEFT -> OVER
 *     ASLEEP, ACTING -> OVER
 */
#include "service/tasks/scheduler_int.h"

#include "base/mem.h"
#include "io/move.h"
#include "service/tasks/task_json.h"
#include "shard/log.h"
#include "shard/setup.h"

#include <assert.h>

#define TO(name) PL_TO(PL_SCHEDULER_##name)
static const struct pl_state states[] = {
    [PL_SCHEDULER_ASLEEP] = {"asleep", TO(LOOKING) | TO(OVER), PL_WAIT_SET, PL_CANCEL_ENDS,
                             .why = "the next due time, and PL_TASK_LOOK_MS at most"},
    [PL_SCHEDULER_LOOKING] = {"looking", TO(ACTING) | TO(LEFT), PL_WAIT_OPEN, PL_CANCEL_LATER,
                              .why = "a worker always comes back; queue_wait_ms for its turn"},
    [PL_SCHEDULER_ACTING] = {"acting", TO(ASLEEP) | TO(LOOKING) | TO(OVER), PL_WAIT_OPEN,
                             PL_CANCEL_ENDS,
                             .why = "runs begin, or the store says that they do not"},
    [PL_SCHEDULER_LEFT] = {"left", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                           .why = "a worker always comes back"},
    [PL_SCHEDULER_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("scheduler", states);

static void become(struct pl_scheduler *scheduler, enum pl_scheduler_state to)
{
    scheduler->state = (enum pl_scheduler_state)pl_move(&machine, scheduler, scheduler->state, to);
}

/* --- deciding, on a worker ------------------------------------------------------------------- */

static enum pl_status list_runs(struct pl_scheduler *scheduler, const struct pl_due_task *item,
                                const char *status, size_t limit, struct pl_task_run_page *ret_page)
{
    struct pl_due_scan *looking = &scheduler->look;
    return pl_task_runs_in(scheduler->server->store, &looking->arena, item->task.id, status, limit,
                           ret_page, &looking->err);
}

static void note(struct pl_due_task *item, const char *status, const char *reason)
{
    item->act = PL_DUE_NOTE;
    item->status = status;
    item->reason = reason;
}

static enum pl_status decide_queue(struct pl_scheduler *scheduler, struct pl_due_task *item)
{
    struct pl_task_run_page page;
    enum pl_status status = list_runs(scheduler, item, "queued", PL_TASK_MAX_QUEUED, &page);
    if (status != PL_OK)
        return status;
    if (page.n_items < PL_TASK_MAX_QUEUED)
        note(item, "queued", NULL);
    else
        note(item, "skipped", "Ten runs of this task are already waiting.");
    return PL_OK;
}

/* Runs that wait for a free turn of their user have not started, but count as earlier runs. */
static enum pl_status decide_waiting(struct pl_scheduler *scheduler, struct pl_due_task *item)
{
    bool is_allowed = pl_str_eq(item->task.overlap, PL_STR("allow"));
    struct pl_task_run_page page;
    enum pl_status status = list_runs(scheduler, item, "queued", PL_TASK_MAX_QUEUED, &page);
    if (status != PL_OK || page.n_items < (is_allowed ? PL_TASK_MAX_QUEUED : 1))
        return status;
    if (is_allowed)
        note(item, "skipped", "Ten runs of this task are already waiting.");
    else if (!pl_str_eq(item->task.overlap, PL_STR("queue")))
        note(item, "skipped", "The previous run is still waiting.");
    else
        return decide_queue(scheduler, item);
    return PL_OK;
}

/* The effect of an active earlier run on this one. */
static enum pl_status decide_overlap(struct pl_scheduler *scheduler, struct pl_due_task *item)
{
    struct pl_task_run_page page;
    item->act = PL_DUE_RUN;
    if (pl_str_eq(item->task.overlap, PL_STR("allow")))
        return decide_waiting(scheduler, item);
    enum pl_status status = list_runs(scheduler, item, "running", 100, &page);
    if (status != PL_OK)
        return status;
    if (!page.n_items)
        return decide_waiting(scheduler, item);
    if (pl_str_eq(item->task.overlap, PL_STR("queue")))
        return decide_queue(scheduler, item);
    if (pl_str_eq(item->task.overlap, PL_STR("replace"))) {
        item->act = PL_DUE_REPLACE;
        item->running = page.items;
        item->n_running = page.n_items;
    } else {
        note(item, "skipped", "The previous run was still running.");
    }
    return PL_OK;
}

static enum pl_status disable(struct pl_due_scan *looking, struct pl_due_task *item,
                              struct pl_str reason)
{
    char *kept = pl_arena_alloc(&looking->arena, reason.len + 1, 1);
    if (!kept)
        return PL_NOMEM;
    memcpy(kept, reason.ptr, reason.len);
    kept[reason.len] = '\0';
    item->act = PL_DUE_DISABLE;
    item->reason = kept;
    return PL_OK;
}

static enum pl_status decide(struct pl_scheduler *scheduler, struct pl_due_task *item)
{
    struct pl_due_scan *looking = &scheduler->look;
    const struct pl_task_row *task = &item->task;
    int64_t now_s = looking->now_ms / 1000, after_s = task->next_ms / 1000 - 1;
    struct pl_task_when when;
    if (task->expires_ms && task->expires_ms <= looking->now_ms)
        return disable(looking, item, PL_STR("expired"));
    enum pl_status status =
        pl_task_when(scheduler->server->zones, task->cron, task->timezone, &when, &looking->err);
    if (status == PL_INVALID)
        return disable(looking, item, pl_str_of(looking->err.message));
    if (status != PL_OK)
        return status;
    /* Every occurrence before next_ms is settled, including those that passed while the task was
     * disabled. */
    item->due = pl_cron_due(&when.cron, when.zone, after_s, now_s);
    item->next_ms = pl_task_next_ms(&when, after_s > now_s ? after_s : now_s, task->expires_ms);
    item->act = PL_DUE_ADVANCE;
    return item->due.has_run ? decide_overlap(scheduler, item) : PL_OK;
}

/* The time from which this node may take an occurrence of the task. */
static int64_t may_at_ms(struct pl_scheduler *scheduler, const struct pl_task_row *task)
{
    pthread_mutex_lock(&scheduler->nodes_lock);
    int64_t wait_ms =
        scheduler->n_nodes > 1
            ? pl_node_order_wait_ms(task->id, &scheduler->me, scheduler->nodes, scheduler->n_nodes)
            : 0;
    pthread_mutex_unlock(&scheduler->nodes_lock);
    return task->next_ms + wait_ms;
}

/* Skips tasks that another node takes first; *ret_next_ms is when this node may take them. */
static enum pl_status decide_all(struct pl_scheduler *scheduler, const struct pl_task_page *page,
                                 int64_t *ret_next_ms)
{
    struct pl_due_scan *looking = &scheduler->look;
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < page->n_items; i++) {
        int64_t at_ms = may_at_ms(scheduler, &page->items[i]);
        if (at_ms > looking->now_ms) {
            *ret_next_ms = at_ms < *ret_next_ms ? at_ms : *ret_next_ms;
            continue;
        }
        struct pl_due_task *item = &looking->items[looking->n_items];
        item->task = page->items[i];
        status = decide(scheduler, item);
        looking->n_items++;
    }
    return status;
}

static void look_run(struct pl_job *job)
{
    struct pl_scheduler *scheduler = PL_CONTAINER_OF(job, struct pl_scheduler, look.job);
    struct pl_due_scan *looking = &scheduler->look;
    struct pl_store *store = scheduler->server->store;
    struct pl_task_page page = {0};
    looking->err = (struct pl_error){0};
    looking->n_items = 0;
    if (looking->is_rewinding) {
        looking->status = pl_scheduler_find_late(scheduler);
        if (looking->status != PL_OK || looking->n_items)
            return;
    }
    enum pl_status status = pl_store_task_due(store, &looking->arena, looking->now_ms,
                                              PL_TASK_LOOK_LIMIT, &page, &looking->err);
    if (status == PL_OK && page.n_items) {
        looking->items = pl_arena_zalloc(&looking->arena, page.n_items, sizeof *looking->items);
        status = looking->items ? PL_OK : PL_NOMEM;
    }
    looking->next_ms = INT64_MAX;
    if (status == PL_OK)
        status = decide_all(scheduler, &page, &looking->next_ms);
    if (status == PL_OK && !page.n_items)
        status = pl_store_task_next(store, &looking->next_ms, &looking->err);
    looking->status = status;
}

/* --- acting ---------------------------------------------------------------------------------- */

struct pl_task_run_row pl_task_missed_row(const struct pl_cron_due *due, struct pl_str task_id,
                                          struct pl_id *id, struct pl_id_seed *seed)
{
    *id = pl_id_take(seed, "run_");
    return (struct pl_task_run_row){
        .id = pl_str_of(id->text),
        .task_id = task_id,
        .status = PL_STR("missed"),
        .error = PL_STR("The server did not run at that time."),
        .due_ms = due->last_missed_s * 1000,
        .n_missed = due->n_missed - 1,
        .triggered_ms = seed->unix_ms,
        .finished_ms = seed->unix_ms,
    };
}

void pl_task_advance(struct pl_batch *batch, const struct pl_task_row *task,
                     const struct pl_due_task *due)
{
    if (due->due.n_missed)
        pl_batch_create_run(batch, &due->missed);
    pl_batch_advance_task(batch, task->id, task->revision, due->due.last_s * 1000, due->next_ms);
}

/* Written at once, without a run. */
struct noting {
    struct pl_scheduler *scheduler; /* borrowed */
    struct pl_arena arena;
    struct pl_task_row task;    /* arena */
    struct pl_task_run_row row; /* to be reported; id empty: none */
    struct pl_due_task due;     /* its strings are not used, except `missed` */
    struct pl_id run_id, missed_id;
};

static void submit(struct noting *noting, void (*fill)(struct noting *, struct pl_batch *),
                   pl_batch_done_fn *done)
{
    struct pl_scheduler *scheduler = noting->scheduler;
    struct pl_batch *batch = pl_batch_create();
    if (!batch) {
        done(noting, PL_NOMEM, NULL);
        return;
    }
    fill(noting, batch);
    pl_store_submit(scheduler->server->store, scheduler->shard->loop, batch, done, noting);
}

static void noted(struct noting *noting, enum pl_status status)
{
    struct pl_scheduler *scheduler = noting->scheduler;
    pl_arena_deinit(&noting->arena);
    pl_mem_free(noting);
    pl_scheduler_acted(scheduler, status != PL_OK);
}

static void fill_advance(struct noting *noting, struct pl_batch *batch)
{
    pl_batch_advance_task(batch, noting->task.id, noting->task.revision,
                          noting->due.due.last_s * 1000, noting->due.next_ms);
}

static void advanced(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct noting *noting = ctx;
    (void)err;
    noted(noting, status);
}

static void fill_note(struct noting *noting, struct pl_batch *batch)
{
    if (noting->due.act == PL_DUE_DISABLE) {
        pl_batch_update_task(batch, &noting->task);
        return;
    }
    if (noting->due.act == PL_DUE_REWIND) {
        pl_batch_rewind_task(batch, noting->task.id, noting->task.revision, noting->due.next_ms);
        return;
    }
    if (noting->due.act == PL_DUE_NOTE)
        pl_batch_create_run(batch, &noting->row);
    pl_task_advance(batch, &noting->task, &noting->due);
}

static void on_noted(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct noting *noting = ctx;
    struct pl_server *server = noting->scheduler->server;
    bool is_lost = status == PL_CONFLICT || status == PL_NOT_FOUND;
    (void)err;
    bool has_instant = noting->due.act != PL_DUE_DISABLE && noting->due.act != PL_DUE_REWIND;
    if (is_lost && has_instant && !pl_scheduler_is_over(noting->scheduler)) {
        submit(noting, fill_advance, advanced);
        return;
    }
    if (status == PL_OK) {
        noting->task.next_ms = noting->due.next_ms;
        pl_task_tell(server, &noting->task, noting->row.id.len ? &noting->row : NULL);
    }
    if (status == PL_OK && noting->due.act == PL_DUE_DISABLE)
        pl_task_notify_disabled(server, &noting->task);
    advanced(ctx, is_lost ? PL_OK : status, err);
}

/* The row that is reported: why nothing runs, or what was missed. */
static void fill_row(struct noting *noting, struct pl_id_seed *seed)
{
    const struct pl_due_task *due = &noting->due;
    if (due->due.n_missed)
        noting->due.missed =
            pl_task_missed_row(&due->due, noting->task.id, &noting->missed_id, seed);
    if (due->act != PL_DUE_NOTE) {
        noting->row = noting->due.missed;
        return;
    }
    bool is_queued = strcmp(due->status, "queued") == 0;
    noting->run_id = pl_id_take(seed, "run_");
    noting->row = (struct pl_task_run_row){
        .id = pl_str_of(noting->run_id.text),
        .task_id = noting->task.id,
        .status = pl_str_of(due->status),
        .error = pl_str_of(due->reason),
        .due_ms = due->due.run_s * 1000,
        .n_missed = due->due.n_collapsed,
        .triggered_ms = seed->unix_ms,
        .finished_ms = is_queued ? 0 : seed->unix_ms,
    };
}

static bool write_note(struct pl_scheduler *scheduler, const struct pl_due_task *item)
{
    struct noting *noting = pl_mem_alloc(1, sizeof *noting);
    if (!noting)
        return false;
    *noting = (struct noting){.scheduler = scheduler, .due = *item};
    pl_arena_init(&noting->arena, 0);
    struct pl_str reason = pl_arena_dup(&noting->arena, pl_str_of(item->reason));
    if (pl_task_copy(&noting->arena, &item->task, &noting->task) != PL_OK ||
        (item->reason && !reason.ptr)) {
        pl_arena_deinit(&noting->arena);
        pl_mem_free(noting);
        return false;
    }
    struct pl_id_seed seed = pl_shard_seed(scheduler->shard);
    if (item->act == PL_DUE_DISABLE) {
        noting->due.next_ms = noting->task.next_ms = INT64_MAX;
        noting->task.enabled = false;
        noting->task.disabled_reason = reason;
        noting->task.updated_ms = seed.unix_ms;
    } else {
        fill_row(noting, &seed);
    }
    submit(noting, fill_note, on_noted);
    return true;
}

static bool act(struct pl_scheduler *scheduler, const struct pl_due_task *item)
{
    for (size_t i = 0; i < item->n_running; i++)
        pl_task_run_stop(scheduler, &item->task, &item->running[i],
                         "It was replaced by the next due run.");
    bool is_run = item->act == PL_DUE_RUN || item->act == PL_DUE_REPLACE;
    return is_run ? pl_task_run_due(scheduler, item) : write_note(scheduler, item);
}

/* --- the clock ------------------------------------------------------------------------------- */

static void on_timer(struct pl_timer *timer)
{
    pl_scheduler_look(PL_CONTAINER_OF(timer, struct pl_scheduler, timer));
}

static void sleep_until(struct pl_scheduler *scheduler, int64_t unix_ms)
{
    struct pl_loop *loop = scheduler->shard->loop;
    int64_t now_ms = pl_loop_unix_ms(loop);
    int64_t delay_ms = unix_ms <= now_ms                    ? 1
                       : unix_ms - now_ms < PL_TASK_LOOK_MS ? unix_ms - now_ms
                                                            : PL_TASK_LOOK_MS;
    pl_timer_start(loop, &scheduler->timer, delay_ms, on_timer);
}

/* All items are handled: sleep until the next occurrence. */
static void go_on(struct pl_scheduler *scheduler)
{
    bool has_failed = scheduler->has_failed;
    if (scheduler->state != PL_SCHEDULER_ACTING || scheduler->n_acting)
        return;
    scheduler->has_failed = false;
    if (!has_failed && (scheduler->wants_look || scheduler->look.n_items)) {
        pl_scheduler_look(scheduler);
        return;
    }
    become(scheduler, PL_SCHEDULER_ASLEEP);
    if (has_failed)
        pl_timer_start(scheduler->shard->loop, &scheduler->timer, PL_TASK_RETRY_MS, on_timer);
    else
        sleep_until(scheduler, scheduler->look.next_ms);
}

void pl_scheduler_acted(struct pl_scheduler *scheduler, bool has_failed)
{
    scheduler->n_acting--;
    scheduler->has_failed = scheduler->has_failed || has_failed;
    go_on(scheduler);
}

static void look_done(struct pl_job *job)
{
    struct pl_scheduler *scheduler = PL_CONTAINER_OF(job, struct pl_scheduler, look.job);
    struct pl_due_scan *looking = &scheduler->look;
    if (scheduler->state == PL_SCHEDULER_LEFT) {
        become(scheduler, PL_SCHEDULER_OVER);
        return;
    }
    if (job->is_refused)
        looking->status = pl_fail(&looking->err, PL_IO, "no worker was free in time");
    if (looking->status == PL_OK && looking->is_rewinding)
        scheduler->must_rewind = false;
    if (looking->status != PL_OK) {
        pl_log_say(scheduler->server->log, scheduler->shard, PL_LOG_WARNING,
                   "due tasks could not be read: %s; trying again",
                   looking->err.message[0] ? looking->err.message
                                           : pl_status_info(looking->status)->text);
        looking->n_items = 0;
        scheduler->has_failed = true;
    }
    /* Counts one extra item, so that no item continues before the last has started. */
    scheduler->n_acting = looking->n_items + 1;
    become(scheduler, PL_SCHEDULER_ACTING);
    for (size_t i = 0; i < looking->n_items; i++)
        if (!act(scheduler, &looking->items[i]))
            pl_scheduler_acted(scheduler, true);
    pl_scheduler_acted(scheduler, false);
}

/* Compares the wall clock with the monotonic one. If the wall clock was set back, tasks would
 * wait until it shows the old time again. Their next times are computed again from the last scan
 * on, the earliest possible moment of the change. */
static void look_at_clock(struct pl_scheduler *scheduler)
{
    struct pl_loop *loop = scheduler->shard->loop;
    struct pl_due_scan *looking = &scheduler->look;
    int64_t mono_ms = pl_loop_now_ms(loop);
    int64_t ahead_ms = looking->now_ms - mono_ms, back_ms = scheduler->ahead_ms - ahead_ms;
    if (back_ms > PL_TASK_BACK_MS) {
        pl_log_say(scheduler->server->log, scheduler->shard, PL_LOG_WARNING,
                   "the clock was set back by %lld s; the times of scheduled tasks are computed "
                   "again",
                   (long long)(back_ms / 1000));
        scheduler->must_rewind = true;
        looking->rewind_ms = looking->now_ms - (mono_ms - scheduler->looked_ms);
    } else if (!scheduler->must_rewind) {
        looking->rewind_ms = looking->now_ms;
    }
    if (back_ms > PL_TASK_BACK_MS || ahead_ms > scheduler->ahead_ms)
        scheduler->ahead_ms = ahead_ms;
    scheduler->looked_ms = mono_ms;
    looking->is_rewinding = scheduler->must_rewind;
}

void pl_scheduler_look(struct pl_scheduler *scheduler)
{
    struct pl_loop *loop = scheduler->shard->loop;
    scheduler->wants_look = true;
    if (!scheduler->shard->setup->config.has_schedules)
        return; /* another server runs due tasks */
    if (scheduler->state == PL_SCHEDULER_LOOKING || scheduler->n_acting ||
        pl_scheduler_is_over(scheduler) || pl_life_is_ending(&scheduler->server->life))
        return;
    scheduler->wants_look = false;
    become(scheduler, PL_SCHEDULER_LOOKING);
    pl_timer_stop(loop, &scheduler->timer);
    pl_arena_reset(&scheduler->look.arena);
    scheduler->look.now_ms = pl_loop_unix_ms(loop);
    look_at_clock(scheduler);
    scheduler->look.job.wait_ms = scheduler->shard->setup->config.queue_wait_ms;
    scheduler->look.job.run = look_run;
    scheduler->look.job.done = look_done;
    pl_workers_submit(scheduler->server->workers, loop, &scheduler->look.job);
}

static void open_wake(struct pl_letter *letter)
{
    struct pl_scheduler *scheduler = PL_CONTAINER_OF(letter, struct pl_scheduler, wake);
    atomic_store(&scheduler->is_woken, false);
    if (!pl_scheduler_is_over(scheduler))
        pl_scheduler_look(scheduler);
}

void pl_scheduler_wake(struct pl_server *server)
{
    struct pl_scheduler *scheduler = server->scheduler;
    if (atomic_exchange(&scheduler->is_woken, true))
        return;
    scheduler->wake.open = open_wake;
    pl_loop_post(scheduler->shard->loop, &scheduler->wake);
}

/* --- nodes ----------------------------------------------------------------------------------- */

void pl_scheduler_hear_nodes(struct pl_scheduler *scheduler, const struct pl_node_id *me,
                             const struct pl_node_id *nodes, size_t n_nodes)
{
    size_t n = n_nodes < PL_SCHEDULER_NODES ? n_nodes : PL_SCHEDULER_NODES;
    pthread_mutex_lock(&scheduler->nodes_lock);
    scheduler->me = *me;
    if (n)
        memcpy(scheduler->nodes, nodes, n * sizeof *nodes);
    scheduler->n_nodes = n;
    pthread_mutex_unlock(&scheduler->nodes_lock);
}

static void open_take_up(struct pl_letter *letter)
{
    struct pl_scheduler *scheduler = PL_CONTAINER_OF(letter, struct pl_scheduler, take_up);
    atomic_store(&scheduler->is_taking_up, false);
    if (!pl_scheduler_is_over(scheduler) && !pl_life_is_ending(&scheduler->server->life))
        pl_scheduler_recover(scheduler);
}

void pl_scheduler_take_up(struct pl_server *server)
{
    struct pl_scheduler *scheduler = server->scheduler;
    if (atomic_exchange(&scheduler->is_taking_up, true))
        return;
    scheduler->take_up.open = open_take_up;
    pl_loop_post(scheduler->shard->loop, &scheduler->take_up);
}

/* --- life ------------------------------------------------------------------------------------ */

enum pl_status pl_scheduler_create(struct pl_server *server, struct pl_scheduler **ret_scheduler)
{
    struct pl_scheduler *scheduler = pl_mem_alloc(1, sizeof *scheduler);
    if (!scheduler)
        return PL_NOMEM;
    *scheduler = (struct pl_scheduler){.server = server,
                                       .shard = server->shards[0],
                                       .ahead_ms = INT64_MIN / 2,
                                       .must_rewind = true,
                                       .look.rewind_ms = pl_loop_unix_ms(server->shards[0]->loop)};
    pl_arena_init(&scheduler->look.arena, 0);
    pthread_mutex_init(&scheduler->nodes_lock, NULL);
    *ret_scheduler = scheduler;
    return PL_OK;
}

void pl_scheduler_start(struct pl_scheduler *scheduler)
{
    pl_scheduler_recover(scheduler);
}

void pl_scheduler_stop(struct pl_scheduler *scheduler)
{
    if (!scheduler)
        return;
    become(scheduler,
           scheduler->state == PL_SCHEDULER_LOOKING ? PL_SCHEDULER_LEFT : PL_SCHEDULER_OVER);
    pl_timer_stop(scheduler->shard->loop, &scheduler->timer);
    pl_timer_stop(scheduler->shard->loop, &scheduler->room_timer);
    pl_scheduler_recover_stop(scheduler);
}

void pl_scheduler_destroy(struct pl_scheduler *scheduler)
{
    if (!scheduler)
        return;
    assert(scheduler->state == PL_SCHEDULER_OVER);
    assert(scheduler->recovery.state == PL_TASK_RECOVERY_OVER);
    pl_task_runs_drop(scheduler);
    pl_arena_deinit(&scheduler->look.arena);
    pthread_mutex_destroy(&scheduler->nodes_lock);
    pl_mem_free(scheduler);
}
