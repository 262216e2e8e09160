/* Streams: translates the events of one dialect into another as the bytes arrive.
 *
 *     bytes --wire/sse--> event --reader--> deltas --pl_stream_emit--> deltas in order --writer--> bytes
 *
 * A reader turns one event of its dialect into canonical deltas. pl_stream_emit puts them in order,
 * so that every writer may rely on this:
 *
 *     START ( PART_START FRAGMENT* SIGNATURE? CITATION* PART_END )* USAGE? STOP END     or … ERROR
 *
 *   - parts are numbered from 0 in the order they start; several calls may be open at once, but any
 *     other part is closed before the next one starts
 *   - fragments are raw JSON string contents: escaped bytes, ready to be put between quotes; no
 *     fragment splits an escape, surrogate pair or UTF-8 sequence, and none is empty, except one
 *     that has only log probabilities
 *   - USAGE comes at most once, with the last value of every counter
 *   - nothing follows END or ERROR
 * State is bounded by the open parts, except in writers that repeat the whole answer at the end. */
#ifndef PL_STREAM_STREAM_H
#define PL_STREAM_STREAM_H

#include "conv/conv.h"
#include "json/write.h"
#include "stream/repeat.h"
#include "wire/json_frames.h"
#include "wire/sse.h"

enum pl_delta_kind {
    PL_DELTA_START,      /* id, model, created */
    PL_DELTA_PART_START, /* part, part_kind; for a call id, name, is_custom; for REDACTED raw is
                          * data, with home and the id of its item */
    PL_DELTA_FRAGMENT,   /* part, raw: text, thinking, refusal or arguments, by part_kind; json: the
                          * log probabilities of its tokens, a list, if any */
    PL_DELTA_SIGNATURE,  /* part, raw; id of its item, if any; home */
    PL_DELTA_CITATION,   /* part, json: one citation as in the source; url, title */
    PL_DELTA_PART_END,   /* part, is_cut */
    PL_DELTA_USAGE,      /* usage */
    PL_DELTA_STOP,       /* finish, word, stop_sequence, detail */
    PL_DELTA_END,
    PL_DELTA_ERROR, /* type, code, message */
    PL_DELTA_OTHER, /* json: parts that only the source's vendor has, separated by commas */
    PL_DELTA_ABOUT, /* id: the fingerprint, or json: ratings of a content filter. Only the same
                     * vendor's events have a place for it, and callers that keep the answer */
};
enum { PL_DELTA_COUNT = PL_DELTA_ABOUT + 1 };

/* -1: not given. Input includes cached tokens, output includes reasoning, as most vendors count;
 * readers and writers of other vendors add and subtract. */
struct pl_counts {
    int64_t input, output, total;
    int64_t cache_read, cache_write;
    int64_t reasoning;
    int64_t tool_input;
};

struct pl_stream;
struct pl_dialect;

/* All strings are raw JSON string contents (escaped) unless noted otherwise; empty if absent. */
struct pl_delta {
    enum pl_delta_kind kind;
    uint32_t choice; /* index among several answers; nearly always 0 */
    uint32_t part;
    enum pl_part_kind part_kind; /* TEXT, THINKING, REDACTED, CALL, REFUSAL, OTHER */
    bool is_custom;
    bool is_cut; /* the part will never be complete: an error follows */
    struct pl_str raw;
    struct pl_str id, name, model;
    struct pl_str created; /* digits: seconds since 1970 */
    struct pl_str json;    /* JSON text */
    struct pl_str url, title;
    enum pl_finish finish;
    struct pl_str word; /* the vendor's own finish reason */
    struct pl_str stop_sequence;
    struct pl_str detail; /* why: an explanation for people */
    struct pl_counts counts;
    struct pl_str type, code, message; /* of an error */
    const struct pl_dialect *home;     /* whose proof it is; NULL: the source's vendor */
};

struct pl_sum;
struct pl_format;

/* Writes a delta to s->out. `state` is the writer's. */
typedef void pl_delta_writer(struct pl_stream *s, void *state, const struct pl_delta *delta);

/* One dialect. Reader and writer states are zeroed memory of the given sizes. */
struct pl_dialect {
    const char *name;
    bool reads_json_framing; /* the same objects may also come as JSON lines or as one JSON array */
    size_t reader_size, writer_size;

