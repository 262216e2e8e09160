/* Which passes have something to do. Most conversations are valid already, and one look at them
 * costs a fraction of running every pass.
 *
 * A pass that is not due would change and report nothing. Once a pass has changed the deck, the
 * facts are out of date, and all later passes run. */
#include "conv/repair/repair_int.h"

#include "base/map.h"

enum {
    MOST_CALLS = 16, /* calls of one turn that are compared with each other here */
    THOUGHT = PL_PART_BIT(PL_PART_THINKING) | PL_PART_BIT(PL_PART_REDACTED),
    MEDIA = PL_PART_BIT(PL_PART_IMAGE) | PL_PART_BIT(PL_PART_AUDIO) | PL_PART_BIT(PL_PART_VIDEO) |
            PL_PART_BIT(PL_PART_FILE),
    OTHERS = PL_PART_BIT(PL_PART_OTHER),
};

static bool is_system(const struct pl_message *m)
{
    return m->role == PL_ROLE_SYSTEM || m->role == PL_ROLE_DEVELOPER;
}

/* --- facts ----------------------------------------------------------------------------------- */

/* An upper bound of the length of its text. */
static size_t length_of(struct pl_val val)
{
    return val.kind == PL_VAL_NODE ? val.node->len : val.str.len;
}

static void see_child(struct pl_repair_facts *f, struct pl_conv *conv, bool drops_blank,
                      const struct pl_part *child)
{
    f->child_kinds |= PL_PART_BIT(child->kind);
    f->has_cache |= pl_val_is_set(child->cache);
    if (child->kind == PL_PART_TEXT && child->node && drops_blank)
        f->has_blank |= pl_conv_is_blank(conv, child->text);
}

static void see_part(struct pl_repair_facts *f, struct pl_conv *conv, bool drops_blank,
                     const struct pl_part *part)
{
    f->has_cache |= pl_val_is_set(part->cache);
    if (part->kind == PL_PART_TEXT) {
        f->has_blank |= drops_blank && pl_conv_is_blank(conv, part->text);
        f->has_citations |= pl_val_is_set(part->citations);
        f->has_void |= !pl_val_is_set(part->text);
    } else if (part->kind == PL_PART_REFUSAL) {
        f->has_void |= !pl_val_is_set(part->text);
    } else if (part->kind == PL_PART_CALL || part->kind == PL_PART_RESULT) {
        size_t n_id = length_of(part->id);
        f->n_longest_id = n_id > f->n_longest_id ? n_id : f->n_longest_id;
    }
    if (part->kind == PL_PART_RESULT)
        for (uint32_t i = 0; i < part->n_children; i++)
            see_child(f, conv, drops_blank, pl_conv_children(conv, part) + i);
}

static void see_turn(struct pl_repair_facts *f, const struct pl_message *before,
                     const struct pl_message *m)
{
    bool is_users = m->role != PL_ROLE_ASSISTANT;
    if (is_system(m)) {
        f->has_late_system |= f->is_begun;
        f->has_listed_system |= m->element != PL_NO_ELEMENT;
        return;
    }
    if (!f->is_begun)
        f->begins_with_assistant = !is_users;
    f->is_begun = true;
    if (before && !is_system(before) && is_users == (before->role != PL_ROLE_ASSISTANT))
        f->has_same_turns |= m->role != PL_ROLE_TOOL || before->role != PL_ROLE_TOOL;
}

struct pl_repair_facts pl_repair_look(struct pl_conv *conv, const struct pl_repair_rules *rules)
{
    struct pl_repair_facts facts = {0}, *f = &facts;
    for (size_t i = 0; i < conv->messages.len; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        const struct pl_part *parts = pl_conv_parts(conv, m);
        uint32_t kinds = 0;
        see_turn(f, i ? m - 1 : NULL, m);
        f->has_empty |= m->n_parts == 0;
        f->has_cache |= pl_val_is_set(m->cache);
        for (uint32_t k = 0; k < m->n_parts; k++) {
            kinds |= PL_PART_BIT(parts[k].kind);
            see_part(f, conv, rules->drops_blank, &parts[k]);
        }
        f->kinds[m->role] |= kinds;
        f->all_kinds |= kinds;
    }
    for (size_t i = 0; i < conv->tools.len; i++)
        f->has_cache |= pl_val_is_set(conv->tools.ptr[i].cache);
    f->ends_with_assistant = conv->messages.len > 0 &&
                             conv->messages.ptr[conv->messages.len - 1].role == PL_ROLE_ASSISTANT;
    return facts;
}

/* --- calls that are answered as they should be ----------------------------------------------- */

