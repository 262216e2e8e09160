/* Runs that wait until their user has a free turn. A user may have PL_MAX_RUNNING turns at work. A
 * task's run beyond that is recorded as queued, so that a restart finds it. It begins when one of
 * the user's turns has ended, in the order of due times. Users do not wait for each other.
 *
 *     prepared --no room--> row "queued" is durable -> waiting --room, reserved--> prepared -> sent
 *
 * A run keeps its reserved room until its session is counted (or refused), so no more runs begin
 * than there is room for. */
#include "agent/running_turns.h"
#include "service/tasks/task_run_int.h"

/* --- room ------------------------------------------------------------------------------------ */

/* A session that is already counted, with its answer still under way, counts twice for a moment. */
static bool has_room(struct pl_scheduler *scheduler, struct pl_str user_id)
{
    size_t n = pl_running_of(scheduler->server, user_id);
    for (struct pl_task_run *run = scheduler->runs; run && n < PL_MAX_RUNNING; run = run->next)
        n += run->has_place && pl_str_eq(run->task.user_id, user_id);
    return n < PL_MAX_RUNNING;
}

bool pl_task_run_reserve(struct pl_task_run *run)
{
    if (!run->has_place)
        run->has_place = has_room(run->scheduler, run->task.user_id);
    return run->has_place;
}

/* --- the queue ------------------------------------------------------------------------------- */

void pl_task_run_unqueue(struct pl_task_run *run)
{
    struct pl_scheduler *scheduler = run->scheduler;
    if (run->state != PL_TASK_RUN_WAITING)
        return;
    *(run->wait_prev ? &run->wait_prev->wait_next : &scheduler->waiting) = run->wait_next;
    *(run->wait_next ? &run->wait_next->wait_prev : &scheduler->last_waiting) = run->wait_prev;
    run->wait_prev = run->wait_next = NULL;
}

static void on_room_timer(struct pl_timer *timer)
{
    pl_scheduler_go_through_waiting(PL_CONTAINER_OF(timer, struct pl_scheduler, room_timer));
}

/* Inserts by due time. The timer covers turns that end without an announcement. */
static void enqueue(struct pl_task_run *run)
{
    struct pl_scheduler *scheduler = run->scheduler;
    struct pl_task_run *before = scheduler->last_waiting;
    while (before && before->row.due_ms > run->row.due_ms)
        before = before->wait_prev;
    run->has_place = false;
    pl_task_run_become(run, PL_TASK_RUN_WAITING);
    run->wait_prev = before;
    run->wait_next = before ? before->wait_next : scheduler->waiting;
    *(before ? &before->wait_next : &scheduler->waiting) = run;
    *(run->wait_next ? &run->wait_next->wait_prev : &scheduler->last_waiting) = run;
    if (!pl_timer_is_on(&scheduler->room_timer))
        pl_timer_start(scheduler->shard->loop, &scheduler->room_timer, PL_TASK_RETRY_MS,
                       on_room_timer);
}

void pl_scheduler_go_through_waiting(struct pl_scheduler *scheduler)
{
    struct pl_str full = {0}; /* a user without room; mostly the next run's user too */
    if (pl_scheduler_is_over(scheduler) || pl_life_is_ending(&scheduler->server->life))
        return;
    pl_timer_stop(scheduler->shard->loop, &scheduler->room_timer);
    for (struct pl_task_run *run = scheduler->waiting, *next; run; run = next) {
        next = run->wait_next;
        if (pl_str_eq(run->task.user_id, full))
            continue;
        if (!pl_task_run_reserve(run)) {
            full = run->task.user_id;
            continue;
        }
        pl_task_run_unqueue(run);
        pl_task_run_resume(run);
    }
    if (scheduler->waiting)
        pl_timer_start(scheduler->shard->loop, &scheduler->room_timer, PL_TASK_RETRY_MS,
                       on_room_timer);
}

/* --- waiting --------------------------------------------------------------------------------- */

static void on_queued(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_task_run *run = ctx;
    struct pl_scheduler *scheduler = run->scheduler;
    if (pl_scheduler_is_over(scheduler) ||
        (status != PL_OK && status != PL_CONFLICT && status != PL_NOT_FOUND)) {
        pl_task_run_put_off(run, PL_PROBLEM_OVERLOADED, err);
        return;
    }
    if (status != PL_OK) {
        pl_task_run_leave(run);
        return;
    }
    run->origin = PL_TASK_ORIGIN_QUEUED;
    run->task.next_ms = run->due.next_ms;
    run->task.last_ms = run->due.due.last_s * 1000;
    pl_task_tell(scheduler->server, &run->task, &run->row);
    enqueue(run);
    pl_task_run_begun(run, false);
    pl_scheduler_go_through_waiting(scheduler);
}

void pl_task_run_wait(struct pl_task_run *run)
{
    struct pl_scheduler *scheduler = run->scheduler;
    run->has_place = false;
    if (run->origin == PL_TASK_ORIGIN_QUEUED) {
        enqueue(run);
        return;
    }
    struct pl_batch *batch = pl_batch_create();
    if (!batch) {
        pl_task_run_put_off(run, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    pl_task_run_become(run, PL_TASK_RUN_QUEUEING);
    run->row.status = PL_STR("queued");
    pl_batch_create_run(batch, &run->row);
    pl_task_advance(batch, &run->task, &run->due);
    pl_store_submit(scheduler->server->store, scheduler->shard->loop, batch, on_queued, run);
}

/* --- a turn has ended ------------------------------------------------------------------------ */

static void open_room(struct pl_letter *letter)
{
    struct pl_scheduler *scheduler = PL_CONTAINER_OF(letter, struct pl_scheduler, room);
    atomic_store(&scheduler->is_room_told, false);
    pl_scheduler_go_through_waiting(scheduler);
}

void pl_scheduler_tell_room(struct pl_server *server)
{
    struct pl_scheduler *scheduler = server->scheduler;
    if (!scheduler || atomic_exchange(&scheduler->is_room_told, true))
        return;
    scheduler->room.open = open_room;
    pl_loop_post(scheduler->shard->loop, &scheduler->room);
}
