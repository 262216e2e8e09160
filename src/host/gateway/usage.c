/* The usage of a call: the vendor's counters, or an estimate. */
#include "gateway/call.h"

#include "io/clock.h"
#include "access/meter/meter.h"
#include "json/number.h"
#include "json/pointer.h"

#include <stdio.h>

enum { BYTES_PER_TOKEN = 4, TOKENS_PER_MEDIUM = 1000 };

/* The counters of each dialect; several are added up. */
static const struct used_at {
    const char *dialect;
    const char *input[3], *output[2], *cache_read, *cache_write;
} used_at[] = {
    {"openai-chat",
     {"/usage/prompt_tokens"},
     {"/usage/completion_tokens"},
     "/usage/prompt_tokens_details/cached_tokens",
     NULL},
    {"openai-responses",
     {"/usage/input_tokens"},
     {"/usage/output_tokens"},
     "/usage/input_tokens_details/cached_tokens",
     NULL},
    {"anthropic",
     {"/usage/input_tokens", "/usage/cache_read_input_tokens",
      "/usage/cache_creation_input_tokens"},
     {"/usage/output_tokens"},
     "/usage/cache_read_input_tokens",
     "/usage/cache_creation_input_tokens"},
    {"gemini",
     {"/usageMetadata/promptTokenCount", "/usageMetadata/toolUsePromptTokenCount"},
     {"/usageMetadata/candidatesTokenCount", "/usageMetadata/thoughtsTokenCount"},
     "/usageMetadata/cachedContentTokenCount",
     NULL},
};

static int64_t number_at(const struct pl_json_doc *doc, const char *pointer)
{
    const struct pl_json_node *node;
    int64_t n = -1;
    if (!pointer || pl_json_pointer_get(doc, pl_str_of(pointer), &node, NULL) != PL_OK ||
        pl_json_kind(node) != PL_JSON_NUMBER || !pl_json_number_int64(pl_json_span(doc, node), &n))
        return -1;
    return n;
}

static int64_t sum_at(const struct pl_json_doc *doc, const char *const *pointers, size_t n)
{
    int64_t sum = -1;
    for (size_t i = 0; i < n; i++) {
        int64_t one = number_at(doc, pointers[i]);
        if (one >= 0)
            sum = (sum < 0 ? 0 : sum) + one;
    }
    return sum;
}

void pl_gateway_call_read_counts(struct pl_gateway_call *call, const struct pl_json_doc *doc)
{
    for (size_t i = 0; i < sizeof used_at / sizeof *used_at; i++) {
        const struct used_at *at = &used_at[i];
        if (strcmp(at->dialect, pl_gateway_call_target(call)->vendor->dialect) != 0)
            continue;
        call->counts.input = sum_at(doc, at->input, 3);
        call->counts.output = sum_at(doc, at->output, 2);
        call->counts.cache_read = number_at(doc, at->cache_read);
        call->counts.cache_write = number_at(doc, at->cache_write);
    }
}

static int64_t estimate_input(const struct pl_gateway_call *call)
{
    return (int64_t)(call->size.n_text_bytes / BYTES_PER_TOKEN +
                     call->size.n_media * TOKENS_PER_MEDIUM);
}

bool pl_gateway_call_needs_fetch(const struct pl_gateway_call *call)
{
    const struct pl_exchange *x = call->x;
    return !call->meter.is_open &&
           pl_meter_needs_fetch(x->shard->server->meter, x->caller.user_id, x->caller.key_id);
}

void pl_gateway_call_fetch(struct pl_gateway_call *call)
{
    const struct pl_exchange *x = call->x;
    int64_t output = call->options.is_embedding ? 0 : PL_METER_OUTPUT_TOKENS;
    if (call->is_on_worker && pl_gateway_call_needs_fetch(call))
        pl_meter_fetch(x->shard->server->meter, x->caller.user_id, x->caller.key_id,
                       estimate_input(call) + output, pl_clock_unix_ms());
}

