/* The deck, and the order of the repairs. */
#include "conv/repair/repair_int.h"

#include <stdarg.h>
#include <stdio.h>

static void fail(struct pl_repair *r)
{
    r->conv->status = PL_NOMEM;
}

bool pl_unit_has(const struct pl_repair *r, const struct pl_unit *unit, uint32_t kinds)
{
    for (uint32_t i = 0; i < unit->n; i++)
        if (PL_PART_BIT(pl_unit_part(r, unit, i)->kind) & kinds)
            return true;
    return false;
}

struct pl_message *pl_unit_message(const struct pl_repair *r, const struct pl_unit *unit)
{
    return &r->conv->messages.ptr[unit->message];
}

const struct pl_json_node *pl_unit_node(const struct pl_repair *r, const struct pl_unit *unit,
                                        const struct pl_part *part)
{
    if (part && part->node)
        return part->node;
    if (part && part->text.kind == PL_VAL_NODE)
        return part->text.node;
    const struct pl_json_node *node = pl_unit_message(r, unit)->node;
    return node ? node : r->conv->list ? r->conv->list : r->conv->doc->root;
}

void pl_deal_open(struct pl_repair *r, const struct pl_unit *unit)
{
    struct pl_unit dealt = *unit;
    dealt.first = (uint32_t)r->next.parts.len;
    dealt.n = 0;
    if (!pl_vec_push(&r->next.units, dealt))
        fail(r);
}

void pl_deal_part(struct pl_repair *r, uint32_t part)
{
    if (r->conv->status != PL_OK)
        return;
    if (pl_vec_push(&r->next.parts, part))
        pl_dealt_last(r)->n++;
    else
        fail(r);
}

void pl_deal_whole(struct pl_repair *r, const struct pl_unit *unit)
{
    pl_deal_open(r, unit);
    for (uint32_t i = 0; i < unit->n; i++)
        pl_deal_part(r, r->now.parts.ptr[unit->first + i]);
}

void pl_deal_new(struct pl_repair *r, enum pl_role role)
{
    struct pl_message made = {.role = role, .element = PL_NO_ELEMENT, .is_changed = true};
    struct pl_unit unit = {
        .message = (uint32_t)r->conv->messages.len, .role = role, .is_changed = true};
    if (!pl_vec_push(&r->conv->messages, made))
        fail(r);
    pl_deal_open(r, &unit);
    r->is_changed = true;
}

struct pl_unit *pl_dealt_last(struct pl_repair *r)
{
    return &r->next.units.ptr[r->next.units.len - 1];
}

void pl_deal_change(struct pl_repair *r)
{
    r->is_changed = true;
    if (r->conv->status == PL_OK)
        pl_dealt_last(r)->is_changed = true;
}

void pl_deal_drop_empty(struct pl_repair *r)
{
    if (r->conv->status == PL_OK && pl_dealt_last(r)->n == 0) {
        r->next.units.len--;
        r->is_changed = true;
    }
}

void pl_deal_end(struct pl_repair *r)
{
    struct pl_deck spare = r->now;
    r->now = r->next;
    r->next = spare;
    r->next.units.len = r->next.parts.len = 0;
}

uint32_t pl_repair_part(struct pl_repair *r, struct pl_part part)
{
    if (pl_vec_push(&r->conv->parts, part))
        return (uint32_t)r->conv->parts.len - 1;
    fail(r);
    return 0;
}

uint32_t pl_repair_text(struct pl_repair *r, struct pl_str text)
{
    return pl_repair_part(r, (struct pl_part){.kind = PL_PART_TEXT, .text = pl_val_text(text)});
}

void pl_repair_note(struct pl_repair *r, enum pl_loss_code code, const struct pl_json_node *node,
                    const char *detail, ...)
{
    char text[256];
    va_list args;
    va_start(args, detail);
    int n = vsnprintf(text, sizeof text, detail, args);
    va_end(args);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    struct pl_str kept = pl_arena_dup(r->conv->arena, (struct pl_str){text, len});
    struct pl_loss loss = {code, node, kept};
    if ((len && !kept.ptr) || !pl_vec_push(&r->conv->losses, loss))
        fail(r);
}

static void deal_conversation(struct pl_repair *r)
{
    for (uint32_t i = 0; i < r->conv->messages.len; i++) {
        const struct pl_message *message = &r->conv->messages.ptr[i];
        struct pl_unit unit = {.message = i, .role = message->role};
        pl_deal_open(r, &unit);
        for (uint32_t k = 0; k < message->n_parts; k++)
            pl_deal_part(r, message->parts + k);
    }
    pl_deal_end(r);
    r->is_dealt = true;
}

/* An element of the source that lost one of its messages is changed, even if the other messages are
 * not. */
