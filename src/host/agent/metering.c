/* Meters the model calls of sessions: admission before a call, and its usage in the transaction of
 * the turn that it produced. */
#include "access/key_table.h"
#include "io/clock.h"
#include "access/model_list.h"
#include "agent/activity_int.h"
#include "json/number.h"
#include "model/vendor/vendor.h"

#include <stdio.h>

enum { BYTES_PER_TOKEN = 4 };

static size_t targets_of(const struct pl_activity *activity,
                         struct pl_model_target targets[PL_VENDOR_MAX_CHAIN])
{
    return pl_model_targets(activity->setup->models, activity->effect.model, targets);
}

/* Allowed by the requested name, or by the names of all its targets. */
static bool may_use(struct pl_activity *activity, const struct pl_model_target *targets, size_t n)
{
    struct pl_key_row key;
    if (!activity->effect.key_id.len ||
        pl_auth_get_key(activity->server->auth, &activity->arena, activity->user_id,
                        activity->effect.key_id, &key) != PL_OK ||
        pl_model_list_has(key.models, activity->effect.model))
        return true;
    bool may = n > 0;
    for (size_t i = 0; i < n && may; i++) {
        char name[PL_METER_MODEL_MAX];
        pl_target_name(&targets[i], name, sizeof name);
        may = pl_model_list_has(key.models, pl_str_of(name));
    }
    return may;
}

/* The session's source, as a word of the static list. */
static const char *source_word(const struct pl_activity *activity)
{
    static const char *const words[] = {"chat",   "prompt", "task", "gateway",
                                        "replay", "import", "fork", "handoff"};
    struct pl_str source = activity->driver ? pl_session_record(activity->driver->session)->source
                                            : (struct pl_str){0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (pl_str_eq(source, pl_str_of(words[i])))
            return words[i];
    return words[0];
}

void pl_activity_fetch(struct pl_activity *activity)
{
    struct pl_meter *meter = activity->server->meter;
    int64_t input = (int64_t)(activity->request.turns.len / BYTES_PER_TOKEN);
    if (pl_meter_needs_fetch(meter, activity->user_id, activity->effect.key_id))
        pl_meter_fetch(meter, activity->user_id, activity->effect.key_id,
                       input + PL_METER_OUTPUT_TOKENS, pl_clock_unix_ms());
}

bool pl_activity_admit(struct pl_activity *activity, struct pl_str *ret_why)
{
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    size_t n = targets_of(activity, targets);
    char name[PL_METER_MODEL_MAX];
    struct pl_meter_refusal refusal;
    if (!n || pl_model_replayed(activity->effect.model).len)
        return true;
    if (!may_use(activity, targets, n)) {
        *ret_why = PL_STR("The key of this message may not use this model.");
        return false;
    }
    struct pl_str body = pl_model_prepared_body(activity->prepared, &(const struct pl_format *){0});
    size_t n_bytes = body.len ? body.len : activity->request.turns.len;
    struct pl_counts counts = {
        (int64_t)(n_bytes / BYTES_PER_TOKEN), PL_METER_OUTPUT_TOKENS, -1, -1, -1, -1, -1};
    pl_target_name(&targets[0], name, sizeof name);
    struct pl_meter_ask ask = {
        .about = {.source = source_word(activity),
                  .session_id = activity->session_id,
                  .turn_id = activity->effect.turn_id},
        .user_id = activity->user_id,
        .key_id = activity->effect.key_id,
        .model = pl_str_of(name),
        .tokens = counts.input + counts.output,
        .cost_micro = targets[0].vendor ? pl_target_cost(&targets[0], &counts) : 0,
        .is_paid = targets[0].vendor,
        .allows_unpriced = activity->setup->config.allows_unpriced,
        .now_ms = pl_loop_unix_ms(activity->loop),
    };
    /* The value if the call is cut off: the input was sent. */
    activity->used = (struct pl_meter_used){
        .outcome = PL_METER_ABORTED, .input = counts.input, .cost_micro = -1};
    if (pl_meter_begin(activity->server->meter, activity->shard, &ask, &activity->meter, &refusal))
        return true;
    *ret_why = pl_arena_dup(&activity->arena, pl_str_of(refusal.sentence));
    if (!ret_why->ptr)
        *ret_why = PL_STR("A limit is reached.");
    return false;
}

static int64_t count_of(const struct pl_json_doc *doc, const char *name)
{
    const struct pl_json_node *node = pl_json_get(doc, doc->root, pl_str_of(name));
    int64_t n;
    return node && pl_json_kind(node) == PL_JSON_NUMBER &&
                   pl_json_number_int64(pl_json_span(doc, node), &n)
               ? n
               : -1;
}

static int64_t cost_of(const struct pl_activity *activity, struct pl_str model,
                       const struct pl_counts *counts)
{
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    size_t n = pl_model_targets(activity->setup->models, model, targets);
    if (!n)
        n = targets_of(activity, targets);
    if (!n || !targets[0].vendor)
        return 0;
    return pl_target_cost(&targets[0], counts);
}

void pl_activity_count(struct pl_activity *activity, struct pl_str model, struct pl_str usage)
{
    struct pl_json_doc doc = {0};
    struct pl_counts counts = {
        activity->used.input, activity->n_said / BYTES_PER_TOKEN, -1, -1, -1, -1, -1};
    if (usage.len && pl_json_parse(&activity->arena, usage, &pl_json_made, &doc, NULL) == PL_OK &&
        doc.root) {
        counts.input = count_of(&doc, "input_tokens");
        counts.output = count_of(&doc, "output_tokens");
        counts.cache_read = count_of(&doc, "cache_read_tokens");
        counts.cache_write = count_of(&doc, "cache_write_tokens");
    }
    activity->used = (struct pl_meter_used){
        .outcome = PL_METER_DONE,
        .model = model.len && pl_model_replayed(activity->effect.model).len == 0
                     ? pl_arena_dup(&activity->arena, model)
                     : (struct pl_str){0},
        .input = counts.input,
        .output = counts.output,
        .cached = counts.cache_read,
        .cost_micro = cost_of(activity, model.len ? model : activity->effect.model, &counts),
    };
}

void pl_activity_settle(struct pl_activity *activity, struct pl_driver *driver)
{
    if (!activity->meter.is_open)
        return;
    if (activity->used.outcome == PL_METER_ABORTED) {
        struct pl_counts counts = {
            activity->used.input, activity->n_said / BYTES_PER_TOKEN, -1, -1, -1, -1, -1};
        activity->used.output = counts.output;
        activity->used.cost_micro = cost_of(activity, activity->effect.model, &counts);
    }
    activity->used.first_at_ms = activity->first_at_ms;
    struct pl_batch *batch =
        driver && pl_driver_is_loaded(driver) ? pl_commit_queue_batch(driver) : NULL;
    pl_meter_settle(activity->server->meter, activity->shard, &activity->meter, &activity->used,
                    batch, pl_loop_unix_ms(activity->loop));
}
