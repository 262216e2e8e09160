/* Repairs inside messages: blank texts, the order of parts, cache markers, citations of the user.
 */
#include "conv/repair/repair_int.h"

static bool is_blank_text(struct pl_repair *r, const struct pl_part *part)
{
    /* A blank text with a signature is not empty. */
    bool is_signed = pl_val_is_set(part->signature) && pl_repair_keeps_proof(r, part);
    return part->kind == PL_PART_TEXT && !is_signed && pl_conv_is_blank(r->conv, part->text);
}

/* Removes blank texts from the content of a result. */
static bool drop_blank_children(struct pl_repair *r, uint32_t index)
{
    struct pl_conv *conv = r->conv;
    struct pl_part result = conv->parts.ptr[index];
    uint32_t first = (uint32_t)conv->children.len;
    bool has_blank = false;
    /* A content string has no node of its own: an empty one is allowed. */
    for (uint32_t i = 0; i < result.n_children; i++) {
        const struct pl_part *child = &conv->children.ptr[result.children + i];
        has_blank |= child->node && is_blank_text(r, child);
    }
    if (!has_blank)
        return false;
    for (uint32_t i = 0; i < result.n_children; i++) {
        struct pl_part child = conv->children.ptr[result.children + i];
        if (child.node && is_blank_text(r, &child))
            pl_conv_loss(conv, PL_LOSS_DROPPED, child.node, "a blank text is not accepted");
        else if (!pl_vec_push(&conv->children, child))
            conv->status = PL_NOMEM;
    }
    conv->parts.ptr[index].children = first;
    conv->parts.ptr[index].n_children = (uint32_t)conv->children.len - first;
    return true;
}

/* An empty last message of the assistant asks the model to continue. It is accepted. */
static bool is_empty_prefill(struct pl_repair *r, size_t u)
{
    const struct pl_unit *unit = &r->now.units.ptr[u];
    if (u + 1 < r->now.units.len || unit->role != PL_ROLE_ASSISTANT || unit->n > 1)
        return false;
    if (unit->n == 0)
        return true;
    const struct pl_part *part = pl_unit_part(r, unit, 0);
    return part->kind == PL_PART_TEXT && !part->node && pl_conv_text(r->conv, part->text).len == 0;
}

static void deal_without_blanks(struct pl_repair *r, const struct pl_unit *unit)
{
    pl_deal_open(r, unit);
    bool is_reported = false;
    for (uint32_t i = 0; i < unit->n && r->conv->status == PL_OK; i++) {
        uint32_t index = r->now.parts.ptr[unit->first + i];
        const struct pl_part *part = &r->conv->parts.ptr[index];
        if (part->kind == PL_PART_RESULT && drop_blank_children(r, index))
            pl_deal_change(r);
        if (!is_blank_text(r, &r->conv->parts.ptr[index])) {
            pl_deal_part(r, index);
            continue;
        }
        pl_deal_change(r);
        const struct pl_json_node *node = pl_unit_node(r, unit, part);
        /* An empty string next to other content is no loss. */
        if (!part->node && unit->n > 1 && pl_conv_text(r->conv, part->text).len == 0) {
            pl_conv_know(r->conv, part->text.node);
            continue;
        }
        pl_conv_loss(r->conv, PL_LOSS_DROPPED, node, "a blank text is not accepted");
        is_reported = true;
    }
    if (r->conv->status != PL_OK || pl_dealt_last(r)->n > 0)
        return;
    if (!is_reported)
        pl_repair_note(r, PL_LOSS_DROPPED, pl_unit_node(r, unit, NULL),
                       "a message without content is not accepted");
    pl_deal_drop_empty(r);
}

/* Thoughts without a proof that the target accepts cannot be written. A message with nothing else
 * is no message to the target, so it must not count when turns are put in order. */
static bool is_unsayable(struct pl_repair *r, const struct pl_unit *unit)
{
    for (uint32_t i = 0; i < unit->n; i++) {
        const struct pl_part *part = pl_unit_part(r, unit, i);
        bool is_thought = part->kind == PL_PART_THINKING || part->kind == PL_PART_REDACTED;
        if (!is_thought || pl_repair_keeps_proof(r, part))
            return false;
    }
    return unit->n > 0;
}

static void drop_unit(struct pl_repair *r, const struct pl_unit *unit)
{
    for (uint32_t i = 0; i < unit->n; i++)
        pl_conv_loss(r->conv, PL_LOSS_DROPPED, pl_unit_node(r, unit, pl_unit_part(r, unit, i)),
                     "the target accepts no reasoning of another vendor");
    r->is_changed = true;
}

