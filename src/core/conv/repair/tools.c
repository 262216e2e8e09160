/* Calls and their results: every call answered, right after it, and no result without a call.
 *
 * A turn of the assistant is followed by its zone: the messages that hold results. The results of
 * the turn come first in the zone, in one user message if the target requires that. The rest (text
 * between the results, results without a call) comes after them. A valid zone is dealt
 * unchanged. */
#include "conv/repair/repair_int.h"

#include "base/map.h"
#include "conv/pairing.h"

struct tools {
    struct pl_repair *r;
    const struct pl_pairing *pairing;
    uint32_t *answers;       /* by part, for a call: the part that answers it, or PL_NO_PART */
    uint32_t *asked_by;      /* by part, for a result: its call; PL_NO_PART for an orphan */
    uint32_t *unit_of;       /* by part: its unit in the deck */
    bool *is_placed;         /* by part: already dealt, after its call */
    bool *is_near;           /* by part, for a result: nothing else between it and its call */
    size_t n_parts;          /* length of these lists; we made later parts */
    PL_VEC(uint32_t) wanted; /* owned; the results of the current turn, in their new order */
    bool may_orphan;         /* results may answer calls in a history outside the document */
};

static bool is_result_unit(const struct tools *t, const struct pl_unit *unit)
{
    return unit->role == PL_ROLE_TOOL ||
           (unit->role == PL_ROLE_USER && pl_unit_has(t->r, unit, PL_PART_BIT(PL_PART_RESULT)));
}

static uint32_t part_at(const struct tools *t, const struct pl_unit *unit, uint32_t i)
{
    return t->r->now.parts.ptr[unit->first + i];
}

/* The text that replaces a missing result. */
static uint32_t make_missing(struct tools *t, const struct pl_unit *unit, uint32_t call_index)
{
    struct pl_conv *conv = t->r->conv;
    const struct pl_part call = conv->parts.ptr[call_index];
    static const char words[] = "{\"status\":\"error\",\"error_type\":\"MissingResult\","
                                "\"message\":\"This call was never answered.\"}";
    struct pl_part child = {.kind = PL_PART_TEXT, .text = pl_val_text(PL_STR(words))};
    struct pl_part result = {
        .kind = PL_PART_RESULT,
        .id = call.id,
        .name = call.name,
        .is_error = {.is_set = true, .value = true},
        .is_custom = call.is_custom,
        .children = (uint32_t)conv->children.len,
        .n_children = 1,
    };
    if (!pl_vec_push(&conv->children, child))
        conv->status = PL_NOMEM;
    pl_repair_note(t->r, PL_LOSS_SYNTHESISED, pl_unit_node(t->r, unit, &call),
                   "this call has no result; a result that says so was added");
    return pl_repair_part(t->r, result);
}

static bool is_known_part(const struct tools *t, uint32_t part)
{
    return part < t->n_parts;
}

/* Whether this part is a result that the turn waits for. */
static bool is_of_turn(const struct tools *t, uint32_t part, size_t first_unit, size_t end_unit)
{
    if (!is_known_part(t, part) || t->asked_by[part] == PL_NO_PART)
        return false;
    uint32_t unit = t->unit_of[t->asked_by[part]];
    return unit >= first_unit && unit < end_unit;
}

static void want(struct tools *t, uint32_t part)
{
    if (!pl_vec_push(&t->wanted, part))
        t->r->conv->status = PL_NOMEM;
}

/* Adds the results that the zone lacks, or all of them if they follow the order of the calls. */
static void want_from_calls(struct tools *t, size_t units[2], size_t zone_end)
{
    struct pl_repair *r = t->r;
    for (size_t u = units[0]; u < units[1]; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n; i++) {
            uint32_t call = part_at(t, unit, i);
            if (r->conv->parts.ptr[call].kind != PL_PART_CALL)
                continue;
            uint32_t result = t->answers[call];
            bool is_in_zone = result != PL_NO_PART && t->unit_of[result] < zone_end;
            if (r->rules->wants_call_order || !is_in_zone)
                want(t, result != PL_NO_PART ? result : make_missing(t, unit, call));
        }
    }
}

