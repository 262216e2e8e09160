/* A call without an id gets a new one. A result without an id takes that of the first open call of
 * its name, or of any open call. */
#include "conv/call_ids.h"

#define NONE UINT32_MAX

/* Calls in order; calls of one name form a queue. Answered calls are skipped when they reach the
 * head of a queue, so everything is linear. */
struct call {
    struct pl_part *part; /* borrowed from the conversation, which must not get new parts */
    const struct pl_message *message;
    uint32_t next; /* of the same name */
    bool is_answered;
    bool is_made; /* we made its id: the source has none */
};

struct queue {
    uint32_t head, tail; /* of calls */
};

struct pairing {
    struct pl_conv *conv;
    PL_VEC(struct call) calls;
    PL_VEC(struct queue) queues;
    struct pl_map by_id;   /* call index + 1; 0 for an id that only a result has */
    struct pl_map by_name; /* queue index + 1 */
    uint32_t first_open;   /* for results without a name */
    uint32_t number;       /* of the next id to make */
};

static bool is_without_id(struct pl_conv *conv, const struct pl_part *part)
{
    if (part->kind != PL_PART_CALL && part->kind != PL_PART_RESULT)
        return false;
    /* A non-empty spelling has a non-empty text: no need to decode it. */
    if (part->id.kind == PL_VAL_NODE && pl_json_kind(part->id.node) == PL_JSON_STRING)
        return part->id.node->len <= 2;
    return pl_conv_text(conv, part->id).len == 0;
}

static struct pl_map_entry *entry_of(struct pairing *p, struct pl_map *map, struct pl_str key)
{
    bool is_new = false;
    struct pl_map_entry *entry = pl_map_put(map, key, &is_new);
    if (!entry)
        p->conv->status = PL_NOMEM;
    return entry;
}

/* The next unused "call_N". */
static struct pl_str new_id(struct pairing *p)
{
    struct pl_str id;
    do
        id = pl_conv_printf(p->conv, "call_%u", ++p->number);
    while (p->conv->status == PL_OK && pl_map_get(&p->by_id, id));
    return id;
}

static void set_id(struct pl_part *part, struct pl_str id)
{
    /* An empty id of the source is marked as known: this id replaces it. */
    part->id = (struct pl_val){.kind = PL_VAL_TEXT, .node = part->id.node, .str = id};
}

static void report(struct pairing *p, const struct pl_part *part, const struct pl_message *m)
{
    const struct pl_json_node *near = part->node ? part->node : m->node;
    pl_conv_know(p->conv, part->id.node);
    pl_conv_loss(p->conv, PL_LOSS_SYNTHESISED, near ? near : p->conv->doc->root,
                 "this tool %s has no id; it got the id %.*s",
                 part->kind == PL_PART_CALL ? "call" : "result", PL_STR_ARG(part->id.str));
}

static void enqueue(struct pairing *p, struct pl_str name, uint32_t call)
{
    struct pl_map_entry *entry = entry_of(p, &p->by_name, name);
    if (!entry)
        return;
    if (!entry->value) {
        if (!pl_vec_push(&p->queues, (struct queue){call, call})) {
            p->conv->status = PL_NOMEM;
            return;
        }
        entry->value = p->queues.len;
        return;
    }
    uint32_t *tail = &p->queues.ptr[entry->value - 1].tail;
    p->calls.ptr[*tail].next = call;
    *tail = call;
}

static void take_call(struct pairing *p, struct pl_part *part, const struct pl_message *m)
{
    struct call call = {.part = part, .message = m, .next = NONE};
    if (is_without_id(p->conv, part)) {
        set_id(part, new_id(p));
        call.is_made = true;
    }
    struct pl_map_entry *entry = entry_of(p, &p->by_id, pl_conv_text(p->conv, part->id));
    if (!entry || !pl_vec_push(&p->calls, call)) {
        p->conv->status = PL_NOMEM;
        return;
    }
    entry->value = p->calls.len;
    enqueue(p, pl_conv_text(p->conv, part->name), (uint32_t)p->calls.len - 1);
}

static uint32_t first_of_name(struct pairing *p, struct pl_str name)
{
    struct pl_map_entry *entry = pl_map_get(&p->by_name, name);
    if (!entry || !entry->value)
        return NONE;
    uint32_t *head = &p->queues.ptr[entry->value - 1].head;
    while (*head != NONE && p->calls.ptr[*head].is_answered && p->calls.ptr[*head].next != NONE)
        *head = p->calls.ptr[*head].next;
    return p->calls.ptr[*head].is_answered ? NONE : *head;
}

static uint32_t first_of_any(struct pairing *p)
{
    while (p->first_open < p->calls.len && p->calls.ptr[p->first_open].is_answered)
        p->first_open++;
    return p->first_open < p->calls.len ? p->first_open : NONE;
}

/* A result may have an id that no call has: some servers give ids only to results. It answers the
 * first open call of its name that has no id, and the call takes the id of the result. */
