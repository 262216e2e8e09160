/* Reasoning and settings: thinking that the history must contain, signatures, and settings that the
 * target refuses. */
#include "conv/repair/repair_int.h"

#include "json/number.h"

enum { THOUGHT = PL_PART_BIT(PL_PART_THINKING) | PL_PART_BIT(PL_PART_REDACTED) };

static bool is_thought(const struct pl_part *part)
{
    return PL_PART_BIT(part->kind) & THOUGHT;
}

/* The end of the run of parts from `from` on that came from one item of reasoning. *ret_is_lost:
 * the item has an id and no proof. */
static uint32_t item_end(const struct pl_repair *r, const struct pl_unit *unit, uint32_t from,
                         bool *ret_is_lost)
{
    const struct pl_part *first = pl_unit_part(r, unit, from);
    bool has_proof = false;
    uint32_t end = from;
    for (; end < unit->n; end++) {
        const struct pl_part *part = pl_unit_part(r, unit, end);
        if (end > from && (!is_thought(part) || part->node != first->node))
            break;
        has_proof |= pl_val_is_set(part->signature) || pl_val_is_set(part->data);
    }
    *ret_is_lost = is_thought(first) && pl_val_is_set(first->id) && !has_proof;
    return end;
}

bool pl_repair_is_unstored(const struct pl_repair *r)
{
    const char *key = r->rules->store_switch;
    return key && pl_json_is(pl_conv_node(r->conv, r->conv->doc->root, key), PL_JSON_FALSE);
}

/* Drops reasoning that is only an id when the vendor has stored nothing. The items around it keep
 * their bytes, so the message is not marked. */
void pl_repair_lost_thinking(struct pl_repair *r)
{
    if (!pl_repair_is_unstored(r))
        return;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        pl_deal_open(r, unit);
        for (uint32_t i = 0, end; i < unit->n; i = end) {
            bool is_lost;
            end = item_end(r, unit, i, &is_lost);
            for (uint32_t k = i; k < end && !is_lost; k++)
                pl_deal_part(r, r->now.parts.ptr[unit->first + k]);
            if (!is_lost)
                continue;
            r->is_changed = true;
            pl_conv_loss(r->conv, PL_LOSS_DROPPED, pl_unit_node(r, unit, pl_unit_part(r, unit, i)),
                         "the vendor stores nothing, and this reasoning has only an id");
        }
        if (unit->n > 0)
            pl_deal_drop_empty(r);
    }
    pl_deal_end(r);
}

/* Drops thinking at the end of a turn: something must follow it. */
void pl_repair_thinking_tail(struct pl_repair *r)
{
    if (!r->rules->needs_thinking_follower)
        return;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        bool is_end =
            unit->role == PL_ROLE_ASSISTANT &&
            (u + 1 == r->now.units.len || r->now.units.ptr[u + 1].role != PL_ROLE_ASSISTANT);
        uint32_t n = unit->n;
        while (is_end && n > 0 && (PL_PART_BIT(pl_unit_part(r, unit, n - 1)->kind) & THOUGHT))
            n--;
        pl_deal_open(r, unit);
        for (uint32_t i = 0; i < n; i++)
            pl_deal_part(r, r->now.parts.ptr[unit->first + i]);
        for (uint32_t i = n; i < unit->n; i++) {
            pl_deal_change(r);
            pl_conv_loss(r->conv, PL_LOSS_DROPPED, pl_unit_node(r, unit, pl_unit_part(r, unit, i)),
                         "reasoning without anything after it is not accepted");
        }
        if (unit->n > 0)
            pl_deal_drop_empty(r);
    }
    pl_deal_end(r);
}

/* Adds empty thinking to the assistant messages after the first one that has some. */
static void think_on_all(struct pl_repair *r)
{
    bool has_begun = false;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        bool is_assistant = unit->role == PL_ROLE_ASSISTANT;
        bool thinks = pl_unit_has(r, unit, PL_PART_BIT(PL_PART_THINKING));
        has_begun |= is_assistant && thinks;
        /* The second half of an utterance goes into the message of the first. */
        if (!is_assistant || thinks || !has_begun || pl_unit_message(r, unit)->is_phase_split) {
            pl_deal_whole(r, unit);
            continue;
        }
        pl_repair_note(r, PL_LOSS_SYNTHESISED, pl_unit_node(r, unit, NULL),
                       "every assistant message needs reasoning; an empty one was added");
        pl_deal_open(r, unit);
        pl_deal_change(r);
        struct pl_part empty = {.kind = PL_PART_THINKING, .text = pl_val_text(PL_STR(""))};
        pl_deal_part(r, pl_repair_part(r, empty));
        for (uint32_t i = 0; i < unit->n; i++)
            pl_deal_part(r, r->now.parts.ptr[unit->first + i]);
    }
    pl_deal_end(r);
}

static bool is_manual_thinking(const struct pl_conv *conv)
{
    const struct pl_settings *s = &conv->settings;
    return pl_val_is_set(s->thinking_budget) ||
           (s->thinking.kind == PL_VAL_NODE &&
            pl_conv_says(conv, pl_conv_node(conv, s->thinking.node, "type"), "enabled"));
}

/* Whether an assistant turn has thinking that the target can check. */
static bool has_signed_thinking(const struct pl_repair *r)
{
    for (size_t u = 0; u < r->now.units.len; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n; i++) {
            const struct pl_part *part = pl_unit_part(r, unit, i);
            bool is_signed = part->kind == PL_PART_REDACTED ||
                             (part->kind == PL_PART_THINKING && pl_val_is_set(part->signature));
            if (is_signed && pl_repair_keeps_proof(r, part))
                return true;
        }
    }
    return false;
}