static void drop_empty_units(struct pl_repair *r)
{
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        pl_deal_whole(r, unit);
        if (unit->n == 0)
            pl_repair_note(r, PL_LOSS_DROPPED, pl_unit_node(r, unit, NULL),
                           "a message without content is not accepted");
        pl_deal_drop_empty(r);
    }
    pl_deal_end(r);
}

void pl_repair_blank(struct pl_repair *r)
{
    if (r->rules->drops_empty)
        drop_empty_units(r);
    if (!r->rules->drops_blank)
        return;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        if (is_unsayable(r, &r->now.units.ptr[u]))
            drop_unit(r, &r->now.units.ptr[u]);
        else if (is_empty_prefill(r, u))
            pl_deal_whole(r, &r->now.units.ptr[u]);
        else
            deal_without_blanks(r, &r->now.units.ptr[u]);
    }
    pl_deal_end(r);
}

void pl_repair_calls_last(struct pl_repair *r)
{
    if (!r->rules->wants_calls_last)
        return;
    for (size_t u = 0; u < r->now.units.len; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        bool has_call = false, is_wrong = false;
        for (uint32_t i = 0; i < unit->n; i++) {
            enum pl_part_kind kind = pl_unit_part(r, unit, i)->kind;
            is_wrong |= has_call && kind == PL_PART_OTHER;
            has_call |= kind == PL_PART_CALL;
        }
        if (!is_wrong) {
            pl_deal_whole(r, unit);
            continue;
        }
        pl_deal_open(r, unit);
        pl_deal_change(r);
        for (int is_call = 0; is_call < 2; is_call++)
            for (uint32_t i = 0; i < unit->n; i++) {
                const struct pl_part *part = pl_unit_part(r, unit, i);
                if ((part->kind == PL_PART_CALL) != is_call)
                    continue;
                if (is_call)
                    pl_repair_note(r, PL_LOSS_REORDERED, pl_unit_node(r, unit, part),
                                   "calls must come last in a message");
                pl_deal_part(r, r->now.parts.ptr[unit->first + i]);
            }
    }
    pl_deal_end(r);
}

/* The writer writes arguments as a string; this only marks the message as changed. */
void pl_repair_arguments(struct pl_repair *r)
{
    for (size_t u = 0; r->rules->wants_argument_strings && u < r->now.units.len; u++) {
        struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n; i++) {
            const struct pl_part *part = pl_unit_part(r, unit, i);
            if (part->kind != PL_PART_CALL || part->args.kind != PL_VAL_NODE ||
                pl_json_kind(part->args.node) == PL_JSON_STRING)
                continue;
            pl_repair_note(r, PL_LOSS_MOVED, part->args.node,
                           "arguments must be a string that contains JSON");
            unit->is_changed = r->is_changed = true;
        }
    }
}

/* Walks all markers in prompt order (tools, then messages) and drops the first n_drop. Returns how
 * many it saw. */
struct markers {
    struct pl_repair *r;
    uint32_t n_seen, n_drop;
};

static bool see_marker(struct markers *m, struct pl_val *marker)
{
    if (!pl_val_is_set(*marker))
        return false;
    m->n_seen++;
    if (m->n_seen > m->n_drop)
        return false;
    pl_conv_loss(m->r->conv, PL_LOSS_DROPPED, marker->node,
                 "the target accepts fewer cache markers; the last ones are kept");
    *marker = (struct pl_val){0};
    return true;
}

static void see_markers(struct markers *m)
{
    struct pl_conv *conv = m->r->conv;
    for (size_t i = 0; i < conv->tools.len; i++)
        if (see_marker(m, &conv->tools.ptr[i].cache))
            conv->tools.ptr[i].is_changed = conv->settings.is_changed = true;
    for (size_t u = 0; u < m->r->now.units.len; u++) {
        struct pl_unit *unit = &m->r->now.units.ptr[u];
        bool is_changed = false;
        for (uint32_t i = 0; i < unit->n; i++) {
            struct pl_part *part = pl_unit_part(m->r, unit, i);
            for (uint32_t k = 0; part->kind == PL_PART_RESULT && k < part->n_children; k++)
                is_changed |= see_marker(m, &pl_conv_children(conv, part)[k].cache);
            is_changed |= see_marker(m, &part->cache);
        }
        is_changed |= see_marker(m, &pl_unit_message(m->r, unit)->cache);
        unit->is_changed |= is_changed;
        m->r->is_changed |= is_changed;
    }
}

void pl_repair_cache(struct pl_repair *r)
{
    if (r->rules->max_cache_markers == 0)
        return;
    struct markers m = {.r = r};
    see_markers(&m);
    if (m.n_seen <= r->rules->max_cache_markers)
        return;
    m = (struct markers){.r = r, .n_drop = m.n_seen - r->rules->max_cache_markers};
    see_markers(&m);
}
