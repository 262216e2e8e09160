/* Scheduled tasks. One scheduler per server, on the first shard:
 *
 *     timer -> look (worker): what is due, by pl_cron_due -> act: a run each -> timer
 *
 * The timer is set to the earliest next_ms, at most PL_TASK_LOOK_MS ahead: the clock may be set
 * forward, and other servers may use the same store. An occurrence is a row (task, instant). The
 * transaction that creates its session creates the row too, so one of several schedulers gets it.
 * The others see a conflict, which is not a failure. docs/internals/service-tasks.md. */
#ifndef PL_SERVICE_TASKS_SCHEDULER_H
#define PL_SERVICE_TASKS_SCHEDULER_H

#include "agent/driver.h"
#include "cluster/sharing.h"
#include "store/work.h"

#define PL_TASK_LOOK_MS      30000
#define PL_TASK_RETRY_MS     5000
#define PL_TASK_BACK_MS      1500 /* a clock set back by less is ignored */
#define PL_TASK_MAX_FAILURES 10   /* in a row */
#define PL_TASK_MAX_QUEUED   10   /* runs of one task that wait for an earlier one */
#define PL_TASK_LOOK_LIMIT   100  /* tasks per scan */

struct pl_scheduler; /* owned */

enum pl_status pl_scheduler_create(struct pl_server *server, struct pl_scheduler **ret_scheduler);
/* Before the first shard's loop runs: takes over runs that still wait, then scans. */
void pl_scheduler_start(struct pl_scheduler *scheduler);
/* After the loops have stopped, before they are destroyed: returning callbacks do nothing.
 * Accepts NULL. */
void pl_scheduler_stop(struct pl_scheduler *scheduler);
void pl_scheduler_destroy(struct pl_scheduler *scheduler);

/* A task was created or changed: scan again. Any thread. */
void pl_scheduler_wake(struct pl_server *server);

/* Sets the nodes that are up, including this one. They determine the order in which nodes take
 * an occurrence: the first by hash(task, node) at once, the others two seconds later
 * (core/cluster/sharing.h). No nodes: this server is alone. Any thread. */
void pl_scheduler_hear_nodes(struct pl_scheduler *scheduler, const struct pl_node_id *me,
                             const struct pl_node_id *nodes, size_t n_nodes);
/* A node is gone, and its runs have failed (store/node/shared.h). Takes over its runs that wait
 * for a person or for an earlier run. Any thread. */
void pl_scheduler_take_up(struct pl_server *server);

/* A user at the limit of running turns may start one again. Any thread. */
void pl_scheduler_tell_room(struct pl_server *server);

/* Sends task:updated {task, run?} to the user; run may be NULL. Any thread. */
void pl_task_tell(struct pl_server *server, const struct pl_task_row *task,
                  const struct pl_task_run_row *run);

/* A run started by hand, regardless of other runs of the task. Belongs to the scheduler until
 * `done`, which is called on `home` when the run has started or failed to start. */
struct pl_task_start {
    struct pl_letter letter;
    struct pl_shard *home;   /* borrowed */
    struct pl_task_row task; /* strings live until done */
    struct pl_str trace_id;  /* W3C, of the request; lives until done; empty: a new one */
    /* Adds to the transaction that creates the run; may be NULL. On any shard. */
    void (*extend)(struct pl_task_start *start, struct pl_batch *batch);
    void (*done)(struct pl_task_start *start);
    void *ctx;
    /* The answer: */
    enum pl_problem problem; /* PL_PROBLEM_COUNT: no problem */
    struct pl_error err;
    struct pl_buf reply; /* the ScheduledTaskRun; owned */
};
void pl_task_start_send(struct pl_task_start *start);

#endif
