/* The order of the steps, and building the conversation again at the end. */
#include "conv/trim/trim_int.h"

#include "conv/repair/repair.h"

#include <inttypes.h>

static enum pl_status count(struct pl_trim *t)
{
    struct pl_conv *conv = t->conv;
    t->n_messages = (uint32_t)conv->messages.len;
    t->costs = pl_arena_zalloc(conv->arena, (size_t)t->n_messages + 1, sizeof *t->costs);
    t->is_dropped = pl_arena_zalloc(conv->arena, (size_t)t->n_messages + 1, sizeof *t->is_dropped);
    if (!t->costs || !t->is_dropped)
        return PL_NOMEM;
    enum pl_status status = pl_count_frame(t->opts->rule, conv, &t->total);
    for (uint32_t i = 0; i < t->n_messages && status == PL_OK; i++) {
        status = pl_count_message(t->opts->rule, conv, &conv->messages.ptr[i], &t->costs[i]);
        pl_tally_add(&t->total, &t->costs[i]);
    }
    return status;
}

static enum pl_status shrink(struct pl_trim *t)
{
    static const uint32_t kinds[] = {PL_PART_BIT(PL_PART_IMAGE) | PL_PART_BIT(PL_PART_VIDEO),
                                     PL_PART_BIT(PL_PART_AUDIO)};
    enum pl_status status = pl_trim_cut(t);
    for (size_t i = 0; i < 2 && status == PL_OK && !pl_trim_fits(t); i++)
        status = pl_trim_media(t, 0, t->tail, kinds[i]);
    if (status == PL_OK && !pl_trim_fits(t))
        status = pl_trim_results(t, 0, t->tail);
    if (status == PL_OK && !pl_trim_fits(t))
        status = pl_trim_units(t);
    t->is_last_resort = true;
    uint32_t unread = t->last_first < t->tail ? t->last_first : t->tail;
    for (size_t i = 0; i < 2 && status == PL_OK && !pl_trim_fits(t); i++)
        status = pl_trim_media(t, unread, t->n_messages, kinds[i]);
    if (status == PL_OK && !pl_trim_fits(t))
        status = pl_trim_results(t, unread, t->n_messages);
    return status;
}

static enum pl_status refuse(const struct pl_trim *t, struct pl_error *err)
{
    const struct pl_count_rule *rule = t->opts->rule;
    uint64_t n_user = 0, n_summary = pl_model_counting_scale(&rule->counting, t->n_summary);
    if (t->last_user < t->n_messages)
        n_user = pl_tally_total(rule, &t->costs[t->last_user]);
    uint64_t n_least = pl_trim_total(t);
    return pl_fail(err, PL_INVALID,
                   "this cannot be made smaller than %" PRIu64 " tokens: the system instructions "
                   "have %" PRIu64 ", the tools %" PRIu64 ", the last user message %" PRIu64
                   ", the summary of the history %" PRIu64 "; allow %" PRIu64
                   " or shorten one of them",
                   n_least, pl_tally_of(rule, &t->total, PL_TALLY_SYSTEM),
                   pl_tally_of(rule, &t->total, PL_TALLY_TOOLS), n_user, n_summary, n_least);
}

/* An element of the source that lost one of its messages is changed, even if the other messages are
 * not. */
static void mark_incomplete(struct pl_trim *t)
{
    struct pl_message *messages = t->conv->messages.ptr;
    for (uint32_t first = 0, end; first < t->n_messages; first = end) {
        bool has_dropped = false;
        for (end = first; end < t->n_messages && messages[end].element == messages[first].element;
             end++)
            has_dropped |= t->is_dropped[end];
        for (uint32_t i = first; has_dropped && i < end; i++)
            messages[i].is_changed |= messages[i].element != PL_NO_ELEMENT;
    }
}

/* The place of the summary: before the first message left out, at the latest before the unit of the
 * last user message, so that the user keeps the last word. */
static uint32_t summary_place(const struct pl_trim *t)
{
    uint32_t at = 0, latest = t->n_messages;
    for (size_t u = 0; u < t->units.len; u++)
        if (t->last_user >= t->units.ptr[u].first && t->last_user < t->units.ptr[u].end)
            latest = t->units.ptr[u].first;
    while (at < latest && !t->is_dropped[at])
        at++;
    return at;
}

/* Builds the vectors of the conversation again; leaves them alone when memory runs out. */
static enum pl_status build(struct pl_trim *t)
{
    struct pl_conv *conv = t->conv;
    uint32_t place = summary_place(t);
    typeof(conv->messages) messages = {0};
    typeof(conv->parts) parts = {0};
    if (!pl_vec_grow((void **)&messages.ptr, &messages.cap, conv->messages.len + 1,
                     sizeof *messages.ptr) ||
        !pl_vec_grow((void **)&parts.ptr, &parts.cap, conv->parts.len + 1, sizeof *parts.ptr)) {
        pl_vec_deinit(&messages);
        return PL_NOMEM;
    }
    mark_incomplete(t);
    for (uint32_t i = 0; i < t->n_messages; i++) {
        if (i == place) {
            messages.ptr[messages.len++] = (struct pl_message){.role = PL_ROLE_USER,
                                                               .element = PL_NO_ELEMENT,
                                                               .parts = (uint32_t)parts.len,
                                                               .n_parts = 1,
                                                               .is_changed = true};
            parts.ptr[parts.len++] =
                (struct pl_part){.kind = PL_PART_TEXT, .text = pl_val_text(t->summary)};
        }
        if (t->is_dropped[i])
            continue;
        struct pl_message message = conv->messages.ptr[i];
        const struct pl_part *from = pl_conv_parts(conv, &message);
        message.parts = (uint32_t)parts.len;
        for (uint32_t k = 0; k < message.n_parts; k++)
            parts.ptr[parts.len++] = from[k];
        messages.ptr[messages.len++] = message;
    }
    pl_vec_deinit(&conv->messages);
    pl_vec_deinit(&conv->parts);
    conv->messages = messages;
    conv->parts = parts;
    return PL_OK;
}

static enum pl_status trim(struct pl_trim *t, struct pl_trimmed *ret_trimmed, struct pl_error *err)
{
    enum pl_status status = count(t);
    struct pl_trimmed made = {.n_before = pl_trim_total(t)};
    if (status == PL_OK && !pl_trim_fits(t))
        status = shrink(t);
    if (status == PL_OK && !pl_trim_fits(t))
        return refuse(t, err);
    if (status == PL_OK && t->summary.len) {
        pl_conv_loss(t->conv, PL_LOSS_SYNTHESISED, t->conv->list,
                     "a summary replaces what was left out");
        status = t->conv->status == PL_OK ? build(t) : t->conv->status;
    }
    if (status == PL_OK)
        status = t->conv->status;
    if (status != PL_OK)
        return status;
    t->conv->is_repaired |= t->is_touched;
    made.n_after = pl_trim_total(t);
    *ret_trimmed = made;
    return PL_OK;
}

enum pl_status pl_conv_trim(struct pl_conv *conv, const struct pl_trim_opts *opts,
                            struct pl_trimmed *ret_trimmed, struct pl_error *err)
{
    struct pl_trim t = {.conv = conv, .opts = opts};
    enum pl_status status = trim(&t, ret_trimmed, err);
    if (status == PL_NOMEM)
        conv->status = PL_NOMEM;
    pl_vec_deinit(&t.units);
    pl_pairing_deinit(&t.pairing);
    return status;
}