static bool mark_incomplete(struct pl_repair *r, uint32_t n_before)
{
    uint32_t n_elements = 0;
    const struct pl_message *messages = r->conv->messages.ptr;
    for (uint32_t i = 0; i < n_before; i++)
        if (messages[i].element != PL_NO_ELEMENT && messages[i].element >= n_elements)
            n_elements = messages[i].element + 1;
    int32_t *n_missing = pl_arena_zalloc(r->conv->arena, n_elements + 1, sizeof *n_missing);
    if (!n_missing)
        return false;
    /* The last entry counts messages outside the list. */
    for (uint32_t i = 0; i < n_before; i++)
        n_missing[messages[i].element == PL_NO_ELEMENT ? n_elements : messages[i].element]++;
    for (size_t i = 0; i < r->now.units.len; i++) {
        uint32_t at = r->now.units.ptr[i].message;
        if (at < n_before)
            n_missing[messages[at].element == PL_NO_ELEMENT ? n_elements : messages[at].element]--;
    }
    if (n_missing[n_elements] > 0)
        r->conv->settings.is_changed = true;
    for (size_t i = 0; i < r->now.units.len; i++) {
        uint32_t at = r->now.units.ptr[i].message;
        if (at < n_before && messages[at].element != PL_NO_ELEMENT &&
            n_missing[messages[at].element] > 0)
            r->now.units.ptr[i].is_changed = true;
    }
    return true;
}

/* Builds the vectors of the conversation from the deck; leaves them alone when memory runs out. */
static enum pl_status build(struct pl_repair *r, uint32_t n_before)
{
    struct pl_conv *conv = r->conv;
    size_t n_units = r->now.units.len;
    size_t n_parts = 0;
    for (size_t i = 0; i < n_units; i++)
        n_parts += r->now.units.ptr[i].n;
    typeof(conv->messages) messages = {0};
    typeof(conv->parts) parts = {0};
    if (!mark_incomplete(r, n_before) ||
        !pl_vec_grow((void **)&messages.ptr, &messages.cap, n_units + 1, sizeof *messages.ptr) ||
        !pl_vec_grow((void **)&parts.ptr, &parts.cap, n_parts + 1, sizeof *parts.ptr)) {
        pl_vec_deinit(&messages);
        return PL_NOMEM;
    }
    for (size_t i = 0; i < n_units; i++) {
        const struct pl_unit *unit = &r->now.units.ptr[i];
        struct pl_message message = *pl_unit_message(r, unit);
        message.role = unit->role;
        message.is_changed |= unit->is_changed;
        message.parts = (uint32_t)parts.len;
        message.n_parts = unit->n;
        if (message.is_changed && message.element == PL_NO_ELEMENT && unit->message < n_before)
            conv->settings.is_changed = true;
        for (uint32_t k = 0; k < unit->n; k++)
            parts.ptr[parts.len++] = *pl_unit_part(r, unit, k);
        messages.ptr[messages.len++] = message;
    }
    pl_vec_deinit(&conv->messages);
    pl_vec_deinit(&conv->parts);
    conv->messages = messages;
    conv->parts = parts;
    conv->is_repaired = true;
    return PL_OK;
}

struct pass {
    void (*run)(struct pl_repair *r);
    bool (*is_due)(const struct pl_repair *r);
};

/* Runs the passes and builds the conversation again if one of them changed the deck. */
static enum pl_status run(struct pl_conv *conv, const struct pl_repair_rules *rules,
                          const struct pl_repair_facts *facts, const struct pass *passes)
{
    struct pl_repair r = {.conv = conv, .rules = rules, .facts = *facts};
    uint32_t n_messages = (uint32_t)conv->messages.len;
    for (; passes->run && conv->status == PL_OK; passes++) {
        if (!r.is_changed && !passes->is_due(&r))
            continue;
        if (!r.is_dealt)
            deal_conversation(&r);
        if (conv->status == PL_OK)
            passes->run(&r);
    }
    if (conv->status == PL_OK && r.is_changed)
        conv->status = build(&r, n_messages);
    if (conv->status != PL_OK && conv->messages.len > n_messages)
        conv->messages.len = n_messages;
    pl_vec_deinit(&r.now.units);
    pl_vec_deinit(&r.now.parts);
    pl_vec_deinit(&r.next.units);
    pl_vec_deinit(&r.next.parts);
    return conv->status;
}

enum pl_status pl_conv_repair(struct pl_conv *conv, const struct pl_repair_rules *rules)
{
#define X(name) {pl_repair_##name, pl_due_##name},
    static const struct pass first[] = {PL_REPAIR_FIRST_PASSES(X){0}};
    static const struct pass then[] = {PL_REPAIR_PASSES(X){0}};
#undef X
    struct pl_repair_facts facts = pl_repair_look(conv, rules);
    enum pl_status status = conv->status;
    if (status == PL_OK && (rules->drops_blank || rules->drops_empty)) {
        status = run(conv, rules, &facts, first);
        if (conv->is_repaired)
            facts = pl_repair_look(conv, rules);
    }
    if (status == PL_OK)
        status = run(conv, rules, &facts, then);
    if (status == PL_OK)
        pl_repair_settings(conv, rules);
    return conv->status;
}
