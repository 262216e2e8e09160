/* One run of a task.
 *
 *     machine task-run
 *
 *     NEW -> PREPARING -> SENDING -> AT_WORK -> WRITING -> LOOKING -> OVER
 *     NEW -> AT_WORK                           another process began it
 *     AT_WORK -> READING -> WRITING            its session failed
 *     AT_WORK -> LOST -> AT_WORK
 *     PREPARING, SENDING -> QUEUEING, WAITING  its user has no turn free
 *     QUEUEING -> WAITING -> PREPARING
 *     PREPARING, SENDING -> PUT_OFF -> PREPARING
 *     PREPARING, SENDING -> WRITING            it cannot begin, and that is written down
 *     WRITING -> UNWRITTEN -> WRITING
 *     SENDING, QUEUEING, WRITING -> LEAVING -> OVER
 *     NEW, PREPARING, SENDING, AT_WORK, LOST, PUT_OFF, QUEUEING, WAITING -> OVER
 *     READING, WRITING, UNWRITTEN -> OVER
 *
 * If a run is dropped before its end is recorded, the next process records it. */
#include "service/tasks/task_run_int.h"

#include "agent/background/unattended.h"
#include "base/mem.h"
#include "io/move.h"
#include "service/tasks/task_json.h"

#include <assert.h>
#include <stdio.h>

enum { STOP_AGAIN_MS = 10000, MINUTE_MS = 60000 };

