/* The event of a Responses stream being read: its fields and their accessors. */
#ifndef PL_STREAM_OPENAI_RESPONSES_READ_INT_H
#define PL_STREAM_OPENAI_RESPONSES_READ_INT_H

#include "json/number.h"
#include "stream/openai_responses/openai_responses_int.h"

enum pl_responses_field {
    PL_FIELD_TYPE,
    PL_FIELD_ITEM,
    PL_FIELD_PART,
    PL_FIELD_TEXT,
    PL_FIELD_DELTA,
    PL_FIELD_INPUT,
    PL_FIELD_ERROR,
    PL_FIELD_ITEM_ID,
    PL_FIELD_REFUSAL,
    PL_FIELD_RESPONSE,
    PL_FIELD_LOGPROBS,
    PL_FIELD_ARGUMENTS,
    PL_FIELD_ANNOTATION,
    PL_FIELD_OUTPUT_INDEX,
    PL_FIELD_CONTENT_INDEX,
    PL_FIELD_SUMMARY_INDEX,
    PL_FIELD_SEQUENCE,
    PL_FIELD_PADDING,
    PL_FIELD_COUNT,
};

/* Holes of a delta event beside its text. */
enum { PL_RESPONSES_SEQUENCE = 1, PL_RESPONSES_PADDING };

/* One event being read. */
struct pl_responses_event {
    struct pl_stream *s;
    struct pl_responses_reader *r;
    struct pl_json_doc doc;
    const struct pl_json_node *fields[PL_FIELD_COUNT]; /* NULL: absent */
};

struct pl_responses_rule {
    struct pl_str type;
    void (*take)(struct pl_responses_event *x, const struct pl_responses_rule *rule);
    enum pl_part_kind kind;
    enum pl_responses_field said;  /* the field that has the text */
    enum pl_responses_field piece; /* the field that numbers the texts of one part */
};

static inline const struct pl_json_node *
pl_event_get(const struct pl_responses_event *x, const struct pl_json_node *object, const char *key)
{
    return object ? pl_json_get(&x->doc, object, pl_str_of(key)) : NULL;
}

/* Raw contents of a string; empty for anything else. */
static inline struct pl_str pl_event_string_of(const struct pl_responses_event *x,
                                               const struct pl_json_node *n)
{
    bool is_string = n && pl_json_kind(n) == PL_JSON_STRING;
    return is_string ? pl_json_raw(&x->doc, n) : (struct pl_str){0};
}

static inline struct pl_str pl_event_string(const struct pl_responses_event *x,
                                            const struct pl_json_node *object, const char *key)
{
    return pl_event_string_of(x, pl_event_get(x, object, key));
}

static inline int64_t pl_event_int_of(const struct pl_responses_event *x,
                                      const struct pl_json_node *n)
{
    int64_t value = -1;
    if (!n || pl_json_kind(n) != PL_JSON_NUMBER)
        return -1;
    /* A number of one byte is a digit, and nearly every index is one. */
    if (n->len == 1)
        return x->doc.text.ptr[n->off] - '0';
    return pl_json_number_int64(pl_json_span(&x->doc, n), &value) ? value : -1;
}

static inline int64_t pl_event_int(const struct pl_responses_event *x,
                                   const struct pl_json_node *object, const char *key)
{
    return pl_event_int_of(x, pl_event_get(x, object, key));
}

/* Handlers of events about parts and items (items.c). */
void pl_responses_take_delta(struct pl_responses_event *x, const struct pl_responses_rule *rule);
void pl_responses_take_whole(struct pl_responses_event *x, const struct pl_responses_rule *rule);
void pl_responses_take_annotation(struct pl_responses_event *x,
                                  const struct pl_responses_rule *rule);
void pl_responses_take_part_added(struct pl_responses_event *x,
                                  const struct pl_responses_rule *rule);
void pl_responses_take_part_done(struct pl_responses_event *x,
                                 const struct pl_responses_rule *rule);
void pl_responses_take_item_added(struct pl_responses_event *x,
                                  const struct pl_responses_rule *rule);
void pl_responses_take_item_done(struct pl_responses_event *x,
                                 const struct pl_responses_rule *rule);
/* Takes a complete item at its output_index; content that was already emitted is skipped. */
void pl_responses_take_item(struct pl_responses_event *x, uint32_t output,
                            const struct pl_json_node *item);
/* The last slot of the item with that id, or NULL. */
const struct pl_responses_slot *pl_responses_slot_of_item(const struct pl_responses_reader *r,
                                                          struct pl_str id);
uint64_t pl_responses_place(uint32_t output, uint32_t content);

#endif
