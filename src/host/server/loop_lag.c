/* Measures how late a timer of every loop fires: if it is late, something blocked the thread. It
 * reports the worst value of the last two spans of five seconds, so a reader that looks at least
 * every ten seconds misses none. */
#include "server/loop_lag.h"

#include "base/table.h"
#include "io/clock.h"

enum { EVERY_MS = 250, SPAN_MS = 5000 };

static void look(struct pl_timer *timer)
{
    struct pl_shard_own *own = PL_CONTAINER_OF(timer, struct pl_shard_own, lag.timer);
    struct pl_loop_lag *lag = &own->lag;
    int64_t now_ms = pl_clock_ms(), late_ms = now_ms - lag->due_ms;
    if (now_ms - lag->span_ms >= SPAN_MS) {
        lag->before_ms = lag->worst_ms;
        lag->worst_ms = 0;
        lag->span_ms = now_ms;
    }
    if (late_ms > lag->worst_ms)
        lag->worst_ms = late_ms;
    atomic_store_explicit(&own->shard.lag_ms,
                          lag->worst_ms > lag->before_ms ? lag->worst_ms : lag->before_ms,
                          memory_order_relaxed);
    pl_loop_lag_start(own);
}

void pl_loop_lag_start(struct pl_shard_own *own)
{
    own->lag.due_ms = pl_clock_ms() + EVERY_MS;
    pl_timer_start(own->shard.loop, &own->lag.timer, EVERY_MS, look);
}

void pl_loop_lag_stop(struct pl_shard_own *own)
{
    pl_timer_stop(own->shard.loop, &own->lag.timer);
}
