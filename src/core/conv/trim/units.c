/* Exchanges: their boundaries, which belong together, and leaving them out. */
#include "conv/trim/trim_int.h"

#include <inttypes.h>

static bool has_result(const struct pl_trim *t, uint32_t i)
{
    const struct pl_message *message = &t->conv->messages.ptr[i];
    for (uint32_t k = 0; k < message->n_parts; k++)
        if (pl_conv_parts(t->conv, message)[k].kind == PL_PART_RESULT)
            return true;
    return false;
}

/* Whether the message has the user's own words. A summary has role user too. */
static bool is_users_own(const struct pl_trim *t, uint32_t i)
{
    const struct pl_message *message = &t->conv->messages.ptr[i];
    if (message->role != PL_ROLE_USER)
        return false;
    for (uint32_t k = 0; k < message->n_parts; k++) {
        const struct pl_part *part = &pl_conv_parts(t->conv, message)[k];
        if (part->kind != PL_PART_RESULT && !pl_trim_is_summary(t->conv, part))
            return true;
    }
    return message->n_parts == 0;
}

/* Whether it is only the summary of an earlier trim. */
static bool is_summary(const struct pl_trim *t, uint32_t i)
{
    const struct pl_message *message = &t->conv->messages.ptr[i];
    return message->role == PL_ROLE_USER && message->n_parts == 1 &&
           pl_trim_is_summary(t->conv, pl_conv_parts(t->conv, message));
}

/* Whether it is from the same element of the source as the message before it. */
static bool shares_element(const struct pl_trim *t, uint32_t i)
{
    const struct pl_message *messages = t->conv->messages.ptr;
    return i > 0 && messages[i].element != PL_NO_ELEMENT &&
           messages[i].element == messages[i - 1].element;
}

static bool is_assistants(const struct pl_trim *t, uint32_t i)
{
    return t->conv->messages.ptr[i].role == PL_ROLE_ASSISTANT;
}

/* Whether the assistant begins to speak in message i; system messages do not interrupt a step. */
static bool begins_step(const struct pl_trim *t, uint32_t i)
{
    if (!is_assistants(t, i))
        return false;
    while (i > 0 && pl_trim_is_system(t, i - 1))
        i--;
    return i == 0 || !is_assistants(t, i - 1);
}

/* Finds the last message in which the user speaks, and the last assistant step after it:
 * unfinished, or not yet read. */
static void find_end(struct pl_trim *t)
{
    t->last_user = t->tail = t->n_messages;
    for (uint32_t i = t->n_messages; i > 0 && t->last_user == t->n_messages; i--)
        if (is_users_own(t, i - 1))
            t->last_user = i - 1;
    t->last_first = t->last_user;
    while (t->last_user < t->n_messages && shares_element(t, t->last_first) &&
           !is_assistants(t, t->last_first - 1))
        t->last_first--;
    uint32_t first = t->last_user < t->n_messages ? t->last_user + 1 : 0;
    for (uint32_t i = t->n_messages; i > first && t->tail == t->n_messages; i--)
        if (begins_step(t, i - 1))
            t->tail = i - 1;
}

/* From here on units are steps: the last message with only the user's words. */
static uint32_t current_turn(const struct pl_trim *t)
{
    for (uint32_t i = t->n_messages; i > 0; i--)
        if (is_users_own(t, i - 1) && !has_result(t, i - 1) && !shares_element(t, i - 1))
            return i - 1;
    return 0;
}

static bool begins_unit(const struct pl_trim *t, uint32_t i, uint32_t current)
{
    return i == 0 || i == t->last_first || i == t->tail || is_summary(t, i) ||
           (is_users_own(t, i) && !shares_element(t, i)) || (i > current && begins_step(t, i));
}

/* If a call and its result are in different units, joins these units and all between them. */
static enum pl_status join_pairs(struct pl_trim *t)
{
    uint32_t *reach = pl_arena_zalloc(t->conv->arena, (size_t)t->n_messages + 1, sizeof *reach);
    if (!reach)
        return PL_NOMEM;
    for (size_t i = 0; i < t->pairing.results.len; i++) {
        const struct pl_result *result = &t->pairing.results.ptr[i];
        if (result->call == PL_UNPAIRED)
            continue;
        uint32_t call = t->pairing.calls.ptr[result->call].message;
        if (reach[call] < result->message)
            reach[call] = result->message;
    }
    size_t kept = 0;
    uint32_t far = 0;
    for (size_t u = 0; u < t->units.len; u++) {
        struct pl_trim_unit unit = t->units.ptr[u];
        if (kept > 0 && far >= unit.first) {
            t->units.ptr[kept - 1].end = unit.end;
            t->units.ptr[kept - 1].is_kept |= unit.is_kept;
        } else {
            t->units.ptr[kept++] = unit;
        }
        for (uint32_t i = unit.first; i < unit.end; i++)
            far = reach[i] > far ? reach[i] : far;
    }
    t->units.len = kept;
    return PL_OK;
}