static bool is_plain_id(const struct pl_conv *conv, struct pl_val id, struct pl_str *ret_raw)
{
    if (id.kind != PL_VAL_NODE || pl_json_kind(id.node) != PL_JSON_STRING ||
        (id.node->tag & PL_JSON_ESCAPED))
        return false;
    *ret_raw = pl_json_raw(conv->doc, id.node);
    return ret_raw->len > 0;
}

/* Lists the calls of a message. False: it has a result, an id is missing, has escapes or occurs
 * twice, or there are too many calls. */
static bool list_calls(const struct pl_conv *conv, const struct pl_message *m,
                       struct pl_part *ret_calls[MOST_CALLS], size_t *ret_n)
{
    __attribute__((uninitialized)) struct pl_str ids[MOST_CALLS]; /* of the calls so far */
    size_t n = 0;
    for (uint32_t k = 0; k < m->n_parts; k++) {
        struct pl_part *part = pl_conv_parts(conv, m) + k;
        if (part->kind == PL_PART_RESULT)
            return false;
        if (part->kind != PL_PART_CALL)
            continue;
        if (n == MOST_CALLS || !is_plain_id(conv, part->id, &ids[n]))
            return false;
        for (size_t i = 0; i < n; i++)
            if (pl_str_eq(ids[i], ids[n]))
                return false;
        ret_calls[n++] = part;
    }
    *ret_n = n;
    return true;
}

/* Whether a message begins with results for the first of these calls, in their order, and has no
 * other results. *ret_n is their number. */
static bool answers(const struct pl_repair *r, const struct pl_message *m,
                    struct pl_part *const calls[], size_t n_calls, size_t *ret_n)
{
    const struct pl_conv *conv = r->conv;
    struct pl_part *parts = pl_conv_parts(conv, m);
    struct pl_str asked, answered;
    size_t n = 0;
    while (n < m->n_parts && n < n_calls && parts[n].kind == PL_PART_RESULT) {
        if (!is_plain_id(conv, calls[n]->id, &asked) ||
            !is_plain_id(conv, parts[n].id, &answered) || !pl_str_eq(asked, answered))
            return false;
        n++;
    }
    for (uint32_t k = (uint32_t)n; k < m->n_parts; k++)
        if (parts[k].kind == PL_PART_RESULT)
            return false;
    *ret_n = n;
    return true;
}

/* Whether the results of a turn come right after it: in tool messages, one each, or all in one user
 * message. *at is the turn on entry, and the last of those messages on return. */
static bool is_turn_answered(const struct pl_repair *r, size_t *at, struct pl_part *const calls[],
                             size_t n_calls)
{
    const struct pl_conv *conv = r->conv;
    size_t n_answered = 0;
    while (n_answered < n_calls) {
        size_t n = 0;
        if (++*at == conv->messages.len)
            return false;
        const struct pl_message *m = &conv->messages.ptr[*at];
        size_t n_wanted = m->role == PL_ROLE_TOOL ? 1 : n_calls;
        if ((m->role != PL_ROLE_TOOL && (m->role != PL_ROLE_USER || n_answered)) ||
            (m->role == PL_ROLE_TOOL && m->n_parts != 1) ||
            !answers(r, m, calls + n_answered, n_wanted, &n) || n != n_wanted)
            return false;
        struct pl_part *results = pl_conv_parts(conv, m);
        for (size_t i = 0; i < n && r->rules->wants_result_names; i++)
            if (!pl_val_is_set(results[i].name))
                results[i].name = calls[n_answered + i]->name;
        n_answered += n;
    }
    return true;
}

bool pl_repair_calls_are_answered(const struct pl_repair *r)
{
    const struct pl_conv *conv = r->conv;
    struct pl_part *calls[MOST_CALLS];
    for (size_t i = 0; i < conv->messages.len; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        size_t n_calls = 0;
        if (m->role == PL_ROLE_TOOL || !list_calls(conv, m, calls, &n_calls) ||
            !is_turn_answered(r, &i, calls, n_calls))
            return false;
    }
    return true;
}

/* --- when each pass is due ------------------------------------------------------------------- */

bool pl_due_blank(const struct pl_repair *r)
{
    const struct pl_repair_facts *f = &r->facts;
    return f->has_empty || (r->rules->drops_blank && (f->has_blank || (f->all_kinds & THOUGHT)));
}