static bool ends_in_tool_turn(const struct pl_repair *r)
{
    for (size_t u = r->now.units.len; u > 0; u--) {
        const struct pl_unit *unit = &r->now.units.ptr[u - 1];
        if (unit->role == PL_ROLE_ASSISTANT)
            return pl_unit_has(r, unit, PL_PART_BIT(PL_PART_CALL));
    }
    return false;
}

void pl_repair_thinking(struct pl_repair *r)
{
    struct pl_settings *s = &r->conv->settings;
    if (r->rules->wants_thinking_on_all)
        think_on_all(r);
    if (!r->rules->needs_thinking_history || !is_manual_thinking(r->conv) ||
        !ends_in_tool_turn(r) || has_signed_thinking(r))
        return;
    const struct pl_json_node *node = s->thinking.node ? s->thinking.node : s->thinking_budget.node;
    pl_conv_loss(r->conv, PL_LOSS_DROPPED, node,
                 "thinking is off, because the tool turn to continue has no thinking");
    s->thinking = s->thinking_budget = (struct pl_val){0};
    s->is_changed = true;
}

/* Signs the first call of each step since the last user message. */
void pl_repair_signatures(struct pl_repair *r)
{
    if (r->rules->signature_bypass.len == 0)
        return;
    size_t u = r->now.units.len;
    for (; u > 0; u--) {
        const struct pl_unit *unit = &r->now.units.ptr[u - 1];
        if (unit->role == PL_ROLE_USER && !pl_unit_has(r, unit, PL_PART_BIT(PL_PART_RESULT)))
            break;
    }
    for (; u < r->now.units.len; u++) {
        struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n; i++) {
            struct pl_part *part = pl_unit_part(r, unit, i);
            if (part->kind != PL_PART_CALL)
                continue;
            if (!pl_val_is_set(part->signature)) {
                pl_repair_note(r, PL_LOSS_SYNTHESISED, pl_unit_node(r, unit, part),
                               "the call has no signature; the documented bypass was added");
                part->signature = pl_val_text(r->rules->signature_bypass);
                unit->is_changed = r->is_changed = true;
            }
            break;
        }
    }
}

static void drop_setting(struct pl_conv *conv, struct pl_val *val)
{
    if (!pl_val_is_set(*val))
        return;
    pl_conv_loss(conv, PL_LOSS_DROPPED, val->node, "the target refuses this setting");
    *val = (struct pl_val){0};
    conv->settings.is_changed = true;
}

void pl_repair_citations(struct pl_repair *r)
{
    if (!r->rules->refuses_user_citations)
        return;
    for (size_t u = 0; u < r->now.units.len; u++) {
        struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n && unit->role == PL_ROLE_USER; i++) {
            struct pl_part *part = pl_unit_part(r, unit, i);
            if (part->kind != PL_PART_TEXT || !pl_val_is_set(part->citations))
                continue;
            pl_conv_loss(r->conv, PL_LOSS_DROPPED, part->citations.node,
                         "citations are accepted only in texts of the assistant");
            part->citations = (struct pl_val){0};
            unit->is_changed = r->is_changed = true;
        }
    }
}

static void drop_settings(struct pl_conv *conv, const struct pl_repair_rules *rules)
{
    struct pl_settings *s = &conv->settings;
    const struct {
        bool is_refused;
        struct pl_val *val;
    } refused[] = {
        {rules->refuses_sampling, &s->temperature},
        {rules->refuses_sampling, &s->top_p},
        {rules->refuses_sampling, &s->top_k},
        {rules->refuses_penalties, &s->presence_penalty},
        {rules->refuses_penalties, &s->frequency_penalty},
        {rules->refuses_logprobs, &s->logprobs},
        {rules->refuses_logprobs, &s->top_logprobs},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].is_refused)
            drop_setting(conv, refused[i].val);
    if (rules->refuses_two_samplings && pl_val_is_set(s->temperature))
        drop_setting(conv, &s->top_p);
}

static void free_choice(struct pl_conv *conv)
{
    struct pl_settings *s = &conv->settings;
    if (s->choice != PL_CHOICE_ANY && s->choice != PL_CHOICE_ONE)
        return;
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, s->choice_val.node,
                 "this model cannot be forced to call a tool; it chooses itself");
    pl_conv_know(conv, s->choice_name.node);
    s->choice = PL_CHOICE_AUTO;
    s->choice_name = (struct pl_val){0};
    s->is_changed = true;
}

/* Moves a temperature outside a bound, in the direction `side`, to the bound. */
static void keep_temperature(struct pl_conv *conv, int side, struct pl_str bound, const char *which)
{
    struct pl_val *temperature = &conv->settings.temperature;
    if (temperature->kind != PL_VAL_NODE || pl_json_kind(temperature->node) != PL_JSON_NUMBER ||
        pl_json_number_cmp(pl_json_span(conv->doc, temperature->node), bound) * side <= 0)
        return;
    pl_conv_loss(conv, PL_LOSS_APPROXIMATED, temperature->node, "%.*s is %s", PL_STR_ARG(bound),
                 which);
    *temperature = pl_val_json(bound);
    conv->settings.is_changed = true;
}

void pl_repair_settings(struct pl_conv *conv, const struct pl_repair_rules *rules)
{
    drop_settings(conv, rules);
    if (rules->refuses_forced_choice)
        free_choice(conv);
    if (rules->max_temperature) {
        keep_temperature(conv, 1, pl_str_of(rules->max_temperature), "the highest");
        keep_temperature(conv, -1, PL_STR("0"), "the lowest");
    }
}