enum pl_status pl_trim_cut(struct pl_trim *t)
{
    find_end(t);
    uint32_t current = current_turn(t);
    for (uint32_t i = 0; i < t->n_messages; i++) {
        if (begins_unit(t, i, current) &&
            !pl_vec_push(&t->units, (struct pl_trim_unit){.first = i}))
            return PL_NOMEM;
        struct pl_trim_unit *unit = &t->units.ptr[t->units.len - 1];
        unit->end = i + 1;
        unit->is_kept |= pl_trim_is_last(t, i) || i >= t->tail;
    }
    enum pl_status status = pl_pairing_make(t->conv, true, &t->pairing);
    return status == PL_OK ? join_pairs(t) : status;
}

static const char *role_word(const struct pl_trim *t, uint32_t i)
{
    return is_assistants(t, i) ? "the assistant" : is_users_own(t, i) ? "the user" : "a tool";
}

/* The element of the list that contains a node, or NULL. Removed nodes come in the order of the
 * source, so all searches together go through the list once. */
static const struct pl_json_node *element_of(struct pl_trim *t, const struct pl_json_node *node)
{
    const struct pl_json_node *list = t->conv->list;
    if (!list || node <= list || node >= pl_json_end(list))
        return NULL;
    if (!t->element || node < t->element)
        t->element = pl_json_first(list);
    while (pl_json_next(t->element) <= node)
        t->element = pl_json_next(t->element);
    return t->element;
}

/* A message may come from several elements: reports each of them. */
static void report_others(struct pl_trim *t, const struct pl_message *message)
{
    const struct pl_json_node *last = message->node;
    for (uint32_t k = 0; k < message->n_parts && last; k++) {
        const struct pl_json_node *node = pl_conv_parts(t->conv, message)[k].node;
        if (!node || (node >= last && node < pl_json_next(last)))
            continue;
        const struct pl_json_node *element = element_of(t, node);
        if (element && element > last) {
            pl_conv_loss(t->conv, PL_LOSS_DROPPED, element,
                         "it belongs to an old message that was left out");
            last = element;
        }
    }
}

static void leave_out(struct pl_trim *t, uint32_t i)
{
    const struct pl_message *message = &t->conv->messages.ptr[i];
    t->is_dropped[i] = true;
    pl_tally_take(&t->total, &t->costs[i]);
    t->gone.n_assistants += is_assistants(t, i);
    t->gone.n_users += is_users_own(t, i);
    t->gone.n_results += has_result(t, i);
    for (uint32_t k = 0; k < message->n_parts; k++)
        pl_trim_keep_summary(t, &pl_conv_parts(t->conv, message)[k]);
    if (is_summary(t, i))
        pl_conv_loss(t->conv, PL_LOSS_MERGED, message->node,
                     "an earlier summary became part of the new one");
    else
        pl_conv_loss(t->conv, PL_LOSS_DROPPED, message->node,
                     "an old message of %s, %" PRIu64 " tokens, was left out", role_word(t, i),
                     pl_tally_total(t->opts->rule, &t->costs[i]));
    report_others(t, message);
}

/* A text for the removed messages, and its cost in tokens. */
static enum pl_status summarise(struct pl_trim *t, bool is_short)
{
    t->summary = pl_trim_write_summary(t, is_short);
    struct pl_part part = {.kind = PL_PART_TEXT, .text = pl_val_text(t->summary)};
    struct pl_tally tally = {0};
    enum pl_status status = pl_count_part(t->opts->rule, t->conv, PL_ROLE_USER, &part, &tally);
    t->n_summary = tally.by[PL_TALLY_MESSAGES] +
                   pl_chat_overhead_of(t->opts->rule->counting.encoding)->per_message;
    return status;
}

enum pl_status pl_trim_units(struct pl_trim *t)
{
    enum pl_status status = PL_OK;
    bool is_any = false;
    for (size_t u = 0; u < t->units.len && status == PL_OK; u++) {
        const struct pl_trim_unit *unit = &t->units.ptr[u];
        bool has_own = false;
        for (uint32_t i = unit->first; i < unit->end && !unit->is_kept; i++)
            if (!pl_trim_is_system(t, i)) {
                leave_out(t, i);
                has_own = true;
            }
        if (!has_own)
            continue;
        t->is_touched = is_any = true;
        t->n_summary = 0;
        if (!pl_trim_fits(t))
            continue;
        status = summarise(t, false);
        if (status == PL_OK && pl_trim_fits(t))
            return PL_OK;
    }
    return status == PL_OK && is_any ? summarise(t, true) : status;
}
