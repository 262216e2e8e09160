/* One request of a client, from its body to the last byte of its answer: shared by the files of
 * this directory.
 *
 *     request.c      the client's body -> the target's body
 *     call.c         calls the targets of the chain, one after the other
 *     answer.c       a vendor's answer -> the client's answer
 *     stream_loss.c  the losses of a translated stream
 *     usage.c        the usage of the call
 *     local_model.c  our own models (demo, replay) instead of a vendor
 *     resume.c       inserts prompts of the library and previous answers into the body
 *     keep.c         stores the exchange as a session
 *     embed.c        embeddings: the same path with other shapes
 *     ids.c          our ids instead of the vendor's
 *
 * A call is in the memory of its exchange. pl_gateway_call_finish ends everything else before it
 * finishes the exchange. */
#ifndef PL_GATEWAY_CALL_H
#define PL_GATEWAY_CALL_H

#include "access/meter/meter.h"
#include "agent/session_copy.h"
#include "base/text/uuid.h"
#include "format/convert.h"
#include "gateway/gateway.h"
#include "model/vendor/vendor.h"
#include "stream/speak.h"

/* Larger bodies are read and converted on a worker. */
#define PL_GATEWAY_HERE_BYTES (256u << 10)
#define PL_GATEWAY_MAX_ANSWER (32u << 20)
/* If more waits for a slow client, the vendor is not read. */
#define PL_GATEWAY_MAX_WAITING (256u << 10)

/* The last request of a client (by its key) in a dialect. Two clients may share a slot: it is a
 * guess, and a wrong guess costs only time. */
#define PL_GATEWAY_HABITS 64

struct pl_gateway {
    struct pl_workspace workspace; /* for conversions on the loop */
    struct pl_converted converted; /* … their memory, reused */
    struct pl_arena trees;         /* for requests on the loop; the next one empties it */
    bool was_converted[PL_GATEWAY_HABITS];
};

/* The size of a request, from which its tokens are estimated. */
struct pl_gateway_call_size {
    size_t n_text_bytes; /* in strings */
    size_t n_media;      /* strings that are too long for a text */
};

/* The current user of a call; the diagram is in call.c. */
enum pl_gateway_call_state {
    PL_GW_HERE,    /* a function of ours, on the loop */
    PL_GW_WORKING, /* a worker or the store */
    PL_GW_LEFT,    /* the same, and the client is gone */
    PL_GW_ASKED,   /* a model; nothing was passed on yet */
    PL_GW_FLOWING, /* a model, while its answer is passed on */
    PL_GW_PAUSED,  /* the same, but it is not read until the client has taken more */
    PL_GW_OVER,
};

struct pl_gateway_call {
    struct pl_exchange *x; /* owns this memory */
    enum pl_gateway_call_state state;
    struct pl_gateway_options options;
    struct pl_str text;     /* the request, with references resolved; in the arena or the body */
    struct pl_json_doc doc; /* … parsed, in the exchange's arena or the loop's. No root: released */
    bool is_shallow;        /* … only its first level (json/parse/survey.h) */
    bool is_tree_lent;      /* doc is in the loop's arena: valid only until the loop continues */
    bool is_whole_likely;   /* it is probably converted: parse all of it at once */
    bool refers;            /* to something in the store */
    bool is_resolved;       /* the references were resolved */
    uint8_t habit;          /* index in was_converted */
    struct pl_str config;   /* JSON, arena; the config of the referenced prompt, if it has members
                               for one vendor's request; else empty */
    struct pl_gateway_call_size size;
    struct pl_embed_asked embeds; /* for embeddings */
    struct pl_str model;          /* as the client names it */
    struct pl_id id;              /* of the response, for a client of Responses; else empty */
    bool is_stream;
    bool is_kept; /* stored as a session at the end */
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    size_t n_targets, i;        /* i: the current one */
    enum pl_cooldown_pass pass; /* of the current one, until the vendor's call has it */

    struct pl_buf body;                       /* owned; the target's body … */
    struct pl_str pieces[PL_UPSTREAM_PIECES]; /* … or its pieces, in `text` and the arena */
    size_t n_pieces;
    struct pl_buf loss; /* owned; the value of Parley-Loss; for a stream, finally of its trailer */
    struct pl_buf heard, told; /* owned; both streams of a translation, to find the losses */
    bool is_looked_at;         /* … they are kept */
    struct pl_vendor_call *vendor;
    struct pl_model_call *own;

    int status;                /* of the vendor's answer; 0: none yet */
    int64_t made_s;            /* unix: when it came, for dialects that contain it */
    char retry_after[40];      /* the vendor's header, unchanged; "": none */
    struct pl_buf answer;      /* owned; the whole answer, if it is not streamed */
    struct pl_stream *stream;  /* owned; from the vendor's dialect to the client's */
    struct pl_stream *record;  /* owned; … to a dialect that repeats the whole answer at its end;
                                  NULL: none */
    struct pl_speaker speaker; /* for our own models */
    struct pl_buf last;        /* owned; the event with the whole answer */
    struct pl_str whole;       /* the answer as a response of OpenAI; in `last` */
    struct pl_session_copy *copying; /* arena; the session it becomes; NULL: failed */
    void (*after_keeping)(struct pl_exchange *x);
    struct pl_counts counts;
    int64_t first_at_ms; /* unix: time of the first byte of the answer; 0: none yet */
    size_t n_said;       /* bytes of the answer, for an estimate if nothing was counted */
    size_t n_calls;

