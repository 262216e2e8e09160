/* Nearly every event of a stream differs from the one before it in a few words only. An event that
 * was only a piece of text is remembered by the bytes around it, including its framing. An event
 * with the same bytes around another text is that event with this text, and need not be cut into
 * lines or parsed.
 *
 * What may differ is a hole: the text, a running number, counters, padding. A hole accepts only
 * what JSON allows there, so that matching bytes are an event that the reader would accept, with
 * the same effect. A reader offers an event while it reads it; pl_stream remembers it, tries it on
 * the bytes that follow, and has the reader emit the new text. */
#ifndef PL_STREAM_REPEAT_H
#define PL_STREAM_REPEAT_H

#include "base/buf.h"
#include "conv/conv.h"

enum { PL_REPEAT_MAX_PATTERNS = 4, PL_REPEAT_MAX_HOLES = 8, PL_REPEAT_MAX_DIGITS = 18 };

/* Whose words they are, in the reader's own numbers. */
struct pl_repeat_of {
    uint32_t choice, key;
    enum pl_part_kind kind;
    uint64_t piece;
};

struct pl_hole {
    struct pl_str is; /* borrowed; what stands there, without its quotes */
    uint8_t name;     /* the reader's own; 0: the words */
};

/* The event being read: what may differ in the next one. */
struct pl_repeat_offer {
    struct pl_repeat_of of;
    struct pl_hole holes[PL_REPEAT_MAX_HOLES];
    size_t n_holes;
    bool has_words;
    bool is_spoilt; /* it said more than that */
};

/* An event that is remembered. */
struct pl_repeat_pattern {
    bool is_set;
    struct pl_repeat_of of;
    struct pl_buf around; /* owned; what stands between the holes, one piece after the other */
    size_t n_before[PL_REPEAT_MAX_HOLES]; /* bytes of it before each hole */
    size_t n_behind;                      /* and after the last one */
    bool is_string[PL_REPEAT_MAX_HOLES];
    uint8_t names[PL_REPEAT_MAX_HOLES];
    size_t n_holes;
};

struct pl_repeat {
    /* Several, since parallel calls alternate. */
    struct pl_repeat_pattern patterns[PL_REPEAT_MAX_PATTERNS];
    size_t latest;     /* the one that matched or was learned last */
    uint32_t n_misses; /* events learned since one was last of use */
    struct pl_repeat_offer offer;
    /* For the event that matched last: */
    bool has_matched;
    struct pl_repeat_of of;
    struct pl_hole holes[PL_REPEAT_MAX_HOLES];
    size_t n_holes;
    struct pl_str words; /* not empty */
};

void pl_repeat_init(struct pl_repeat *r);
void pl_repeat_deinit(struct pl_repeat *r);

/* For readers: the event is these words (not empty) and nothing else. Words of two parts in one
 * event spoil it. */
void pl_repeat_offer_words(struct pl_repeat *r, struct pl_str words, struct pl_repeat_of of);
/* A number or the contents of a string that may differ, too. */
void pl_repeat_offer_hole(struct pl_repeat *r, struct pl_str is, uint8_t name);
static inline void pl_repeat_spoil(struct pl_repeat *r)
{
    r->offer.is_spoilt = true;
}

/* The event that was offered, if one was, stands in these bytes, where nothing matched that could
 * be said. PL_NOMEM is the only failure; an event that cannot be remembered is none. */
enum pl_status pl_repeat_learn(struct pl_repeat *r, struct pl_str event);

/* Bytes of the event at the beginning of `input` that is one remembered with other words; 0 when it
 * is another one, has no words, or is not all there. */
size_t pl_repeat_match(struct pl_repeat *r, struct pl_str input);

/* The number in a hole of the event that matched. */
int64_t pl_repeat_number(struct pl_str digits);

#endif
