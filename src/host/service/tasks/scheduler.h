/* Tasks that run by the clock. One scheduler per server, on the first shard:
 *
 *     timer -> look (worker): what is due, by pl_cron_due -> act: a run each -> timer
 *
 * The timer is set to the earliest next_ms, and never further ahead than PL_TASK_LOOK_MS: the clock
 * may be put forward, and other servers may use the same store. An occurrence is a row (task,
 * instant) that is made in the transaction that makes its session, so of several schedulers one
 * has it and the others see a conflict, which is no failure. docs/internals/service-tasks.md. */
#ifndef PL_SERVICE_TASKS_SCHEDULER_H
#define PL_SERVICE_TASKS_SCHEDULER_H

#include "agent/driver.h"
#include "cluster/sharing.h"
#include "store/work.h"

#define PL_TASK_LOOK_MS  30000
#define PL_TASK_RETRY_MS 5000
#define PL_TASK_BACK_MS                                                                            \
    1500                         /* a smaller difference does not count as a clock that was set
                                     back */
#define PL_TASK_MAX_FAILURES 10  /* in a row */
#define PL_TASK_MAX_QUEUED   10  /* runs of one task that wait for an earlier one */
#define PL_TASK_LOOK_LIMIT   100 /* tasks of one look */

struct pl_scheduler; /* owned */

enum pl_status pl_scheduler_create(struct pl_server *server, struct pl_scheduler **ret_scheduler);
/* Before the first shard's loop runs: takes up what still waits, then looks. */
void pl_scheduler_start(struct pl_scheduler *scheduler);
/* After the loops have stopped, before they are destroyed: returning callbacks find nothing to do.
 * Accepts NULL. */
void pl_scheduler_stop(struct pl_scheduler *scheduler);
void pl_scheduler_destroy(struct pl_scheduler *scheduler);

/* A task was made or changed: look again. Any thread. */
void pl_scheduler_wake(struct pl_server *server);

/* The nodes that are up, this one among them, for the order in which they take an occurrence: the first by
 * hash(task, node) at once, the others two seconds later (core/cluster/sharing.h). None: this server is
 * alone. Any thread. */
void pl_scheduler_hear_nodes(struct pl_scheduler *scheduler, const struct pl_node_id *me,
                             const struct pl_node_id *nodes, size_t n_nodes);
/* A node is gone, and its runs have failed (store/node/shared.h): takes up what it has left, runs that wait
 * for a person or for an earlier run. Any thread. */
void pl_scheduler_take_up(struct pl_server *server);

/* A user at the limit of running turns has one free. Any thread. */
void pl_scheduler_tell_room(struct pl_server *server);

/* task:updated {task, run?} to the user; run may be NULL. Any thread. */
void pl_task_tell(struct pl_server *server, const struct pl_task_row *task,
                  const struct pl_task_run_row *run);

/* A run by hand, regardless of other runs of the task. Belongs to the scheduler until `done`, which
 * is called on `home` when the run has started or failed to. */
struct pl_task_start {
    struct pl_letter letter;
    struct pl_shard *home;   /* borrowed */
    struct pl_task_row task; /* strings live until done */
    struct pl_str trace_id;  /* W3C, of the request; lives until done; empty: a new one */
    /* Adds to the transaction that makes the run; may be NULL. On any shard. */
    void (*extend)(struct pl_task_start *start, struct pl_batch *batch);
    void (*done)(struct pl_task_start *start);
    void *ctx;
    /* The answer: */
    enum pl_problem problem; /* PL_PROBLEM_COUNT: none */
    struct pl_error err;
    struct pl_buf reply; /* the ScheduledTaskRun; owned */
};
void pl_task_start_send(struct pl_task_start *start);

#endif