#define TO(name)  PL_TO(PL_TASK_RUN_##name)
#define A_WORKER  "a worker always comes back; queue_wait_ms for its turn"
#define THE_STORE "the store always comes back"
static const struct pl_state states[] = {
    [PL_TASK_RUN_NEW] = {"new", TO(PREPARING) | TO(AT_WORK) | TO(OVER)},
    [PL_TASK_RUN_PREPARING] = {"preparing",
                               TO(SENDING) | TO(QUEUEING) | TO(WAITING) | TO(PUT_OFF) |
                                   TO(WRITING) | TO(OVER),
                               PL_WAIT_OPEN, PL_CANCEL_LATER, .why = A_WORKER},
    [PL_TASK_RUN_SENDING] = {"sending",
                             TO(AT_WORK) | TO(QUEUEING) | TO(WAITING) | TO(PUT_OFF) | TO(WRITING) |
                                 TO(LEAVING) | TO(OVER),
                             PL_WAIT_OPEN, PL_CANCEL_LATER,
                             .why = "a session answers what it is asked, also when it breaks"},
    [PL_TASK_RUN_AT_WORK] = {"at-work", TO(READING) | TO(WRITING) | TO(LOST) | TO(OVER),
                             PL_WAIT_SET, PL_CANCEL_LATER,
                             .why = "task_ms: then its session is stopped, every ten seconds"},
    [PL_TASK_RUN_LOST] = {"lost", TO(AT_WORK) | TO(OVER), PL_WAIT_MS, PL_CANCEL_ENDS,
                          .limit_ms = PL_TASK_RETRY_MS},
    [PL_TASK_RUN_PUT_OFF] = {"put-off", TO(PREPARING) | TO(OVER), PL_WAIT_MS, PL_CANCEL_ENDS,
                             .limit_ms = PL_TASK_RETRY_MS},
    [PL_TASK_RUN_QUEUEING] = {"queueing", TO(WAITING) | TO(LEAVING) | TO(OVER), PL_WAIT_OPEN,
                              PL_CANCEL_LATER, .why = THE_STORE},
    [PL_TASK_RUN_WAITING] = {"waiting", TO(PREPARING) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                             .why = "turns of its user end: turn_ms, for each of them"},
    [PL_TASK_RUN_READING] = {"reading", TO(WRITING) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                             .why = A_WORKER},
    [PL_TASK_RUN_WRITING] = {"writing", TO(UNWRITTEN) | TO(LOOKING) | TO(LEAVING) | TO(OVER),
                             PL_WAIT_OPEN, PL_CANCEL_LATER, .why = THE_STORE},
    [PL_TASK_RUN_UNWRITTEN] = {"unwritten", TO(WRITING) | TO(OVER), PL_WAIT_MS, PL_CANCEL_ENDS,
                               .limit_ms = PL_TASK_RETRY_MS},
    [PL_TASK_RUN_LOOKING] = {"looking", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = A_WORKER},
    [PL_TASK_RUN_LEAVING] = {"leaving", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER, .why = THE_STORE},
    [PL_TASK_RUN_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("task-run", states);

void pl_task_run_become(struct pl_task_run *run, enum pl_task_run_state to)
{
    run->state = (enum pl_task_run_state)pl_move(&machine, run, run->state, to);
}

void pl_task_run_rest(struct pl_task_run *run, enum pl_task_run_state to,
                      void (*again)(struct pl_timer *timer))
{
    pl_task_run_become(run, to);
    pl_move_limit(&machine, run->state, run->scheduler->shard->loop, &run->timer, 0, again);
}

static void begin(struct pl_task_run *run);

/* --- life ------------------------------------------------------------------------------------ */

void pl_task_run_destroy(struct pl_task_run *run)
{
    struct pl_scheduler *scheduler = run->scheduler;
    pl_task_run_unqueue(run);
    pl_task_run_become(run, PL_TASK_RUN_OVER);
    if (run->prev)
        run->prev->next = run->next;
    else
        scheduler->runs = run->next;
    if (run->next)
        run->next->prev = run->prev;
    pl_timer_stop(scheduler->shard->loop, &run->timer);
    pl_arena_deinit(&run->arena);
    pl_mem_free(run);
}

size_t pl_task_runs_own(const struct pl_scheduler *scheduler, struct pl_str *ret_ids)
{
    size_t n = 0;
    for (const struct pl_task_run *run = scheduler->runs; run; run = run->next) {
        if (ret_ids)
            ret_ids[n] = run->row.id;
        n++;
    }
    return n;
}

void pl_task_runs_drop(struct pl_scheduler *scheduler)
{
    while (scheduler->runs) {
        assert(!pl_machine_is_away(&machine, scheduler->runs->state));
        pl_task_run_destroy(scheduler->runs);
    }
}

static struct pl_task_run *create(struct pl_scheduler *scheduler, enum pl_task_origin origin,
                                  const struct pl_task_row *task)
{
    struct pl_task_run *run = pl_mem_alloc(1, sizeof *run);
    if (!run)
        return NULL;
    *run = (struct pl_task_run){.scheduler = scheduler, .origin = origin};
    pl_arena_init(&run->arena, 0);
    run->next = scheduler->runs;
    if (run->next)
        run->next->prev = run;
    scheduler->runs = run;
    if (pl_task_copy(&run->arena, task, &run->task) == PL_OK)
        return run;
    pl_task_run_destroy(run);
    return NULL;
}

void pl_task_run_submit(struct pl_task_run *run, int64_t wait_ms, void (*work)(struct pl_job *),
                        void (*done)(struct pl_job *))
{
    run->job = (struct pl_job){
        .owner = pl_owner_of(run->task.user_id),
        .wait_ms = wait_ms,
        .is_begun = !wait_ms,
        .run = work,
        .done = done,
    };
    pl_workers_submit(run->scheduler->server->workers, run->scheduler->shard->loop, &run->job);
}

/* --- who waits for it to begin --------------------------------------------------------------- */

static void open_started(struct pl_letter *letter)
{
    struct pl_task_start *start = PL_CONTAINER_OF(letter, struct pl_task_start, letter);
    start->done(start);
}

static void answer(struct pl_task_start *start)
{
    start->letter.open = open_started;
    pl_loop_post(start->home->loop, &start->letter);
}

static void refuse(struct pl_task_start *start, enum pl_problem problem, const struct pl_error *err)
{
    start->problem = problem;
    if (err)
        start->err = *err;
    answer(start);
}

void pl_task_run_extend(struct pl_task_run *run, struct pl_batch *batch)
{
    struct pl_task_start *start = run->start;
    if (!start)
        return;
    pl_buf_clear(&start->reply);
    struct pl_json_out out = pl_json_out(&start->reply);
    pl_task_run_write(&out, &run->row);
    if (start->extend)
        start->extend(start, batch);
}

void pl_task_run_begun(struct pl_task_run *run, bool has_failed)
{
    struct pl_task_start *start = PL_TAKE(run->start);
    if (start)
        answer(start);
    if (run->is_acting) {
        run->is_acting = false;
        pl_scheduler_acted(run->scheduler, has_failed);
    }
}

static void on_retry(struct pl_timer *timer)
{
    begin(PL_CONTAINER_OF(timer, struct pl_task_run, timer));
}

void pl_task_run_put_off(struct pl_task_run *run, enum pl_problem problem,
                         const struct pl_error *err)
{
    struct pl_scheduler *scheduler = run->scheduler;
    run->has_place = false;
    if (run->start)
        refuse(PL_TAKE(run->start), problem, err);
    if (run->origin == PL_TASK_ORIGIN_QUEUED && !pl_scheduler_is_over(scheduler)) {
        pl_task_run_rest(run, PL_TASK_RUN_PUT_OFF, on_retry);
        return;
    }
    pl_task_run_begun(run, true);
    pl_task_run_destroy(run);
}

/* --- at work --------------------------------------------------------------------------------- */

/* A stop without an owner: freed when it is answered. */
struct stopping {
    struct pl_session_command command;
    size_t n_user;
    char ids[]; /* user, session */
};

static void stopped(struct pl_session_command *command)
{
    struct stopping *stopping = PL_CONTAINER_OF(command, struct stopping, command);
    pl_session_command_deinit(command);
    pl_mem_free(stopping);
}

static void send_stop(struct pl_scheduler *scheduler, struct pl_str user_id,
                      struct pl_str session_id)
{
    struct stopping *stopping = pl_mem_alloc(1, sizeof *stopping + user_id.len + session_id.len);
    if (!stopping)
        return;
    memcpy(stopping->ids, user_id.ptr, user_id.len);
    memcpy(stopping->ids + user_id.len, session_id.ptr, session_id.len);
    struct pl_str user = {stopping->ids, user_id.len};
    struct pl_str session = {stopping->ids + user_id.len, session_id.len};
    pl_session_command_init(&stopping->command, PL_COMMAND_EVENT, scheduler->shard, user, session);
    stopping->command.event.kind = PL_SE_STOP;
    stopping->command.done = stopped;
    pl_session_command_send(&stopping->command);
}

static struct pl_task_run *find(struct pl_scheduler *scheduler, struct pl_str run_id)
{
    struct pl_task_run *run = scheduler->runs;
    while (run && !pl_str_eq(run->row.id, run_id))
        run = run->next;
    return run;
}

void pl_task_run_stop(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                      const struct pl_task_run_row *row, const char *why)
{
    struct pl_task_run *run = find(scheduler, row->id);
    if (run)
        run->stopped = why;
    if (row->session_id.len)
        send_stop(scheduler, task->user_id, row->session_id);
}

static void on_limit(struct pl_timer *timer)
{
    struct pl_task_run *run = PL_CONTAINER_OF(timer, struct pl_task_run, timer);
    int64_t ms = run->scheduler->shard->setup->config.task_ms;
    bool is_minutes = ms % MINUTE_MS == 0;
    run->is_over_limit = true;
    snprintf(run->over_limit, sizeof run->over_limit,
             "It took longer than %lld %s (task_ms) and was stopped.",
             (long long)(is_minutes ? ms / MINUTE_MS : ms), is_minutes ? "minutes" : "ms");
    pl_task_run_stop(run->scheduler, &run->task, &run->row, run->over_limit);
    /* A stop may fail for lack of memory. */
    pl_timer_start(run->scheduler->shard->loop, timer, STOP_AGAIN_MS, on_limit);
}

void pl_task_run_watch(struct pl_task_run *run)
{
    struct pl_loop *loop = run->scheduler->shard->loop;
    int64_t now_ms = pl_loop_now_ms(loop);
    /* The start of another process's run is known only by the wall clock. */
    if (!run->began_ms) {
        int64_t gone_ms = pl_loop_unix_ms(loop) - run->row.triggered_ms;
        run->began_ms =
            run->origin == PL_TASK_ORIGIN_ADOPTED && gone_ms > 0 ? now_ms - gone_ms : now_ms;
    }
    int64_t left_ms = run->scheduler->shard->setup->config.task_ms - (now_ms - run->began_ms);
    pl_timer_start(loop, &run->timer, left_ms < 0 ? 0 : left_ms, on_limit);
}

/* In the transaction that creates the session. On the session's shard: read-only. */
static void extend(struct pl_background_session *background, struct pl_batch *batch)
{
    struct pl_task_run *run = background->ctx;
    if (run->origin == PL_TASK_ORIGIN_QUEUED) {
        pl_batch_start_run(batch, &run->row);
        return;
    }
    pl_batch_create_run(batch, &run->row);
    pl_task_run_extend(run, batch);
    if (run->origin == PL_TASK_ORIGIN_DUE)
        pl_task_advance(batch, &run->task, &run->due);
}

static void forget_session(struct pl_task_run *run)
{
    pl_unattended_remove(run->scheduler->server->unattended, run->background.record.id);
    run->row.session_id = (struct pl_str){0};
}

/* Whether to retry: the machine lacks some resource. */
static bool may_pass(enum pl_problem problem)
{
    return pl_problem_info(problem)->is_retryable;
}

static void on_refused(struct pl_task_run *run)
{
    enum pl_problem problem = run->background.problem;
    bool is_lost = problem == PL_PROBLEM_CONFLICT || problem == PL_PROBLEM_NOT_FOUND;
    forget_session(run);
    if (problem == PL_PROBLEM_RATE_LIMITED && !run->start)
        pl_task_run_wait(run);
    else if (is_lost && run->origin == PL_TASK_ORIGIN_DUE)
        pl_task_run_leave(run);
    else if (problem == PL_PROBLEM_NOT_FOUND && run->origin == PL_TASK_ORIGIN_QUEUED)
        pl_task_run_leave(run); /* another scheduler has it, or it was deleted with its task */
    else if (run->start || is_lost || may_pass(problem))
        pl_task_run_put_off(run, problem, &run->background.err);
    else
        pl_task_run_fail(run,
                         run->background.err.message[0] ? run->background.err.message
                                                        : pl_problem_info(problem)->title,
                         true);
}

static void on_started(struct pl_background_session *background)
{
    struct pl_task_run *run = background->ctx;
    struct pl_scheduler *scheduler = run->scheduler;
    run->has_place = false;
    if (background->problem != PL_PROBLEM_COUNT) {
        on_refused(run);
        return;
    }
    if (run->origin == PL_TASK_ORIGIN_DUE) {
        run->task.next_ms = run->due.next_ms;
        run->task.last_ms = run->due.due.last_s * 1000;
    }
    pl_task_run_become(run, PL_TASK_RUN_AT_WORK);
    if (!pl_scheduler_is_over(run->scheduler))
        pl_task_run_watch(run);
    pl_task_tell(scheduler->server, &run->task, &run->row);
    pl_task_run_begun(run, false);
    if (scheduler->waiting)
        pl_scheduler_go_through_waiting(scheduler);
}

static void fill_errand(struct pl_task_run *run)
{
    struct pl_background_session *background = &run->background;
    *background = (struct pl_background_session){
        .home = run->scheduler->shard,
        .record = {.id = run->row.session_id,
                   .user_id = run->task.user_id,
                   .intent = run->task.title,
                   .model = run->task.model.len ? run->task.model : run->said.model,
                   .source = PL_STR("task"),
                   .memory_enabled = true,
                   .settings = run->said.settings,
                   .tools = run->said.tools},
        .turns = run->said.turns,
        .n_turns = run->said.n_turns,
        .message = run->said.message,
        .override = run->said.override,
        .trace_id = run->start ? run->start->trace_id : (struct pl_str){0},
        .waits_for_person = true,
        .extend = extend,
        .started = on_started,
        .done = pl_task_run_end,
        .ctx = run,
    };
}

static void send(struct pl_task_run *run)
{
    struct pl_id_seed seed = pl_shard_seed(run->scheduler->shard);
    pl_task_run_become(run, PL_TASK_RUN_SENDING);
    run->session_id = pl_id_take(&seed, "sess_");
    run->row.session_id = pl_str_of(run->session_id.text);
    run->row.status = PL_STR("running");
    run->row.error = (struct pl_str){0};
    fill_errand(run);
    (void)pl_unattended_add(run->scheduler->server->unattended, run->row.session_id,
                            run->task.skip_confirmations);
    pl_background_session_send(&run->background);
}

/* --- beginning ------------------------------------------------------------------------------- */

static void prepare(struct pl_job *job)
{
    struct pl_task_run *run = PL_CONTAINER_OF(job, struct pl_task_run, job);
    struct pl_store *store = run->scheduler->server->store;
    bool is_queued = run->origin == PL_TASK_ORIGIN_QUEUED;
    run->err = (struct pl_error){0};
    run->fresh = run->task;
    run->status = PL_OK;
    /* A waiting run may have been cancelled. The shard reads run->task meanwhile, so run->fresh
     * gets the new row. */
    if (is_queued)
        run->status = pl_store_task_get(store, &run->arena, run->task.user_id, run->row.task_id,
                                        &run->fresh, &run->err);
    run->is_dropped =
        is_queued && (run->status == PL_NOT_FOUND || (run->status == PL_OK && !run->fresh.enabled));
    if (run->status == PL_OK && !run->is_dropped)
        run->status = pl_task_says(run->setup->models, run->scheduler->server, &run->arena,
                                   &run->fresh, run->row.triggered_ms, &run->said, &run->err);
}

static void prepared(struct pl_job *job)
{
    struct pl_task_run *run = PL_CONTAINER_OF(job, struct pl_task_run, job);
    pl_setup_release(run->scheduler->shard, PL_TAKE(run->setup));
    bool is_ending =
        pl_scheduler_is_over(run->scheduler) || pl_life_is_ending(&run->scheduler->server->life);
    if (!job->is_refused && run->status == PL_OK)
        run->task = run->fresh;
    if (job->is_refused)
        run->status = pl_fail(&run->err, PL_IO, "The server is busy; try again in a moment.");
    if (is_ending || run->status == PL_NOMEM || run->status == PL_IO)
        pl_task_run_put_off(run, PL_PROBLEM_OVERLOADED, &run->err);
    else if (run->is_dropped)
        pl_task_run_skip(run);
    else if (run->status == PL_OK && run->origin != PL_TASK_ORIGIN_MANUAL &&
             !pl_task_run_reserve(run))
        pl_task_run_wait(run);
    else if (run->status == PL_OK)
        send(run);
    else
        pl_task_run_fail(run, run->err.message, true);
}

static void begin(struct pl_task_run *run)
{
    pl_task_run_become(run, PL_TASK_RUN_PREPARING);
    run->setup = pl_setup_hold(run->scheduler->shard);
    pl_task_run_submit(run, run->setup->config.queue_wait_ms, prepare, prepared);
}

void pl_task_run_resume(struct pl_task_run *run)
{
    /* Its time limit starts now, not when it entered the queue. */
    run->row.triggered_ms = pl_loop_unix_ms(run->scheduler->shard->loop);
    begin(run);
}

/* Makes its own row, due at due_ms. */
static void make_row(struct pl_task_run *run, int64_t due_ms, struct pl_id_seed *seed)
{
    run->run_id = pl_id_take(seed, "run_");
    run->row = (struct pl_task_run_row){
        .id = pl_str_of(run->run_id.text),
        .task_id = run->task.id,
        .status = PL_STR("running"),
        .due_ms = due_ms,
        .is_manual = run->origin == PL_TASK_ORIGIN_MANUAL,
        .triggered_ms = seed->unix_ms,
    };
}

bool pl_task_run_due(struct pl_scheduler *scheduler, const struct pl_due_task *due)
{
    struct pl_task_run *run = create(scheduler, PL_TASK_ORIGIN_DUE, &due->task);
    if (!run)
        return false;
    struct pl_id_seed seed = pl_shard_seed(scheduler->shard);
    make_row(run, due->due.run_s * 1000, &seed);
    run->row.n_missed = due->due.n_collapsed;
    run->due = *due;
    if (due->due.n_missed)
        run->due.missed = pl_task_missed_row(&due->due, run->task.id, &run->missed_id, &seed);
    run->is_acting = true;
    begin(run);
    return true;
}

/* Creates a run that already has its row. */
static struct pl_task_run *resume(struct pl_scheduler *scheduler, enum pl_task_origin origin,
                                  const struct pl_task_row *task, const struct pl_task_run_row *row)
{
    struct pl_task_run *run = create(scheduler, origin, task);
    if (!run || pl_task_run_copy(&run->arena, row, &run->row) == PL_OK)
        return run;
    pl_task_run_destroy(run);
    return NULL;
}

bool pl_task_run_queued(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                        const struct pl_task_run_row *row)
{
    if (find(scheduler, row->id))
        return true;
    struct pl_task_run *run = resume(scheduler, PL_TASK_ORIGIN_QUEUED, task, row);
    if (!run)
        return false;
    pl_task_run_resume(run);
    return true;
}

bool pl_task_run_adopt(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                       const struct pl_task_run_row *row)
{
    if (find(scheduler, row->id))
        return true;
    struct pl_task_run *run = resume(scheduler, PL_TASK_ORIGIN_ADOPTED, task, row);
    if (!run)
        return false;
    fill_errand(run);
    (void)pl_unattended_add(scheduler->server->unattended, run->row.session_id,
                            task->skip_confirmations);
    pl_task_run_become(run, PL_TASK_RUN_AT_WORK);
    pl_task_run_watch(run);
    pl_background_session_wait(&run->background);
    return true;
}

static void open_start(struct pl_letter *letter)
{
    struct pl_task_start *start = PL_CONTAINER_OF(letter, struct pl_task_start, letter);
    struct pl_scheduler *scheduler = start->home->server->scheduler;
    struct pl_task_run *run = pl_scheduler_is_over(scheduler)
                                  ? NULL
                                  : create(scheduler, PL_TASK_ORIGIN_MANUAL, &start->task);
    if (!run) {
        refuse(start, PL_PROBLEM_OVERLOADED, NULL);
        return;
    }
    struct pl_id_seed seed = pl_shard_seed(scheduler->shard);
    make_row(run, seed.unix_ms, &seed);
    run->start = start;
    begin(run);
}

void pl_task_start_send(struct pl_task_start *start)
{
    start->problem = PL_PROBLEM_COUNT;
    start->letter.open = open_start;
    pl_loop_post(start->home->server->shards[0]->loop, &start->letter);
}
