/* Open calls wait in queues, one for each id and one for each name; a result takes the first of its
 * queue. The queues are links inside the list of calls, so nothing is allocated for them. */
#include "conv/pairing.h"

#include "base/map.h"

/* The open calls of one id (or name) form a queue; a call of a later turn starts a new queue. The
 * maps hold, per key, the head and the tail of the queue as two numbers in one value. */
struct matcher {
    struct pl_conv *conv;
    struct pl_pairing *pairing;
    struct pl_map ids, names;
    uint32_t turn;
    bool in_turn;    /* the message before was the assistant's */
    bool is_broken;  /* a message other than a result has come since the last call */
    uint32_t cursor; /* first call that an anonymous result may answer */
};

/* Head and tail of a queue, each as index + 1 so that a new entry of the map is an empty queue. */
static uint32_t head_of(const struct pl_map_entry *entry)
{
    return (uint32_t)entry->value - 1;
}

static uint32_t tail_of(const struct pl_map_entry *entry)
{
    return (uint32_t)(entry->value >> 32) - 1;
}

static void set_queue(struct pl_map_entry *entry, uint32_t head, uint32_t tail)
{
    entry->value = (uint64_t)(tail + 1) << 32 | (head + 1);
}

static uint32_t *link_of(struct pl_conv_call *call, bool is_named)
{
    return is_named ? &call->next_named : &call->next;
}

/* Appends the last call to the queue of `key`. */
static bool enqueue(struct matcher *m, bool is_named, struct pl_str key)
{
    bool is_new;
    struct pl_map_entry *entry = pl_map_put(is_named ? &m->names : &m->ids, key, &is_new);
    if (!entry)
        return false;
    struct pl_conv_call *calls = m->pairing->calls.ptr;
    uint32_t self = (uint32_t)m->pairing->calls.len - 1;
    uint32_t tail = tail_of(entry);
    if (is_new || calls[tail].turn != calls[self].turn) {
        set_queue(entry, self, self);
    } else {
        *link_of(&calls[tail], is_named) = self;
        set_queue(entry, head_of(entry), self);
    }
    return true;
}

/* The first unanswered call of the queue. Answered calls are removed for good, so all searches
 * together are linear. */
static uint32_t first_open(struct matcher *m, bool is_named, struct pl_str key, bool *ret_is_known)
{
    struct pl_map_entry *entry = pl_map_get(is_named ? &m->names : &m->ids, key);
    *ret_is_known = entry != NULL;
    if (!entry)
        return PL_UNPAIRED;
    struct pl_conv_call *calls = m->pairing->calls.ptr;
    uint32_t at = head_of(entry);
    while (at != PL_UNPAIRED && calls[at].result != PL_UNPAIRED)
        at = *link_of(&calls[at], is_named);
    if (at != PL_UNPAIRED)
        set_queue(entry, at, tail_of(entry));
    return at;
}

static bool add_call(struct matcher *m, uint32_t message, uint32_t part)
{
    struct pl_conv_call call = {message, part, m->turn, PL_UNPAIRED, PL_UNPAIRED, PL_UNPAIRED};
    struct pl_pairing *p = m->pairing;
    if (!pl_vec_push(&p->calls, call))
        return false;
    uint32_t self = (uint32_t)p->calls.len - 1;
    if (self == 0 || p->calls.ptr[self - 1].turn != m->turn)
        m->cursor = self;
    m->is_broken = false;
    struct pl_str id = pl_conv_text(m->conv, m->conv->parts.ptr[part].id);
    struct pl_str name = pl_conv_text(m->conv, m->conv->parts.ptr[part].name);
    return (!id.len || enqueue(m, false, id)) && (!name.len || enqueue(m, true, name));
}

static uint32_t next_anonymous(struct matcher *m)
{
    const struct pl_pairing *p = m->pairing;
    while (m->cursor < p->calls.len && p->calls.ptr[m->cursor].result != PL_UNPAIRED)
        m->cursor++;
    return m->cursor < p->calls.len ? m->cursor : PL_UNPAIRED;
}

static bool has_id(struct matcher *m, uint32_t call)
{
    return pl_conv_text(m->conv, m->conv->parts.ptr[m->pairing->calls.ptr[call].part].id).len > 0;
}

static uint32_t find_call(struct matcher *m, const struct pl_part *part, bool *ret_is_known)
{
    struct pl_str id = pl_conv_text(m->conv, part->id);
    struct pl_str name = pl_conv_text(m->conv, part->name);
    *ret_is_known = false;
    if (id.len) {
        uint32_t call = first_open(m, false, id, ret_is_known);
        if (*ret_is_known || !name.len)
            return call;
        /* A result with an unknown id may still answer a call that has no id. */
        bool is_named;
        call = first_open(m, true, name, &is_named);
        return call != PL_UNPAIRED && !has_id(m, call) ? call : PL_UNPAIRED;
    }
    return name.len ? first_open(m, true, name, ret_is_known) : next_anonymous(m);
}

