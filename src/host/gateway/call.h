/* One request of a client, from its body to the last byte of its answer: what the files of this
 * directory share.
 *
 *     request.c      the client's body -> what the target is sent
 *     call.c         asks the targets of the chain, one after the other
 *     answer.c       what a vendor answers -> what the client gets
 *     stream_loss.c  what a translated stream lost
 *     usage.c        what the call has used
 *     local_model.c  models of ours (demo, replay) in the place of a vendor
 *     resume.c       prompts of the library and answers to go on from, put into the body
 *     keep.c         the exchange as a session
 *     embed.c        embeddings, which go the same way in other shapes
 *     ids.c          our ids in the place of the vendor's
 *
 * A call is memory of its exchange. pl_gateway_call_finish ends everything else before it
 * finishes the exchange. */
#ifndef PL_GATEWAY_CALL_H
#define PL_GATEWAY_CALL_H

#include "access/meter.h"
#include "agent/session_copy.h"
#include "base/text/uuid.h"
#include "format/convert.h"
#include "gateway/gateway.h"
#include "model/vendor/vendor.h"
#include "stream/speak.h"

/* Larger bodies are read and converted on a worker. */
#define PL_GATEWAY_HERE_BYTES (256u << 10)
#define PL_GATEWAY_MAX_ANSWER (32u << 20)
/* So much may wait for a slow client before the vendor is not read from. */
#define PL_GATEWAY_MAX_WAITING (256u << 10)

/* The last request that a client, known by its key, has sent in a dialect. Two clients may share a
 * place: it is a guess, and a wrong one costs time only. */
#define PL_GATEWAY_HABITS 64

struct pl_gateway {
    struct pl_workspace workspace; /* of conversions on the loop */
    struct pl_converted converted; /* … their memory, used again */
    struct pl_arena trees;         /* of requests on the loop; the next one empties it */
    bool was_converted[PL_GATEWAY_HABITS];
};

/* The size of a request, from which its tokens are estimated. */
struct pl_gateway_call_size {
    size_t n_text_bytes; /* in strings */
    size_t n_media;      /* strings that are too long for a text */
};

/* Who has a call; the diagram is in call.c. */
enum pl_gateway_call_state {
    PL_GW_HERE,    /* a function of ours, on the loop */
    PL_GW_WORKING, /* a worker or the store */
    PL_GW_LEFT,    /* the same, and the client is gone */
    PL_GW_ASKED,   /* a model, of which nothing was passed on yet */
    PL_GW_FLOWING, /* a model, while its answer is passed on */
    PL_GW_PAUSED,  /* the same, and it is not read from until the client has taken more */
    PL_GW_OVER,
};

struct pl_gateway_call {
    struct pl_exchange *x; /* whose memory this is */
    enum pl_gateway_call_state state;
    struct pl_gateway_options options;
    struct pl_str text;     /* the request, with what it refers to put in; arena or the body */
    struct pl_json_doc doc; /* … parsed, in the exchange's arena or in that of the loop. No root: it
                               was let go */
    bool is_shallow;        /* … only its first level (json/parse/survey.h) */
    bool is_tree_lent;      /* doc is the loop's, and only there until the loop goes on */
    bool is_whole_likely;   /* it is probably converted: all of it is parsed at once */
    bool refers;            /* to something in the store */
    bool is_resolved;       /* what it referred to has been put in */
    uint8_t habit;          /* its place in those of the gateway */
    struct pl_str config;   /* JSON, arena; of the prompt it referred to, when that has members for
                               the request of one vendor; else empty */
    struct pl_gateway_call_size size;
    struct pl_embed_asked embeds; /* of a call for embeddings */
    struct pl_str model;          /* as the client calls it */
    struct pl_id id;              /* of the response, for a client of Responses; else empty */
    bool is_stream;
    bool is_kept; /* as a session, when it is over */
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    size_t n_targets, i;        /* the one that is asked */
    enum pl_cooldown_pass pass; /* of that one, until the vendor's call has it */

    struct pl_buf body;                       /* owned; what the target is sent … */
    struct pl_str pieces[PL_UPSTREAM_PIECES]; /* … or of what of `text` and the arena it consists */
    size_t n_pieces;
    struct pl_buf loss; /* owned; what Parley-Loss will say, of a stream its trailer at last */
    struct pl_buf heard, told; /* owned; both streams of a translation, to tell what it lost */
    bool is_looked_at;         /* … they are kept */
    struct pl_vendor_call *vendor;
    struct pl_model_call *own;

    int status;                /* of the vendor's answer; 0: none yet */
    int64_t made_s;            /* unix: when it came, for dialects that say so */
    char retry_after[40];      /* as the vendor said it */
    struct pl_buf answer;      /* owned; all of it, where it does not flow */
    struct pl_stream *stream;  /* owned; the vendor's dialect into the client's */
    struct pl_stream *record;  /* owned; … into one that tells the whole at its end; NULL: none */
    struct pl_speaker speaker; /* of one of our own models */
    struct pl_buf last;        /* owned; the event that told the whole */
    struct pl_str whole;       /* the answer as a response of OpenAI's; in `last` */
    struct pl_session_copy *copying; /* arena; the session it becomes; NULL: it could not be made */
    void (*after_keeping)(struct pl_exchange *x);
    struct pl_counts counts;
    int64_t first_at_ms; /* unix: of the first byte of the answer; 0: none yet */
    size_t n_said;       /* bytes of the answer: an estimate where nothing was counted */
    size_t n_calls;

