/* All work on one message (models, tools, agents, summaries) has one time, turn_ms: from the moment
 * it is said, or a person has answered what it waited for, until the session is at rest. A session
 * that waits for a person is at rest. When the time is over, what is at work fails and says why; so
 * does whatever the session begins then, until it has come to its end. */
#include "agent/driver_int.h"
#include "shard/setup.h"

static bool has_begun_anew(const struct pl_session_out *out)
{
    for (size_t i = 0; i < out->frames.len; i++)
        if (out->frames.ptr[i].kind == PL_FRAME_CHAT_START)
            return true;
    return false;
}

static void on_limit(struct pl_timer *timer)
{
    struct pl_driver *driver = PL_CONTAINER_OF(timer, struct pl_driver, limit);
    driver->is_overdue = true;
    pl_activities_give_up(driver);
}

void pl_turn_limit_follow(struct pl_driver *driver)
{
    struct pl_shard *shard = driver->drivers->shard;
    if (!pl_session_is_running(driver->session)) {
        driver->is_overdue = false;
        pl_timer_stop(shard->loop, &driver->limit);
        return;
    }
    if (has_begun_anew(&driver->drivers->out))
        driver->is_overdue = false;
    else if (driver->is_overdue || pl_timer_is_on(&driver->limit))
        return;
    pl_timer_start(shard->loop, &driver->limit, shard->setup->config.turn_ms, on_limit);
}

int64_t pl_turn_limit_left_ms(const struct pl_driver *driver)
{
    const struct pl_shard *shard = driver->drivers->shard;
    int64_t left_ms = shard->setup->config.turn_ms; /* of what is only about to be followed */
    if (driver->is_overdue)
        left_ms = 0;
    else if (pl_timer_is_on(&driver->limit))
        left_ms = driver->limit.due_ms - pl_loop_now_ms(shard->loop);
    return left_ms > 1 ? left_ms : 1;
}
