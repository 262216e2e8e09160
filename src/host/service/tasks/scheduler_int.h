/* What scheduler.c (when) and task_run.c (one run) share. All of it lives on the first shard. */
#ifndef PL_SERVER_SCHEDULER_INT_H
#define PL_SERVER_SCHEDULER_INT_H

#include "base/table.h"
#include "server/errand.h"
#include "server/scheduler.h"
#include "server/task_says.h"
#include "server/task_when.h"

/* Of one task that is due: what is to be done about it. */
enum pl_due_act {
    PL_DUE_ADVANCE, /* nothing to run: what was missed is written down */
    PL_DUE_RUN,
    PL_DUE_REPLACE, /* the same, and what is at work is stopped */
    PL_DUE_NOTE,    /* a row that says why nothing runs, or not yet: `status` */
    PL_DUE_DISABLE, /* `reason` */
    PL_DUE_REWIND,  /* the clock was put back: next_ms comes sooner */
};

struct pl_due_task {
    struct pl_task_row task; /* arena of the look */
    enum pl_due_act act;
    struct pl_cron_due due;
    struct pl_task_run_row missed; /* made when it is acted upon, if due.n_missed */
    int64_t next_ms;
    const char *status;              /* NOTE: "skipped", "queued" */
    const char *reason;              /* NOTE, DISABLE */
    struct pl_task_run_row *running; /* REPLACE: arena */
    size_t n_running;
};

struct pl_look {
    struct pl_job job;
    struct pl_arena arena;
    int64_t now_ms;
    bool is_rewinding;         /* first of all, tasks that wait for too late a time … */
    int64_t rewind_ms;         /* … after this one */
    struct pl_due_task *items; /* arena */
    size_t n_items;
    int64_t next_ms; /* when nothing is due */
    enum pl_status status;
    struct pl_error err;
};

struct pl_task_run;

struct pl_scheduler {
    struct pl_server *server; /* borrowed */
    struct pl_shard *shard;   /* borrowed: the first */
    struct pl_timer timer;
    struct pl_letter wake;
    _Atomic(bool) is_woken; /* the letter is on its way */
    struct pl_look look;
    bool is_looking;          /* the job is away */
    bool wants_look;          /* something changed meanwhile */
    bool has_failed;          /* something could not be stored: not again at once */
    bool is_over;             /* the loop has stopped: what comes back goes */
    size_t n_acting;          /* what the last look found and is not written down yet */
    struct pl_task_run *runs; /* owned: all there are */
    /* Those that wait for a turn of their user to end, by when they were due (task_wait.c): */
    struct pl_task_run *waiting, *last_waiting;
    struct pl_timer room_timer;
    struct pl_letter room;
    _Atomic(bool) is_room_told; /* the letter is on its way */
    /* How far the wall clock is before the one that only goes forward, at most since the schedules
     * were last held to it: */
    int64_t ahead_ms;
    int64_t looked_ms; /* the last look, by the clock that only goes forward */
    bool must_rewind;  /* the wall clock was put back, or nobody knows: at the start */
};

/* One of what the last look found is written down, or was not to be. */
void pl_scheduler_acted(struct pl_scheduler *scheduler, bool has_failed);

/* Looks what is due, now or when the look before is done with. */
void pl_scheduler_look(struct pl_scheduler *scheduler);

/* --- task_wait.c ----------------------------------------------------------------------------- */

/* Begins what waits and has room. */
void pl_scheduler_go_through_waiting(struct pl_scheduler *scheduler);

/* --- task_rewind.c --------------------------------------------------------------------------- */

/* Tasks that wait for later than their next time by the present clock, as items of the look. On a
 * worker. */
enum pl_status pl_scheduler_find_late(struct pl_scheduler *scheduler);

/* --- task_left.c ----------------------------------------------------------------------------- */

/* Takes up what an earlier process left, then looks. False: out of memory. */
bool pl_scheduler_take_up(struct pl_scheduler *scheduler);
/* Runs of a task that are in a status, the newest first. On a worker. */
enum pl_status pl_task_runs_in(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str task_id, const char *status, size_t limit,
                               struct pl_task_run_page *ret_page, struct pl_error *err);

/* --- task_run.c ------------------------------------------------------------------------------ */

/* An occurrence that is due; false when out of memory. */
bool pl_task_run_due(struct pl_scheduler *scheduler, const struct pl_due_task *due);
/* One that waited for the run before; and one that was at work when another process ended. */
bool pl_task_run_queued(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                        const struct pl_task_run_row *row);
bool pl_task_run_adopt(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                       const struct pl_task_run_row *row);
/* Stops the session of a run. `why` (static) is what the run ends with, if it is ours. */
void pl_task_run_stop(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                      const struct pl_task_run_row *row, const char *why);
/* At the end: all of them are gone. */
void pl_task_runs_drop(struct pl_scheduler *scheduler);

/* What was missed, as a row with a new id. */
struct pl_task_run_row pl_task_missed_row(const struct pl_cron_due *due, struct pl_str task_id,
                                          struct pl_id *id, struct pl_id_seed *seed);
/* The writes that move a task on: what was missed, and where it stands then. */
void pl_task_advance(struct pl_batch *batch, const struct pl_task_row *task,
                     const struct pl_due_task *due);
/* system:notification: it was disabled, and why. */
void pl_task_notify_disabled(struct pl_server *server, const struct pl_task_row *task);

#endif
