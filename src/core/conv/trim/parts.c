/* Replaces images, audio and results with something smaller. */
#include "conv/trim/trim_int.h"

#include "conv/repair/repair.h"

#include <inttypes.h>

static const struct {
    const char *word;
    struct pl_str placeholder;
} media[PL_PART_KIND_COUNT] = {
    [PL_PART_IMAGE] = {"an image", PL_STR("[image left out]")},
    [PL_PART_VIDEO] = {"a video", PL_STR("[video left out]")},
    [PL_PART_AUDIO] = {"an audio part", PL_STR("[audio left out]")},
};

static const struct pl_json_node *place_of(const struct pl_trim *t, uint32_t message,
                                           const struct pl_part *part)
{
    const struct pl_json_node *node = part->node ? part->node : t->conv->messages.ptr[message].node;
    return node ? node : t->conv->list;
}

/* Replaces the cost of a part of a message. */
static void settle(struct pl_trim *t, uint32_t message, const struct pl_tally *before,
                   const struct pl_tally *after)
{
    struct pl_tally *const sums[] = {&t->costs[message], &t->total};
    for (int i = 0; i < 2; i++) {
        pl_tally_add(sums[i], after);
        pl_tally_take(sums[i], before);
    }
    t->conv->messages.ptr[message].is_changed = true;
    t->is_touched = true;
}

static enum pl_status replace_media(struct pl_trim *t, uint32_t message, struct pl_part *part)
{
    const struct pl_count_rule *rule = t->opts->rule;
    enum pl_role role = t->conv->messages.ptr[message].role;
    struct pl_tally before = {0}, after = {0};
    struct pl_part made = {.kind = PL_PART_TEXT,
                           .text = pl_val_text(media[part->kind].placeholder),
                           .cache = part->cache};
    enum pl_status status = pl_count_part(rule, t->conv, role, part, &before);
    if (status == PL_OK)
        status = pl_count_part(rule, t->conv, role, &made, &after);
    uint64_t n = pl_tally_total(rule, &before);
    if (status != PL_OK || pl_tally_total(rule, &after) >= n)
        return status;
    pl_conv_loss(t->conv, PL_LOSS_APPROXIMATED, place_of(t, message, part),
                 "%s of %" PRIu64 " tokens became a placeholder", media[part->kind].word, n);
    settle(t, message, &before, &after);
    *part = made;
    return t->conv->status;
}

/* In the last user message only results may be touched, and only as a last resort. */
static bool may_touch(const struct pl_trim *t, uint32_t message, const struct pl_part *part)
{
    return !t->is_dropped[message] && !pl_trim_is_system(t, message) &&
           (!pl_trim_is_last(t, message) || (t->is_last_resort && part->kind == PL_PART_RESULT));
}

enum pl_status pl_trim_media(struct pl_trim *t, uint32_t first, uint32_t end, uint32_t part_bits)
{
    enum pl_status status = PL_OK;
    for (uint32_t i = first; i < end && status == PL_OK; i++) {
        const struct pl_message *message = &t->conv->messages.ptr[i];
        for (uint32_t k = 0; k < message->n_parts && status == PL_OK; k++) {
            struct pl_part *part = &pl_conv_parts(t->conv, message)[k];
            if (!may_touch(t, i, part))
                continue;
            bool is_result = part->kind == PL_PART_RESULT;
            struct pl_part *parts = is_result ? pl_conv_children(t->conv, part) : part;
            uint32_t n_parts = is_result ? part->n_children : 1;
            for (uint32_t c = 0; c < n_parts && status == PL_OK; c++) {
                if (pl_trim_fits(t))
                    return PL_OK;
                if (PL_PART_BIT(parts[c].kind) & part_bits)
                    status = replace_media(t, i, &parts[c]);
            }
        }
    }
    return status;
}

/* The tool name of a result. */
static struct pl_str tool_of(const struct pl_trim *t, const struct pl_result *result)
{
    struct pl_conv *conv = t->conv;
    struct pl_str name = pl_conv_text(conv, conv->parts.ptr[result->part].name);
    if (!name.len && result->call != PL_UNPAIRED)
        name = pl_conv_text(conv, conv->parts.ptr[t->pairing.calls.ptr[result->call].part].name);
    return name.len ? name : PL_STR("a tool");
}

static enum pl_status replace_result(struct pl_trim *t, const struct pl_result *result)
{
    const struct pl_count_rule *rule = t->opts->rule;
    struct pl_conv *conv = t->conv;
    enum pl_role role = conv->messages.ptr[result->message].role;
    struct pl_tally before = {0}, after = {0};
    struct pl_part made = conv->parts.ptr[result->part], stub = {.kind = PL_PART_TEXT};
    enum pl_status status = pl_count_part(rule, conv, role, &made, &before);
    uint64_t n = pl_tally_total(rule, &before);
    struct pl_str tool = tool_of(t, result);
    stub.text = pl_val_text(
        pl_conv_printf(conv, "[result of %.*s left out: %" PRIu64 " tokens]", PL_STR_ARG(tool), n));
    if (status == PL_OK)
        status = conv->status;
    made.children = (uint32_t)conv->children.len;
    made.n_children = 1;
    if (status == PL_OK && !pl_vec_push(&conv->children, stub))
        status = PL_NOMEM;
    if (status == PL_OK)
        status = pl_count_part(rule, conv, role, &made, &after);
    if (status != PL_OK || pl_tally_total(rule, &after) >= n)
        return status;
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED,
                 place_of(t, result->message, &conv->parts.ptr[result->part]),
                 "the result of %.*s, %" PRIu64 " tokens, became a stub", PL_STR_ARG(tool), n);
    settle(t, result->message, &before, &after);
    conv->parts.ptr[result->part] = made;
    return conv->status;
}

enum pl_status pl_trim_results(struct pl_trim *t, uint32_t first, uint32_t end)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < t->pairing.results.len && status == PL_OK; i++) {
        const struct pl_result *result = &t->pairing.results.ptr[i];
        if (result->message < first || result->message >= end ||
            !may_touch(t, result->message, &t->conv->parts.ptr[result->part]))
            continue;
        if (pl_trim_fits(t))
            return PL_OK;
        status = replace_result(t, result);
    }
    return status;
}
