/* Order of turns: system messages where the target accepts them, the user first, alternating turns,
 * and a valid last message. */
#include "conv/repair/repair_int.h"

/* Turns a system message into a user message. */
static void deal_as_user(struct pl_repair *r, const struct pl_unit *unit)
{
    pl_repair_note(r, PL_LOSS_APPROXIMATED, pl_unit_node(r, unit, NULL),
                   "a system message is not accepted here; it is a user message");
    struct pl_unit as_user = *unit;
    as_user.role = PL_ROLE_USER;
    pl_deal_open(r, &as_user);
    pl_deal_change(r);
    pl_deal_part(r, pl_repair_text(r, PL_STR("System instruction:")));
    for (uint32_t i = 0; i < unit->n; i++)
        pl_deal_part(r, r->now.parts.ptr[unit->first + i]);
}

/* System messages that wait for a place: the system units in [first, end) of the deck. */
struct waiting {
    struct pl_repair *r;
    PL_VEC(size_t) units; /* owned */
};

/* Deals them as one message: two in a row are not accepted. */
static void seat(struct waiting *w)
{
    struct pl_repair *r = w->r;
    for (size_t k = 0; k < w->units.len && r->conv->status == PL_OK; k++) {
        const struct pl_unit *unit = &r->now.units.ptr[w->units.ptr[k]];
        if (k == 0) {
            pl_deal_open(r, unit);
        } else {
            pl_repair_note(r, PL_LOSS_MERGED, pl_unit_node(r, unit, NULL),
                           "only one system message is accepted at a time; it is merged with the "
                           "previous one");
            pl_deal_change(r);
        }
        for (uint32_t i = 0; i < unit->n; i++)
            pl_deal_part(r, r->now.parts.ptr[unit->first + i]);
    }
    w->units.len = 0;
}

static void note_late(struct waiting *w)
{
    struct pl_repair *r = w->r;
    for (size_t k = 0; k < w->units.len; k++)
        pl_repair_note(r, PL_LOSS_MOVED, pl_unit_node(r, &r->now.units.ptr[w->units.ptr[k]], NULL),
                       "a system message must follow a user turn and must not be followed by one");
}

static void wait_for_seat(struct waiting *w, size_t u)
{
    if (!pl_vec_push(&w->units, u))
        w->r->conv->status = PL_NOMEM;
}

/* Whether a system message may follow unit `u` of the deck, the last one dealt. */
static bool is_seat(const struct pl_repair *r, size_t u, size_t next)
{
    return pl_unit_is_users(&r->now.units.ptr[u]) &&
           (next == r->now.units.len || r->now.units.ptr[next].role == PL_ROLE_ASSISTANT);
}

static void deal_after_user(struct pl_repair *r, size_t first)
{
    struct waiting w = {.r = r};
    size_t before = first; /* the last unit that is not a system message */
    for (size_t u = first; u < r->now.units.len && r->conv->status == PL_OK;) {
        pl_deal_whole(r, &r->now.units.ptr[u]);
        before = u++;
        size_t n_waiting = w.units.len;
        while (u < r->now.units.len && pl_unit_is_system(&r->now.units.ptr[u]))
            wait_for_seat(&w, u++);
        if (w.units.len == 0 || !is_seat(r, before, u))
            continue;
        if (n_waiting > 0)
            note_late(&w);
        bool was_late = n_waiting > 0;
        seat(&w);
        if (was_late)
            pl_deal_change(r);
    }
    for (size_t k = 0; k < w.units.len && r->conv->status == PL_OK; k++)
        deal_as_user(r, &r->now.units.ptr[w.units.ptr[k]]);
    pl_vec_deinit(&w.units);
}

void pl_repair_system(struct pl_repair *r)
{
    if (r->rules->system_place == PL_SYSTEM_ANYWHERE)
        return;
    size_t first = 0;
    for (; first < r->now.units.len && pl_unit_is_system(&r->now.units.ptr[first]); first++) {
        const struct pl_unit *unit = &r->now.units.ptr[first];
        pl_deal_whole(r, unit);
        if (r->rules->moves_leading_system && pl_unit_message(r, unit)->element != PL_NO_ELEMENT) {
            pl_repair_note(r, PL_LOSS_MOVED, pl_unit_node(r, unit, NULL),
                           "system messages at the beginning are outside the list");
            pl_deal_change(r);
        }
    }
    if (r->rules->system_place == PL_SYSTEM_AFTER_USER) {
        deal_after_user(r, first);
    } else {
        for (size_t u = first; u < r->now.units.len && r->conv->status == PL_OK; u++) {
            if (pl_unit_is_system(&r->now.units.ptr[u]))
                deal_as_user(r, &r->now.units.ptr[u]);
            else
                pl_deal_whole(r, &r->now.units.ptr[u]);
        }
    }
    pl_deal_end(r);
}

