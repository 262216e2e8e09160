/* Records and reports the end of a run, and starts the next one. */
#include "agent/chat_message.h"
#include "agent/background/unattended.h"
#include "http/json_members.h"
#include "live/hub.h"
#include "service/tasks/task_json.h"
#include "service/tasks/task_run_int.h"

#include <stdio.h>

/* --- telling --------------------------------------------------------------------------------- */

void pl_task_tell(struct pl_server *server, const struct pl_task_row *task,
                  const struct pl_task_run_row *run)
{
    struct pl_buf data PL_CLEANUP_BUF;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "task");
    pl_task_write(&out, task);
    if (run) {
        pl_json_out_key(&out, "run");
        pl_task_run_write(&out, run);
    }
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_hub_tell_user(server, task->user_id, "task:updated", pl_buf_str(&data));
}

void pl_task_notify_disabled(struct pl_server *server, const struct pl_task_row *task)
{
    struct pl_buf data PL_CLEANUP_BUF, text PL_CLEANUP_BUF;
    pl_buf_init(&data, 0);
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "The task \"%.*s\" was disabled: %.*s", PL_STR_ARG(task->title),
                PL_STR_ARG(task->disabled_reason));
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "text", pl_buf_str(&text));
    pl_put_text(&out, "task_id", task->id);
    pl_json_out_close(&out, '}');
    if (text.status == PL_OK && data.status == PL_OK)
        pl_hub_tell_user(server, task->user_id, "system:notification", pl_buf_str(&data));
}

/* --- after it -------------------------------------------------------------------------------- */

static void look_after(struct pl_job *job)
{
    struct pl_task_run *run = PL_CONTAINER_OF(job, struct pl_task_run, job);
    struct pl_store *store = run->scheduler->server->store;
    struct pl_str id = run->row.task_id;
    struct pl_task_run_page page;
    run->has_task = pl_store_task_get(store, &run->arena, run->task.user_id, id, &run->task,
                                      &run->err) == PL_OK;
    if (!run->has_task || pl_task_runs_in(store, &run->arena, id, "queued", PL_TASK_MAX_QUEUED + 1,
                                          &page, &run->err) != PL_OK)
        return;
    run->queued = page.items;
    run->n_queued = page.n_items;
    if (run->n_queued &&
        pl_task_runs_in(store, &run->arena, id, "running", 1, &page, &run->err) == PL_OK)
        run->n_running = page.n_items;
}

static void dropped_queue(void *ctx, enum pl_status status, const struct pl_error *err)
{
    (void)ctx, (void)status, (void)err;
}

/* The task was stopped meanwhile: cancels its waiting runs. */
static void drop_queue(struct pl_task_run *run)
{
    struct pl_scheduler *scheduler = run->scheduler;
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return;
    for (size_t i = 0; i < run->n_queued; i++) {
        struct pl_task_run_row *row = &run->queued[i];
        row->status = PL_STR("skipped");
        row->error = PL_STR("The task was stopped before this run began.");
        row->finished_ms = pl_loop_unix_ms(scheduler->shard->loop);
        pl_batch_update_run(batch, row);
    }
    pl_store_submit(scheduler->server->store, scheduler->shard->loop, batch, dropped_queue, NULL);
}

static void looked_after(struct pl_job *job)
{
    struct pl_task_run *run = PL_CONTAINER_OF(job, struct pl_task_run, job);
    struct pl_scheduler *scheduler = run->scheduler;
    bool is_ending = pl_scheduler_is_over(scheduler) || pl_life_is_ending(&scheduler->server->life);
    if (run->has_task)
        pl_task_tell(scheduler->server, &run->task, &run->row);
    if (run->has_task && run->counts && !run->task.enabled &&
        run->task.n_failures == PL_TASK_MAX_FAILURES)
        pl_task_notify_disabled(scheduler->server, &run->task);
    if (is_ending || !run->n_queued)
        ;
    else if (!run->task.enabled)
        drop_queue(run);
    else if (!run->n_running)
        (void)pl_task_run_queued(scheduler, &run->task, &run->queued[run->n_queued - 1]);
    pl_task_run_destroy(run);
}

