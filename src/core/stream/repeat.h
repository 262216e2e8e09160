/* Most events of a stream differ from the one before only in a few words. An event that was only a
 * piece of text is remembered by the bytes around the text, including its framing. A later event
 * with the same bytes around another text need not be split into lines or parsed.
 *
 * The bytes that may differ are holes: the text, a running number, counters, padding. A hole
 * accepts only valid JSON contents, so the reader would accept a matching event, with the same
 * effect. A reader offers an event while it reads it; pl_stream remembers it, matches it against
 * the bytes that follow, and has the reader emit the new text. */
#ifndef PL_STREAM_REPEAT_H
#define PL_STREAM_REPEAT_H

#include "base/buf.h"
#include "conv/conv.h"

enum { PL_REPEAT_MAX_PATTERNS = 4, PL_REPEAT_MAX_HOLES = 8, PL_REPEAT_MAX_DIGITS = 18 };

/* The part that the text belongs to, in the reader's own numbers. */
struct pl_repeat_of {
    uint32_t choice, key;
    enum pl_part_kind kind;
    uint64_t piece;
};

struct pl_hole {
    struct pl_str is; /* borrowed; its content, without quotes */
    uint8_t name;     /* the reader's own; 0: the text */
};

/* The event being read: its holes. */
struct pl_repeat_offer {
    struct pl_repeat_of of;
    struct pl_hole holes[PL_REPEAT_MAX_HOLES];
    size_t n_holes;
    bool has_words;
    bool is_spoilt; /* it has more content than that */
};

/* A remembered event. */
struct pl_repeat_pattern {
    bool is_set;
    struct pl_repeat_of of;
    struct pl_buf around;                 /* owned; the bytes between the holes, concatenated */
    size_t n_before[PL_REPEAT_MAX_HOLES]; /* bytes of `around` before each hole */
    size_t n_after;                       /* bytes after the last hole */
    bool is_string[PL_REPEAT_MAX_HOLES];
    uint8_t names[PL_REPEAT_MAX_HOLES];
    size_t n_holes;
};

struct pl_repeat {
    /* Several patterns, since parallel calls alternate. */
    struct pl_repeat_pattern patterns[PL_REPEAT_MAX_PATTERNS];
    size_t latest;     /* the pattern that matched or was learned last */
    uint32_t n_misses; /* events learned since the last useful match */
    struct pl_repeat_offer offer;
    /* The event that matched last: */
    bool has_matched;
    struct pl_repeat_of of;
    struct pl_hole holes[PL_REPEAT_MAX_HOLES];
    size_t n_holes;
    struct pl_str words; /* not empty */
};

void pl_repeat_init(struct pl_repeat *r);
void pl_repeat_deinit(struct pl_repeat *r);

/* For readers: the event is only this text (not empty). Text of two parts in one event spoils the
 * offer. */
void pl_repeat_offer_words(struct pl_repeat *r, struct pl_str words, struct pl_repeat_of of);
/* Offers a number or the contents of a string as another hole. */
void pl_repeat_offer_hole(struct pl_repeat *r, struct pl_str is, uint8_t name);
static inline void pl_repeat_spoil(struct pl_repeat *r)
{
    r->offer.is_spoilt = true;
}

/* Remembers the offered event, if any. `event` is its bytes, which no usable pattern matched.
 * PL_NOMEM is the only failure: an event that cannot be remembered is skipped. */
enum pl_status pl_repeat_learn(struct pl_repeat *r, struct pl_str event);

/* Length of the event at the start of `input`, if it matches a pattern; 0 if it does not, has no
 * text, or is incomplete. */
size_t pl_repeat_match(struct pl_repeat *r, struct pl_str input);

/* The number in a hole of the matched event. */
int64_t pl_repeat_number(struct pl_str digits);

#endif
