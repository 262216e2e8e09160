/* One request of a client, from its body to the last byte of its answer: what the files of this
 * directory share.
 *
 *     request.c   the client's body -> what the target is sent
 *     call.c      asks the targets of the chain, one after the other
 *     answer.c    what a vendor answers -> what the client gets
 *     usage.c     what the call has used
 *     own.c       models of ours (demo, replay) in the place of a vendor
 *     resume.c    prompts of the library and answers to go on from, put into the body
 *     keep.c      the exchange as a session
 *     ids.c       our ids in the place of the vendor's
 *
 * A call is memory of its exchange. Whoever finishes the exchange has ended everything else first
 * (pl_call_end). */
#ifndef PL_SERVER_GATEWAY_CALL_H
#define PL_SERVER_GATEWAY_CALL_H

#include "base/uuid.h"
#include "format/convert.h"
#include "model/vendor.h"
#include "server/copying.h"
#include "server/gateway/gateway.h"
#include "stream/speak.h"

/* What is larger is read and converted on a worker. */
#define PL_GATEWAY_HERE_BYTES (256u << 10)
#define PL_GATEWAY_MAX_ANSWER (32u << 20)
/* So much may wait for a slow client before the vendor is not read from. */
#define PL_GATEWAY_MAX_WAITING (256u << 10)

struct pl_gateway {
    struct pl_workspace workspace; /* of conversions on the loop */
    struct pl_converted converted; /* … their memory, used again */
};

struct pl_call {
    struct pl_exchange *x; /* whose memory this is */
    struct pl_gateway_wish wish;
    struct pl_str text;     /* the request, with what it refers to put in; arena or the body */
    struct pl_json_doc doc; /* … parsed */
    struct pl_str model;    /* as the client calls it */
    struct pl_id id;        /* of the response, for a client of Responses; else empty */
    bool is_stream;
    bool is_kept; /* as a session, when it is over */
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    size_t n_targets, i;        /* the one that is asked */
    enum pl_cooldown_pass pass; /* of that one, until the vendor's call has it */

    struct pl_buf body; /* owned; what the target is sent */
    struct pl_buf loss; /* owned; what Parley-Loss will say */
    struct pl_vendor_call *vendor;
    struct pl_model_call *own;

    int status;                /* of the vendor's answer; 0: none yet */
    char retry_after[40];      /* as the vendor said it */
    struct pl_buf answer;      /* owned; all of it, where it does not flow */
    struct pl_stream *stream;  /* owned; the vendor's dialect into the client's */
    struct pl_stream *record;  /* owned; … into one that tells the whole at its end; NULL: none */
    struct pl_speaker speaker; /* of one of our own models */
    struct pl_buf last;        /* owned; the event that told the whole */
    struct pl_str whole;       /* the answer as a response of OpenAI's; in `last` */
    struct pl_copying *copying; /* arena; the session it becomes; NULL: it could not be made */
    void (*after_keeping)(struct pl_exchange *x);
    struct pl_counts counts;
    size_t n_said; /* bytes of the answer: an estimate where nothing was counted */
    size_t n_calls;

    bool is_working; /* a worker or the store has it */
    bool is_gone;    /* the client */
    bool is_flowing, is_paused, is_counted;
    bool has_elements; /* of a JSON array that flows */
};

static inline const struct pl_model_target *pl_call_target(const struct pl_call *call)
{
    return &call->targets[call->i];
}

/* What writes the client's dialect. */
static inline struct pl_stream *pl_call_writer(const struct pl_call *call)
{
    return call->stream ? call->stream : call->speaker.stream;
}

static inline bool pl_call_is_same(const struct pl_call *call)
{
    return pl_call_target(call)->format == call->wish.speech->format;
}

/* --- call.c ---------------------------------------------------------------------------------- */

