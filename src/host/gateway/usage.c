/* The usage of a call: by the vendor's own counters, or else estimated. */
#include "gateway/call.h"

#include "access/meter.h"
#include "json/number.h"
#include "json/pointer.h"

#include <stdio.h>

enum { BYTES_PER_TOKEN = 4, MAX_TEXT = 64 << 10, TOKENS_PER_MEDIUM = 1000 };

/* Where each dialect has its counters; several are added up. */
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

/* Text counts by its bytes; a string that is too long for text is an image or a file. */
struct pl_gateway_call_size pl_gateway_call_measure(const struct pl_json_doc *doc)
{
    struct pl_gateway_call_size size = {0};
    for (uint32_t i = 0; i < doc->n_nodes; i++) {
        const struct pl_json_node *node = &doc->root[i];
        bool is_text = pl_json_kind(node) == PL_JSON_STRING;
        if (is_text && node->len > MAX_TEXT)
            size.n_media++;
        else if (is_text)
            size.n_text_bytes += node->len - 1u; /* as a survey counts */
    }
    return size;
}

static int64_t estimate_input(const struct pl_gateway_call *call)
{
    return (int64_t)(call->size.n_text_bytes / BYTES_PER_TOKEN +
                     call->size.n_media * TOKENS_PER_MEDIUM);
}

/* A stream that was not asked to tell, or was broken off, is estimated: a budget must not depend on
 * what a client leaves out. */
void pl_gateway_call_count(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    const struct pl_model_target *target = pl_gateway_call_target(call);
    char name[320];
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
    int64_t cost = target->vendor ? pl_target_cost(target, &call->counts) : 0;
    struct pl_meter_tokens tokens = {call->counts.input, call->counts.output,
                                     call->counts.cache_read};
    pl_meter_count(x->shard->server->meter, &x->caller, pl_str_of(name), tokens, cost,
                   pl_loop_unix_ms(x->shard->loop));
}