static void put_first(struct pl_repair *r, const struct pl_json_node *node)
{
    pl_repair_note(r, PL_LOSS_SYNTHESISED, node,
                   "the user must speak first; a minimal user message was added");
    pl_deal_new(r, PL_ROLE_USER);
    pl_deal_part(r, pl_repair_text(r, PL_STR("(start of the conversation)")));
}

/* The system unit that becomes the user's: the last one with content, or the number of units if
 * there is none. */
static size_t last_instruction(const struct pl_repair *r)
{
    for (size_t u = r->now.units.len; u > 0; u--)
        if (r->now.units.ptr[u - 1].n > 0)
            return u - 1;
    return r->now.units.len;
}

/* There are only system messages. The last one with content becomes the user message: in a prompt
 * of one message it is the question. If we made up a user message, the model would answer that. */
static void let_user_say_last(struct pl_repair *r)
{
    size_t last = last_instruction(r);
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        struct pl_unit unit = r->now.units.ptr[u];
        if (u == last)
            unit.role = PL_ROLE_USER;
        pl_deal_whole(r, &unit);
        if (u != last)
            continue;
        pl_deal_change(r);
        pl_repair_note(r, PL_LOSS_APPROXIMATED, pl_unit_node(r, &unit, NULL),
                       "only the system speaks, but the user must; its last instruction is a user "
                       "message");
    }
    pl_deal_end(r);
}

static bool is_begun(const struct pl_repair *r)
{
    for (size_t u = 0; u < r->now.units.len; u++)
        if (!pl_unit_is_system(&r->now.units.ptr[u]))
            return true;
    return false;
}

void pl_repair_first(struct pl_repair *r)
{
    if (!r->rules->wants_user_first)
        return;
    if (!is_begun(r)) {
        let_user_say_last(r);
        return;
    }
    bool is_first = true;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        if (is_first && !pl_unit_is_system(unit)) {
            is_first = false;
            if (unit->role == PL_ROLE_ASSISTANT)
                put_first(r, pl_unit_node(r, unit, NULL));
        }
        pl_deal_whole(r, unit);
    }
    pl_deal_end(r);
}

/* Joins `unit` to the unit dealt last. `is_result`: it follows another result, so both are one turn
 * anyway. */
static void join(struct pl_repair *r, const struct pl_unit *unit, bool is_result)
{
    const struct pl_message *m = pl_unit_message(r, unit);
    const struct pl_message *before = pl_unit_message(r, pl_dealt_last(r));
    /* A reader splits a message of results and words. */
    bool is_one = m->element != PL_NO_ELEMENT && m->element == before->element;
    if (!is_result && !is_one && !m->is_phase_split)
        pl_repair_note(r, PL_LOSS_MERGED, pl_unit_node(r, unit, NULL),
                       "turns must alternate; it is merged with the previous message");
    pl_deal_change(r);
    struct pl_unit *last = pl_dealt_last(r);
    if (last->role == PL_ROLE_TOOL)
        last->role = PL_ROLE_USER;
    for (uint32_t i = 0; i < unit->n; i++)
        pl_deal_part(r, r->now.parts.ptr[unit->first + i]);
}

/* Whether `unit` calls a tool and follows an assistant turn that does not. */
static bool follows_speaker(const struct pl_repair *r, const struct pl_unit *unit)
{
    const struct pl_unit *before = unit > r->now.units.ptr ? unit - 1 : NULL;
    uint32_t calls = PL_PART_BIT(PL_PART_CALL);
    return before && unit->role == PL_ROLE_ASSISTANT && before->role == PL_ROLE_ASSISTANT &&
           pl_unit_has(r, unit, calls) && !pl_unit_has(r, before, calls);
}

/* Whether unit u is a result that follows another result. */
static bool follows_result(const struct pl_repair *r, size_t u)
{
    const struct pl_unit *units = r->now.units.ptr;
    return u > 0 && units[u].role == PL_ROLE_TOOL && units[u - 1].role == PL_ROLE_TOOL;
}

/* Whether both are turns of one side. Where results are messages of their own, they belong to
 * neither side. */
