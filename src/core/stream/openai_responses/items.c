/* Events about the parts and items of an answer: finds the slot of an event and adds its content.
 *
 * The same text comes up to four times: as deltas, in the `done` of the part, in the `done` of the
 * item, and in the last event. The deltas win; later repetitions only fill gaps. The arguments of a
 * call must be the same everywhere, since a client runs what they say. */
#include "stream/openai_responses/read_int.h"

#include "base/hash.h"
#include "json/equal.h"
#include "json/text.h"

/* A text. Some servers send arguments as an object: then its JSON is the text. */
static struct pl_str text_of(struct pl_responses_event *x, const struct pl_json_node *n)
{
    if (!n || pl_json_kind(n) != PL_JSON_OBJECT)
        return pl_event_string_of(x, n);
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, pl_json_span(&x->doc, n));
    struct pl_str raw = pl_str_slice(pl_buf_str(&quoted), 1, quoted.len - 1);
    raw = quoted.status == PL_OK ? pl_arena_dup(&x->s->arena, raw) : (struct pl_str){0};
    if (!raw.ptr)
        x->s->status = PL_NOMEM;
    return raw;
}

/* An index, which fits in half a place; UINT32_MAX if absent. */
static uint32_t index_of(const struct pl_responses_event *x, enum pl_responses_field field)
{
    int64_t value = pl_event_int_of(x, x->fields[field]);
    return value < 0 || value >= UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* ---- places ---- */

static uint64_t id_hash(struct pl_str id)
{
    return id.len ? pl_hash(id) | 1 : 0;
}

const struct pl_responses_slot *pl_responses_slot_of_item(const struct pl_responses_reader *r,
                                                          struct pl_str id)
{
    uint64_t item = id_hash(id);
    for (size_t i = r->slots.len; item && i-- > 0;)
        if (r->slots.ptr[i].item == item)
            return &r->slots.ptr[i];
    return NULL;
}

/* The item of an event: by output_index, otherwise by item_id, otherwise the last one. */
static uint32_t output_index(const struct pl_responses_event *x)
{
    uint32_t index = index_of(x, PL_FIELD_OUTPUT_INDEX);
    if (index != UINT32_MAX || !x->r->slots.len)
        return index == UINT32_MAX ? 0 : index;
    const struct pl_responses_slot *slot =
        pl_responses_slot_of_item(x->r, pl_event_string_of(x, x->fields[PL_FIELD_ITEM_ID]));
    if (!slot)
        slot = &x->r->slots.ptr[x->r->slots.len - 1];
    return (uint32_t)(slot->place >> 32);
}

static bool is_content(enum pl_part_kind kind)
{
    return kind == PL_PART_TEXT || kind == PL_PART_REFUSAL;
}

uint64_t pl_responses_place(uint32_t output, uint32_t content)
{
    return (uint64_t)output << 32 | (content == UINT32_MAX ? 0 : content);
}

/* The slot of an event, if it can still change; else NULL. */
static struct pl_responses_slot *open_slot(struct pl_responses_event *x, uint64_t place,
                                           enum pl_part_kind kind)
{
    struct pl_responses_slot *slot = pl_responses_slot_need(x->s, x->r, place);
    if (!slot || slot->state == PL_SLOT_OVER || slot->is_done)
        return NULL;
    return pl_responses_slot_claim(slot, kind) ? slot : NULL;
}

static struct pl_responses_slot *event_slot(struct pl_responses_event *x, enum pl_part_kind kind)
{
    uint32_t content = is_content(kind) ? index_of(x, PL_FIELD_CONTENT_INDEX) : 0;
    return open_slot(x, pl_responses_place(output_index(x), content), kind);
}

/* ---- text ---- */

/* Numbers the texts of a reasoning item: summaries come before the thoughts themselves. */
static uint64_t piece_of(const struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    if (rule->kind != PL_PART_THINKING)
        return 0;
    uint32_t index = index_of(x, rule->piece);
    bool is_thought = rule->piece == PL_FIELD_CONTENT_INDEX;
    return (uint64_t)is_thought << 32 | (index == UINT32_MAX ? 0 : index);
}

/* The next event may be like this one, with another text and the next sequence number. */
static void offer(struct pl_responses_event *x, const struct pl_responses_slot *slot,
                  struct pl_str words)
{
    struct pl_repeat *repeat = &x->s->repeat;
    const struct pl_json_node *sequence = x->fields[PL_FIELD_SEQUENCE];
    const struct pl_json_node *padding = x->fields[PL_FIELD_PADDING];
    pl_repeat_offer_words(
        repeat, words,
        (struct pl_repeat_of){.key = slot->key, .kind = slot->kind, .piece = slot->piece});
    if (sequence && pl_json_kind(sequence) == PL_JSON_NUMBER)
        pl_repeat_offer_hole(repeat, pl_json_span(&x->doc, sequence), PL_RESPONSES_SEQUENCE);
    if (padding && pl_json_kind(padding) == PL_JSON_STRING)
        pl_repeat_offer_hole(repeat, pl_json_raw(&x->doc, padding), PL_RESPONSES_PADDING);
}

/* Decodes into the event's arena. */
static struct pl_str decoded(struct pl_responses_event *x, struct pl_str raw)
{
    char *text = pl_arena_alloc(&x->s->arena, raw.len + 1, 1);
    if (text)
        return (struct pl_str){text, pl_json_decode(text, raw)};
    x->s->status = PL_NOMEM;
    return (struct pl_str){0};
}

static bool is_same_json(struct pl_responses_event *x, struct pl_str a, struct pl_str b)
{
    struct pl_json_doc one, other;
    bool is_same = false;
    enum pl_status status = pl_stream_json(x->s, a, &one, NULL);
    if (status == PL_OK)
        status = pl_stream_json(x->s, b, &other, NULL);
    if (status == PL_OK)
        status = pl_json_equal(&one, one.root, &other, other.root, &is_same);
    if (status == PL_NOMEM)
        x->s->status = PL_NOMEM;
    return is_same;
}

/* The whole arguments of a call whose pieces have come: adds what the pieces lack. Some servers
 * lay out the JSON of the two differently. */
static void settle_args(struct pl_responses_event *x, struct pl_responses_slot *slot,
                        struct pl_str raw)
{
    struct pl_str said = pl_buf_str(&slot->said);
    if (!raw.len || pl_str_eq(said, raw))
        return;
    struct pl_str before = decoded(x, said), whole = decoded(x, raw);
    if (pl_str_starts(whole, before)) {
        PL_CLEANUP_BUF struct pl_buf rest;
        pl_buf_init(&rest, 0);
        pl_json_quote(&rest, pl_str_slice(whole, before.len, whole.len));
        if (rest.status == PL_OK)
            pl_responses_slot_say(x->s, x->r, slot, 0,
                                  pl_str_slice(pl_buf_str(&rest), 1, rest.len - 1));
        else
            x->s->status = PL_NOMEM;
    } else if (!is_same_json(x, before, whole)) {
        x->r->trouble = "the pieces of a call's arguments differ from its whole arguments";
    }
}

/* The log probabilities of a text. A whole answer of Chat Completions has those of one text, the
 * first that has any. */
static void rate(struct pl_responses_event *x, struct pl_responses_slot *slot,
                 const struct pl_json_node *list)
{
    bool is_rated = pl_json_is(list, PL_JSON_ARRAY) && pl_json_count(list);
    if (!is_rated || slot->kind != PL_PART_TEXT || !x->s->to->has_logprobs)
        return;
    pl_repeat_spoil(&x->s->repeat);
    if (!x->r->rated)
        x->r->rated = slot->key + 1;
    if (x->r->rated != slot->key + 1)
        return;
    struct pl_str all = pl_json_span(&x->doc, list);
    if (slot->logprobs.len)
        pl_buf_addc(&slot->logprobs, ',');
    pl_buf_add(&slot->logprobs, pl_str_slice(all, 1, all.len - 1));
    if (slot->logprobs.status != PL_OK)
        x->s->status = PL_NOMEM;
}

void pl_responses_take_delta(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    struct pl_responses_slot *slot = event_slot(x, rule->kind);
    uint64_t piece = piece_of(x, rule);
    const struct pl_json_node *delta = x->fields[rule->said];
    struct pl_str words = pl_event_string_of(x, delta);
    if (rule->kind == PL_PART_CALL && delta && pl_json_kind(delta) > PL_JSON_NULL &&
        pl_json_kind(delta) != PL_JSON_STRING)
        x->r->trouble = "a piece of a call's arguments is not a string";
    /* The text is complete and already emitted. */
    if (!slot || (slot->is_idle && piece == slot->piece))
        return;
    rate(x, slot, x->fields[PL_FIELD_LOGPROBS]);
    pl_responses_slot_say(x->s, x->r, slot, piece, words);
    if (index_of(x, PL_FIELD_OUTPUT_INDEX) != UINT32_MAX)
        offer(x, slot, words);
}

void pl_responses_take_whole(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    struct pl_responses_slot *slot = event_slot(x, rule->kind);
    if (!slot)
        return;
    uint64_t piece = piece_of(x, rule);
    if (!slot->has_text)
        rate(x, slot, x->fields[PL_FIELD_LOGPROBS]);
    if (!slot->has_text || piece > slot->piece)
        pl_responses_slot_say(x->s, x->r, slot, piece, text_of(x, x->fields[rule->said]));
    else if (rule->kind == PL_PART_CALL)
        settle_args(x, slot, text_of(x, x->fields[rule->said]));
    if (x->r->trouble)
        return;
    slot->is_idle = true;
    pl_responses_slots_advance(x->s, x->r);
}

static void add_cite(struct pl_responses_event *x, struct pl_responses_slot *slot,
                     const struct pl_json_node *cite)
{
    if (!cite || pl_json_kind(cite) != PL_JSON_OBJECT)
        return;
    struct pl_str json = pl_json_span(&x->doc, cite);
    pl_buf_add(&slot->cites, (struct pl_str){(const char *)&json.len, sizeof json.len});
    pl_buf_add(&slot->cites, json);
    if (slot->cites.status != PL_OK)
        x->s->status = PL_NOMEM;
}

void pl_responses_take_annotation(struct pl_responses_event *x,
                                  const struct pl_responses_rule *rule)
{
    struct pl_responses_slot *slot = event_slot(x, rule->kind);
    if (slot)
        add_cite(x, slot, x->fields[PL_FIELD_ANNOTATION]);
}

/* ---- content parts ---- */

static bool content_kind(const struct pl_responses_event *x, const struct pl_json_node *part,
                         enum pl_part_kind *ret_kind)
{
    struct pl_str type = pl_event_string(x, part, "type");
    if (pl_str_eq(type, PL_STR("output_text")))
        *ret_kind = PL_PART_TEXT;
    else if (pl_str_eq(type, PL_STR("refusal")))
        *ret_kind = PL_PART_REFUSAL;
    else
        return false;
    return true;
}

/* Takes a complete content part. */
static void take_content(struct pl_responses_event *x, uint64_t place,
                         const struct pl_json_node *part)
{
    enum pl_part_kind kind;
    if (!content_kind(x, part, &kind))
        return;
    struct pl_responses_slot *slot = open_slot(x, place, kind);
    if (!slot)
        return;
    const struct pl_json_node *cites = pl_event_get(x, part, "annotations");
    if (cites && pl_json_kind(cites) == PL_JSON_ARRAY && !slot->cites.len)
        for (const struct pl_json_node *c = pl_json_first(cites); c < pl_json_end(cites);
             c = pl_json_next(c))
            add_cite(x, slot, c);
    if (!slot->has_text)
        rate(x, slot, pl_event_get(x, part, "logprobs"));
    if (!slot->has_text)
        pl_responses_slot_say(x->s, x->r, slot, 0,
                              pl_event_string(x, part, kind == PL_PART_TEXT ? "text" : "refusal"));
    slot->is_idle = true;
}

void pl_responses_take_part_added(struct pl_responses_event *x,
                                  const struct pl_responses_rule *rule)
{
    (void)rule;
    enum pl_part_kind kind;
    if (content_kind(x, x->fields[PL_FIELD_PART], &kind))
        event_slot(x, kind);
}

void pl_responses_take_part_done(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    (void)rule;
    uint64_t place = pl_responses_place(output_index(x), index_of(x, PL_FIELD_CONTENT_INDEX));
    take_content(x, place, x->fields[PL_FIELD_PART]);
    pl_responses_slots_advance(x->s, x->r);
}

/* ---- items ---- */

enum item_type { ITEM_MESSAGE, ITEM_CALL, ITEM_CUSTOM_CALL, ITEM_REASONING, ITEM_OTHER };

static enum item_type item_type(const struct pl_responses_event *x, const struct pl_json_node *item)
{
    static const char *const types[] = {
        [ITEM_MESSAGE] = "message",
        [ITEM_CALL] = "function_call",
        [ITEM_CUSTOM_CALL] = "custom_tool_call",
        [ITEM_REASONING] = "reasoning",
    };
    struct pl_str type = pl_event_string(x, item, "type");
    for (int i = 0; i < ITEM_OTHER; i++)
        if (pl_str_eq(type, pl_str_of(types[i])))
            return (enum item_type)i;
    return ITEM_OTHER;
}

static void note_call(struct pl_responses_event *x, struct pl_responses_slot *slot,
                      const struct pl_json_node *item)
{
    struct pl_str name = pl_event_string(x, item, "name"), id = pl_event_string(x, item, "call_id");
    if (slot->words.len || !name.len)
        return;
    if (!id.len)
        id = pl_event_string(x, item, "id");
    slot->is_custom = item_type(x, item) == ITEM_CUSTOM_CALL;
    slot->n_id = id.len;
    pl_buf_add(&slot->words, id);
    pl_buf_add(&slot->words, name);
    if (slot->words.status != PL_OK)
        x->s->status = PL_NOMEM;
}

/* An item type that only OpenAI has. It gets a slot only when it is complete, so that nothing waits
 * for it: some servers never complete such items. */
static void take_own(struct pl_responses_event *x, uint32_t output, const struct pl_json_node *item)
{
    if (!pl_stream_wants_own(x->s) || !pl_json_is(item, PL_JSON_OBJECT))
        return;
    struct pl_responses_slot *slot = open_slot(x, pl_responses_place(output, 0), PL_PART_OTHER);
    if (!slot || slot->has_text)
        return;
    slot->item = id_hash(pl_event_string(x, item, "id"));
    slot->has_text = true;
    pl_buf_add(&slot->held, pl_json_span(&x->doc, item));
    if (slot->held.status != PL_OK)
        x->s->status = PL_NOMEM;
}

/* Makes the first slot of an item that the deltas can express; NULL for any other item, or if the
 * slot is OVER. */
static struct pl_responses_slot *item_slot(struct pl_responses_event *x, uint32_t output,
                                           const struct pl_json_node *item)
{
    enum item_type type = item_type(x, item);
    struct pl_responses_slot *slot;
    uint64_t place = pl_responses_place(output, 0);
    if (type == ITEM_OTHER)
        return NULL;
    if (type == ITEM_MESSAGE)
        slot = pl_responses_slot_need(x->s, x->r, place);
    else
        slot = open_slot(x, place, type == ITEM_REASONING ? PL_PART_THINKING : PL_PART_CALL);
    if (!slot || slot->state == PL_SLOT_OVER)
        return NULL;
    if (!slot->item)
        slot->item = id_hash(pl_event_string(x, item, "id"));
    if (type == ITEM_CALL || type == ITEM_CUSTOM_CALL)
        note_call(x, slot, item);
    return slot;
}

void pl_responses_take_item_added(struct pl_responses_event *x,
                                  const struct pl_responses_rule *rule)
{
    (void)rule;
    uint32_t output = output_index(x);
    if (index_of(x, PL_FIELD_OUTPUT_INDEX) == UINT32_MAX && x->r->slots.len)
        output++;
    item_slot(x, output, x->fields[PL_FIELD_ITEM]);
    pl_responses_slots_advance(x->s, x->r);
}

/* Takes the texts of a reasoning item from the list of that name. */
static void take_thoughts(struct pl_responses_event *x, struct pl_responses_slot *slot,
                          const struct pl_json_node *list, uint64_t piece)
{
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *p = pl_json_first(list); p < pl_json_end(list);
         p = pl_json_next(p))
        pl_responses_slot_say(x->s, x->r, slot, piece++, pl_event_string(x, p, "text"));
}