/* Lists the results of a turn in their new order: that of the calls, or as they came, with late and
 * missing ones at the end. */
static void list_wanted(struct tools *t, size_t units[2], size_t zone_end)
{
    struct pl_repair *r = t->r;
    bool is_near = true;
    t->wanted.len = 0;
    for (size_t u = units[1]; u < zone_end; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n; i++) {
            uint32_t part = part_at(t, unit, i);
            if (!is_of_turn(t, part, units[0], units[1])) {
                is_near = false;
                continue;
            }
            t->is_near[part] = is_near;
            if (!r->rules->wants_call_order)
                want(t, part);
        }
    }
    want_from_calls(t, units, zone_end);
}

/* Whether the zone begins with exactly the wanted results in this order, and in one message if the
 * target wants that. */
static bool is_zone_right(const struct tools *t, size_t zone, size_t zone_end)
{
    const struct pl_repair *r = t->r;
    size_t n = 0;
    size_t n_users = 0, n_tools = 0;
    for (size_t u = zone; u < zone_end && n < t->wanted.len; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n && n < t->wanted.len; i++)
            if (part_at(t, unit, i) != t->wanted.ptr[n++])
                return false;
        *(unit->role == PL_ROLE_TOOL ? &n_tools : &n_users) += 1;
    }
    if (n < t->wanted.len)
        return false;
    return !r->rules->wants_results_together || n_users == 0 || (n_users == 1 && n_tools == 0);
}

/* A result without a call becomes user text: no other part can hold it. */
static void deal_orphan(struct tools *t, const struct pl_unit *unit, uint32_t part)
{
    struct pl_repair *r = t->r;
    struct pl_conv *conv = r->conv;
    const struct pl_part result = conv->parts.ptr[part];
    struct pl_str id = pl_conv_text(conv, result.id);
    struct pl_str name = pl_conv_text(conv, result.name);
    pl_repair_note(r, PL_LOSS_APPROXIMATED, pl_unit_node(r, unit, &result),
                   "a result without its call cannot be sent; its text is now a user message");
    pl_conv_know(conv, result.id.node);
    pl_conv_know(conv, result.name.node);
    if (r->conv->status == PL_OK && pl_dealt_last(r)->role == PL_ROLE_TOOL) {
        pl_dealt_last(r)->role = PL_ROLE_USER;
        pl_unit_message(r, unit)->name = (struct pl_val){0};
    }
    pl_deal_change(r);
    struct pl_str head = pl_conv_printf(
        conv, "[Result of tool call %.*s%s%.*s%s, which is not in this conversation]",
        PL_STR_ARG(id), name.len ? " (" : "", PL_STR_ARG(name), name.len ? ")" : "");
    pl_deal_part(r, pl_repair_text(r, head));
    for (uint32_t i = 0; i < result.n_children && conv->status == PL_OK; i++)
        pl_deal_part(r, pl_repair_part(r, conv->children.ptr[result.children + i]));
}

/* Deals the rest of a unit. `is_open`: into the unit that is already open for it. */
static void deal_rest(struct tools *t, const struct pl_unit *unit, bool is_open)
{
    struct pl_repair *r = t->r;
    if (!is_open)
        pl_deal_open(r, unit);
    for (uint32_t i = 0; i < unit->n && r->conv->status == PL_OK; i++) {
        uint32_t part = part_at(t, unit, i);
        bool is_result = is_known_part(t, part) && r->conv->parts.ptr[part].kind == PL_PART_RESULT;
        if (is_result && t->is_placed[part])
            pl_deal_change(r);
        else if (is_result && t->asked_by[part] == PL_NO_PART && !t->may_orphan)
            deal_orphan(t, unit, part);
        else
            pl_deal_part(r, part);
    }
    if (unit->n > 0)
        pl_deal_drop_empty(r);
}

