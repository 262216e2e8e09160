/* Timers: the loop waits until the wheel's next tick. */
#include "io/clock.h"
#include "io/loop_int.h"

static void set_alarm(struct pl_loop *loop)
{
    int64_t next_ms = pl_wheel_next_ms(&loop->wheel);
    if (next_ms < loop->alarm_ms)
        loop->alarm_ms = next_ms;
}

void pl_loop_turn_wheel(struct pl_loop *loop)
{
    if (loop->now_ms < loop->alarm_ms)
        return;
    loop->alarm_ms = INT64_MAX;
    pl_wheel_advance(&loop->wheel, loop->now_ms);
    set_alarm(loop);
}

/* Counted from the clock, not from the start of the turn, which may be a while ago. One millisecond
 * is added because the current one is partly over. So no timer fires early. */
void pl_timer_start(struct pl_loop *loop, struct pl_timer *timer, int64_t delay_ms,
                    void (*fn)(struct pl_timer *self))
{
    pl_wheel_remove(&loop->wheel, timer);
    int64_t from_ms = pl_clock_ms() + 1;
    if (__builtin_add_overflow(from_ms, delay_ms > 0 ? delay_ms : 0, &timer->due_ms))
        timer->due_ms = INT64_MAX;
    timer->fn = fn;
    pl_wheel_add(&loop->wheel, timer, loop->now_ms);
    set_alarm(loop);
}

void pl_timer_stop(struct pl_loop *loop, struct pl_timer *timer)
{
    pl_wheel_remove(&loop->wheel, timer);
}