    /* Reads one event; calls pl_stream_emit. PL_SYNTAX or PL_INVALID (with a message) for
     * unreadable data: the stream then ends with an error. Unknown events are skipped. */
    enum pl_status (*read)(struct pl_stream *s, void *state, const struct pl_sse_event *event,
                           struct pl_error *err);
    /* The event matched a pattern of s->repeat: emits s->repeat.words, as `read` would do. Returns
     * false and does nothing if that is not enough. Optional, as is offering. */
    bool (*say_again)(struct pl_stream *s, void *state);
    /* The input has ended: emits everything that waits. The end is regular if END or ERROR was
     * emitted. */
    void (*read_end)(struct pl_stream *s, void *state);
    /* The answer breaks off: emits everything that waits, before the error. Optional. */
    void (*release)(struct pl_stream *s, void *state);
    void (*read_deinit)(void *state);

    /* Adding up (sum.h): takes one event; ends the sum; size of the state of both. */
    size_t sum_size;
    void (*sum)(struct pl_sum *sum, const struct pl_json_doc *event);
    void (*sum_end)(struct pl_sum *sum);
    void (*sum_deinit)(void *state);
    const struct pl_format *format; /* of the whole answer */

    /* By the kind of the delta; NULL: not written. */
    pl_delta_writer *const *write; /* PL_DELTA_COUNT of them */
    pl_delta_writer *write_first;  /* before the first delta of any kind; optional */
    bool has_logprobs;             /* writes the log probabilities of a text */
    bool has_choices;              /* writes further answers beside the first; others skip them */
    bool takes_all; /* writes no bytes: takes every answer, and parts that only one vendor has */
    void (*write_deinit)(void *state);
};

extern const struct pl_dialect pl_dialect_openai_chat, pl_dialect_openai_responses,
    pl_dialect_anthropic, pl_dialect_gemini, pl_dialect_patches;
/* All dialects, ended by NULL. */
extern const struct pl_dialect *const pl_dialects[];
const struct pl_dialect *pl_dialect_find(struct pl_str name);

/* An open part. */
struct pl_open_part {
    uint32_t choice, part;
    uint32_t key; /* the reader's own number for it */
    enum pl_part_kind kind;
    char held[6]; /* half a surrogate pair that waits for the other half */
    uint8_t n_held;
    bool has_fragment;
};

/* Whether a part that only one vendor has is a call whose result is another part. */
enum pl_own_role { PL_OWN_ALONE, PL_OWN_CALL, PL_OWN_RESULT };

/* Parts that only the source's vendor has, until they are emitted. */
struct pl_stream_own {
    struct pl_buf parts; /* owned; JSON, separated by commas */
    uint32_t n_open;     /* calls without a result */
    uint32_t n_called;   /* calls emitted so far */
};

/* How the input is split into events; detected from its first byte. */
enum pl_framing { PL_FRAMING_UNKNOWN, PL_FRAMING_SSE, PL_FRAMING_JSON };

struct pl_stream {
    const struct pl_dialect *from, *to;
    bool is_same_vendor; /* signatures are kept */
    bool passes_through; /* the same dialect: bytes are copied, only a missing end is added */
    struct pl_sse sse;
    struct pl_json_frames frames;
    enum pl_framing framing;
    bool is_array;         /* JSON framing: the objects are elements of one array */
    struct pl_buf out;     /* the caller reads it and calls pl_buf_clear */
    struct pl_arena arena; /* of one event: reset before each */
    void *reader, *writer; /* owned */
    PL_VEC(struct pl_open_part) open;
    uint32_t n_parts;
    bool is_written;                       /* a delta has reached the writer */
    bool is_started, is_stopped, is_ended; /* ended: END or ERROR has been written */
    struct pl_delta stop;    /* held back until the usage is known; strings in `kept` */
    struct pl_counts counts; /* merged: the last value of each */
    bool has_usage;
    int64_t made_s;           /* unix: creation time of an answer without its own; 0: unknown */
    struct pl_delta fragment; /* empty except for the fields of a fragment */
    struct pl_repeat repeat;
    struct pl_stream_own own;
    struct pl_buf held;    /* passing through: input that is not passed on yet */
    size_t n_whole;        /* length of the whole events in `held` */
    bool has_passed;       /* some bytes have been passed on */
    struct pl_buf kept;    /* memory of deltas that are held back */
    struct pl_buf tier;    /* the service tier, raw: the last one that the source names */
    enum pl_status status; /* sticky: PL_NOMEM, PL_LIMIT */
};

