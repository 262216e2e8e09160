/* State that the reader and the writer of OpenAI's Responses events keep between two events. */
#ifndef PL_STREAM_OPENAI_RESPONSES_INT_H
#define PL_STREAM_OPENAI_RESPONSES_INT_H

#include "stream/stream.h"
#include "stream/tree.h"

/* ---- reading ---- */

/*   WAITING --all parts before it are complete--> LIVE --its item is done--> OVER
 *      '-------------- its item is done and it has no content ---------------^
 *
 * WAITING  its content is held back
 * LIVE     its part of the stream is open: content is emitted at once; several calls may be live
 *          together, any other part only alone
 * OVER     repeated content is ignored */
enum pl_responses_slot_state {
    PL_SLOT_WAITING,
    PL_SLOT_LIVE,
    PL_SLOT_OVER,
};

/* One part of the answer: a content part of a message, a call, or a reasoning item. */
struct pl_responses_slot {
    uint64_t place; /* output_index, and in the low half content_index: the order of the answer */
    uint64_t item;  /* hash of the item's id; 0: unknown */
    enum pl_responses_slot_state state;
    enum pl_part_kind kind; /* valid if is_known */
    uint32_t key, part;
    uint64_t piece; /* of reasoning: number of the text that grew last */
    bool is_known, is_custom;
    bool has_text;          /* part of its text has come */
    bool is_idle;           /* its text is complete; more pieces may follow */
    bool is_done;           /* its item is complete */
    size_t n_id;            /* bytes of the id in `words` */
    struct pl_buf words;    /* of a call: id and name; of reasoning: id and signature */
    struct pl_buf held;     /* text that waits; for kind OTHER the item as JSON */
    struct pl_buf said;     /* of a call: the arguments so far, raw */
    struct pl_buf cites;    /* annotations as JSON, each after its length */
    struct pl_buf logprobs; /* of text that is not emitted yet: JSON, separated by commas */
};

struct pl_responses_reader {
    PL_VEC(struct pl_responses_slot) slots; /* by place */
    size_t n_over;                          /* number of leading slots that are OVER */
    size_t last;                            /* index of the slot found last */
    uint32_t n_keys;
    bool has_call, is_full;
    uint64_t id;            /* hash of the id in response.created; 0: none yet */
    uint32_t rated;         /* key + 1 of the text with log probabilities, see items.c; 0: none */
    const char *trouble;    /* why the stream cannot be read on; NULL: it can */
    uint64_t next_sequence; /* of the source, when its bytes are passed through */
};

/* Slots (slots.c). Out of memory shows in s->status. */

/* Finds the slot of that place, or NULL. */
struct pl_responses_slot *pl_responses_slot_find(struct pl_responses_reader *r, uint64_t place);
/* The same, but makes a missing slot; NULL if out of memory, or if there are too many (then
 * r->is_full). Invalidates pointers to other slots. */
struct pl_responses_slot *pl_responses_slot_need(struct pl_stream *s, struct pl_responses_reader *r,
                                                 uint64_t place);
/* Marks all slots of an item as complete; `first` is the item's first place. */
void pl_responses_slots_complete(struct pl_responses_reader *r, uint64_t first);
/* Sets the kind of the slot. False if it already has another kind. */
bool pl_responses_slot_claim(struct pl_responses_slot *slot, enum pl_part_kind kind);
/* Adds raw text. Reasoning texts with different numbers are separated by a blank line. */
void pl_responses_slot_say(struct pl_stream *s, struct pl_responses_reader *r,
                           struct pl_responses_slot *slot, uint64_t piece, struct pl_str raw);
/* The same for the slot with that key, if it is live and this text continues its last text. */
bool pl_responses_slot_say_again(struct pl_stream *s, struct pl_responses_reader *r, uint32_t key,
                                 uint64_t piece, struct pl_str raw);
/* Lets every slot that may continue do so, after something was added or completed. */
void pl_responses_slots_advance(struct pl_stream *s, struct pl_responses_reader *r);
/* Why the answer cannot have ended here; NULL: it can. The arguments of calls may be incomplete only
 * if the answer was cut off. */
