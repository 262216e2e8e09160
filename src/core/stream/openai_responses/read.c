/* Turns events of Responses into deltas. The table `rules` has one row for each event type. */
#include "stream/openai_responses/read_int.h"

#include "base/hash.h"

/* ---- fields ---- */

/* Comparing with a literal of known length is a load or two; this runs for every member. */
#define FIELD(literal, field)                                                                      \
    if (memcmp(name, literal, sizeof(literal) - 1) == 0)                                           \
    return field

static enum pl_responses_field field_of(const char *name, size_t len)
{
    switch (len) {
    case 4:
        FIELD("type", PL_FIELD_TYPE);
        FIELD("item", PL_FIELD_ITEM);
        FIELD("part", PL_FIELD_PART);
        FIELD("text", PL_FIELD_TEXT);
        break;
    case 5:
        FIELD("delta", PL_FIELD_DELTA);
        FIELD("input", PL_FIELD_INPUT);
        FIELD("error", PL_FIELD_ERROR);
        break;
    case 7:
        FIELD("item_id", PL_FIELD_ITEM_ID);
        FIELD("refusal", PL_FIELD_REFUSAL);
        break;
    case 8:
        FIELD("response", PL_FIELD_RESPONSE);
        FIELD("logprobs", PL_FIELD_LOGPROBS);
        break;
    case 9:
        FIELD("arguments", PL_FIELD_ARGUMENTS);
        break;
    case 10:
        FIELD("annotation", PL_FIELD_ANNOTATION);
        break;
    case 11:
        FIELD("obfuscation", PL_FIELD_PADDING);
        break;
    case 12:
        FIELD("output_index", PL_FIELD_OUTPUT_INDEX);
        break;
    case 13:
        FIELD("content_index", PL_FIELD_CONTENT_INDEX);
        FIELD("summary_index", PL_FIELD_SUMMARY_INDEX);
        break;
    case 15:
        FIELD("sequence_number", PL_FIELD_SEQUENCE);
        break;
    }
    return PL_FIELD_COUNT;
}

static void find_fields(struct pl_responses_event *x)
{
    const struct pl_json_node *end = pl_json_end(x->doc.root);
    for (const struct pl_json_node *k = pl_json_first_member(x->doc.root); k < end;
         k = pl_json_next_member(k)) {
        struct pl_str name = pl_json_raw(&x->doc, k);
        enum pl_responses_field field = field_of(name.ptr, name.len);
        if (field != PL_FIELD_COUNT)
            x->fields[field] = k + 1;
    }
}

/* ---- the response ---- */

/* Whole seconds: some servers add a fraction. */
static struct pl_str seconds_of(const struct pl_responses_event *x, const struct pl_json_node *n)
{
    struct pl_str digits = {0};
    if (n && pl_json_kind(n) == PL_JSON_NUMBER)
        digits.ptr = pl_json_span(&x->doc, n).ptr;
    while (digits.ptr && digits.len < n->len && digits.ptr[digits.len] >= '0' &&
           digits.ptr[digits.len] <= '9')
        digits.len++;
    return digits;
}

static void take_start(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    (void)rule;
    const struct pl_json_node *response = x->fields[PL_FIELD_RESPONSE];
    pl_stream_note_tier(x->s, pl_event_string(x, response, "service_tier"));
    pl_stream_emit(x->s, &(struct pl_delta){
                             .kind = PL_DELTA_START,
                             .id = pl_event_string(x, response, "id"),
                             .model = pl_event_string(x, response, "model"),
                             .created = seconds_of(x, pl_event_get(x, response, "created_at")),
                         });
}

/* An answer is created once. Later events are not compared: some servers change the id. */
static void take_created(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    uint64_t id = pl_hash(pl_event_string(x, x->fields[PL_FIELD_RESPONSE], "id")) | 1;
    if (x->r->id && x->r->id != id)
        x->r->trouble = "another answer (response.created) begins before the first one has ended";
    x->r->id = id;
    take_start(x, rule);
}

static void take_usage(struct pl_responses_event *x)
{
    const struct pl_json_node *usage = pl_event_get(x, x->fields[PL_FIELD_RESPONSE], "usage");
    if (!usage || pl_json_kind(usage) != PL_JSON_OBJECT)
        return;
    const struct pl_json_node *in = pl_event_get(x, usage, "input_tokens_details");
    const struct pl_json_node *out = pl_event_get(x, usage, "output_tokens_details");
    pl_stream_emit(x->s, &(struct pl_delta){
                             .kind = PL_DELTA_USAGE,
                             .counts = {.input = pl_event_int(x, usage, "input_tokens"),
                                        .output = pl_event_int(x, usage, "output_tokens"),
                                        .total = pl_event_int(x, usage, "total_tokens"),
                                        .cache_read = pl_event_int(x, in, "cached_tokens"),
                                        .cache_write = pl_event_int(x, in, "cache_write_tokens"),
                                        .reasoning = pl_event_int(x, out, "reasoning_tokens"),
                                        .tool_input = -1},
                         });
}

