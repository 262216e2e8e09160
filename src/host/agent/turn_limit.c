/* All work on one message (models, tools, agents, summaries) has one time limit, turn_ms: from the
 * message, or from a person's answer to a question, until the session is at rest. A session that
 * waits for a person is at rest. When the time is over, running work fails with that reason, and so
 * does everything that the session begins until it is at rest. */
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

static void end_span(struct pl_driver *driver)
{
    struct pl_span_fact facts[] = {
        {"gen_ai.operation.name", PL_STR("invoke_agent"), -1},
        {"gen_ai.conversation.id", driver->link.key, -1},
    };
    pl_span_end(driver->drivers->shard->server->tracer, &driver->turn,
                &(struct pl_span_about){.name = "invoke_agent parley",
                                        .kind = PL_SPAN_INTERNAL,
                                        .facts = facts,
                                        .n_facts = sizeof facts / sizeof *facts,
                                        .error = driver->is_overdue ? PL_STR("timeout")
                                                                    : (struct pl_str){0}});
    driver->turn = (struct pl_span){0};
}

/* Below the span of the request, if it has the same trace. */
static void begin_span(struct pl_driver *driver)
{
    struct pl_shard *shard = driver->drivers->shard;
    struct pl_str trace = pl_session_trace(driver->session);
    if (!shard->server->tracer || !trace.len)
        return;
    struct pl_id_seed seed = pl_shard_seed(shard);
    if (pl_str_eq(trace, pl_str_of(driver->by.trace_id)))
        pl_span_begin_part(&driver->turn, &driver->by, (struct pl_str){0}, seed.random[0]);
    else
        pl_span_begin(&driver->turn, trace, (struct pl_str){0}, (struct pl_str){0}, seed.random[0],
                      pl_tracer_samples(shard->server->tracer, trace));
}

void pl_turn_limit_follow(struct pl_driver *driver)
{
    struct pl_shard *shard = driver->drivers->shard;
    bool is_running = pl_session_is_running(driver->session);
    bool is_new = is_running && has_begun_anew(&driver->drivers->out);
    if (driver->turn.id[0] && (!is_running || is_new))
        end_span(driver);
    if (is_running && !driver->turn.id[0])
        begin_span(driver);
    if (!is_running) {
        driver->is_overdue = false;
        pl_timer_stop(shard->loop, &driver->limit);
        return;
    }
    if (is_new)
        driver->is_overdue = false;
    else if (driver->is_overdue || pl_timer_is_on(&driver->limit))
        return;
    pl_timer_start(shard->loop, &driver->limit, shard->setup->config.turn_ms, on_limit);
}

int64_t pl_turn_limit_left_ms(const struct pl_driver *driver)
{
    const struct pl_shard *shard = driver->drivers->shard;
    int64_t left_ms = shard->setup->config.turn_ms; /* if the limit has not started yet */
    if (driver->is_overdue)
        left_ms = 0;
    else if (pl_timer_is_on(&driver->limit))
        left_ms = driver->limit.due_ms - pl_loop_now_ms(shard->loop);
    return left_ms > 1 ? left_ms : 1;
}