    bool is_on_worker; /* what it converts with: the loop's memory is the loop's alone. For whoever
                          has the call to read */
    bool is_counted;
    bool has_left;              /* the client is gone: what was used was broken off */
    struct pl_meter_call meter; /* what is reserved */
    bool has_elements;          /* of a JSON array that flows */
    struct pl_span span;        /* of the model that is asked */
};

static inline const struct pl_model_target *
pl_gateway_call_target(const struct pl_gateway_call *call)
{
    return &call->targets[call->i];
}

/* What writes the client's dialect. */
static inline struct pl_stream *pl_gateway_call_writer(const struct pl_gateway_call *call)
{
    return call->stream ? call->stream : call->speaker.stream;
}

static inline bool pl_gateway_call_is_same(const struct pl_gateway_call *call)
{
    return pl_gateway_call_target(call)->format == call->options.speech->format;
}

/* --- call.c ---------------------------------------------------------------------------------- */

/* The target has the request: gives its memory back, if nobody else will want it. */
void pl_gateway_call_let_go(struct pl_gateway_call *call);
void pl_gateway_call_become(struct pl_gateway_call *call, enum pl_gateway_call_state to);
/* A worker or the store gets it, or brings it back: true when the client is gone. */
void pl_gateway_call_lend(struct pl_gateway_call *call);
bool pl_gateway_call_is_back(struct pl_gateway_call *call);
/* The model has nothing more to say, or is not listened to any more. */
void pl_gateway_call_stop_asking(struct pl_gateway_call *call);
/* Ends the call and its exchange, whatever the reply is. */
void pl_gateway_call_finish(struct pl_gateway_call *call);
/* What was lost, to the log. */
void pl_gateway_call_log_losses(const struct pl_gateway_call *call);
/* Runs `work` here, or on a worker for this many bytes; then `after`. */
void pl_gateway_call_work(struct pl_gateway_call *call, size_t n_bytes,
                          void (*work)(struct pl_exchange *x),
                          void (*after)(struct pl_exchange *x));
/* The target has failed before anything was said: asks the next of the chain. False: there is none
 * that could be asked. */
bool pl_gateway_call_next(struct pl_gateway_call *call);
/* Makes the answer an error; does not finish. Any thread that has the call. */
#define pl_gateway_call_fail(call, status, code, ...)                                              \
    pl_speech_fail((call)->options.speech, (call)->x, status, code, __VA_ARGS__)

/* --- request.c ------------------------------------------------------------------------------- */

/* Parses the body and finds the model. False after pl_gateway_call_fail. */
bool pl_gateway_call_read(struct pl_gateway_call *call);
/* Makes sure that `doc` is there, its first level or all of it. False after pl_gateway_call_fail. */
bool pl_gateway_call_look(struct pl_gateway_call *call);
bool pl_gateway_call_parse(struct pl_gateway_call *call);
/* The loop goes on, or a worker has the call next: what the loop has lent goes back. */
void pl_gateway_call_give_tree_back(struct pl_gateway_call *call);
/* The client's bytes as the body, with the name the target has. False after pl_gateway_call_fail. */
bool pl_gateway_call_pass_body(struct pl_gateway_call *call);
/* Makes `body` for the present target. False after pl_gateway_call_fail. */
bool pl_gateway_call_make_body(struct pl_gateway_call *call);
/* Answers what a conversion of the request failed with, and where in it. */
void pl_gateway_call_refuse(struct pl_gateway_call *call, enum pl_status status,
                            const struct pl_error *err);
/* Converts, with the loop's memory where it can be had, into `to`, which keeps its limit. What
 * was lost goes into call->loss, if it is to be told. */
enum pl_status pl_gateway_call_convert(struct pl_gateway_call *call, struct pl_str text,
                                       struct pl_convert_opts *opts, struct pl_buf *to,
                                       bool tells_loss, struct pl_error *err);
/* Member of the request as text; {NULL, 0} if it is not one. */
struct pl_str pl_gateway_call_text(struct pl_gateway_call *call, const char *name);
/* --- answer.c -------------------------------------------------------------------------------- */

extern const struct pl_vendor_ops pl_gateway_call_vendor_ops;
/* The headers that tell about the call. */
void pl_gateway_call_put_headers(struct pl_gateway_call *call);
/* Puts what the stream has written into the answer, and lets it flow. */
void pl_gateway_call_pass_on(struct pl_gateway_call *call);
/* The stream has written its end: passes the rest on, when the call is kept, and finishes. */
void pl_gateway_call_end_flow(struct pl_gateway_call *call);
/* A whole response of OpenAI's (in call->whole) becomes the answer. */
void pl_gateway_call_answer_whole(struct pl_gateway_call *call);
/* Room was made: the vendor is read from again. */
void pl_gateway_call_room(struct pl_exchange *x);