/* Takes items that no earlier event announced. */
static void take_output(struct pl_responses_event *x)
{
    const struct pl_json_node *list = pl_event_get(x, x->fields[PL_FIELD_RESPONSE], "output");
    uint32_t index = 0;
    if (!list || pl_json_kind(list) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *item = pl_json_first(list); item < pl_json_end(list);
         item = pl_json_next(item), index++)
        if (pl_responses_slot_find(x->r, pl_responses_place(index, 0)) ||
            !pl_responses_slot_of_item(x->r, pl_event_string(x, item, "id")))
            pl_responses_take_item(x, index, item);
}

static void emit_error(struct pl_responses_event *x, const struct pl_json_node *error)
{
    static const struct {
        struct pl_str code, type;
    } types[] = {
        {{"rate_limit_exceeded", 19}, {"rate_limit_error", 16}},
        {{"invalid_prompt", 14}, {"invalid_request_error", 21}},
    };
    struct pl_delta delta = {
        .kind = PL_DELTA_ERROR,
        .type = pl_event_string(x, error, "type"),
        .code = pl_event_string(x, error, "code"),
        .message = pl_event_string(x, error, "message"),
    };
    if (!delta.type.len || pl_str_eq(delta.type, PL_STR("error")))
        delta.type = PL_STR("server_error");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (pl_str_eq(delta.code, types[i].code))
            delta.type = types[i].type;
    if (!delta.message.len)
        delta.message = PL_STR("the answer failed; the source gives no reason");
    pl_stream_emit(x->s, &delta);
}

static void take_failure(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    take_start(x, rule);
    emit_error(x, pl_event_get(x, x->fields[PL_FIELD_RESPONSE], "error"));
}

static void take_stop(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    static const struct {
        struct pl_str reason;
        enum pl_finish finish;
    } finishes[] = {
        {{"max_output_tokens", 17}, PL_FINISH_LENGTH},
        {{"content_filter", 14}, PL_FINISH_FILTER},
    };
    const struct pl_json_node *response = x->fields[PL_FIELD_RESPONSE];
    struct pl_delta stop = {.kind = PL_DELTA_STOP, .word = pl_event_string(x, response, "status")};
    if (pl_json_is(pl_event_get(x, response, "error"), PL_JSON_OBJECT)) {
        take_failure(x, rule); /* whatever the event is called */
        return;
    }
    take_start(x, rule);
    take_output(x);
    struct pl_str reason =
        pl_event_string(x, pl_event_get(x, response, "incomplete_details"), "reason");
    bool is_cut = reason.len || pl_str_eq(stop.word, PL_STR("incomplete"));
    if (!x->r->trouble)
        x->r->trouble = pl_responses_slots_check(x->s, x->r, is_cut);
    if (x->r->trouble && !x->s->passes_through)
        return;
    pl_responses_slots_finish(x->s, x->r);
    take_usage(x);
    stop.finish = x->r->has_call ? PL_FINISH_TOOLS : PL_FINISH_STOP;
    if (reason.len) {
        stop.word = reason;
        stop.finish = PL_FINISH_OTHER;
        for (size_t i = 0; i < sizeof finishes / sizeof *finishes; i++)
            if (pl_str_eq(reason, finishes[i].reason))
                stop.finish = finishes[i].finish;
    }
    pl_stream_emit(x->s, &stop);
    pl_stream_emit(x->s, &(struct pl_delta){.kind = PL_DELTA_END});
}

/* The event has the error's members itself or, from some servers, in an object. */
static void take_error(struct pl_responses_event *x, const struct pl_responses_rule *rule)
{
    (void)rule;
    const struct pl_json_node *nested = x->fields[PL_FIELD_ERROR];
    bool is_nested = nested && pl_json_kind(nested) == PL_JSON_OBJECT;
    emit_error(x, is_nested ? nested : x->doc.root);
}

/* ---- events ---- */

#define TYPE(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

