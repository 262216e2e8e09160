/* What scheduler.c (when) and task_run.c (one run) share. All of it lives on the first shard. */
#ifndef PL_SERVICE_TASKS_SCHEDULER_INT_H
#define PL_SERVICE_TASKS_SCHEDULER_INT_H

#include "agent/background/background_session.h"
#include "base/table.h"
#include "service/tasks/scheduler.h"
#include "service/tasks/task_message.h"
#include "service/tasks/task_schedule.h"

#include <pthread.h>

/* One task that is due, and what to do about it. */
enum pl_due_act {
    PL_DUE_ADVANCE, /* no run: missed occurrences are recorded */
    PL_DUE_RUN,
    PL_DUE_REPLACE, /* the same, and the active run is stopped */
    PL_DUE_NOTE,    /* a row that says why nothing runs, or not yet: `status` */
    PL_DUE_DISABLE, /* `reason` */
    PL_DUE_REWIND,  /* the clock was set back: next_ms is earlier */
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

struct pl_due_scan {
    struct pl_job job;
    struct pl_arena arena;
    int64_t now_ms;
    bool is_rewinding;         /* first, tasks whose next time is too late … */
    int64_t rewind_ms;         /* … after this one */
    struct pl_due_task *items; /* arena */
    size_t n_items;
    int64_t next_ms; /* when nothing is due */
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
    struct pl_timer timer; /* of PAUSING */
    struct pl_job job;     /* of READING */
    struct pl_arena arena; /* of READING */
    bool has_begun;
    struct pl_str *own; /* of READING: arena; ids of runs that this scheduler has already */
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
    PL_SCHEDULER_ASLEEP,  /* until its timer, or until it is woken */
    PL_SCHEDULER_LOOKING, /* a worker has the look */
    PL_SCHEDULER_ACTING,  /* not all items are written yet */
    PL_SCHEDULER_LEFT,    /* the loop has stopped, and a worker still has the scan */
    PL_SCHEDULER_OVER,    /* the loop has stopped: returning callbacks are dropped */
};

enum { PL_SCHEDULER_NODES = 64 }; /* of more, the others count as not there */

struct pl_scheduler {
    enum pl_scheduler_state state;
    struct pl_server *server; /* borrowed */
    struct pl_shard *shard;   /* borrowed: the first */
    struct pl_timer timer;
    struct pl_letter wake;
    _Atomic(bool) is_woken; /* the letter is on its way */
    struct pl_task_recovery recovery;
    struct pl_due_scan look;
    bool wants_look;          /* something changed meanwhile */
    bool has_failed;          /* something could not be stored: wait before the next attempt */
    size_t n_acting;          /* of ACTING: how much */
    struct pl_task_run *runs; /* owned: all there are */
    /* Runs that wait for a free turn of their user, by due time (task_wait.c): */
    struct pl_task_run *waiting, *last_waiting;
    struct pl_timer room_timer;
    struct pl_letter room;
    _Atomic(bool) is_room_told; /* the letter is on its way */
    /* The largest lead of the wall clock over the monotonic one since the schedules were last
     * compared with it: */
    int64_t ahead_ms;
    int64_t looked_ms; /* the last scan, by the monotonic clock */
    bool must_rewind;  /* the wall clock was set back, or nobody knows: at the start */
    pthread_mutex_t nodes_lock;
    struct pl_node_id me, nodes[PL_SCHEDULER_NODES]; /* under the lock */
    size_t n_nodes;                                  /* under the lock; 0: this server is alone */
    struct pl_letter take_up;
    _Atomic(bool) is_taking_up; /* the letter is on its way */
};

/* The loop has stopped. */
static inline bool pl_scheduler_is_over(const struct pl_scheduler *scheduler)
{
    return scheduler->state >= PL_SCHEDULER_LEFT;
}

/* One item of the last scan is written, or failed. */
void pl_scheduler_acted(struct pl_scheduler *scheduler, bool has_failed);

/* Scans for due tasks, now or after the current scan. */
void pl_scheduler_look(struct pl_scheduler *scheduler);

/* --- task_wait.c ----------------------------------------------------------------------------- */

/* Starts waiting runs that have room. */
void pl_scheduler_go_through_waiting(struct pl_scheduler *scheduler);

/* --- task_rewind.c --------------------------------------------------------------------------- */

/* Tasks whose stored next time is later than the one by the present clock, as items of the scan. On
 * a worker. */
enum pl_status pl_scheduler_find_late(struct pl_scheduler *scheduler);

/* --- task_recover.c -------------------------------------------------------------------------- */

/* Takes over the runs of an earlier process, or of a node that is gone, then scans. While it does so, it
 * is asked for nothing more: what is left is found by the next one. */
void pl_scheduler_recover(struct pl_scheduler *scheduler);
/* The scheduler is over. */
void pl_scheduler_recover_stop(struct pl_scheduler *scheduler);
/* Runs of a task that are in a status, the newest first. On a worker. */
enum pl_status pl_task_runs_in(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str task_id, const char *status, size_t limit,
                               struct pl_task_run_page *ret_page, struct pl_error *err);

/* --- task_run.c ------------------------------------------------------------------------------ */

/* An occurrence that is due; false when out of memory. */
bool pl_task_run_due(struct pl_scheduler *scheduler, const struct pl_due_task *due);
/* A run that waited for an earlier one; and one that was active when another process ended. */
bool pl_task_run_queued(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                        const struct pl_task_run_row *row);
bool pl_task_run_adopt(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                       const struct pl_task_run_row *row);
/* Stops the session of a run. `why` (static) is the run's error, if the run is ours. */
void pl_task_run_stop(struct pl_scheduler *scheduler, const struct pl_task_row *task,
                      const struct pl_task_run_row *row, const char *why);
/* How many runs there are; their ids, borrowed, where there is room for them (not NULL). */
size_t pl_task_runs_own(const struct pl_scheduler *scheduler, struct pl_str *ret_ids);
/* At the end: all of them are gone. */
void pl_task_runs_drop(struct pl_scheduler *scheduler);

/* A row with a new id that records missed occurrences. */
struct pl_task_run_row pl_task_missed_row(const struct pl_cron_due *due, struct pl_str task_id,
                                          struct pl_id *id, struct pl_id_seed *seed);
/* The writes that advance a task: missed occurrences, and its next time. */
void pl_task_advance(struct pl_batch *batch, const struct pl_task_row *task,
                     const struct pl_due_task *due);
/* system:notification: it was disabled, and why. */
void pl_task_notify_disabled(struct pl_server *server, const struct pl_task_row *task);

#endif
