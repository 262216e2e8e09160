/* The spans of a call for OpenTelemetry: one for each model that was called, with the names of the
 * conventions for generative AI. The vendor gets the id of the span, so that its own spans are
 * below it. */
#include "gateway/call.h"

#include <stdio.h>

void pl_gateway_call_begin_span(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    if (!x->span.id[0])
        return;
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    pl_span_begin_part(&call->span, &x->span, (struct pl_str){0}, seed.random[0]);
}

const char *pl_gateway_call_traceparent(struct pl_gateway_call *call)
{
    enum { SIZE = 80, FLAGS_AT = 53 };
    struct pl_exchange *x = call->x;
    char *line = call->span.id[0] ? pl_arena_alloc(&x->arena, SIZE, 1) : NULL;
    if (line)
        snprintf(line, SIZE, "traceparent: 00-%s-%s-%s", call->span.trace_id, call->span.id,
                 x->traceparent + FLAGS_AT);
    return line;
}

/* The well-known names of the conventions; other providers keep their own name. */
static struct pl_str provider_of(const struct pl_model_target *target)
{
    static const struct {
        const char *name, *known;
    } known[] = {{"openai", "openai"},
                 {"openai-chat", "openai"},
                 {"anthropic", "anthropic"},
                 {"gemini", "gcp.gemini"}};
    if (!target->vendor)
        return PL_STR("parley");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, target->vendor->name) == 0)
            return pl_str_of(known[i].known);
    return pl_str_of(target->vendor->name);
}

static const char *operation_of(const struct pl_gateway_call *call)
{
    if (call->options.is_embedding)
        return "embeddings";
    const struct pl_format *format = pl_gateway_call_target(call)->format;
    return format == &pl_format_gemini ? "generate_content" : "chat";
}

/* Sets what is known: a failed call has no counts. */
void pl_gateway_call_end_span(struct pl_gateway_call *call)
{
    if (!call->span.is_told)
        return;
    const struct pl_model_target *target = pl_gateway_call_target(call);
    const char *operation = operation_of(call);
    bool is_good = call->status == 0 ? !call->x->is_problem : call->status < 400;
    char error[16] = "";
    if (!is_good)
        snprintf(error, sizeof error, "%d", call->status ? call->status : call->x->status);
    struct pl_counts counts = call->stream ? call->stream->counts : call->counts;
    struct pl_span_fact facts[] = {
        {"gen_ai.operation.name", pl_str_of(operation), -1},
        {"gen_ai.provider.name", provider_of(target), -1},
        {"gen_ai.request.model", target->model, -1},
        {"gen_ai.usage.input_tokens", {0}, counts.input},
        {"gen_ai.usage.output_tokens", {0}, counts.output},
        {"http.response.status_code", {0}, call->status ? call->status : -1},
        {"parley.model", call->model, -1},
    };
    pl_span_end(call->x->shard->server->tracer, &call->span,
                &(struct pl_span_about){.name = operation,
                                        .subject = target->model,
                                        .kind = PL_SPAN_CLIENT,
                                        .facts = facts,
                                        .n_facts = sizeof facts / sizeof *facts,
                                        .error = call->has_left ? PL_STR("client_left")
                                                                : pl_str_of(error)});
}