static void adopt(struct pairing *p, const struct pl_part *part)
{
    struct pl_str name = pl_conv_text(p->conv, part->name);
    uint32_t at = name.len ? first_of_name(p, name) : NONE;
    if (at == NONE || !p->calls.ptr[at].is_made)
        return;
    struct call *call = &p->calls.ptr[at];
    struct pl_str id = pl_conv_text(p->conv, part->id);
    struct pl_map_entry *entry = entry_of(p, &p->by_id, id);
    if (!entry)
        return;
    entry->value = at + 1;
    call->is_answered = true;
    set_id(call->part, id);
}

static void take_result(struct pairing *p, struct pl_part *part, const struct pl_message *m)
{
    if (!is_without_id(p->conv, part)) {
        struct pl_map_entry *entry = pl_map_get(&p->by_id, pl_conv_text(p->conv, part->id));
        if (entry && entry->value)
            p->calls.ptr[entry->value - 1].is_answered = true;
        else
            adopt(p, part);
        return;
    }
    struct pl_str name = pl_conv_text(p->conv, part->name);
    uint32_t call = name.len ? first_of_name(p, name) : first_of_any(p);
    if (call == NONE) {
        set_id(part, new_id(p));
        report(p, part, m);
        return;
    }
    p->calls.ptr[call].is_answered = true;
    pl_conv_know(p->conv, part->id.node);
    set_id(part, pl_conv_text(p->conv, p->calls.ptr[call].part->id));
}

/* Ids of the source are never given to another call, wherever they occur. */
static void reserve_ids(struct pairing *p)
{
    struct pl_conv *conv = p->conv;
    for (size_t i = 0; i < conv->parts.len && conv->status == PL_OK; i++) {
        const struct pl_part *part = &conv->parts.ptr[i];
        if ((part->kind == PL_PART_CALL || part->kind == PL_PART_RESULT) &&
            !is_without_id(conv, part))
            entry_of(p, &p->by_id, pl_conv_text(conv, part->id));
    }
}

static bool needs_ids(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->parts.len; i++)
        if (is_without_id(conv, &conv->parts.ptr[i]))
            return true;
    return false;
}

void pl_conv_give_ids(struct pl_conv *conv)
{
    if (!needs_ids(conv))
        return;
    struct pairing p = {.conv = conv};
    reserve_ids(&p);
    for (size_t i = 0; i < conv->messages.len; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        struct pl_part *parts = pl_conv_parts(conv, m);
        for (uint32_t k = 0; k < m->n_parts && conv->status == PL_OK; k++) {
            if (parts[k].kind == PL_PART_CALL)
                take_call(&p, &parts[k], m);
            else if (parts[k].kind == PL_PART_RESULT)
                take_result(&p, &parts[k], m);
        }
    }
    for (size_t i = 0; i < p.calls.len && conv->status == PL_OK; i++)
        if (p.calls.ptr[i].is_made)
            report(&p, p.calls.ptr[i].part, p.calls.ptr[i].message);
    pl_vec_deinit(&p.calls);
    pl_vec_deinit(&p.queues);
    pl_map_deinit(&p.by_id);
    pl_map_deinit(&p.by_name);
}

/* Finds the call of a result, or remembers a call under its id. False: a result is without one. */
static bool index_part(struct pl_call_index *index, struct pl_conv *conv, struct pl_map *by_id,
                       size_t i)
{
    const struct pl_part *part = &conv->parts.ptr[i];
    struct pl_str id = pl_conv_text(conv, part->id);
    if (part->kind == PL_PART_RESULT && !index->calls[i]) {
        const struct pl_map_entry *entry = pl_map_get(by_id, id);
        index->calls[i] = entry ? (uint32_t)entry->value : 0;
        return entry != NULL;
    }
    bool is_new = false;
    struct pl_map_entry *entry = part->kind == PL_PART_CALL ? pl_map_put(by_id, id, &is_new) : NULL;
    if (entry)
        entry->value = i + 1;
    else if (part->kind == PL_PART_CALL)
        conv->status = PL_NOMEM;
    return true;
}

void pl_call_index_init(struct pl_call_index *index, struct pl_conv *conv)
{
    struct pl_map before = {0}, after = {0};
    bool is_complete = true;
    *index = (struct pl_call_index){.n_parts = conv->parts.len};
    index->calls = pl_arena_zalloc(conv->arena, index->n_parts + 1, sizeof *index->calls);
    if (!index->calls)
        conv->status = PL_NOMEM;
    for (size_t i = 0; i < index->n_parts && conv->status == PL_OK; i++)
        is_complete &= index_part(index, conv, &before, i);
    for (size_t i = index->n_parts; !is_complete && i > 0 && conv->status == PL_OK; i--)
        (void)index_part(index, conv, &after, i - 1);
    pl_map_deinit(&before);
    pl_map_deinit(&after);
}

const struct pl_part *pl_call_index_find(const struct pl_call_index *index,
                                         const struct pl_conv *conv, const struct pl_part *result)
{
    const struct pl_part *parts = conv->parts.ptr;
    if (!index->calls || result < parts || result >= parts + index->n_parts)
        return NULL;
    uint32_t call = index->calls[result - parts];
    return call ? &parts[call - 1] : NULL;
}
