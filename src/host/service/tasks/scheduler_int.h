/* Shared by scheduler.c (when) and task_run.c (one run). All of it lives on the first shard. */
#ifndef PL_SERVICE_TASKS_SCHEDULER_INT_H
#define PL_SERVICE_TASKS_SCHEDULER_INT_H

#include "agent/background/background_session.h"
#include "base/table.h"
#include "service/tasks/scheduler.h"
#include "service/tasks/task_message.h"
#include "service/tasks/task_schedule.h"

#include <pthread.h>

/* A due task, and the action for it. */
enum pl_due_act {
    PL_DUE_ADVANCE, /* no run: records missed occurrences */
    PL_DUE_RUN,
    PL_DUE_REPLACE, /* the same, and stops the active run */
    PL_DUE_NOTE,    /* a row with the reason why nothing runs, or not yet: `status` */
    PL_DUE_DISABLE, /* `reason` */
    PL_DUE_REWIND,  /* the clock was set back: next_ms is earlier */
};

struct pl_due_task {
    struct pl_task_row task; /* arena of the look */
    enum pl_due_act act;
    struct pl_cron_due due;
    struct pl_task_run_row missed; /* filled in when acted upon, if due.n_missed */
    int64_t next_ms;
    const char *status;              /* NOTE: "skipped", "queued" */
    const char *reason;              /* NOTE, DISABLE */
    struct pl_task_run_row *running; /* REPLACE: arena */
    size_t n_running;
};

struct pl_due_scan {
    struct pl_job job;
    struct pl_arena arena;
    int64_t now_ms;
    bool is_rewinding;         /* first finds tasks with a next time that is too late … */
    int64_t rewind_ms;         /* … computed from this instant */
    struct pl_due_task *items; /* arena */
    size_t n_items;
    int64_t next_ms; /* if nothing is due */
    enum pl_status status;
    struct pl_error err;
};

struct pl_task_run;

/* The diagram is in task_recover.c. */
enum pl_task_recovery_state {
    PL_TASK_RECOVERY_PAUSING,
    PL_TASK_RECOVERY_READING,
    PL_TASK_RECOVERY_DONE,
    PL_TASK_RECOVERY_OVER,
};

/* Runs of an earlier process. */
struct pl_task_recovery {
    enum pl_task_recovery_state state;
    struct pl_timer timer; /* in PAUSING */
    struct pl_job job;     /* in READING */
    struct pl_arena arena; /* in READING */
    bool has_begun;
    struct pl_str *own; /* in READING: arena; ids of runs that this scheduler already has */
    size_t n_own;
    struct pl_task_left {
        struct pl_task_left *next;
        struct pl_task_row task;
        struct pl_task_run_row row;
        bool is_queued;
    } * first; /* arena */
    enum pl_status status;
    struct pl_error err;
};

/* The diagram is in scheduler.c. */
enum pl_scheduler_state {
    PL_SCHEDULER_ASLEEP,  /* until its timer fires or it is woken */
    PL_SCHEDULER_LOOKING, /* a worker scans */
    PL_SCHEDULER_ACTING,  /* some items are not written yet */
    PL_SCHEDULER_LEFT,    /* the loop has stopped, and a worker still has the scan */
    PL_SCHEDULER_OVER,    /* the loop has stopped: returning callbacks are dropped */
};

enum { PL_SCHEDULER_NODES = 64 }; /* further nodes are ignored */