bool pl_gateway_call_admit(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    const struct pl_model_target *target = pl_gateway_call_target(call);
    int64_t output = call->options.is_embedding ? 0 : PL_METER_OUTPUT_TOKENS;
    struct pl_counts counts = {estimate_input(call), output, -1, -1, -1, -1, -1};
    struct pl_meter_refusal refusal;
    char name[PL_METER_MODEL_MAX];
    pl_target_name(target, name, sizeof name);
    struct pl_meter_ask ask = {
        .about = {.source = "gateway"},
        .user_id = x->caller.user_id,
        .key_id = x->caller.key_id,
        .model = pl_str_of(name),
        .tokens = counts.input + counts.output,
        .cost_micro = target->vendor ? pl_target_cost(target, &counts) : 0,
        .is_paid = target->vendor,
        .allows_unpriced = x->setup->config.allows_unpriced,
        .now_ms = pl_loop_unix_ms(x->shard->loop),
    };
    if (call->meter.is_open ||
        pl_meter_begin(x->shard->server->meter, x->shard, &ask, &call->meter, &refusal))
        return true;
    if (refusal.retry_after_s)
        snprintf(call->retry_after, sizeof call->retry_after, "%lld",
                 (long long)refusal.retry_after_s);
    pl_gateway_call_fail(call, refusal.why == PL_METER_NO_PRICE ? 403 : 429,
                         refusal.why == PL_METER_MONEY ? "insufficient_quota" : NULL, "%s",
                         refusal.sentence);
    return false;
}

static void settle(struct pl_gateway_call *call, struct pl_meter_used *used)
{
    struct pl_exchange *x = call->x;
    used->first_at_ms = call->first_at_ms;
    pl_exchange_note_used(x, used->model.len ? used->model : pl_str_of(call->meter.model),
                          used->input, used->output);
    pl_meter_settle(x->shard->server->meter, x->shard, &call->meter, used, NULL,
                    pl_loop_unix_ms(x->shard->loop));
}

void pl_gateway_call_count_failure(struct pl_gateway_call *call)
{
    char name[PL_METER_MODEL_MAX];
    if (!call->meter.is_open)
        return;
    pl_target_name(pl_gateway_call_target(call), name, sizeof name);
    settle(call, &(struct pl_meter_used){.outcome = PL_METER_FAILED, .model = pl_str_of(name)});
}

void pl_gateway_call_note_failure(struct pl_gateway_call *call)
{
    char name[PL_METER_MODEL_MAX];
    pl_target_name(pl_gateway_call_target(call), name, sizeof name);
    pl_meter_note_failed(call->x->shard->server->meter, &call->meter, pl_str_of(name),
                         pl_loop_unix_ms(call->x->shard->loop));
}

/* Estimates a stream that was not asked for its usage, or was aborted: a budget must not depend on
 * what a client leaves out. */
void pl_gateway_call_count(struct pl_gateway_call *call)
{
    const struct pl_model_target *target = pl_gateway_call_target(call);
    char name[PL_METER_MODEL_MAX];
    if (call->is_counted)
        return;
    call->is_counted = true;
    if (call->stream)
        call->counts = call->stream->counts;
    if (call->counts.input < 0)
        call->counts.input = estimate_input(call);
    if (call->counts.output < 0)
        call->counts.output = (int64_t)(call->n_said / BYTES_PER_TOKEN);
    pl_target_name(target, name, sizeof name);
    settle(call, &(struct pl_meter_used){
                     .outcome = call->has_left ? PL_METER_ABORTED : PL_METER_DONE,
                     .model = pl_str_of(name),
                     .input = call->counts.input,
                     .output = call->counts.output,
                     .cached = call->counts.cache_read,
                     .cost_micro = target->vendor ? pl_target_cost(target, &call->counts) : 0,
                 });
}