/* --- writing it down ------------------------------------------------------------------------- */

static void write_down(struct pl_task_run *run);

static void on_retry(struct pl_timer *timer)
{
    write_down(PL_CONTAINER_OF(timer, struct pl_task_run, timer));
}

static void written_down(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_task_run *run = ctx;
    struct pl_scheduler *scheduler = run->scheduler;
    /* It has no session. This batch creates its row, unless it was queued. */
    bool is_new = run->row.session_id.len == 0;
    if (pl_scheduler_is_over(scheduler)) {
        pl_task_run_put_off(run, PL_PROBLEM_OVERLOADED, err);
        return;
    }
    if (status == PL_OK) {
        pl_task_run_become(run, PL_TASK_RUN_LOOKING);
        pl_task_run_begun(run, false);
        pl_task_run_submit(run, 0, look_after, looked_after);
    } else if (is_new && run->origin == PL_TASK_ORIGIN_DUE &&
               (status == PL_CONFLICT || status == PL_NOT_FOUND)) {
        pl_task_run_leave(run);
    } else if (is_new && run->origin != PL_TASK_ORIGIN_QUEUED) {
        pl_task_run_put_off(run, pl_problem_of(status), err);
    } else {
        pl_task_run_rest(run, PL_TASK_RUN_UNWRITTEN, on_retry);
    }
}

static void fill(struct pl_task_run *run, struct pl_batch *batch)
{
    bool is_new = run->row.session_id.len == 0 && run->origin != PL_TASK_ORIGIN_QUEUED;
    if (is_new)
        pl_task_run_extend(run, batch);
    if (is_new)
        pl_batch_create_run(batch, &run->row);
    else
        pl_batch_update_run(batch, &run->row);
    if (is_new && run->origin == PL_TASK_ORIGIN_DUE)
        pl_task_advance(batch, &run->task, &run->due);
    if (run->counts)
        pl_batch_count_task(batch, run->task.id, pl_task_run_has_failed(run), PL_TASK_MAX_FAILURES,
                            PL_STR("Ten runs in a row failed."), run->row.finished_ms);
}

static void write_down(struct pl_task_run *run)
{
    struct pl_scheduler *scheduler = run->scheduler;
    struct pl_batch *batch = pl_batch_create();
    pl_task_run_become(run, PL_TASK_RUN_WRITING);
    if (!batch) {
        pl_task_run_rest(run, PL_TASK_RUN_UNWRITTEN, on_retry);
        return;
    }
    fill(run, batch);
    pl_store_submit(scheduler->server->store, scheduler->shard->loop, batch, written_down, run);
}

static void fail(struct pl_task_run *run, const char *why)
{
    snprintf(run->error, sizeof run->error, "%s", why[0] ? why : "It failed without a reason.");
    run->row.status = PL_STR("failed");
    run->row.error = pl_str_of(run->error);
}

static void end(struct pl_task_run *run)
{
    run->row.finished_ms = pl_loop_unix_ms(run->scheduler->shard->loop);
    write_down(run);
}

void pl_task_run_fail(struct pl_task_run *run, const char *why, bool counts)
{
    run->has_place = false;
    fail(run, why);
    run->counts = counts;
    end(run);
}

void pl_task_run_skip(struct pl_task_run *run)
{
    run->has_place = false;
    run->row.status = PL_STR("skipped");
    run->row.error = PL_STR("The task was stopped before this run began.");
    if (run->status == PL_OK)
        end(run);
    else
        pl_task_run_destroy(run); /* its row was deleted with the task */
}

/* --- of another process ----------------------------------------------------------------------- */

static void left(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_task_run *run = ctx;
    (void)err;
    pl_task_run_begun(run, status != PL_OK);
    pl_task_run_destroy(run);
}

