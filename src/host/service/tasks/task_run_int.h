/* One run of a task, from the moment it is decided until it is written down how it ended:
 *
 *     [prepare: worker] -> errand: session, row and task in one transaction -> at work -> at rest
 *          |                       |                                                        |
 *          +-- no prompt ----------+-- refused ----> written down as failed <---------------+
 *                                                            |
 *                                     [look after: worker] task told, next of the queue begun
 *
 * It lives on the first shard; what was not stored is tried again. */
#ifndef PL_SERVER_TASK_RUN_INT_H
#define PL_SERVER_TASK_RUN_INT_H

#include "server/scheduler_int.h"
#include "server/setup.h"

enum pl_run_origin {
    PL_RUN_DUE,
    PL_RUN_MANUAL,
    PL_RUN_QUEUED,  /* its row is there already */
    PL_RUN_ADOPTED, /* and its session too */
};

struct pl_task_run {
    struct pl_errand errand;
    struct pl_job job;
    struct pl_timer timer; /* the end of patience, or another try */
    struct pl_arena arena;
    struct pl_scheduler *scheduler; /* borrowed */
    struct pl_task_run *prev, *next;
    enum pl_run_origin origin;
    struct pl_task_row task;     /* arena */
    struct pl_task_run_row row;  /* arena, or the members below */
    struct pl_due_task due;      /* of DUE; its strings are not looked at */
    struct pl_task_start *start; /* of MANUAL, until it is answered; borrowed */
    struct pl_id run_id, session_id, missed_id;
    struct pl_setup *setup;   /* held while it is prepared */
    struct pl_task_row fresh; /* arena; of QUEUED: as it is stored now */
    struct pl_task_said said;
    enum pl_status status; /* of the job */
    struct pl_error err;
    char error[sizeof((struct pl_error *)0)->message]; /* text of row.error */
    const char *stopped; /* static, or over_limit; why we stopped it; NULL: we did not */
    char over_limit[80];
    bool is_acting;  /* the look that found it waits for it */
    bool is_waiting; /* for a turn of its user to end: in the scheduler's queue */
    bool has_place;  /* one of its user's turns is meant for it (task_wait.c) */
    bool is_dropped; /* its task was stopped or deleted while it waited */
    struct pl_task_run *wait_prev, *wait_next; /* of is_waiting */
    int64_t began_ms;                          /* by the clock that only goes forward; 0: not yet */
    bool is_over_limit;
    bool counts; /* its end counts for or against the task */
    /* What the look after has found: */
    bool has_task;
    struct pl_task_run_row *queued; /* arena; newest first */
    size_t n_queued, n_running;
};

static inline bool pl_task_run_has_failed(const struct pl_task_run *run)
{
    return pl_str_eq(run->row.status, PL_STR("failed"));
}

/* --- task_run.c */
void pl_task_run_destroy(struct pl_task_run *run);
/* The look, and whoever asked for it by hand, hear that it has begun or will not. */
void pl_task_run_begun(struct pl_task_run *run, bool has_failed);
/* In the transaction that makes its row: whoever asked for it by hand keeps the answer there. */
void pl_task_run_extend(struct pl_task_run *run, struct pl_batch *batch);
/* What is in the way is thought to pass. */
void pl_task_run_put_off(struct pl_task_run *run, enum pl_problem problem,
                         const struct pl_error *err);
/* From now on it has as long as it has. */
void pl_task_run_watch(struct pl_task_run *run);
/* wait_ms as that of a job. */
void pl_task_run_submit(struct pl_task_run *run, int64_t wait_ms, void (*work)(struct pl_job *),
                        void (*done)(struct pl_job *));

/* What waited has room now. */
void pl_task_run_resume(struct pl_task_run *run);

/* --- task_wait.c */
/* Whether its user has room for another turn; if so, the run has it. */
bool pl_task_run_reserve(struct pl_task_run *run);
/* Waits for room, durably. */
void pl_task_run_wait(struct pl_task_run *run);
/* Out of the queue, if it is there. */
void pl_task_run_unqueue(struct pl_task_run *run);

/* --- task_end.c */
/* It waited in vain: the task was stopped. */
void pl_task_run_skip(struct pl_task_run *run);
/* It never began, or failed: the row says why, and it may count against the task. */
void pl_task_run_fail(struct pl_task_run *run, const char *why, bool counts);
/* Its occurrence is somebody else's: the task only moves on. */
void pl_task_run_leave(struct pl_task_run *run);
/* The errand is over. */
void pl_task_run_end(struct pl_errand *errand);

#endif
