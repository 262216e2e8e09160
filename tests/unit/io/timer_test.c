#include "io/wheel.h"
#include "unit/io/turning.h"

#include <stdlib.h>

/* --- the wheel, with time made up ------------------------------------------------------------- */

enum { N_TIMERS = 4000 };

static struct pl_wheel wheel;
static int64_t now_ms;

struct waiter {
    struct pl_timer timer; /* first: its address is ours */
    int64_t fired_ms;      /* -1 while it waits, -2 if it was stopped */
};
static struct waiter waiters[N_TIMERS];

static void note_fired(struct pl_timer *timer)
{
    struct waiter *waiter = (struct waiter *)timer;
    assert_false(pl_timer_is_on(timer));
    assert_int_equal(waiter->fired_ms, -1);
    waiter->fired_ms = now_ms;
}

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 20;
}

static void start(struct waiter *waiter, int64_t delay_ms)
{
    waiter->fired_ms = -1;
    waiter->timer.fn = note_fired;
    waiter->timer.due_ms = now_ms + delay_ms;
    pl_wheel_add(&wheel, &waiter->timer, now_ms);
}

/* Delays of every size, from zero to a year. */
static int64_t some_delay(uint64_t *seed)
{
    return (int64_t)(draw(seed) % (UINT64_C(1) << (1 + draw(seed) % 35)));
}

/* Moves from one due time to the next, as a loop's alarm does. */
static void turn_to(int64_t end_ms)
{
    int64_t next_ms;
    while ((next_ms = pl_wheel_next_ms(&wheel)) <= end_ms) {
        assert_true(next_ms > now_ms - PL_WHEEL_TICK_MS);
        if (next_ms > now_ms)
            now_ms = next_ms;
        pl_wheel_advance(&wheel, now_ms);
    }
    now_ms = end_ms;
    pl_wheel_advance(&wheel, now_ms);
}

static void none_of_thousands_is_early_and_none_is_late(void **state)
{
    (void)state;
    uint64_t seed = 7;
    now_ms = 123456789;
    pl_wheel_init(&wheel, now_ms - 3);
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < N_TIMERS; i++)
            start(&waiters[i], some_delay(&seed));
        for (size_t i = 0; i < N_TIMERS; i += 7) {
            pl_wheel_remove(&wheel, &waiters[i].timer);
            waiters[i].fired_ms = -2;
        }
        turn_to(now_ms + (INT64_C(1) << 36));
        for (size_t i = 0; i < N_TIMERS; i++) {
            const struct waiter *waiter = &waiters[i];
            if (i % 7 == 0) {
                assert_int_equal(waiter->fired_ms, -2);
                continue;
            }
            int64_t late_ms = waiter->fired_ms - waiter->timer.due_ms;
            if (late_ms < 0 || late_ms > 2 * PL_WHEEL_TICK_MS)
                fail_msg("timer %zu of round %d came %lld ms after it was due", i, round,
                         (long long)late_ms);
        }
        assert_int_equal(wheel.n_timers, 0);
        assert_true(pl_wheel_next_ms(&wheel) == INT64_MAX);
    }
}

static void a_long_sleep_fires_all_that_became_due_in_order(void **state)
{
    (void)state;
    uint64_t seed = 11;
    now_ms = 1000;
    pl_wheel_init(&wheel, now_ms);
    int64_t longest_ms = 0;
    for (size_t i = 0; i < N_TIMERS; i++) {
        start(&waiters[i], some_delay(&seed) % 100000);
        if (waiters[i].timer.due_ms > longest_ms)
            longest_ms = waiters[i].timer.due_ms;
    }
    now_ms = 50000;
    pl_wheel_advance(&wheel, now_ms);
    for (size_t i = 0; i < N_TIMERS; i++)
        assert_int_equal(waiters[i].fired_ms, waiters[i].timer.due_ms <= now_ms ? now_ms : -1);
    now_ms = longest_ms + PL_WHEEL_TICK_MS;
    pl_wheel_advance(&wheel, now_ms);
    assert_int_equal(wheel.n_timers, 0);
}

