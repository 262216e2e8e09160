/* Takes over the runs of an earlier process: runs that wait for a person are still active, and some
 * may wait for an earlier run. */
#include "service/tasks/scheduler_int.h"

#include "base/mem.h"
#include "shard/log.h"

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

struct taking_up {
    struct pl_job job;
    struct pl_scheduler *scheduler; /* borrowed */
    struct pl_arena arena;
    struct left {
        struct left *next;
        struct pl_task_row task;
        struct pl_task_run_row row;
        bool is_queued;
    } * first; /* arena */
    enum pl_status status;
    struct pl_error err;
};

static enum pl_status take_up_runs(struct taking_up *up, const struct pl_task_row *task,
                                   const char *status_text, size_t *ret_n)
{
    bool is_queued = strcmp(status_text, "queued") == 0;
    struct pl_task_run_page page;
    enum pl_status status = pl_task_runs_in(up->scheduler->server->store, &up->arena, task->id,
                                            status_text, 100, &page, &up->err);
    if (status != PL_OK)
        return status;
    *ret_n = page.n_items;
    /* Of the queue, the oldest. */
    for (size_t i = is_queued && page.n_items ? page.n_items - 1 : 0; i < page.n_items; i++) {
        struct left *left = pl_arena_zalloc(&up->arena, 1, sizeof *left);
        if (!left)
            return PL_NOMEM;
        *left = (struct left){up->first, *task, page.items[i], is_queued};
        up->first = left;
    }
    return PL_OK;
}

static enum pl_status take_up_user(struct taking_up *up, struct pl_str user_id)
{
    struct pl_store *store = up->scheduler->server->store;
    struct pl_task_query query = {.user_id = user_id, .is_enabled = -1, .limit = 100};
    struct pl_task_page page = {.has_more = true};
    enum pl_status status = PL_OK;
    while (status == PL_OK && page.has_more) {
        status = pl_store_task_list(store, &up->arena, &query, &page, &up->err);
        for (size_t i = 0; status == PL_OK && i < page.n_items; i++) {
            size_t n_running = 0, n_queued;
            status = take_up_runs(up, &page.items[i], "running", &n_running);
            if (status == PL_OK && !n_running && page.items[i].enabled)
                status = take_up_runs(up, &page.items[i], "queued", &n_queued);
        }
        if (status == PL_OK && page.n_items)
            query.after_id = page.items[page.n_items - 1].id;
    }
    return status;
}

static void take_up_run(struct pl_job *job)
{
    struct taking_up *up = PL_CONTAINER_OF(job, struct taking_up, job);
    struct pl_store *store = up->scheduler->server->store;
    struct pl_user_row *users;
    size_t n_users = 0;
    up->status = pl_store_user_list(store, &up->arena, &users, &n_users, &up->err);
    for (size_t i = 0; up->status == PL_OK && i < n_users; i++)
        up->status = take_up_user(up, users[i].id);
}

static void take_up_done(struct pl_job *job)
{
    struct taking_up *up = PL_CONTAINER_OF(job, struct taking_up, job);
    struct pl_scheduler *scheduler = up->scheduler;
    bool is_whole = up->status == PL_OK;
    for (struct left *left = up->first; left && !pl_scheduler_is_over(scheduler);
         left = left->next) {
        bool is_ok = left->is_queued ? pl_task_run_queued(scheduler, &left->task, &left->row)
                                     : pl_task_run_adopt(scheduler, &left->task, &left->row);
        is_whole = is_whole && is_ok;
    }
    if (!is_whole)
        pl_log_say(scheduler->server->log, scheduler->shard, PL_LOG_WARNING,
                   "some unfinished runs of tasks could not be resumed: %s", up->err.message);
    pl_arena_deinit(&up->arena);
    pl_mem_free(up);
    if (!pl_scheduler_is_over(scheduler))
        pl_scheduler_look(scheduler);
}

bool pl_scheduler_take_up(struct pl_scheduler *scheduler)
{
    struct taking_up *up = pl_mem_alloc(1, sizeof *up);
    if (!up)
        return false;
    *up = (struct taking_up){.scheduler = scheduler};
    pl_arena_init(&up->arena, 0);
    up->job.run = take_up_run;
    up->job.done = take_up_done;
    pl_workers_submit(scheduler->server->workers, scheduler->shard->loop, &up->job);
    return true;
}