/* Frequent events first. */
static const struct pl_responses_rule rules[] = {
    {TYPE("response.output_text.delta"), pl_responses_take_delta, PL_PART_TEXT, PL_FIELD_DELTA, 0},
    {TYPE("response.function_call_arguments.delta"), pl_responses_take_delta, PL_PART_CALL,
     PL_FIELD_DELTA, 0},
    {TYPE("response.reasoning_summary_text.delta"), pl_responses_take_delta, PL_PART_THINKING,
     PL_FIELD_DELTA, PL_FIELD_SUMMARY_INDEX},
    {TYPE("response.reasoning_text.delta"), pl_responses_take_delta, PL_PART_THINKING,
     PL_FIELD_DELTA, PL_FIELD_CONTENT_INDEX},
    {TYPE("response.custom_tool_call_input.delta"), pl_responses_take_delta, PL_PART_CALL,
     PL_FIELD_DELTA, 0},
    {TYPE("response.refusal.delta"), pl_responses_take_delta, PL_PART_REFUSAL, PL_FIELD_DELTA, 0},
    {TYPE("response.output_text.done"), pl_responses_take_whole, PL_PART_TEXT, PL_FIELD_TEXT, 0},
    {TYPE("response.function_call_arguments.done"), pl_responses_take_whole, PL_PART_CALL,
     PL_FIELD_ARGUMENTS, 0},
    {TYPE("response.reasoning_summary_text.done"), pl_responses_take_whole, PL_PART_THINKING,
     PL_FIELD_TEXT, PL_FIELD_SUMMARY_INDEX},
    {TYPE("response.reasoning_text.done"), pl_responses_take_whole, PL_PART_THINKING, PL_FIELD_TEXT,
     PL_FIELD_CONTENT_INDEX},
    {TYPE("response.custom_tool_call_input.done"), pl_responses_take_whole, PL_PART_CALL,
     PL_FIELD_INPUT, 0},
    {TYPE("response.refusal.done"), pl_responses_take_whole, PL_PART_REFUSAL, PL_FIELD_REFUSAL, 0},
    {TYPE("response.output_text.annotation.added"), pl_responses_take_annotation, PL_PART_TEXT, 0,
     0},
    {TYPE("response.content_part.added"), pl_responses_take_part_added, 0, 0, 0},
    {TYPE("response.content_part.done"), pl_responses_take_part_done, 0, 0, 0},
    {TYPE("response.output_item.added"), pl_responses_take_item_added, 0, 0, 0},
    {TYPE("response.output_item.done"), pl_responses_take_item_done, 0, 0, 0},
    {TYPE("response.created"), take_created, 0, 0, 0},
    {TYPE("response.queued"), take_start, 0, 0, 0},
    {TYPE("response.in_progress"), take_start, 0, 0, 0},
    {TYPE("response.completed"), take_stop, 0, 0, 0},
    {TYPE("response.incomplete"), take_stop, 0, 0, 0},
    {TYPE("response.failed"), take_failure, 0, 0, 0},
    {TYPE("error"), take_error, 0, 0, 0},
};

static const struct pl_responses_rule *rule_of(struct pl_str type)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (pl_str_eq(type, rules[i].type))
            return &rules[i];
    return NULL;
}

static enum pl_status take_event(struct pl_responses_event *x, const struct pl_sse_event *event,
                                 struct pl_error *err)
{
    enum pl_status status = pl_stream_json(x->s, event->data, &x->doc, err);
    if (status != PL_OK)
        return status;
    if (pl_json_kind(x->doc.root) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "an event of a Responses stream is not an object");
    find_fields(x);
    struct pl_str type = pl_event_string_of(x, x->fields[PL_FIELD_TYPE]);
    if (!type.len)
        type = x->fields[PL_FIELD_ERROR] ? PL_STR("error") : event->type;
    if (x->s->passes_through && pl_event_int_of(x, x->fields[PL_FIELD_SEQUENCE]) >= 0)
        x->r->next_sequence = (uint64_t)pl_event_int_of(x, x->fields[PL_FIELD_SEQUENCE]) + 1;
    const struct pl_responses_rule *rule = rule_of(type);
    if (rule)
        rule->take(x, rule);
    if (x->r->trouble && !x->s->passes_through)
        return pl_fail(err, PL_INVALID, "%s", x->r->trouble);
    if (x->r->is_full)
        return pl_fail(err, PL_LIMIT, "an answer has too many items");
    return x->s->status;
}

enum pl_status pl_responses_stream_read(struct pl_stream *s, void *state,
                                        const struct pl_sse_event *event, struct pl_error *err)
{
    struct pl_responses_event x = {.s = s, .r = state};
    if (!event->data.len || pl_sse_is_done(event))
        return PL_OK;
    return take_event(&x, event, err);
}

bool pl_responses_stream_say_again(struct pl_stream *s, void *state)
{
    struct pl_responses_reader *r = state;
    const struct pl_repeat *repeat = &s->repeat;
    if (!pl_responses_slot_say_again(s, r, repeat->of.key, repeat->of.piece, repeat->words))
        return false;
    for (size_t i = 0; i < repeat->n_holes; i++)
        if (repeat->holes[i].name == PL_RESPONSES_SEQUENCE)
            r->next_sequence = (uint64_t)pl_repeat_number(repeat->holes[i].is) + 1;
    return true;
}

void pl_responses_stream_read_deinit(void *state)
{
    struct pl_responses_reader *r = state;
    for (size_t i = 0; i < r->slots.len; i++) {
        pl_buf_deinit(&r->slots.ptr[i].words);
        pl_buf_deinit(&r->slots.ptr[i].held);
        pl_buf_deinit(&r->slots.ptr[i].said);
        pl_buf_deinit(&r->slots.ptr[i].cites);
        pl_buf_deinit(&r->slots.ptr[i].logprobs);
    }
    pl_vec_deinit(&r->slots);
}
