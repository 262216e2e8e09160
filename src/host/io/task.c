#include "io/task.h"

#include "base/table.h"

#include <assert.h>

static pl_task_trace_fn *trace;

void pl_task_set_trace(pl_task_trace_fn *fn)
{
    trace = fn;
}

void pl_task_init(struct pl_task *task, struct pl_loop *loop, const struct pl_task_kind *kind)
{
    *task = (struct pl_task){.kind = kind, .loop = loop};
}

static void on_deadline(struct pl_timer *timer)
{
    struct pl_task *task = PL_CONTAINER_OF(timer, struct pl_task, deadline);
    task->is_late = true;
    pl_task_wake(task);
}

static void enter(struct pl_task *task, uint8_t step)
{
    assert(step < task->kind->n_steps);
    task->step = step;
    task->is_late = false;
    int64_t deadline_ms = task->kind->steps[step].deadline_ms;
    if (deadline_ms > 0)
        pl_timer_start(task->loop, &task->deadline, deadline_ms, on_deadline);
    else
        pl_timer_stop(task->loop, &task->deadline);
}

void pl_task_goto(struct pl_task *task, uint8_t step)
{
    uint8_t from = task->step;
    enter(task, step);
    if (trace)
        trace(task->kind->name, task->kind->steps[from].name, task->kind->steps[step].name);
}

void pl_task_start(struct pl_task *task)
{
    enter(task, 0);
    pl_task_wake(task);
}

/* Runs steps until one waits and nobody has woken the task meanwhile. */
static enum pl_task_result run_steps(struct pl_task *task)
{
    enum pl_task_result result;
    do {
        task->is_woken = false;
        result = task->kind->steps[task->step].run(task);
    } while (result == PL_TASK_AGAIN || (result == PL_TASK_WAIT && task->is_woken));
    return result;
}

void pl_task_wake(struct pl_task *task)
{
    task->is_woken = true;
    if (task->is_running || task->is_over)
        return;
    task->is_running = true;
    enum pl_task_result result = run_steps(task);
    task->is_running = false;
    if (result != PL_TASK_END)
        return;
    task->is_over = true;
    pl_timer_stop(task->loop, &task->deadline);
    task->kind->end(task);
}

void pl_task_cancel(struct pl_task *task)
{
    task->is_cancelled = true;
    pl_task_wake(task);
}
