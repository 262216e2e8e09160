/* Moves images, audio and documents that the target does not accept: from tool results into a user
 * message after the results, from the assistant's turns into the next user turn. A short text tells
 * the model where each one came from. */
#include "conv/repair/repair_int.h"

/* Parts on their way to another message. */
struct luggage {
    struct pl_repair *r;
    PL_VEC(uint32_t) parts; /* owned */
};

static void pack(struct luggage *bag, uint32_t part)
{
    if (!pl_vec_push(&bag->parts, part))
        bag->r->conv->status = PL_NOMEM;
}

/* Adds them to the open unit. */
static void unpack(struct luggage *bag)
{
    for (size_t i = 0; i < bag->parts.len; i++)
        pl_deal_part(bag->r, bag->parts.ptr[i]);
    if (bag->parts.len)
        pl_deal_change(bag->r);
    bag->parts.len = 0;
}

/* Removes refused parts from the content of a result; a note replaces them if nothing is left. */
static bool unload_result(struct luggage *bag, const struct pl_unit *unit, uint32_t index)
{
    struct pl_conv *conv = bag->r->conv;
    const struct pl_part result = conv->parts.ptr[index];
    uint32_t refused = bag->r->rules->refused_in_results;
    uint32_t n_refused = 0;
    for (uint32_t i = 0; i < result.n_children; i++)
        n_refused += (PL_PART_BIT(conv->children.ptr[result.children + i].kind) & refused) != 0;
    if (n_refused == 0)
        return false;
    struct pl_str id = pl_conv_text(conv, result.id), name = pl_conv_text(conv, result.name);
    uint32_t first = (uint32_t)conv->children.len;
    for (uint32_t i = 0; i < result.n_children && conv->status == PL_OK; i++) {
        struct pl_part child = conv->children.ptr[result.children + i];
        if (!(PL_PART_BIT(child.kind) & refused)) {
            if (!pl_vec_push(&conv->children, child))
                conv->status = PL_NOMEM;
            continue;
        }
        const char *word = pl_part_media_word(child.kind);
        pl_repair_note(bag->r, PL_LOSS_MOVED,
                       child.node ? child.node : pl_unit_node(bag->r, unit, &result),
                       "a tool result cannot contain it; it is in the next user message");
        struct pl_str label =
            id.len ? pl_conv_printf(conv, "[%s from tool call %.*s]", word, PL_STR_ARG(id))
                   : pl_conv_printf(conv, "[%s from tool %.*s]", word, PL_STR_ARG(name));
        pack(bag, pl_repair_text(bag->r, label));
        pack(bag, pl_repair_part(bag->r, child));
    }
    if (n_refused == result.n_children) {
        struct pl_part note = {.kind = PL_PART_TEXT,
                               .text = pl_val_text(PL_STR("[see the next user message]"))};
        if (!pl_vec_push(&conv->children, note))
            conv->status = PL_NOMEM;
    }
    conv->parts.ptr[index].children = first;
    conv->parts.ptr[index].n_children = (uint32_t)conv->children.len - first;
    return true;
}

/* Deals a unit with results. Once the luggage holds something, other parts of the unit join it, so
 * that the message of results holds nothing else. */
static void deal_results(struct luggage *bag, const struct pl_unit *unit, bool is_last_of_run)
{
    struct pl_repair *r = bag->r;
    pl_deal_open(r, unit);
    for (uint32_t i = 0; i < unit->n && r->conv->status == PL_OK; i++) {
        uint32_t index = r->now.parts.ptr[unit->first + i];
        bool is_result = r->conv->parts.ptr[index].kind == PL_PART_RESULT;
        if (is_result && unload_result(bag, unit, index))
            pl_deal_change(r);
        if (is_result || bag->parts.len == 0) {
            pl_deal_part(r, index);
        } else {
            pack(bag, index);
            pl_deal_change(r);
        }
    }
    if (is_last_of_run && bag->parts.len) {
        pl_deal_new(r, PL_ROLE_USER);
        unpack(bag);
    }
}

