#include "server/call_counts.h"

#include "model/model_counts.h"
#include "shard/setup.h"

/* Vendor calls are counted where they are made, with each attempt; calls of our own models are
 * counted here. */
static bool is_ours(struct pl_str model)
{
    return pl_str_starts(model, PL_STR("demo/")) || pl_str_starts(model, PL_STR("replay/"));
}

static void settled(struct pl_shard *shard, const struct pl_usage_row *row)
{
    struct pl_model_counts *counts = pl_model_counts_find(shard->setup->models, row->model);
    PL_MODEL_COUNT(counts, input, row->input_tokens);
    PL_MODEL_COUNT(counts, output, row->output_tokens);
    PL_MODEL_COUNT(counts, cached, row->cached_tokens);
    PL_MODEL_COUNT(counts, cost_micro, row->cost_micro);
    if (!is_ours(row->model))
        return;
    PL_MODEL_COUNT(counts, n_calls, 1);
    PL_MODEL_COUNT(counts, n_errors, row->n_failed);
}

static void passed_over(struct pl_shard *shard, struct pl_str model)
{
    PL_MODEL_COUNT(pl_model_counts_find(shard->setup->models, model), n_fallbacks, 1);
}

const struct pl_meter_watch pl_call_counts = {.settled = settled, .passed_over = passed_over};