/* Reports where a moved result came from. `max_part` is the latest one of the source so far;
 * returns whether it was moved. */
static bool note_place(struct tools *t, uint32_t part, uint32_t max_part)
{
    struct pl_repair *r = t->r;
    if (!is_known_part(t, part))
        return false;
    const struct pl_unit *unit = &r->now.units.ptr[t->unit_of[part]];
    const struct pl_json_node *node = pl_unit_node(r, unit, &r->conv->parts.ptr[part]);
    bool is_overtaken = max_part != PL_NO_PART && part < max_part;
    if (!t->is_near[part])
        pl_repair_note(r, PL_LOSS_MOVED, node, "the result is now directly after its call");
    else if (is_overtaken)
        pl_repair_note(r, PL_LOSS_REORDERED, node, "results are now in the order of their calls");
    return is_overtaken || !t->is_near[part];
}

/* Deals one result as a message of its own: its old message, or a new one. */
static void deal_tool(struct tools *t, uint32_t part, bool is_moved)
{
    struct pl_repair *r = t->r;
    if (is_known_part(t, part)) {
        const struct pl_unit *unit = &r->now.units.ptr[t->unit_of[part]];
        if (unit->role == PL_ROLE_TOOL) {
            pl_deal_open(r, unit);
            if (is_moved)
                pl_deal_change(r);
            pl_deal_part(r, part);
            return;
        }
    }
    pl_deal_new(r, PL_ROLE_TOOL);
    /* It was taken out of a user message: that element is no longer complete. */
    if (is_known_part(t, part) && r->conv->status == PL_OK) {
        const struct pl_unit *unit = &r->now.units.ptr[t->unit_of[part]];
        pl_unit_message(r, pl_dealt_last(r))->element = pl_unit_message(r, unit)->element;
    }
    pl_deal_part(r, part);
}

/* The first user message in the zone that holds a result of the turn, or zone_end. */
static size_t find_host(const struct tools *t, size_t units[2], size_t zone_end)
{
    const struct pl_repair *r = t->r;
    for (size_t u = units[1]; u < zone_end; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n && unit->role == PL_ROLE_USER; i++)
            if (is_of_turn(t, part_at(t, unit, i), units[0], units[1]))
                return u;
    }
    return zone_end;
}

static void deal_zone_anew(struct tools *t, size_t units[2], size_t zone_end)
{
    struct pl_repair *r = t->r;
    size_t host = find_host(t, units, zone_end);
    if (host < zone_end) {
        pl_deal_open(r, &r->now.units.ptr[host]);
        pl_deal_change(r);
    }
    uint32_t max_part = PL_NO_PART;
    for (size_t i = 0; i < t->wanted.len && r->conv->status == PL_OK; i++) {
        uint32_t part = t->wanted.ptr[i];
        bool is_moved = note_place(t, part, max_part);
        if (host < zone_end)
            pl_deal_part(r, part);
        else
            deal_tool(t, part, is_moved);
        if (!is_known_part(t, part))
            continue;
        t->is_placed[part] = true;
        if (max_part == PL_NO_PART || part > max_part)
            max_part = part;
    }
    r->is_changed = true;
    if (host < zone_end)
        deal_rest(t, &r->now.units.ptr[host], true);
    for (size_t u = units[1]; u < zone_end; u++)
        if (u != host)
            deal_rest(t, &r->now.units.ptr[u], false);
}

static void name_results(struct tools *t)
{
    struct pl_part *parts = t->r->conv->parts.ptr;
    for (size_t i = 0; i < t->n_parts; i++)
        if (parts[i].kind == PL_PART_RESULT && t->asked_by[i] != PL_NO_PART &&
            !pl_val_is_set(parts[i].name))
            parts[i].name = parts[t->asked_by[i]].name;
}

