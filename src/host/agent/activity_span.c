/* The span of an activity for OpenTelemetry: names, ids and counts, but no content. The span of a
 * model call has the id that is sent to the vendor as traceparent, whether tracing is on or not. */
#include "agent/activity_int.h"

#include <stdio.h>

/* The last digits of the turn's UUID, which are random; empty: it has none. */
static struct pl_str span_id_of(const struct pl_activity *activity, char to[PL_SPAN_DIGITS + 1])
{
    struct pl_str id =
        activity->effect.turn_id.len ? activity->effect.turn_id : activity->effect.compaction_id;
    size_t n = 0;
    for (size_t i = id.len; i > 0 && n < PL_SPAN_DIGITS; i--)
        if (id.ptr[i - 1] != '-')
            to[PL_SPAN_DIGITS - ++n] = id.ptr[i - 1];
    to[PL_SPAN_DIGITS] = '\0';
    return n == PL_SPAN_DIGITS ? (struct pl_str){to, n} : (struct pl_str){0};
}

struct pl_str pl_activity_traceparent(struct pl_activity *activity)
{
    enum { WHOLE = 55 };
    char digits[PL_SPAN_DIGITS + 1], text[WHOLE + 1];
    struct pl_str id = span_id_of(activity, digits);
    if (!id.len || activity->effect.trace_id.len != PL_TRACE_DIGITS)
        return (struct pl_str){0};
    snprintf(text, sizeof text, "00-%.*s-%s-01", PL_STR_ARG(activity->effect.trace_id), digits);
    return pl_arena_dup(&activity->arena, pl_str_of(text));
}

void pl_activity_begin_span(struct pl_activity *activity, const struct pl_driver *driver)
{
    char digits[PL_SPAN_DIGITS + 1];
    if (!driver->turn.is_told)
        return;
    struct pl_id_seed seed = pl_shard_seed(activity->shard);
    bool is_tool = activity->effect.kind == PL_EFFECT_RUN_TOOL;
    pl_span_begin_part(&activity->span, &driver->turn,
                       is_tool ? (struct pl_str){0} : span_id_of(activity, digits), seed.random[0]);
}

static void end_tool(struct pl_activity *activity, struct pl_str error)
{
    const struct pl_session_effect *effect = &activity->effect;
    struct pl_span_fact facts[] = {
        {"gen_ai.operation.name", PL_STR("execute_tool"), -1},
        {"gen_ai.tool.name", effect->tool_name, -1},
        {"gen_ai.tool.call.id", effect->tool_call_id, -1},
        {"gen_ai.tool.type", PL_STR("function"), -1},
        {"gen_ai.conversation.id", activity->session_id, -1},
    };
    pl_span_end(activity->server->tracer, &activity->span,
                &(struct pl_span_about){.name = "execute_tool",
                                        .subject = effect->tool_name,
                                        .kind = PL_SPAN_INTERNAL,
                                        .facts = facts,
                                        .n_facts = sizeof facts / sizeof *facts,
                                        .error = error});
}

/* "vendor/model" of the model that answered, else of the requested one. */
static void end_model(struct pl_activity *activity, struct pl_str error)
{
    struct pl_str asked = activity->effect.model, used = activity->used.model;
    struct pl_str whole = used.len ? used : asked;
    const char *slash = whole.len ? memchr(whole.ptr, '/', whole.len) : NULL;
    size_t n = slash ? (size_t)(slash - whole.ptr) : 0;
    bool is_done = !error.len;
    struct pl_span_fact facts[] = {
        {"gen_ai.operation.name", PL_STR("chat"), -1},
        {"gen_ai.provider.name", pl_str_slice(whole, 0, n), -1},
        {"gen_ai.request.model", asked, -1},
        {"gen_ai.response.model",
         is_done ? pl_str_slice(whole, slash ? n + 1 : 0, whole.len) : (struct pl_str){"", 0}, -1},
        {"gen_ai.usage.input_tokens", {0}, is_done ? activity->used.input : -1},
        {"gen_ai.usage.output_tokens", {0}, is_done ? activity->used.output : -1},
        {"gen_ai.conversation.id", activity->session_id, -1},
    };
    pl_span_end(activity->server->tracer, &activity->span,
                &(struct pl_span_about){.name = "chat",
                                        .subject = asked,
                                        .kind = PL_SPAN_CLIENT,
                                        .facts = facts,
                                        .n_facts = sizeof facts / sizeof *facts,
                                        .error = error});
}

void pl_activity_end_span(struct pl_activity *activity)
{
    if (!activity->span.is_told)
        return;
    /* An activity that ends without its last output was cancelled. */
    bool is_cut = activity->state != PL_ACTIVITY_BRINGING;
    struct pl_str error = activity->span_error ? pl_str_of(activity->span_error)
                          : is_cut             ? PL_STR("cancelled")
                                               : (struct pl_str){0};
    if (activity->effect.kind == PL_EFFECT_RUN_TOOL)
        end_tool(activity, error);
    else
        end_model(activity, error);
}