/* Ends what is under way and frees what the call owns; the exchange is still to be finished. */
void pl_call_end(struct pl_call *call);
/* Ends the call and its exchange, whatever stands in reply. */
void pl_call_finish(struct pl_call *call);
/* Runs `work` here, or on a worker when so many bytes are concerned; then `after`. */
void pl_call_work(struct pl_call *call, size_t n_bytes, void (*work)(struct pl_exchange *x),
                  void (*after)(struct pl_exchange *x));
/* The target has failed before anything was said: asks the next of the chain. False: there is none
 * that could be asked. */
bool pl_call_next(struct pl_call *call);
/* Makes the answer an error; does not finish. Any thread that has the call. */
#define pl_call_fail(call, status, code, ...)                                                      \
    pl_speech_fail((call)->wish.speech, (call)->x, status, code, __VA_ARGS__)

/* --- request.c ------------------------------------------------------------------------------- */

/* Parses the body and finds the model. False after pl_call_fail. */
bool pl_call_read(struct pl_call *call);
/* Makes `body` for the present target. False after pl_call_fail. */
bool pl_call_make_body(struct pl_call *call);
/* Answers what a conversion of the request failed with, and where in it. */
void pl_call_refuse(struct pl_call *call, enum pl_status status, const struct pl_error *err);
/* What was converted, into `to`: a worker's as it is, the loop's as a copy, since it works with the
 * same memory again. */
void pl_call_take_out(const struct pl_call *call, struct pl_buf *to, struct pl_converted *made);
/* Member of the request as text; {NULL, 0} where it is none. */
struct pl_str pl_call_text(struct pl_call *call, const char *name);
/* Adds the losses of a report to the header's value; `where` stands before each pointer. */
void pl_call_note_losses(struct pl_call *call, const char *where, struct pl_str report);

/* --- answer.c -------------------------------------------------------------------------------- */

extern const struct pl_vendor_ops pl_call_vendor_ops;
/* The headers that tell about the call. */
void pl_call_put_headers(struct pl_call *call);
/* Puts what the stream has written into the answer, and lets it flow. */
void pl_call_pass_on(struct pl_call *call);
/* The stream has written its end: passes the rest on, when the call is kept, and finishes. */
void pl_call_end_flow(struct pl_call *call);
/* A whole response of OpenAI's (in call->whole) becomes the answer. */
void pl_call_answer_whole(struct pl_call *call);
/* Room was made: the vendor is read from again. */
void pl_call_room(struct pl_exchange *x);

/* --- usage.c --------------------------------------------------------------------------------- */

/* Reads the counters of a whole answer of the target. */
void pl_call_read_counts(struct pl_call *call, const struct pl_json_doc *doc);
/* Counts the call, once. */
void pl_call_count(struct pl_call *call);

/* --- own.c ----------------------------------------------------------------------------------- */

/* What one of our own models is asked: the conversation as turns. On a worker for a replay. */
bool pl_call_make_turns(struct pl_call *call);
void pl_call_ask_own(struct pl_call *call);

/* --- resume.c -------------------------------------------------------------------------------- */

/* Whether the body refers to something in the store. */
bool pl_call_refers(struct pl_call *call);
/* Puts it in. On a worker. False after pl_call_fail. */
bool pl_call_resolve(struct pl_call *call);

/* --- ids.c ----------------------------------------------------------------------------------- */

/* Puts the call's id into what the client gets: whole events, or a whole response. Any thread that
 * has the call. */
void pl_call_own_events(struct pl_call *call, struct pl_buf *events);
void pl_call_own_whole(struct pl_call *call, struct pl_buf *answer);

/* --- keep.c ---------------------------------------------------------------------------------- */

/* Whether the exchange is to be kept as a session. */
bool pl_call_wants_keeping(struct pl_call *call);
/* Takes note of what the stream has just written, before it is passed on: its last event may tell
 * the whole. */
void pl_call_note_whole(struct pl_call *call, struct pl_stream *stream);
/* Keeps request and answer (call->whole); then `after`, whether it could be kept or not. */
void pl_call_keep(struct pl_call *call, void (*after)(struct pl_exchange *x));

#endif