static void give_id(struct tools *t, uint32_t part, struct pl_str id)
{
    struct pl_repair *r = t->r;
    struct pl_val *val = &r->conv->parts.ptr[part].id;
    pl_conv_loss(r->conv, PL_LOSS_APPROXIMATED, val->node,
                 "another call has the same id; this one got a new id");
    *val = pl_val_text(id);
    r->now.units.ptr[t->unit_of[part]].is_changed = r->is_changed = true;
}

/* The id with an unused number after it. *number is the last one tried for this id, so that a
 * thousand calls with one id do not try a thousand numbers each. */
static struct pl_str number_id(struct tools *t, const struct pl_map *seen, struct pl_str id,
                               uint32_t *number)
{
    struct pl_conv *conv = t->r->conv;
    while (conv->status == PL_OK) {
        struct pl_str made = pl_conv_printf(conv, "%.*s_%u", PL_STR_ARG(id), ++*number);
        if (conv->status == PL_OK && !pl_map_get(seen, made))
            return made;
    }
    return (struct pl_str){0};
}

/* The use of an id: the turn, and the last number appended to it, in one value. */
static uint64_t use_of(uint32_t turn, uint32_t number)
{
    return (uint64_t)turn << 32 | number;
}

/* Makes ids unique in a turn, or in all of them: a later call with the same id gets another id, and
 * so does its result. */
static void tell_ids_apart(struct tools *t)
{
    struct pl_conv *conv = t->r->conv;
    struct pl_map seen = {0}; /* id -> use */
    for (size_t i = 0; i < t->pairing->calls.len && conv->status == PL_OK; i++) {
        const struct pl_conv_call *call = &t->pairing->calls.ptr[i];
        uint32_t turn = t->r->rules->wants_ids_once ? 0 : call->turn;
        struct pl_str id = pl_conv_text(conv, conv->parts.ptr[call->part].id);
        if (!id.len)
            continue;
        bool is_new;
        struct pl_map_entry *entry = pl_map_put(&seen, id, &is_new);
        if (entry && !is_new && entry->value >> 32 == turn) {
            uint32_t number = (uint32_t)entry->value;
            struct pl_str made = number_id(t, &seen, id, &number);
            entry->value = use_of(turn, number);
            entry = made.len ? pl_map_put(&seen, made, &is_new) : NULL;
            if (entry)
                give_id(t, call->part, made);
            if (entry && t->answers[call->part] != PL_NO_PART)
                give_id(t, t->answers[call->part], made);
        }
        if (entry)
            entry->value = use_of(turn, 1);
        else
            conv->status = PL_NOMEM;
    }
    pl_map_deinit(&seen);
}

/* Inserts results for calls that have none; leaves everything else in place. */
static void deal_missing(struct tools *t, size_t units[2])
{
    struct pl_repair *r = t->r;
    for (size_t u = units[0]; u < units[1]; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        for (uint32_t i = 0; i < unit->n && r->conv->status == PL_OK; i++) {
            uint32_t call = part_at(t, unit, i);
            if (r->conv->parts.ptr[call].kind == PL_PART_CALL && t->answers[call] == PL_NO_PART) {
                uint32_t made = make_missing(t, unit, call);
                pl_deal_new(r, PL_ROLE_TOOL);
                pl_deal_part(r, made);
            }
        }
    }
}