    bool is_on_worker; /* selects the memory for conversions: the loop's may be used only on the
                          loop. Read by whoever has the call */
    bool is_counted;
    bool has_left;              /* the client is gone: the usage is that of an aborted call */
    struct pl_meter_call meter; /* the reservation */
    bool has_elements;          /* a streamed JSON array has begun */
    struct pl_span span;        /* of the current model call */
};

static inline const struct pl_model_target *
pl_gateway_call_target(const struct pl_gateway_call *call)
{
    return &call->targets[call->i];
}

/* The stream that writes the client's dialect. */
static inline struct pl_stream *pl_gateway_call_writer(const struct pl_gateway_call *call)
{
    return call->stream ? call->stream : call->speaker.stream;
}

static inline bool pl_gateway_call_is_same(const struct pl_gateway_call *call)
{
    return pl_gateway_call_target(call)->format == call->options.speech->format;
}

/* --- call.c ---------------------------------------------------------------------------------- */

/* The target has the request: frees its memory, if nothing else needs it. */
void pl_gateway_call_let_go(struct pl_gateway_call *call);
void pl_gateway_call_become(struct pl_gateway_call *call, enum pl_gateway_call_state to);
/* Passes the call to a worker or the store, and takes it back. True: the client is gone. */
void pl_gateway_call_lend(struct pl_gateway_call *call);
bool pl_gateway_call_is_back(struct pl_gateway_call *call);
/* The model has ended, or its output is no longer wanted. */
void pl_gateway_call_stop_asking(struct pl_gateway_call *call);
/* Ends the call and its exchange, with the current reply. */
void pl_gateway_call_finish(struct pl_gateway_call *call);
/* Logs the losses. */
void pl_gateway_call_log_losses(const struct pl_gateway_call *call);
/* Runs `work` here, or on a worker for this many bytes; then `after`. */
void pl_gateway_call_work(struct pl_gateway_call *call, size_t n_bytes,
                          void (*work)(struct pl_exchange *x),
                          void (*after)(struct pl_exchange *x));
/* The target has failed before anything was sent: calls the next of the chain. False: no other can
 * be called. */
bool pl_gateway_call_next(struct pl_gateway_call *call);
/* Makes the answer an error; does not finish. Any thread that has the call. */
#define pl_gateway_call_fail(call, status, code, ...)                                              \
    pl_speech_fail((call)->options.speech, (call)->x, status, code, __VA_ARGS__)

/* --- request.c ------------------------------------------------------------------------------- */

/* Parses the body and finds the model. False after pl_gateway_call_fail. */
bool pl_gateway_call_read(struct pl_gateway_call *call);
/* Makes sure that `doc` is set: the first level, or all of it. False after pl_gateway_call_fail. */
bool pl_gateway_call_look(struct pl_gateway_call *call);
bool pl_gateway_call_parse(struct pl_gateway_call *call);
/* Releases a tree in the loop's memory. Call before the loop continues or a worker gets the
 * call. */
void pl_gateway_call_give_tree_back(struct pl_gateway_call *call);
/* Uses the client's bytes as the body, with the target's model. False after
 * pl_gateway_call_fail. */
bool pl_gateway_call_pass_body(struct pl_gateway_call *call);
/* Makes `body` for the current target. False after pl_gateway_call_fail. */
bool pl_gateway_call_make_body(struct pl_gateway_call *call);
/* Answers with the failure of a conversion of the request, and its place there. */
void pl_gateway_call_refuse(struct pl_gateway_call *call, enum pl_status status,
                            const struct pl_error *err);
/* Converts into `to`, which keeps its limit; uses the loop's memory if possible. Adds the losses to
 * call->loss if tells_loss. */
enum pl_status pl_gateway_call_convert(struct pl_gateway_call *call, struct pl_str text,
                                       struct pl_convert_opts *opts, struct pl_buf *to,
                                       bool tells_loss, struct pl_error *err);
/* A member of the request as text; {NULL, 0} if it is not a text. */
struct pl_str pl_gateway_call_text(struct pl_gateway_call *call, const char *name);
/* --- answer.c -------------------------------------------------------------------------------- */

extern const struct pl_vendor_ops pl_gateway_call_vendor_ops;
/* Adds the headers that describe the call. */
void pl_gateway_call_put_headers(struct pl_gateway_call *call);
/* Moves the output of the stream to the answer, and sends it. */
void pl_gateway_call_pass_on(struct pl_gateway_call *call);
/* The stream has written its end: stores the call if it is kept, sends the rest, and finishes. */
void pl_gateway_call_end_flow(struct pl_gateway_call *call);
/* Makes the whole response of OpenAI in call->whole the answer. */
void pl_gateway_call_answer_whole(struct pl_gateway_call *call);
/* The client has taken data: reads from the vendor again. */
void pl_gateway_call_room(struct pl_exchange *x);