enum pl_status pl_stream_create(const struct pl_dialect *from, const struct pl_dialect *to,
                                struct pl_stream **ret_stream);
void pl_stream_destroy(struct pl_stream *stream);

/* Translates bytes and appends to stream->out. PL_SYNTAX or PL_INVALID: the input is broken; the
 * target's error event is in `out` already and further input is ignored. */
enum pl_status pl_stream_feed(struct pl_stream *stream, struct pl_str bytes, struct pl_error *err);
/* Ends the input. PL_INVALID when it ended too early (the error event is in `out`). */
enum pl_status pl_stream_end(struct pl_stream *stream, struct pl_error *err);

/* For readers. */
void pl_stream_emit(struct pl_stream *s, const struct pl_delta *delta);
/* Emits a fragment of an open part; empty ones are skipped. */
void pl_stream_say(struct pl_stream *s, struct pl_open_part *part, struct pl_str raw);
/* The source names the service tier of the answer. */
void pl_stream_note_tier(struct pl_stream *s, struct pl_str raw);
/* The same with the log probabilities of its tokens, a JSON list. */
void pl_stream_say_rated(struct pl_stream *s, struct pl_open_part *part, struct pl_str raw,
                         struct pl_str logprobs);
/* Opens a part under the reader's own key (if it is not open yet) and returns its number. */
uint32_t pl_stream_open(struct pl_stream *s, uint32_t choice, uint32_t key,
                        const struct pl_delta *start);
void pl_stream_close(struct pl_stream *s, uint32_t choice, uint32_t key);
/* The same for a part that broke off. */
void pl_stream_cut(struct pl_stream *s, uint32_t choice, uint32_t key);
/* The open part of that key, or NULL. */
struct pl_open_part *pl_stream_find(struct pl_stream *s, uint32_t choice, uint32_t key);
/* Whether the target has a place for parts that only the source's vendor has. */
bool pl_stream_wants_own(const struct pl_stream *s);
/* Takes such a part of the first answer, as JSON; it closes open parts. It is emitted when every
 * call has its result, or before the next other delta. */
void pl_stream_take_own(struct pl_stream *s, struct pl_str part, enum pl_own_role role);
/* Adds to s->own only (other.c). */
void pl_stream_keep_own(struct pl_stream *s, struct pl_str part, enum pl_own_role role);
/* Parses data as JSON into the event's arena. */
enum pl_status pl_stream_json(struct pl_stream *s, struct pl_str data, struct pl_json_doc *ret_doc,
                              struct pl_error *err);

/* For writers: whether the target's vendor can check a proof. */
bool pl_stream_is_home(const struct pl_stream *s, const struct pl_delta *proof);
/* "event: TYPE\ndata: " before an event's JSON and "\n\n" after it. After bytes that
 * were passed through, the event is the last one and uses their framing. */
void pl_stream_begin_event(struct pl_stream *s, const char *type_or_null);
void pl_stream_end_event(struct pl_stream *s);
/* Converts parts that only the source's vendor has into a whole answer of the target, in a document
 * of the event's arena. Returns its list of parts or items; for openai-chat the message. NULL:
 * nothing, or out of memory (s->status). */
const struct pl_json_node *pl_stream_say_whole(struct pl_stream *s, const struct pl_delta *other,
                                               struct pl_json_doc *ret_doc);
/* Adds the creation time of the answer: its own, or made_s. */
void pl_stream_add_created(const struct pl_stream *s, struct pl_buf *to,
                           const struct pl_delta *start);
/* Puts a JSON value of the source without white space: an event is one line. */
void pl_stream_put_json(struct pl_stream *s, struct pl_buf *to, struct pl_str json);
/* The number of code points in raw contents. */
uint64_t pl_stream_count_points(struct pl_str raw);
/* Puts raw contents as a JSON string to s->out. */
void pl_stream_put_string(struct pl_stream *s, struct pl_str raw);

#endif