static bool add_result(struct matcher *m, uint32_t message, uint32_t part)
{
    bool is_known;
    struct pl_pairing *p = m->pairing;
    uint32_t call = find_call(m, &m->conv->parts.ptr[part], &is_known);
    struct pl_result result = {
        .message = message, .part = part, .call = call, .is_duplicate = is_known};
    if (call != PL_UNPAIRED) {
        result.is_duplicate = false;
        result.is_late = m->is_broken || p->calls.ptr[call].turn != m->turn;
        p->calls.ptr[call].result = (uint32_t)p->results.len;
    }
    return pl_vec_push(&p->results, result);
}

/* Counts turns, and whether the results of the last calls may still come. */
static void step(struct matcher *m, const struct pl_message *message, bool joins_assistants)
{
    bool has_result = false;
    for (uint32_t i = 0; i < message->n_parts; i++)
        has_result |= pl_conv_parts(m->conv, message)[i].kind == PL_PART_RESULT;
    if (message->role == PL_ROLE_ASSISTANT) {
        if (!m->in_turn || !(joins_assistants || message->is_phase_split))
            m->turn++;
        m->in_turn = true;
        m->is_broken |= !(joins_assistants || message->is_phase_split);
    } else {
        m->in_turn = false;
        m->is_broken |= !has_result;
    }
}

static enum pl_status match_all(struct matcher *m, bool joins_assistants)
{
    for (uint32_t i = 0; i < m->conv->messages.len; i++) {
        const struct pl_message *message = &m->conv->messages.ptr[i];
        step(m, message, joins_assistants);
        for (uint32_t k = 0; k < message->n_parts; k++) {
            uint32_t part = message->parts + k;
            enum pl_part_kind kind = m->conv->parts.ptr[part].kind;
            bool is_ok = kind == PL_PART_CALL     ? add_call(m, i, part)
                         : kind == PL_PART_RESULT ? add_result(m, i, part)
                                                  : true;
            if (!is_ok)
                return PL_NOMEM;
        }
    }
    return m->conv->status;
}

enum pl_status pl_pairing_make(struct pl_conv *conv, bool joins_assistants,
                               struct pl_pairing *ret_pairing)
{
    struct pl_pairing made = {0};
    struct matcher m = {.conv = conv, .pairing = &made};
    enum pl_status status = match_all(&m, joins_assistants);
    pl_map_deinit(&m.ids);
    pl_map_deinit(&m.names);
    if (status == PL_OK)
        *ret_pairing = made;
    else
        pl_pairing_deinit(&made);
    return status;
}

void pl_pairing_deinit(struct pl_pairing *pairing)
{
    pl_vec_deinit(&pairing->calls);
    pl_vec_deinit(&pairing->results);
}

static bool has_kind(const struct pl_conv *conv, enum pl_part_kind kind)
{
    for (size_t i = 0; i < conv->parts.len; i++)
        if (conv->parts.ptr[i].kind == kind)
            return true;
    return false;
}

bool pl_conv_serve_calls(struct pl_conv *conv)
{
    if (!has_kind(conv, PL_PART_RESULT))
        return has_kind(conv, PL_PART_CALL);
    PL_CLEANUP_PAIRING struct pl_pairing pairing = {0};
    enum pl_status status = pl_pairing_make(conv, true, &pairing);
    if (status != PL_OK) {
        conv->status = status;
        return false;
    }
    bool is_open = false;
    for (size_t i = 0; i < pairing.calls.len; i++) {
        const struct pl_conv_call *call = &pairing.calls.ptr[i];
        bool is_served = call->result != PL_UNPAIRED;
        is_open |= !is_served;
        conv->parts.ptr[call->part].is_served = is_served;
        if (is_served)
            conv->parts.ptr[pairing.results.ptr[call->result].part].is_served = true;
    }
    return is_open;
}

void pl_conv_drop_served(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->parts.len; i++) {
        const struct pl_part *part = &conv->parts.ptr[i];
        if (part->is_served)
            pl_conv_loss(conv, PL_LOSS_DROPPED, part->node,
                         part->kind == PL_PART_CALL
                             ? "the vendor answered this call itself; a response has no place for "
                               "it, and nobody must answer it again"
                             : "the vendor's own answer to a call; a response has no place for it");
    }
}
