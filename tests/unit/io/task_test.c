#include "base/table.h"
#include "io/task.h"
#include "unit/io/turning.h"

#include <stdio.h>

enum { ASK, HEAR, LEAVE };

/* Asks, waits to hear something, leaves; or leaves when it is late or cancelled. */
struct talk {
    struct pl_task task; /* first: its address is ours */
    bool is_heard, wakes_itself, is_left;
    int n_heard_runs, n_ends;
    bool was_late, was_cancelled;
};

static struct pl_loop *loop;
static char traced[256];

static enum pl_task_result ask(struct pl_task *task)
{
    pl_task_goto(task, HEAR);
    return PL_TASK_AGAIN;
}

static enum pl_task_result hear(struct pl_task *task)
{
    struct talk *talk = (struct talk *)task;
    talk->n_heard_runs++;
    talk->was_late = task->is_late;
    talk->was_cancelled = task->is_cancelled;
    if (talk->wakes_itself) { /* as a callback would while the step is at it */
        talk->wakes_itself = false;
        talk->is_heard = true;
        pl_task_wake(task);
        return PL_TASK_WAIT;
    }
    if (!talk->is_heard && !task->is_late && !task->is_cancelled)
        return PL_TASK_WAIT;
    pl_task_goto(task, LEAVE);
    return talk->is_heard ? PL_TASK_AGAIN : PL_TASK_END;
}

static enum pl_task_result leave(struct pl_task *task)
{
    ((struct talk *)task)->is_left = true;
    return PL_TASK_END;
}

static void end(struct pl_task *task)
{
    assert_true(task->is_over);
    assert_false(pl_timer_is_on(&task->deadline));
    ((struct talk *)task)->n_ends++;
}

static const struct pl_task_step steps[] = {
    [ASK] = {"ask", ask, 0}, /* does not wait */
    [HEAR] = {"hear", hear, 30},
    [LEAVE] = {"leave", leave, 0}, /* does not wait */
};
static const struct pl_task_kind kind = {"talk", steps, 3, end};

static void note_step(const char *name, const char *from, const char *to)
{
    size_t len = strlen(traced);
    snprintf(traced + len, sizeof traced - len, "%s:%s->%s ", name, from, to);
}

static int set_up(void **state)
{
    (void)state;
    loop = make_loop();
    traced[0] = '\0';
    pl_task_set_trace(note_step);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pl_task_set_trace(NULL);
    pl_loop_destroy(loop);
    return 0;
}

static void a_task_goes_through_its_steps_and_ends_once(void **state)
{
    (void)state;
    struct talk talk = {0};
    pl_task_init(&talk.task, loop, &kind);
    pl_task_start(&talk.task);
    assert_int_equal(talk.task.step, HEAR);
    assert_int_equal(talk.n_heard_runs, 1);
    pl_task_wake(&talk.task); /* for nothing */
    assert_int_equal(talk.n_heard_runs, 2);
    talk.is_heard = true;
    pl_task_wake(&talk.task);
    assert_true(talk.is_left);
    assert_int_equal(talk.n_ends, 1);
    pl_task_wake(&talk.task); /* it is over */
    pl_task_cancel(&talk.task);
    assert_int_equal(talk.n_ends, 1);
    assert_int_equal(talk.n_heard_runs, 3);
    assert_string_equal(traced, "talk:ask->hear talk:hear->leave ");
}

static void waking_a_task_that_runs_makes_it_run_once_more(void **state)
{
    (void)state;
    struct talk talk = {.wakes_itself = true};
    pl_task_init(&talk.task, loop, &kind);
    pl_task_start(&talk.task);
    assert_int_equal(talk.n_heard_runs, 2);
    assert_int_equal(talk.n_ends, 1);
}

static bool has_ended(void *talk)
{
    return ((struct talk *)talk)->n_ends > 0;
}

static void a_deadline_that_passes_runs_the_step_late(void **state)
{
    (void)state;
    struct talk talk = {0};
    pl_task_init(&talk.task, loop, &kind);
    int64_t start_ms = pl_clock_ms();
    pl_task_start(&talk.task);
    turn_until(loop, has_ended, &talk);
    assert_true(pl_clock_ms() - start_ms >= 30);
    assert_true(talk.was_late);
    assert_false(talk.was_cancelled);
    assert_false(talk.is_left);
    assert_int_equal(talk.n_heard_runs, 2);
}

static void a_cancelled_task_finds_its_way_to_the_end(void **state)
{
    (void)state;
    struct talk talk = {0};
    pl_task_init(&talk.task, loop, &kind);
    pl_task_start(&talk.task);
    pl_task_cancel(&talk.task);
    assert_int_equal(talk.n_ends, 1);
    assert_true(talk.was_cancelled);
    assert_false(talk.was_late);
}

/* Stays a little in each step, longer than a deadline in all. */
struct walk {
    struct pl_task task;
    struct pl_timer timer;
    int n_steps, n_late;
    bool is_over;
};

static void take_step(struct pl_timer *timer)
{
    struct walk *walk = PL_CONTAINER_OF(timer, struct walk, timer);
    walk->n_steps++;
    pl_task_wake(&walk->task);
}

static enum pl_task_result step_left_or_right(struct pl_task *task)
{
    struct walk *walk = (struct walk *)task;
    walk->n_late += task->is_late;
    if (walk->n_steps == 6)
        return PL_TASK_END;
    pl_task_goto(task, !task->step);
    pl_timer_start(loop, &walk->timer, 40, take_step);
    return PL_TASK_WAIT;
}

static void end_walk(struct pl_task *task)
{
    ((struct walk *)task)->is_over = true;
}

static const struct pl_task_step walk_steps[] = {{"left", step_left_or_right, 150},
                                                 {"right", step_left_or_right, 150}};
static const struct pl_task_kind walk_kind = {"walk", walk_steps, 2, end_walk};

static void every_change_of_step_begins_a_new_deadline(void **state)
{
    (void)state;
    struct walk walk = {0};
    pl_task_init(&walk.task, loop, &walk_kind);
    pl_task_start(&walk.task);
    turn_until(loop, is_true, &walk.is_over);
    assert_int_equal(walk.n_late, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_task_goes_through_its_steps_and_ends_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(waking_a_task_that_runs_makes_it_run_once_more, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_deadline_that_passes_runs_the_step_late, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_task_finds_its_way_to_the_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_change_of_step_begins_a_new_deadline, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests_name("io/task", tests, NULL, NULL);
}