/* --- stream_loss.c --------------------------------------------------------------------------- */

/* The stream begins: decides whether what it loses will be told. */
void pl_gateway_call_begin_loss(struct pl_gateway_call *call);
/* Keeps a piece of the vendor's stream, and what was made of it: what stream->out has after
 * `before`. */
void pl_gateway_call_keep_bytes(struct pl_gateway_call *call, struct pl_str piece, size_t before);
/* Everything was passed on: tells what was lost, and finishes the call. */
void pl_gateway_call_end_loss(struct pl_gateway_call *call);

/* --- usage.c --------------------------------------------------------------------------------- */

/* Reads the counters of a whole answer of the target. */
void pl_gateway_call_read_counts(struct pl_gateway_call *call, const struct pl_json_doc *doc);
/* Counts the call, once. */
void pl_gateway_call_count(struct pl_gateway_call *call);
/* Whether limits that several nodes share are to be looked up by a worker, and that. */
bool pl_gateway_call_needs_fetch(const struct pl_gateway_call *call);
void pl_gateway_call_fetch(struct pl_gateway_call *call);
/* Reserves an estimate of it, once; false after pl_gateway_call_fail. */
bool pl_gateway_call_admit(struct pl_gateway_call *call);
/* It has ended without an answer; what was reserved is free again. */
void pl_gateway_call_count_failure(struct pl_gateway_call *call);
/* The target has failed, and another is asked in its place. */
void pl_gateway_call_note_failure(struct pl_gateway_call *call);
/* How much is asked, by the tree. */
struct pl_gateway_call_size pl_gateway_call_measure(const struct pl_json_doc *doc);

/* --- span.c ---------------------------------------------------------------------------------- */

/* The target is asked: a part of the request. */
void pl_gateway_call_begin_span(struct pl_gateway_call *call);
/* It has answered, or failed. Once; later ends do nothing. */
void pl_gateway_call_end_span(struct pl_gateway_call *call);
/* The line of the head that tells the vendor its place in the trace; NULL: there is none, or no
 * memory. */
const char *pl_gateway_call_traceparent(struct pl_gateway_call *call);

/* --- local_model.c --------------------------------------------------------------------------- */

/* What one of our own models is asked: the conversation as turns. On a worker for a replay. */
bool pl_gateway_call_make_turns(struct pl_gateway_call *call);
void pl_gateway_call_ask_own(struct pl_gateway_call *call);

/* --- embed.c --------------------------------------------------------------------------------- */

/* As pl_gateway_call_make_body, for embeddings; one of our own makes them at once. */
bool pl_gateway_call_make_embedding(struct pl_gateway_call *call);
/* The answer of a vendor (call->answer) becomes that of the client. Any thread that has the call. */
void pl_gateway_call_read_embedding(struct pl_gateway_call *call);
/* One of our own has made them: counts and finishes. */
void pl_gateway_call_end_embedding(struct pl_gateway_call *call);

/* --- resume.c -------------------------------------------------------------------------------- */

/* Whether the body, as it is parsed, refers to something in the store. */
bool pl_gateway_call_refers(const struct pl_gateway_call *call);
/* --- blobs.c: whether it names blobs, and their bytes put into it. False after pl_gateway_call_fail. */
bool pl_gateway_call_names_blobs(const struct pl_gateway_call *call);
bool pl_gateway_call_put_blobs(struct pl_gateway_call *call);
/* Puts it in. On a worker. False after pl_gateway_call_fail. */
bool pl_gateway_call_resolve(struct pl_gateway_call *call);

/* --- kept_turns.c: both on a worker ---------------------------------------------------------- */

/* A document as a request of OpenAI's Responses, parsed; memory of the arena. */
enum pl_status pl_gateway_to_responses(struct pl_exchange *x, const struct pl_format *from,
                                       struct pl_str text, struct pl_json_doc *ret_doc,
                                       struct pl_error *err);
/* The first n_most turns of a session as such a request. */
enum pl_status pl_gateway_kept_turns(struct pl_exchange *x, struct pl_str session_id,
                                     int64_t n_most, struct pl_json_doc *ret_doc,
                                     struct pl_error *err);

/* --- ids.c ----------------------------------------------------------------------------------- */

/* Puts the call's id into what the client gets: whole events, or a whole response. Any thread that
 * has the call. */
void pl_gateway_call_own_events(struct pl_gateway_call *call, struct pl_buf *events);
void pl_gateway_call_own_whole(struct pl_gateway_call *call, struct pl_buf *answer);

/* --- keep.c ---------------------------------------------------------------------------------- */

/* Whether the exchange is to be kept as a session. */
bool pl_gateway_call_wants_keeping(struct pl_gateway_call *call);
/* Takes note of what the stream has just written, before it is passed on: its last event may tell
 * the whole. */
void pl_gateway_call_note_whole(struct pl_gateway_call *call, struct pl_stream *stream);
/* Keeps request and answer (call->whole); then `after`, whether it could be kept or not. */
void pl_gateway_call_keep(struct pl_gateway_call *call, void (*after)(struct pl_exchange *x));

#endif