struct pl_scheduler {
    enum pl_scheduler_state state;
    struct pl_server *server; /* borrowed */
    struct pl_shard *shard;   /* borrowed: the first */
    struct pl_timer timer;
    struct pl_letter wake;
    _Atomic(bool) is_woken; /* the letter is under way */
    struct pl_task_recovery recovery;
    struct pl_due_scan look;
    bool wants_look;          /* something changed meanwhile */
    bool has_failed;          /* a write failed: wait before the next attempt */
    size_t n_acting;          /* in ACTING: the number of items */
    struct pl_task_run *runs; /* owned: all runs */
    /* Runs that wait for a free turn of their user, by due time (task_wait.c): */
    struct pl_task_run *waiting, *last_waiting;
    struct pl_timer room_timer;
    struct pl_letter room;
    _Atomic(bool) is_room_told; /* the letter is under way */
    /* The largest lead of the wall clock over the monotonic clock since the schedules were last
     * compared with it: */
    int64_t ahead_ms;
    int64_t looked_ms; /* the last scan, by the monotonic clock */
    bool must_rewind;  /* the wall clock was set back, or this is unknown: at the start */
    pthread_mutex_t nodes_lock;
    struct pl_node_id me, nodes[PL_SCHEDULER_NODES]; /* under the lock */
    size_t n_nodes;                                  /* under the lock; 0: this server is alone */
    struct pl_letter take_up;
    _Atomic(bool) is_taking_up; /* the letter is under way */
};

/* The loop has stopped. */
static inline bool pl_scheduler_is_over(const struct pl_scheduler *scheduler)
{
    return scheduler->state >= PL_SCHEDULER_LEFT;
}

/* One item of the last scan was written, or failed. */
void pl_scheduler_acted(struct pl_scheduler *scheduler, bool has_failed);

/* Scans for due tasks, now or after the current scan. */
void pl_scheduler_look(struct pl_scheduler *scheduler);

/* --- task_wait.c ----------------------------------------------------------------------------- */

/* Starts waiting runs that have room. */
void pl_scheduler_go_through_waiting(struct pl_scheduler *scheduler);

/* --- task_rewind.c --------------------------------------------------------------------------- */

/* Finds tasks with a stored next time later than the one by the present clock, as items of the
 * scan. On a worker. */
enum pl_status pl_scheduler_find_late(struct pl_scheduler *scheduler);

/* --- task_recover.c -------------------------------------------------------------------------- */

/* Takes over the runs of an earlier process or of a gone node, then scans. Ignored while it is
 * under way; the next call finds the rest. */
void pl_scheduler_recover(struct pl_scheduler *scheduler);
/* The scheduler is over. */
void pl_scheduler_recover_stop(struct pl_scheduler *scheduler);
/* The runs of a task with this status, newest first. On a worker. */
enum pl_status pl_task_runs_in(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str task_id, const char *status, size_t limit,
                               struct pl_task_run_page *ret_page, struct pl_error *err);

/* --- task_run.c ------------------------------------------------------------------------------ */

/* Starts a due occurrence; false if out of memory. */
bool pl_task_run_due(struct pl_scheduler *scheduler, const struct pl_due_task *due);
/* Starts a run that waited for an earlier one; or continues one that was active when another
 * process ended. */
bool pl_task_run_queued(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                        const struct pl_task_run_row *row);
bool pl_task_run_adopt(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                       const struct pl_task_run_row *row);
/* Stops the session of a run. `why` (static) becomes the run's error, if the run is ours. */
void pl_task_run_stop(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                      const struct pl_task_run_row *row, const char *why);
/* Returns the number of runs. ret_ids (may be NULL) gets their ids, borrowed. */
size_t pl_task_runs_own(const struct pl_scheduler *scheduler, struct pl_str *ret_ids);
/* At the end: destroys all runs. */
void pl_task_runs_drop(struct pl_scheduler *scheduler);

/* A row with a new id that records missed occurrences. */
struct pl_task_run_row pl_task_missed_row(const struct pl_cron_due *due, struct pl_str task_id,
                                          struct pl_id *id, struct pl_id_seed *seed);
/* Adds the writes that advance a task: missed occurrences, and its next time. */
void pl_task_advance(struct pl_batch *batch, const struct pl_task_row *task,
                     const struct pl_due_task *due);
/* Sends system:notification: the task was disabled, and why. */
void pl_task_notify_disabled(struct pl_server *server, const struct pl_task_row *task);

#endif