static void a_delay_of_centuries_just_waits(void **state)
{
    (void)state;
    now_ms = 5;
    pl_wheel_init(&wheel, now_ms);
    start(&waiters[0], INT64_MAX - now_ms);
    start(&waiters[1], INT64_C(100) * 365 * 86400 * 1000);
    turn_to(INT64_C(101) * 365 * 86400 * 1000);
    assert_int_equal(waiters[0].fired_ms, -1);
    assert_true(waiters[1].fired_ms > 0);
    pl_wheel_remove(&wheel, &waiters[0].timer);
    assert_int_equal(wheel.n_timers, 0);
}

static void stop_neighbour(struct pl_timer *timer)
{
    note_fired(timer);
    pl_wheel_remove(&wheel, &waiters[1].timer);
}

static void a_timer_may_stop_one_that_is_due_with_it(void **state)
{
    (void)state;
    now_ms = 0;
    pl_wheel_init(&wheel, now_ms);
    for (size_t i = 0; i < 3; i++)
        start(&waiters[i], 10);
    waiters[0].timer.fn = stop_neighbour;
    turn_to(20);
    assert_int_equal(waiters[0].fired_ms, 12);
    assert_int_equal(waiters[1].fired_ms, -1);
    assert_int_equal(waiters[2].fired_ms, 12);
}

/* --- timers of a loop ------------------------------------------------------------------------- */

struct repeating {
    struct pl_timer timer;
    struct pl_loop *loop;
    int64_t started_ns;
    int n_fired;
};

static int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void repeat(struct pl_timer *timer)
{
    struct repeating *self = (struct repeating *)timer;
    assert_true(clock_ns() - self->started_ns >= 7 * 1000000);
    if (++self->n_fired == 20) {
        pl_loop_stop(self->loop);
        return;
    }
    struct timespec busy = {.tv_nsec = 9000000}; /* the turn's start is then long ago */
    if (self->n_fired % 4 == 0)
        nanosleep(&busy, NULL);
    self->started_ns = clock_ns();
    pl_timer_start(self->loop, timer, 7, repeat);
}

static void a_timer_started_late_in_a_turn_is_not_early(void **state)
{
    (void)state;
    struct repeating self = {.loop = make_loop(), .started_ns = clock_ns()};
    pl_timer_start(self.loop, &self.timer, 7, repeat);
    pl_loop_run(self.loop);
    assert_int_equal(self.n_fired, 20);
    pl_loop_destroy(self.loop);
}

static void never(struct pl_timer *timer)
{
    (void)timer;
    fail_msg("a stopped timer was called");
}

static void starting_again_moves_it_and_stopping_ends_it(void **state)
{
    (void)state;
    struct pl_loop *loop = make_loop();
    struct pl_timer moved = {0}, stopped = {0}, far = {0};
    pl_timer_start(loop, &moved, 5, never);
    pl_timer_start(loop, &moved, 60000, never);
    pl_timer_start(loop, &stopped, 5, never);
    pl_timer_start(loop, &far, INT64_MAX, never);
    assert_true(pl_timer_is_on(&stopped));
    pl_timer_stop(loop, &stopped);
    pl_timer_stop(loop, &stopped);
    assert_false(pl_timer_is_on(&stopped));
    turn_for(loop, 40);
    assert_true(pl_timer_is_on(&moved));
    pl_loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_of_thousands_is_early_and_none_is_late),
        cmocka_unit_test(a_long_sleep_fires_all_that_became_due_in_order),
        cmocka_unit_test(a_delay_of_centuries_just_waits),
        cmocka_unit_test(a_timer_may_stop_one_that_is_due_with_it),
        cmocka_unit_test(a_timer_started_late_in_a_turn_is_not_early),
        cmocka_unit_test(starting_again_moves_it_and_stopping_ends_it),
    };
    return cmocka_run_group_tests_name("io/timer", tests, NULL, NULL);
}
