/* What reader and writer of OpenAI's Responses events keep between two events. */
#ifndef PL_STREAM_OPENAI_RESPONSES_INT_H
#define PL_STREAM_OPENAI_RESPONSES_INT_H

#include "stream/stream.h"
#include "stream/tree.h"

/* ---- reading ---- */

/*   WAITING --nobody before it is still to be heard--> LIVE --its item is done--> OVER
 *      '---------------- its item is done and it had nothing to say ---------------^
 *
 * WAITING  what it says is held back
 * LIVE     a part of the stream is open for it: what it says goes straight on; calls side by side,
 *          anything else alone
 * OVER     whatever is said about it again changes nothing */
enum pl_responses_slot_state {
    PL_SLOT_WAITING,
    PL_SLOT_LIVE,
    PL_SLOT_OVER,
};

/* One part of the answer: a content part of a message, a call, or a reasoning item. */
struct pl_responses_slot {
    uint64_t place; /* output_index, and below it content_index: the order of the answer */
    uint64_t item;  /* hash of the item's id; 0: unknown */
    enum pl_responses_slot_state state;
    enum pl_part_kind kind; /* once is_known */
    uint32_t key, part;
    uint64_t piece; /* of reasoning: which of its texts spoke last */
    bool is_known, is_custom;
    bool has_text;       /* some of its text has come */
    bool is_idle;        /* its text is complete, more pieces may come */
    bool is_done;        /* its item is complete */
    size_t n_id;         /* bytes of the id in `words` */
    struct pl_buf words; /* of a call: id and name; of reasoning: id and signature */
    struct pl_buf held;  /* text that has to wait; of kind OTHER the item as JSON */
    struct pl_buf cites; /* annotations as JSON, each after its length */
};

struct pl_responses_reader {
    PL_VEC(struct pl_responses_slot) slots; /* by place */
    size_t n_over;                          /* so many of the first ones are OVER */
    size_t last;                            /* the slot that was asked for last */
    uint32_t n_keys;
    bool has_call, is_full;
    uint64_t next_sequence; /* of the source, when its bytes are passed on as they are */
};

/* Slots (slots.c). Running out of memory shows in s->status. */

/* The slot of that place, or NULL. */
struct pl_responses_slot *pl_responses_slot_find(struct pl_responses_reader *r, uint64_t place);
/* The same, made when it is not there; NULL when out of memory, or when there are so many
 * that r->is_full. Pointers to other slots are void. */
struct pl_responses_slot *pl_responses_slot_need(struct pl_stream *s, struct pl_responses_reader *r,
                                                 uint64_t place);
/* All slots of the item whose first place this is are complete. */
void pl_responses_slots_complete(struct pl_responses_reader *r, uint64_t first);
/* Settles what the slot is. False when it is something else already. */
bool pl_responses_slot_claim(struct pl_responses_slot *slot, enum pl_part_kind kind);
/* A piece of text, raw. Pieces of reasoning with different numbers get a blank line between them.
 */
void pl_responses_slot_say(struct pl_stream *s, struct pl_responses_reader *r,
                           struct pl_responses_slot *slot, uint64_t piece, struct pl_str raw);
/* The same for the slot with that key, if it is live and this text only continues its last text. */
bool pl_responses_slot_say_again(struct pl_stream *s, struct pl_responses_reader *r, uint32_t key,
                                 uint64_t piece, struct pl_str raw);
/* After something was added, complete or done: every slot that may continue does. */
void pl_responses_slots_advance(struct pl_stream *s, struct pl_responses_reader *r);
/* Everything is done. */
void pl_responses_slots_finish(struct pl_stream *s, struct pl_responses_reader *r);
/* Nothing more will come, though not everything is done: held-back text is emitted. */
void pl_responses_slots_release(struct pl_stream *s, void *reader);

enum pl_status pl_responses_stream_read(struct pl_stream *s, void *state,
                                        const struct pl_sse_event *event, struct pl_error *err);
bool pl_responses_stream_say_again(struct pl_stream *s, void *state);
void pl_responses_stream_read_deinit(void *state);

/* ---- writing ---- */

/* A citation that waits until the text it is about is complete. */
struct pl_responses_cite {
    size_t n_front, n_back; /* bytes of JSON in `cites` */
    bool is_about_all;      /* between the two stands the length of the text */
};

/* An item whose output_item.done has not been written. */
struct pl_responses_open {
    uint32_t index;      /* output_index */
    uint32_t n_contents; /* content parts begun */
    bool has_part;       /* a part is open in it: */
    uint32_t part;
    enum pl_part_kind kind; /* of the part; of a closed one, too */
    bool is_custom;
    size_t place, n_place; /* where `front` says item_id, output_index and content_index */
    struct pl_buf front;   /* of every delta event of the part, up to the delta */
    struct pl_buf text;    /* of the part so far, raw */
    struct pl_buf rest;    /* the item's JSON after its status */
    struct pl_buf cites;
    PL_VEC(struct pl_responses_cite) cite_list;
};

struct pl_responses_span {
    size_t off, len; /* len 0: not finished yet */
};

struct pl_responses_writer {
    bool is_started, has_usage;
    uint64_t sequence; /* of the next event */
    uint32_t n_items, n_calls;
    PL_VEC(struct pl_responses_open) open;
    struct pl_buf head; /* the response up to its status */
    struct pl_buf model;
    struct pl_buf done; /* JSON of the finished items, in the order they were finished */
    PL_VEC(struct pl_responses_span) items; /* by output_index: where `done` has it */
    struct pl_counts counts;
};

/* Items and parts (parts.c). Running out of memory shows in s->status. */

void pl_responses_put_count(struct pl_buf *to, const char *key, int64_t n);
void pl_responses_put_member(struct pl_buf *to, const char *key, struct pl_str raw);
/* Opens an event named "response.WORD" and STAGE; the number of the event closes it. */
void pl_responses_begin_event(struct pl_buf *to, const char *word, const char *stage);
void pl_responses_end_event(struct pl_stream *s, struct pl_responses_writer *w);
/* An incomplete item must not look complete. */
void pl_responses_check(struct pl_stream *s, const struct pl_buf *buf);

struct pl_responses_open *pl_responses_begin_part(struct pl_stream *s,
                                                  struct pl_responses_writer *w,
                                                  const struct pl_delta *delta);
pl_delta_writer pl_responses_add_fragment, pl_responses_add_citation;
/* Items that another vendor has parts of its own for (hosted.c). */
pl_delta_writer pl_responses_put_others;
void pl_responses_end_part(struct pl_stream *s, struct pl_responses_writer *w,
                           const struct pl_delta *delta);
/* The items whose parts have all ended; the last one of the answer gets the status given. */
void pl_responses_finish_items(struct pl_stream *s, struct pl_responses_writer *w,
                               const char *last_status);
void pl_responses_deinit_item(struct pl_responses_open *item);

extern pl_delta_writer *const pl_responses_stream_writes[PL_DELTA_COUNT];
void pl_responses_stream_write_deinit(void *state);

/* ---- adding up (sum.c) ---- */

enum { PL_RESPONSES_SUM_MAX_RUNS = 4096 };

/* Deltas of one kind about one place of one item. */
struct pl_responses_run {
    int64_t item, sub;
    struct pl_str type;    /* arena of the sum */
    struct pl_tree *words; /* of the sum */
};

struct pl_responses_sum {
    struct pl_tree *items; /* of the sum; as their own events tell of them */
    struct pl_responses_run runs[PL_RESPONSES_SUM_MAX_RUNS];
    size_t n_runs;
};

#endif
