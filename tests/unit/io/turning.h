/* Runs a loop until a condition is true, and fails the test if that takes too long. */
#ifndef PL_TESTS_IO_TURNING_H
#define PL_TESTS_IO_TURNING_H

#include "io/clock.h"
#include "io/workers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

/* A limit for conditions that never become true; it does not measure time. */
enum { TURNING_SAFETY_MS = 240000 };

struct turning {
    struct pl_timer timer; /* first: its address is ours */
    struct pl_loop *loop;
    bool (*is_done)(void *ctx);
    void *ctx;
    int64_t end_ms;
    bool is_late;
};

static inline void turning_look(struct pl_timer *timer)
{
    struct turning *turning = (struct turning *)timer;
    turning->is_late = pl_clock_ms() > turning->end_ms;
    if (turning->is_late || turning->is_done(turning->ctx))
        pl_loop_stop(turning->loop);
    else
        pl_timer_start(turning->loop, timer, 0, turning_look);
}

static inline void turn_until(struct pl_loop *loop, bool (*is_done)(void *ctx), void *ctx)
{
    struct turning turning = {
        .loop = loop, .is_done = is_done, .ctx = ctx, .end_ms = pl_clock_ms() + TURNING_SAFETY_MS};
    pl_timer_start(loop, &turning.timer, 0, turning_look);
    pl_loop_run(loop);
    pl_timer_stop(loop, &turning.timer);
    if (turning.is_late)
        fail_msg("waited %d seconds in vain", TURNING_SAFETY_MS / 1000);
}

static inline bool is_true(void *flag)
{
    return *(bool *)flag;
}

struct moment {
    const struct pl_loop *loop;
    int64_t time_ms;
};

static inline bool is_past(void *ctx)
{
    const struct moment *moment = ctx;
    return pl_loop_now_ms(moment->loop) >= moment->time_ms;
}

/* Runs for a while, also by the loop's own clock. Only for events that must not happen; wait for
 * those that must. */
static inline void turn_for(struct pl_loop *loop, int64_t wait_ms)
{
    turn_until(loop, is_past, &(struct moment){loop, pl_clock_ms() + wait_ms});
}

static inline struct pl_loop *make_loop(void)
{
    struct pl_loop *loop = NULL;
    struct pl_error err = {0};
    if (pl_loop_create(&loop, &err) != PL_OK)
        fail_msg("%s", err.message);
    return loop;
}

#endif