static bool is_one_side(const struct pl_repair *r, const struct pl_unit *a, const struct pl_unit *b)
{
    bool has_tool = a->role == PL_ROLE_TOOL || b->role == PL_ROLE_TOOL;
    if (pl_unit_is_system(a) || pl_unit_is_system(b) ||
        (has_tool && !r->rules->wants_results_together))
        return false;
    return pl_unit_is_users(a) == pl_unit_is_users(b);
}

/* Whether a user message comes right after the run of results at unit u. Then all of them go into
 * the message that it is merged into. */
static bool leads_to_user(const struct pl_repair *r, size_t u)
{
    while (u < r->now.units.len && r->now.units.ptr[u].role == PL_ROLE_TOOL)
        u++;
    return u < r->now.units.len && r->now.units.ptr[u].role == PL_ROLE_USER;
}

void pl_repair_alternation(struct pl_repair *r)
{
    const struct pl_repair_rules *rules = r->rules;
    if (!rules->wants_alternation && !rules->joins_callers)
        return;
    bool leads = false; /* of the current run of results */
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        const struct pl_unit *last = r->next.units.len ? pl_dealt_last(r) : NULL;
        bool is_same = last && is_one_side(r, last, unit);
        /* Several results in a row are already one turn: nothing to merge or report. */
        bool is_result = is_same && follows_result(r, u);
        if (unit->role == PL_ROLE_TOOL && !follows_result(r, u))
            leads = leads_to_user(r, u);
        bool is_joined = is_same && (!is_result || leads);
        if (rules->wants_alternation ? is_joined : follows_speaker(r, unit))
            join(r, unit, is_result);
        else
            pl_deal_whole(r, unit);
    }
    pl_deal_end(r);
}

/* Removes white space at the end of the last text of a message, without decoding it. */
static void trim_text(struct pl_repair *r, struct pl_unit *unit, struct pl_part *part)
{
    struct pl_val *text = &part->text;
    if (text->kind != PL_VAL_NODE || pl_json_kind(text->node) != PL_JSON_STRING)
        return;
    struct pl_str raw = pl_json_raw(r->conv->doc, text->node);
    size_t len = raw.len;
    while (len > 0) {
        /* "\n" is white space, "\\n" is not: an escape starts after an even number of
         * backslashes. */
        size_t n_slashes = 0;
        while (len >= 2 && n_slashes < len - 1 && raw.ptr[len - 2 - n_slashes] == '\\')
            n_slashes++;
        if (raw.ptr[len - 1] == ' ' && n_slashes % 2 == 0)
            len--;
        else if (n_slashes % 2 == 1 && strchr("nrtf", raw.ptr[len - 1]))
            len -= 2;
        else
            break;
    }
    if (len == raw.len || len == 0)
        return;
    pl_repair_note(r, PL_LOSS_APPROXIMATED, text->node,
                   "white space at the end of the last message is not accepted");
    pl_conv_know(r->conv, text->node);
    *text = (struct pl_val){.kind = PL_VAL_SPAN, .node = text->node, .str = {raw.ptr, len}};
    unit->is_changed = r->is_changed = true;
}

static void trim_last(struct pl_repair *r, struct pl_unit *unit)
{
    for (uint32_t i = unit->n; i > 0; i--) {
        struct pl_part *part = pl_unit_part(r, unit, i - 1);
        if (part->kind == PL_PART_TEXT) {
            trim_text(r, unit, part);
            return;
        }
    }
}

void pl_repair_last(struct pl_repair *r)
{
    size_t n = r->now.units.len;
    if (n == 0 || r->now.units.ptr[n - 1].role != PL_ROLE_ASSISTANT)
        return;
    struct pl_unit *last = &r->now.units.ptr[n - 1];
    if (!r->rules->refuses_prefill) {
        if (r->rules->trims_prefill)
            trim_last(r, last);
        return;
    }
    const struct pl_json_node *node = pl_unit_node(r, last, NULL);
    pl_repair_note(r, PL_LOSS_APPROXIMATED, node,
                   "the last message must not be the assistant's; the target does not continue it");
    pl_repair_note(r, PL_LOSS_SYNTHESISED, node, "a user message that asks to continue was added");
    for (size_t u = 0; u < n; u++)
        pl_deal_whole(r, &r->now.units.ptr[u]);
    pl_deal_new(r, PL_ROLE_USER);
    pl_deal_part(r, pl_repair_text(r, PL_STR("Continue exactly where your last message ends.")));
    pl_deal_end(r);
}