void pl_repair_result_media(struct pl_repair *r)
{
    if (r->rules->refused_in_results == 0)
        return;
    struct luggage bag = {.r = r};
    uint32_t results = PL_PART_BIT(PL_PART_RESULT);
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        bool is_last =
            u + 1 == r->now.units.len || !pl_unit_has(r, &r->now.units.ptr[u + 1], results);
        if (pl_unit_has(r, unit, results))
            deal_results(&bag, unit, is_last);
        else
            pl_deal_whole(r, unit);
    }
    pl_vec_deinit(&bag.parts);
    pl_deal_end(r);
}

static void unload_assistant(struct luggage *bag, const struct pl_unit *unit)
{
    struct pl_repair *r = bag->r;
    pl_deal_open(r, unit);
    for (uint32_t i = 0; i < unit->n && r->conv->status == PL_OK; i++) {
        uint32_t index = r->now.parts.ptr[unit->first + i];
        enum pl_part_kind kind = r->conv->parts.ptr[index].kind;
        if (PL_PART_BIT(kind) & r->rules->refused_from_assistant) {
            struct pl_str label = pl_conv_printf(r->conv, "[%s from the assistant's turn above]",
                                                 pl_part_media_word(kind));
            pack(bag, pl_repair_text(r, label));
            pack(bag, index);
            pl_deal_change(r);
        } else {
            pl_deal_part(r, index);
        }
    }
    if (r->conv->status == PL_OK && pl_dealt_last(r)->n == 0)
        pl_deal_part(r, pl_repair_text(r, PL_STR("[media]")));
}

static void note_moved(struct luggage *bag)
{
    struct pl_repair *r = bag->r;
    for (size_t i = 0; i < bag->parts.len; i++) {
        const struct pl_json_node *node = r->conv->parts.ptr[bag->parts.ptr[i]].node;
        if (node)
            pl_repair_note(r, PL_LOSS_MOVED, node,
                           "an assistant message cannot contain it; it is in the next user "
                           "message");
    }
}

/* Puts the luggage before the user's own words, but never before results. */
static void deliver(struct luggage *bag, const struct pl_unit *unit)
{
    struct pl_repair *r = bag->r;
    bool is_delivered = false;
    pl_deal_open(r, unit);
    for (uint32_t i = 0; i < unit->n; i++) {
        if (!is_delivered && pl_unit_part(r, unit, i)->kind != PL_PART_RESULT) {
            note_moved(bag);
            unpack(bag);
            is_delivered = true;
        }
        pl_deal_part(r, r->now.parts.ptr[unit->first + i]);
    }
}

/* Drops parts that no later message can hold. */
static void discard(struct luggage *bag)
{
    struct pl_repair *r = bag->r;
    for (size_t i = 0; i < bag->parts.len; i++) {
        const struct pl_json_node *node = r->conv->parts.ptr[bag->parts.ptr[i]].node;
        if (node)
            pl_conv_loss(r->conv, PL_LOSS_DROPPED, node,
                         "an assistant message cannot contain it, and no user message follows");
    }
    bag->parts.len = 0;
}

void pl_repair_assistant_media(struct pl_repair *r)
{
    if (r->rules->refused_from_assistant == 0)
        return;
    struct luggage bag = {.r = r};
    bool is_after_results = false;
    for (size_t u = 0; u < r->now.units.len && r->conv->status == PL_OK; u++) {
        const struct pl_unit *unit = &r->now.units.ptr[u];
        if (unit->role == PL_ROLE_ASSISTANT && is_after_results && bag.parts.len) {
            pl_deal_new(r, PL_ROLE_USER);
            note_moved(&bag);
            unpack(&bag);
        }
        is_after_results = pl_unit_has(r, unit, PL_PART_BIT(PL_PART_RESULT));
        if (unit->role == PL_ROLE_ASSISTANT &&
            pl_unit_has(r, unit, r->rules->refused_from_assistant))
            unload_assistant(&bag, unit);
        else if (bag.parts.len && unit->role == PL_ROLE_USER)
            deliver(&bag, unit);
        else
            pl_deal_whole(r, unit);
    }
    if (bag.parts.len && is_after_results) {
        pl_deal_new(r, PL_ROLE_USER);
        note_moved(&bag);
        unpack(&bag);
    }
    discard(&bag);
    pl_vec_deinit(&bag.parts);
    pl_deal_end(r);
}
