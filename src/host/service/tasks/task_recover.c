/* Takes over the runs of an earlier process: runs that wait for a person are still active, and some
 * may wait for an earlier run. Until they are known, a task with an active run would seem to have
 * none, so a failed read is retried.
 *
 *     machine task-recovery
 *
 *     PAUSING -> READING -> DONE
 *     READING -> PAUSING            they could not be read
 *     DONE -> READING               another node is gone, and has left some
 *     PAUSING, READING, DONE -> OVER
 */
#include "service/tasks/scheduler_int.h"

#include "io/move.h"
#include "shard/log.h"
#include "shard/setup.h"

#define TO(name) PL_TO(PL_TASK_RECOVERY_##name)
static const struct pl_state states[] = {
    [PL_TASK_RECOVERY_PAUSING] = {"pausing", TO(READING) | TO(OVER), PL_WAIT_MS, PL_CANCEL_ENDS,
                                  .limit_ms = PL_TASK_RETRY_MS},
    [PL_TASK_RECOVERY_READING] = {"reading", TO(PAUSING) | TO(DONE) | TO(OVER), PL_WAIT_OPEN,
                                  PL_CANCEL_LATER,
                                  .why = "a worker always comes back; queue_wait_ms for its turn"},
    [PL_TASK_RECOVERY_DONE] = {"done", TO(READING) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                               .why = "a server that is alone stays here to the end"},
    [PL_TASK_RECOVERY_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("task-recovery", states);

static void on_timer(struct pl_timer *timer);

static void become(struct pl_scheduler *scheduler, enum pl_task_recovery_state to)
{
    struct pl_task_recovery *up = &scheduler->recovery;
    up->state = (enum pl_task_recovery_state)pl_move(&machine, up, up->state, to);
    pl_move_limit(&machine, to, scheduler->shard->loop, &up->timer, 0, on_timer);
}

/* --- on a worker ----------------------------------------------------------------------------- */

enum pl_status pl_task_runs_in(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str task_id, const char *status, size_t limit,
                               struct pl_task_run_page *ret_page, struct pl_error *err)
{
    struct pl_task_run_query query = {
        .task_id = task_id,
        .status = pl_str_of(status),
        .due_after_ms = -1,
        .due_before_ms = INT64_MAX,
        .limit = limit,
    };
    return pl_store_run_list(store, arena, &query, ret_page, err);
}

/* Whether this scheduler already has the run from an earlier recovery. Runs on a worker, so it
 * uses the ids that the first shard listed before. */
static bool is_ours(const struct pl_scheduler *scheduler, struct pl_str run_id)
{
    const struct pl_task_recovery *up = &scheduler->recovery;
    for (size_t i = 0; i < up->n_own; i++)
        if (pl_str_eq(up->own[i], run_id))
            return true;
    return false;
}

/* If several nodes find the same run, one takes it. A queued run is taken when it begins. */
static enum pl_status adopt(struct pl_scheduler *scheduler, struct pl_str run_id,
                            bool *ret_is_taken)
{
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return PL_NOMEM;
    pl_batch_adopt_run(batch, run_id);
    enum pl_status status =
        pl_store_commit(scheduler->server->store, batch, &scheduler->recovery.err);
    *ret_is_taken = status == PL_OK;
    return status == PL_NOT_FOUND ? PL_OK : status;
}

static enum pl_status take_up_runs(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                                   const char *status_text, size_t *ret_n)
{
    struct pl_task_recovery *up = &scheduler->recovery;
    bool is_queued = strcmp(status_text, "queued") == 0;
    struct pl_task_run_page page;
    enum pl_status status = pl_task_runs_in(scheduler->server->store, &up->arena, task->id,
                                            status_text, 100, &page, &up->err);
    if (status != PL_OK)
        return status;
    *ret_n = page.n_items;
    /* Of the queue, only the oldest. */
    for (size_t i = is_queued && page.n_items ? page.n_items - 1 : 0; i < page.n_items; i++) {
        bool is_free = !page.items[i].is_elsewhere && !is_ours(scheduler, page.items[i].id);
        if (is_free && !is_queued)
            status = adopt(scheduler, page.items[i].id, &is_free);
        if (status != PL_OK)
            return status;
        if (!is_free)
            continue;
        struct pl_task_left *left = pl_arena_zalloc(&up->arena, 1, sizeof *left);
        if (!left)
            return PL_NOMEM;
        *left = (struct pl_task_left){up->first, *task, page.items[i], is_queued};
        up->first = left;
    }
    return PL_OK;
}

static enum pl_status take_up_user(struct pl_scheduler *scheduler, struct pl_str user_id)
{
    struct pl_task_recovery *up = &scheduler->recovery;
    struct pl_store *store = scheduler->server->store;
    struct pl_task_query query = {.user_id = user_id, .is_enabled = -1, .limit = 100};
    struct pl_task_page page = {.has_more = true};
    enum pl_status status = PL_OK;
    while (status == PL_OK && page.has_more) {
        status = pl_store_task_list(store, &up->arena, &query, &page, &up->err);
        for (size_t i = 0; status == PL_OK && i < page.n_items; i++) {
            size_t n_running = 0, n_queued;
            status = take_up_runs(scheduler, &page.items[i], "running", &n_running);
            if (status == PL_OK && !n_running && page.items[i].enabled)
                status = take_up_runs(scheduler, &page.items[i], "queued", &n_queued);
        }
        if (status == PL_OK && page.n_items)
            query.after_id = page.items[page.n_items - 1].id;
    }
    return status;
}

static void read_all(struct pl_job *job)
{
    struct pl_scheduler *scheduler = PL_CONTAINER_OF(job, struct pl_scheduler, recovery.job);
    struct pl_task_recovery *up = &scheduler->recovery;
    struct pl_user_row *users;
    size_t n_users = 0;
    up->status =
        pl_store_user_list(scheduler->server->store, &up->arena, &users, &n_users, &up->err);
    for (size_t i = 0; up->status == PL_OK && i < n_users; i++)
        up->status = take_up_user(scheduler, users[i].id);
}

/* --- at home --------------------------------------------------------------------------------- */

static void resume_all(struct pl_scheduler *scheduler)
{
    bool is_whole = true;
    for (struct pl_task_left *left = scheduler->recovery.first; left; left = left->next)
        is_whole = (left->is_queued ? pl_task_run_queued(scheduler, &left->task, &left->row)
                                    : pl_task_run_adopt(scheduler, &left->task, &left->row)) &&
                   is_whole;
    if (!is_whole)
        pl_log_say(scheduler->server->log, scheduler->shard, PL_LOG_WARNING,
                   "out of memory: some unfinished runs of tasks are resumed at the next start");
}

static void try_again(struct pl_scheduler *scheduler)
{
    const struct pl_task_recovery *up = &scheduler->recovery;
    const char *why = up->job.is_refused   ? "the queue of the store is full"
                      : up->err.message[0] ? up->err.message
                                           : pl_status_info(up->status)->text;
    pl_log_say(scheduler->server->log, scheduler->shard, PL_LOG_WARNING,
               "unfinished runs of tasks could not be read: %s; trying again", why);
    become(scheduler, PL_TASK_RECOVERY_PAUSING);
}

static void have_read(struct pl_job *job)
{
    struct pl_scheduler *scheduler = PL_CONTAINER_OF(job, struct pl_scheduler, recovery.job);
    struct pl_task_recovery *up = &scheduler->recovery;
    bool is_read = !job->is_refused && up->status == PL_OK;
    if (pl_scheduler_is_over(scheduler)) {
        become(scheduler, PL_TASK_RECOVERY_OVER);
    } else if (is_read) {
        become(scheduler, PL_TASK_RECOVERY_DONE);
        resume_all(scheduler);
    } else {
        try_again(scheduler);
    }
    pl_arena_deinit(&up->arena);
    if (up->state == PL_TASK_RECOVERY_DONE)
        pl_scheduler_look(scheduler);
}

/* False if out of memory. */
static bool list_own(struct pl_scheduler *scheduler)
{
    struct pl_task_recovery *up = &scheduler->recovery;
    size_t n = pl_task_runs_own(scheduler, NULL);
    up->own = pl_arena_zalloc(&up->arena, n + 1, sizeof *up->own);
    up->n_own = up->own ? pl_task_runs_own(scheduler, up->own) : 0;
    for (size_t i = 0; i < up->n_own; i++) {
        up->own[i] = pl_arena_dup(&up->arena, up->own[i]);
        if (!up->own[i].ptr)
            return false;
    }
    return up->own != NULL;
}

static void on_timer(struct pl_timer *timer)
{
    struct pl_scheduler *scheduler = PL_CONTAINER_OF(timer, struct pl_scheduler, recovery.timer);
    struct pl_task_recovery *up = &scheduler->recovery;
    become(scheduler, PL_TASK_RECOVERY_READING);
    pl_arena_init(&up->arena, 0);
    up->first = NULL;
    up->err = (struct pl_error){0};
    if (!list_own(scheduler)) {
        pl_arena_deinit(&up->arena);
        become(scheduler, PL_TASK_RECOVERY_PAUSING);
        return;
    }
    up->job = (struct pl_job){
        .wait_ms = scheduler->shard->setup->config.queue_wait_ms,
        .run = read_all,
        .done = have_read,
    };
    pl_workers_submit(scheduler->server->workers, scheduler->shard->loop, &up->job);
}

void pl_scheduler_recover(struct pl_scheduler *scheduler)
{
    struct pl_task_recovery *up = &scheduler->recovery;
    if (up->state == PL_TASK_RECOVERY_DONE || !up->has_begun)
        on_timer(&up->timer);
    up->has_begun = true;
}

void pl_scheduler_recover_stop(struct pl_scheduler *scheduler)
{
    if (scheduler->recovery.state != PL_TASK_RECOVERY_READING &&
        scheduler->recovery.state != PL_TASK_RECOVERY_OVER)
        become(scheduler, PL_TASK_RECOVERY_OVER);
}