static void take_reasoning(struct pl_responses_event *x, struct pl_responses_slot *slot,
                           const struct pl_json_node *item)
{
    if (!slot->has_text) {
        take_thoughts(x, slot, pl_event_get(x, item, "summary"), 0);
        take_thoughts(x, slot, pl_event_get(x, item, "content"), (uint64_t)1 << 32);
    }
    struct pl_str sealed = pl_event_string(x, item, "encrypted_content");
    if (!sealed.len || slot->words.len)
        return;
    /* The signature is useful only together with the item's id. */
    struct pl_str id = pl_event_string(x, item, "id");
    slot->n_id = id.len;
    pl_buf_add(&slot->words, id);
    pl_buf_add(&slot->words, sealed);
    if (slot->words.status != PL_OK)
        x->s->status = PL_NOMEM;
}

static void take_contents(struct pl_responses_event *x, uint32_t output,
                          const struct pl_json_node *item)
{
    const struct pl_json_node *list = pl_event_get(x, item, "content");
    uint32_t index = 0;
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *p = pl_json_first(list); p < pl_json_end(list);
         p = pl_json_next(p))
        take_content(x, pl_responses_place(output, index++), p);
}

static void take_args(struct pl_responses_event *x, struct pl_responses_slot *slot,
                      const struct pl_json_node *args)
{
    if (slot->has_text)
        settle_args(x, slot, text_of(x, args));
    else
        pl_responses_slot_say(x->s, x->r, slot, 0, text_of(x, args));
}

/* Takes a complete item. */
void pl_responses_take_item(struct pl_responses_event *x, uint32_t output,
                            const struct pl_json_node *item)
{
    enum item_type type = item_type(x, item);
    struct pl_responses_slot *slot = item_slot(x, output, item);
    if (type == ITEM_MESSAGE)
        take_contents(x, output, item);
    else if (type == ITEM_OTHER)
        take_own(x, output, item);
    else if (slot && type == ITEM_REASONING)
        take_reasoning(x, slot, item);
    else if (slot)
        take_args(x, slot, pl_event_get(x, item, type == ITEM_CALL ? "arguments" : "input"));
    if (x->r->trouble)
        return;
    pl_responses_slots_complete(x->r, pl_responses_place(output, 0));
    pl_responses_slots_advance(x->s, x->r);
}

void pl_responses_take_item_done(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    (void)rule;
    pl_responses_take_item(x, output_index(x), x->fields[PL_FIELD_ITEM]);
}