/* Deals an assistant turn, [units[0], units[1]), and its zone; returns the unit after them. */
static size_t deal_turn(struct tools *t, size_t units[2])
{
    struct pl_repair *r = t->r;
    bool has_calls = false;
    for (size_t u = units[0]; u < units[1]; u++) {
        has_calls |= pl_unit_has(r, &r->now.units.ptr[u], PL_PART_BIT(PL_PART_CALL));
        pl_deal_whole(r, &r->now.units.ptr[u]);
    }
    if (!has_calls)
        return units[1];
    if (!r->rules->wants_results_adjacent) {
        deal_missing(t, units);
        return units[1];
    }
    size_t zone_end = units[1];
    while (zone_end < r->now.units.len && is_result_unit(t, &r->now.units.ptr[zone_end]))
        zone_end++;
    list_wanted(t, units, zone_end);
    if (r->conv->status != PL_OK || is_zone_right(t, units[1], zone_end))
        return units[1];
    deal_zone_anew(t, units, zone_end);
    return zone_end;
}

static void deal_all(struct tools *t)
{
    struct pl_repair *r = t->r;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK;) {
        if (r->now.units.ptr[u].role != PL_ROLE_ASSISTANT) {
            deal_rest(t, &r->now.units.ptr[u], false);
            u++;
            continue;
        }
        size_t units[2] = {u, u + 1};
        while (units[1] < r->now.units.len &&
               r->now.units.ptr[units[1]].role == PL_ROLE_ASSISTANT &&
               (r->rules->joins_assistants ||
                pl_unit_message(r, &r->now.units.ptr[units[1]])->is_phase_split))
            units[1]++;
        u = deal_turn(t, units);
    }
    pl_deal_end(r);
}

static bool fill_lists(struct tools *t)
{
    struct pl_repair *r = t->r;
    struct pl_arena *arena = r->conv->arena;
    t->n_parts = r->conv->parts.len;
    t->answers = pl_arena_alloc(arena, t->n_parts + 1, sizeof *t->answers);
    t->asked_by = pl_arena_alloc(arena, t->n_parts + 1, sizeof *t->asked_by);
    t->unit_of = pl_arena_zalloc(arena, t->n_parts + 1, sizeof *t->unit_of);
    t->is_placed = pl_arena_zalloc(arena, t->n_parts + 1, sizeof *t->is_placed);
    t->is_near = pl_arena_zalloc(arena, t->n_parts + 1, sizeof *t->is_near);
    if (!t->answers || !t->asked_by || !t->unit_of || !t->is_placed || !t->is_near)
        return false;
    for (size_t i = 0; i < t->n_parts; i++)
        t->answers[i] = t->asked_by[i] = PL_NO_PART;
    for (size_t i = 0; i < t->pairing->results.len; i++) {
        const struct pl_result *result = &t->pairing->results.ptr[i];
        if (result->call == PL_UNPAIRED)
            continue;
        uint32_t call = t->pairing->calls.ptr[result->call].part;
        t->answers[call] = result->part;
        t->asked_by[result->part] = call;
    }
    for (size_t u = 0; u < r->now.units.len; u++)
        for (uint32_t i = 0; i < r->now.units.ptr[u].n; i++)
            t->unit_of[part_at(t, &r->now.units.ptr[u], i)] = (uint32_t)u;
    return true;
}

void pl_repair_tools(struct pl_repair *r)
{
    bool tells_apart = r->rules->wants_unique_ids && !r->rules->refuses_call_ids;
    if (!r->rules->pairs_calls && !tells_apart)
        return;
    PL_CLEANUP_PAIRING struct pl_pairing pairing = {0};
    struct tools t = {.r = r, .pairing = &pairing};
    for (const char *const *key = r->rules->open_history; key && *key; key++)
        t.may_orphan |= pl_conv_node(r->conv, r->conv->doc->root, *key) != NULL;
    if (pl_pairing_make(r->conv, r->rules->joins_assistants, &pairing) != PL_OK ||
        !fill_lists(&t)) {
        r->conv->status = PL_NOMEM;
        return;
    }
    if (r->rules->wants_result_names)
        name_results(&t);
    if (tells_apart)
        tell_ids_apart(&t);
    if (r->rules->pairs_calls)
        deal_all(&t);
    pl_vec_deinit(&t.wanted);
}