const char *pl_responses_slots_check(struct pl_stream *s, const struct pl_responses_reader *r,
                                     bool is_cut);
/* Ends all slots. */
void pl_responses_slots_finish(struct pl_stream *s, struct pl_responses_reader *r);
/* The stream ends before all slots are complete: emits the waiting text. */
void pl_responses_slots_release(struct pl_stream *s, void *reader);

enum pl_status pl_responses_stream_read(struct pl_stream *s, void *state,
                                        const struct pl_sse_event *event, struct pl_error *err);
bool pl_responses_stream_say_again(struct pl_stream *s, void *state);
void pl_responses_stream_read_deinit(void *state);

/* ---- writing ---- */

/* A citation that waits until its text is complete. */
struct pl_responses_cite {
    size_t n_front, n_back; /* bytes of JSON in `cites` */
    bool is_about_all;      /* the length of the text goes between the two */
};

/* An item without its output_item.done. */
struct pl_responses_open {
    uint32_t index;      /* output_index */
    uint32_t n_contents; /* content parts started */
    bool has_part;       /* it has an open part: */
    uint32_t part;
    enum pl_part_kind kind; /* of the last part, open or closed */
    bool is_custom;
    size_t place, n_place; /* where item_id, output_index and content_index are in `front` */
    struct pl_buf front;   /* the bytes of the part's delta events before the delta */
    struct pl_buf text;    /* the part's text so far, raw */
    struct pl_buf rest;    /* the item's JSON after its status */
    struct pl_buf cites;
    struct pl_buf logprobs; /* of the part: JSON, separated by commas */
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
    struct pl_buf head; /* the response's JSON before its status */
    struct pl_buf model;
    struct pl_buf done; /* JSON of the finished items, in the order they finished */
    PL_VEC(struct pl_responses_span) items; /* by output_index: where the item is in `done` */
    struct pl_counts counts;
};

/* Items and parts (parts.c). Out of memory shows in s->status. */

void pl_responses_put_count(struct pl_buf *to, const char *key, int64_t n);
void pl_responses_put_member(struct pl_buf *to, const char *key, struct pl_str raw);
/* Starts an event named "response.WORD" and STAGE; its sequence_number ends it. */
void pl_responses_begin_event(struct pl_buf *to, const char *word, const char *stage);
void pl_responses_end_event(struct pl_stream *s, struct pl_responses_writer *w);
/* Copies the status of a failed buffer: an incomplete item must not look complete. */
void pl_responses_check(struct pl_stream *s, const struct pl_buf *buf);

struct pl_responses_open *pl_responses_begin_part(struct pl_stream *s,
                                                  struct pl_responses_writer *w,
                                                  const struct pl_delta *delta);
pl_delta_writer pl_responses_add_fragment, pl_responses_add_citation;
/* Writes items for parts that only another vendor has (hosted.c). */
pl_delta_writer pl_responses_put_others;
/* Writes a reasoning item that is only a proof, with its own id. */
pl_delta_writer pl_responses_put_proof;
void pl_responses_end_part(struct pl_stream *s, struct pl_responses_writer *w,
                           const struct pl_delta *delta);
/* Ends the items that have no open parts; the last item of the answer gets the given status. */
void pl_responses_finish_items(struct pl_stream *s, struct pl_responses_writer *w,
                               const char *last_status);
void pl_responses_deinit_item(struct pl_responses_open *item);

extern pl_delta_writer *const pl_responses_stream_writes[PL_DELTA_COUNT];
void pl_responses_stream_write_deinit(void *state);

/* ---- adding up (sum.c) ---- */

enum { PL_RESPONSES_SUM_MAX_RUNS = 4096 };

/* Deltas of one type for one place in one item. */
struct pl_responses_run {
    int64_t item, sub;
    struct pl_str type;    /* arena of the sum */
    struct pl_tree *words; /* of the sum */
};

struct pl_responses_sum {
    struct pl_tree *items; /* of the sum; built from the item events */
    struct pl_responses_run runs[PL_RESPONSES_SUM_MAX_RUNS];
    size_t n_runs;
};

#endif
