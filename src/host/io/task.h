/* What lives across a wait: a struct with a step, a table of steps, three outcomes.
 *
 *     AGAIN   run the step that pl_task_goto chose, now
 *     WAIT    stay; something will call pl_task_wake (or the step's deadline passes)
 *     END     the task is over: `end` of its kind is called, once, and may free it
 *
 * A callback of the loop never does the work: it notes what happened and wakes the task. Waking a
 * task that runs makes it run once more. A deadline that passes calls the step's function with
 * task->is_late set; cancel sets task->is_cancelled, wakes, and every step must then find its way
 * to END. */
#ifndef PL_IO_TASK_H
#define PL_IO_TASK_H

#include "io/loop.h"

enum pl_task_result { PL_TASK_AGAIN, PL_TASK_WAIT, PL_TASK_END };

struct pl_task;

struct pl_task_step {
    const char *name;
    enum pl_task_result (*run)(struct pl_task *task);
    int64_t
        deadline_ms; /* for the whole stay in this step; 0: none, and then say why in a comment */
};

struct pl_task_kind {
    const char *name;
    const struct pl_task_step *steps;
    uint8_t n_steps;
    void (*end)(struct pl_task *task);
};

struct pl_task {
    const struct pl_task_kind *kind;
    struct pl_loop *loop; /* borrowed */
    struct pl_timer deadline;
    uint8_t step;
    bool is_running, is_woken, is_late, is_cancelled, is_over;
};

void pl_task_init(struct pl_task *task, struct pl_loop *loop, const struct pl_task_kind *kind);
/* Runs from step 0. The task may be gone when this returns, as after wake and cancel. */
void pl_task_start(struct pl_task *task);
void pl_task_wake(struct pl_task *task);
void pl_task_cancel(struct pl_task *task);
/* Chooses the next step; the caller then returns AGAIN (or WAIT to run it at the next wake). Resets
 * the deadline and traces from -> to where tracing is on. */
void pl_task_goto(struct pl_task *task, uint8_t step);

/* Called at every change of step, on the task's thread; NULL turns it off. Set before any loop
 * runs. */
typedef void pl_task_trace_fn(const char *kind, const char *from, const char *to);
void pl_task_set_trace(pl_task_trace_fn *fn);

#endif