void pl_task_run_leave(struct pl_task_run *run)
{
    struct pl_scheduler *scheduler = run->scheduler;
    struct pl_batch *batch = pl_batch_create();
    if (!batch) {
        pl_task_run_put_off(run, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    pl_task_run_become(run, PL_TASK_RUN_LEAVING);
    if (run->origin == PL_TASK_ORIGIN_DUE)
        pl_batch_advance_task(batch, run->task.id, run->task.revision, run->due.due.last_s * 1000,
                              run->due.next_ms);
    pl_store_submit(scheduler->server->store, scheduler->shard->loop, batch, left, run);
}

/* --- the session's end ------------------------------------------------------------------------ */

/* Reads why the last turn failed. */
static void read_error(struct pl_job *job)
{
    struct pl_task_run *run = PL_CONTAINER_OF(job, struct pl_task_run, job);
    struct pl_turn_query query = {
        .session_id = run->row.session_id,
        .before = INT64_MAX,
        .after = -1,
        .changed_after = -1,
        .limit = 1,
        .is_newest_first = true,
    };
    struct pl_turn_page page = {0};
    struct pl_json_doc doc;
    struct pl_str text = {0};
    enum pl_status status =
        pl_store_turn_list(run->scheduler->server->store, &run->arena, &query, &page, &run->err);
    if (status == PL_OK && page.n_items)
        status = pl_json_parse(&run->arena, page.items[0].body, NULL, &doc, &run->err);
    if (status == PL_OK && page.n_items)
        status = pl_member_text(&run->arena, &doc, doc.root, "error", &text);
    if (status != PL_OK || !text.len)
        text = PL_STR("The session failed.");
    (void)pl_fail(&run->err, PL_INVALID, "%.*s", (int)(text.len < 500 ? text.len : 500), text.ptr);
}

static void error_read(struct pl_job *job)
{
    struct pl_task_run *run = PL_CONTAINER_OF(job, struct pl_task_run, job);
    if (pl_scheduler_is_over(run->scheduler))
        pl_task_run_destroy(run);
    else
        pl_task_run_fail(run, run->err.message, true);
}

static void wait_again(struct pl_timer *timer)
{
    struct pl_task_run *run = PL_CONTAINER_OF(timer, struct pl_task_run, timer);
    pl_task_run_become(run, PL_TASK_RUN_AT_WORK);
    pl_task_run_watch(run);
    pl_background_session_wait(&run->background);
}

static void end_stopped(struct pl_task_run *run, const char *why)
{
    fail(run, run->stopped ? run->stopped : why);
    run->counts = run->is_over_limit;
    end(run);
}

void pl_task_run_end(struct pl_background_session *background)
{
    struct pl_task_run *run = background->ctx;
    struct pl_scheduler *scheduler = run->scheduler;
    bool is_ending =
        pl_scheduler_is_over(scheduler) || pl_life_is_closing(&scheduler->server->life);
    bool is_lost =
        background->problem != PL_PROBLEM_COUNT && background->problem != PL_PROBLEM_NOT_FOUND;
    if (pl_scheduler_is_over(scheduler) || (is_lost && is_ending)) {
        pl_task_run_destroy(run); /* the next start records it */
        return;
    }
    pl_timer_stop(scheduler->shard->loop, &run->timer);
    if (is_lost) {
        pl_task_run_rest(run, PL_TASK_RUN_LOST, wait_again);
        return;
    }
    pl_unattended_remove(scheduler->server->unattended, run->row.session_id);
    if (background->problem == PL_PROBLEM_NOT_FOUND) {
        end_stopped(run, "Its session was deleted.");
    } else if (background->status == PL_SESSION_COMPLETED) {
        run->row.status = PL_STR("completed");
        run->counts = true;
        end(run);
    } else if (background->status == PL_SESSION_FAILED) {
        pl_task_run_become(run, PL_TASK_RUN_READING);
        pl_task_run_submit(run, 0, read_error, error_read);
    } else {
        end_stopped(run, "Its session was stopped.");
    }
}
