/* One run of a task, from the decision to run it until its end is recorded:
 *
 *     [prepare: worker] -> session, row and task in one transaction -> at work ------> at rest
 *          |                       |                                                        |
 *          +-- no prompt ----------+-- refused ----> written down as failed <---------------+
 *                                                            |
 *                                     [look after: worker] task told, next of the queue begun
 *
 * It lives on the first shard. A failed write is retried. */
#ifndef PL_SERVICE_TASKS_TASK_RUN_INT_H
#define PL_SERVICE_TASKS_TASK_RUN_INT_H

#include "service/tasks/scheduler_int.h"
#include "shard/setup.h"

enum pl_task_origin {
    PL_TASK_ORIGIN_DUE,
    PL_TASK_ORIGIN_MANUAL,
    PL_TASK_ORIGIN_QUEUED,  /* its row exists already */
    PL_TASK_ORIGIN_ADOPTED, /* its row and its session exist already */
};

/* The diagram is in task_run.c. */
enum pl_task_run_state {
    PL_TASK_RUN_NEW,
    PL_TASK_RUN_PREPARING, /* a worker reads the message */
    PL_TASK_RUN_SENDING,   /* its session is being created */
    PL_TASK_RUN_AT_WORK,   /* its session runs */
    PL_TASK_RUN_LOST,      /* its session could not be reached: retry */
    PL_TASK_RUN_PUT_OFF,   /* the obstacle is considered temporary */
    PL_TASK_RUN_QUEUEING,  /* the store records that it waits */
    PL_TASK_RUN_WAITING,   /* for a free turn of its user: in the scheduler's queue */
    PL_TASK_RUN_READING,   /* a worker reads why its session failed */
    PL_TASK_RUN_WRITING,   /* the store records how it ended */
    PL_TASK_RUN_UNWRITTEN, /* … and failed: retry */
    PL_TASK_RUN_LOOKING,   /* a worker reads what follows it */
    PL_TASK_RUN_LEAVING,   /* its occurrence belongs to another run: the store advances the task */
    PL_TASK_RUN_OVER,
};

struct pl_task_run {
    enum pl_task_run_state state;
    struct pl_background_session background;
    struct pl_job job;
    struct pl_timer timer; /* its deadline, or the next attempt */
    struct pl_arena arena;
    struct pl_scheduler *scheduler; /* borrowed */
    struct pl_task_run *prev, *next;
    enum pl_task_origin origin;
    struct pl_task_row task;     /* arena */
    struct pl_task_run_row row;  /* arena, or the members below */
    struct pl_due_task due;      /* of DUE; its strings are not used */
    struct pl_task_start *start; /* of MANUAL, until it is answered; borrowed */
    struct pl_id run_id, session_id, missed_id;
    struct pl_setup *setup;   /* held while it is prepared */
    struct pl_task_row fresh; /* arena; of QUEUED: as stored now */
    struct pl_task_said said;
    enum pl_status status; /* of the job */
    struct pl_error err;
    char error[sizeof((struct pl_error *)0)->message]; /* text of row.error */
    const char *stopped; /* why it was stopped here: static, or over_limit; NULL: it was not */
    char over_limit[80];
    bool is_acting;  /* the scan that found it waits for it */
    bool has_place;  /* one of its user's turns is reserved for it (task_wait.c) */
    bool is_dropped; /* its task was stopped or deleted while it waited */
    struct pl_task_run *wait_prev, *wait_next; /* in WAITING */
    int64_t began_ms;                          /* by the monotonic clock; 0: not yet */
    bool is_over_limit;
    bool counts; /* its end counts for or against the task */
    /* Results of the look after its end: */
    bool has_task;
    struct pl_task_run_row *queued; /* arena; newest first */
    size_t n_queued, n_running;
};

static inline bool pl_task_run_has_failed(const struct pl_task_run *run)
{
    return pl_str_eq(run->row.status, PL_STR("failed"));
}

/* --- task_run.c */
void pl_task_run_become(struct pl_task_run *run, enum pl_task_run_state to);
/* The same for a state that lasts PL_TASK_RETRY_MS; then calls `again`. */
void pl_task_run_rest(struct pl_task_run *run, enum pl_task_run_state to,
                      void (*again)(struct pl_timer *timer));
void pl_task_run_destroy(struct pl_task_run *run);
/* Tells the scan, and the caller of a manual start, that it has started or will not start. */
void pl_task_run_begun(struct pl_task_run *run, bool has_failed);
/* In the transaction that creates its row: the caller of a manual start stores its answer there. */
void pl_task_run_extend(struct pl_task_run *run, struct pl_batch *batch);
/* The obstacle is considered temporary. */
void pl_task_run_put_off(struct pl_task_run *run, enum pl_problem problem,
                         const struct pl_error *err);
/* Its time limit starts now. */
void pl_task_run_watch(struct pl_task_run *run);
/* wait_ms as for a job; 0: it completes work in progress. */
void pl_task_run_submit(struct pl_task_run *run, int64_t wait_ms, void (*work)(struct pl_job *),
                        void (*done)(struct pl_job *));

/* There is room now for a waiting run. */
void pl_task_run_resume(struct pl_task_run *run);

/* --- task_wait.c */
/* Whether its user has room for another turn; if so, reserves it for the run. */
bool pl_task_run_reserve(struct pl_task_run *run);
/* Waits for room, durably. */
void pl_task_run_wait(struct pl_task_run *run);
/* Removes it from the queue, if it is there. */
void pl_task_run_unqueue(struct pl_task_run *run);

/* --- task_end.c */
/* The task was stopped while the run waited. */
void pl_task_run_skip(struct pl_task_run *run);
/* It never began, or failed. The row gets the reason; `counts`: against the task. */
void pl_task_run_fail(struct pl_task_run *run, const char *why, bool counts);
/* Its occurrence belongs to another run: the task only advances. */
void pl_task_run_leave(struct pl_task_run *run);
/* The session is at rest, or gone. */
void pl_task_run_end(struct pl_background_session *background);

#endif