/* --- stream_loss.c --------------------------------------------------------------------------- */

/* The stream begins: decides whether its losses will be reported. */
void pl_gateway_call_begin_loss(struct pl_gateway_call *call);
/* Keeps a piece of the vendor's stream and its translation: stream->out after `before`. */
void pl_gateway_call_keep_bytes(struct pl_gateway_call *call, struct pl_str piece, size_t before);
/* Everything was sent: reports the losses and finishes the call. */
void pl_gateway_call_end_loss(struct pl_gateway_call *call);

/* --- usage.c --------------------------------------------------------------------------------- */

/* Reads the usage from a whole answer of the target. */
void pl_gateway_call_read_counts(struct pl_gateway_call *call, const struct pl_json_doc *doc);
/* Counts the call, once. */
void pl_gateway_call_count(struct pl_gateway_call *call);
/* Whether a worker has to fetch limits that several nodes share; and the fetch. */
bool pl_gateway_call_needs_fetch(const struct pl_gateway_call *call);
void pl_gateway_call_fetch(struct pl_gateway_call *call);
/* Reserves an estimate, once; false after pl_gateway_call_fail. */
bool pl_gateway_call_admit(struct pl_gateway_call *call);
/* The call ended without an answer: releases the reservation. */
void pl_gateway_call_count_failure(struct pl_gateway_call *call);
/* The target has failed, and another one is called instead. */
void pl_gateway_call_note_failure(struct pl_gateway_call *call);
/* --- measure.c ------------------------------------------------------------------------------- */

/* Measures a request by its tree. */
struct pl_gateway_call_size pl_gateway_call_measure(const struct pl_json_doc *doc);

/* --- span.c ---------------------------------------------------------------------------------- */

/* Begins the span of the call of a target, below that of the request. */
void pl_gateway_call_begin_span(struct pl_gateway_call *call);
/* Ends it: the target has answered or failed. Later calls do nothing. */
void pl_gateway_call_end_span(struct pl_gateway_call *call);
/* The traceparent header line for the vendor; NULL: no trace, or no memory. */
const char *pl_gateway_call_traceparent(struct pl_gateway_call *call);

/* --- local_model.c --------------------------------------------------------------------------- */

/* Makes the input of one of our own models: the conversation as turns. On a worker for a replay. */
bool pl_gateway_call_make_turns(struct pl_gateway_call *call);
void pl_gateway_call_ask_own(struct pl_gateway_call *call);

/* --- embed.c --------------------------------------------------------------------------------- */

/* Like pl_gateway_call_make_body, for embeddings; our own model makes them at once. */
bool pl_gateway_call_make_embedding(struct pl_gateway_call *call);
/* Converts a vendor's answer (call->answer) to the client's. Any thread that has the call. */
void pl_gateway_call_read_embedding(struct pl_gateway_call *call);
/* Our own model has made them: counts and finishes. */
void pl_gateway_call_end_embedding(struct pl_gateway_call *call);

/* --- resume.c -------------------------------------------------------------------------------- */

/* Whether the parsed body refers to something in the store. */
bool pl_gateway_call_refers(const struct pl_gateway_call *call);
/* --- blobs.c: whether it names blobs; puts their bytes in. False after pl_gateway_call_fail. */
bool pl_gateway_call_names_blobs(const struct pl_gateway_call *call);
bool pl_gateway_call_put_blobs(struct pl_gateway_call *call);
/* Resolves the references. On a worker. False after pl_gateway_call_fail. */
bool pl_gateway_call_resolve(struct pl_gateway_call *call);

/* --- kept_turns.c: both on a worker ---------------------------------------------------------- */

/* Converts a document to a request of OpenAI's Responses, parsed; memory of the arena. */
enum pl_status pl_gateway_to_responses(struct pl_exchange *x, const struct pl_format *from,
                                       struct pl_str text, struct pl_json_doc *ret_doc,
                                       struct pl_error *err);
/* The first n_most turns of a session as such a request. */
enum pl_status pl_gateway_kept_turns(struct pl_exchange *x, struct pl_str session_id,
                                     int64_t n_most, struct pl_json_doc *ret_doc,
                                     struct pl_error *err);

/* --- ids.c ----------------------------------------------------------------------------------- */

/* Puts the call's id into the output for the client: whole events, or a whole response. Any thread
 * that has the call. */
void pl_gateway_call_own_events(struct pl_gateway_call *call, struct pl_buf *events);
void pl_gateway_call_own_whole(struct pl_gateway_call *call, struct pl_buf *answer);

/* --- keep.c ---------------------------------------------------------------------------------- */

/* Whether to store the exchange as a session. */
bool pl_gateway_call_wants_keeping(struct pl_gateway_call *call);
/* Reads the output of the stream before it is sent: its last event may have the whole answer. */
void pl_gateway_call_note_whole(struct pl_gateway_call *call, struct pl_stream *stream);
/* Stores request and answer (call->whole); then calls `after`, whether that worked or not. */
void pl_gateway_call_keep(struct pl_gateway_call *call, void (*after)(struct pl_exchange *x));

#endif