/* Whether two calls have one id. Running out of memory is in conv->status. */
static bool has_repeated_id(const struct pl_repair *r)
{
    struct pl_conv *conv = r->conv;
    struct pl_map seen = {0};
    bool is_repeated = false;
    for (size_t i = 0; i < conv->parts.len && !is_repeated && conv->status == PL_OK; i++) {
        struct pl_str id;
        bool is_new = true;
        if (conv->parts.ptr[i].kind == PL_PART_CALL &&
            is_plain_id(conv, conv->parts.ptr[i].id, &id) && !pl_map_put(&seen, id, &is_new))
            conv->status = PL_NOMEM;
        is_repeated = !is_new;
    }
    pl_map_deinit(&seen);
    return is_repeated;
}

bool pl_due_tools(const struct pl_repair *r)
{
    return ((r->rules->pairs_calls || r->rules->wants_unique_ids) &&
            !pl_repair_calls_are_answered(r)) ||
           (r->rules->wants_ids_once && has_repeated_id(r));
}

bool pl_due_calls_last(const struct pl_repair *r)
{
    return r->rules->wants_calls_last && (r->facts.all_kinds & OTHERS);
}

bool pl_due_arguments(const struct pl_repair *r)
{
    return r->rules->wants_argument_strings && (r->facts.all_kinds & PL_PART_BIT(PL_PART_CALL));
}

bool pl_due_sources(const struct pl_repair *r)
{
    return r->facts.has_void || (r->facts.all_kinds | r->facts.child_kinds) & (MEDIA | OTHERS);
}

bool pl_due_assistant_media(const struct pl_repair *r)
{
    return r->facts.kinds[PL_ROLE_ASSISTANT] & r->rules->refused_from_assistant;
}

bool pl_due_result_media(const struct pl_repair *r)
{
    return r->facts.child_kinds & r->rules->refused_in_results;
}

bool pl_due_lost_thinking(const struct pl_repair *r)
{
    return (r->facts.all_kinds & THOUGHT) && pl_repair_is_unstored(r);
}

bool pl_due_thinking_tail(const struct pl_repair *r)
{
    return r->rules->needs_thinking_follower && (r->facts.all_kinds & THOUGHT);
}

bool pl_due_system(const struct pl_repair *r)
{
    return r->rules->system_place != PL_SYSTEM_ANYWHERE &&
           (r->facts.has_late_system ||
            (r->rules->moves_leading_system && r->facts.has_listed_system));
}

bool pl_due_first(const struct pl_repair *r)
{
    return r->rules->wants_user_first && (!r->facts.is_begun || r->facts.begins_with_assistant);
}

bool pl_due_alternation(const struct pl_repair *r)
{
    return (r->rules->wants_alternation || r->rules->joins_callers) && r->facts.has_same_turns;
}

bool pl_due_last(const struct pl_repair *r)
{
    return (r->rules->refuses_prefill || r->rules->trims_prefill) && r->facts.ends_with_assistant;
}

bool pl_due_thinking(const struct pl_repair *r)
{
    const struct pl_settings *s = &r->conv->settings;
    return (r->rules->wants_thinking_on_all && (r->facts.all_kinds & THOUGHT)) ||
           pl_val_is_set(s->thinking) || pl_val_is_set(s->thinking_budget);
}

bool pl_due_signatures(const struct pl_repair *r)
{
    return r->rules->signature_bypass.len && (r->facts.all_kinds & PL_PART_BIT(PL_PART_CALL));
}

bool pl_due_ids(const struct pl_repair *r)
{
    const struct pl_repair_rules *rules = r->rules;
    uint32_t most =
        rules->max_id_length < PL_REPAIR_MAX_ID ? rules->max_id_length : PL_REPAIR_MAX_ID;
    if (!(r->facts.all_kinds & (PL_PART_BIT(PL_PART_CALL) | PL_PART_BIT(PL_PART_RESULT))))
        return false;
    return rules->refuses_call_ids || rules->id_length || (most && r->facts.n_longest_id > most);
}

bool pl_due_declarations(const struct pl_repair *r)
{
    const struct pl_settings *s = &r->conv->settings;
    bool has_calls = r->facts.all_kinds & PL_PART_BIT(PL_PART_CALL);
    bool has_choice = s->choice != PL_CHOICE_UNSET || s->parallel.is_set || s->allowed;
    return ((r->rules->wants_tools_for_calls && has_calls) ||
            (r->rules->wants_tools_for_choice && has_choice)) &&
           !pl_repair_has_declared(r);
}

bool pl_due_cache(const struct pl_repair *r)
{
    return r->rules->max_cache_markers && r->facts.has_cache;
}

bool pl_due_citations(const struct pl_repair *r)
{
    return r->rules->refuses_user_citations && r->facts.has_citations;
}
