/* Inside of calls to other servers: the common part, and the two transports ("roads").
 *
 *     upstream.c        chooses the road, keeps the timeouts, reports the end
 *     plain.c  HTTP/1.1 on connections of our own: no TLS, no proxy, no name to look up
 *     by_curl.c   libcurl: everything else
 *
 * Why there are two: docs/adr/0012-plain-upstreams.md. */
#ifndef PL_IO_UPSTREAM_INT_H
#define PL_IO_UPSTREAM_INT_H

#include "io/upstream/upstream.h"

struct pl_upstreams {
    struct pl_loop *loop;           /* borrowed */
    struct pl_curl_calls *curl;     /* owned; NULL until libcurl is needed */
    struct pl_plain_origin *plains; /* owned; the servers called without libcurl */
    bool has_proxy;                 /* the environment names a proxy; only libcurl can use it */
};

struct pl_road {
    /* Ends pending work and frees the call. */
    void (*stop)(struct pl_upstream_call *call);
    /* The same, at the caller's request. If it must be delayed, no callback comes until then. */
    void (*cancel)(struct pl_upstream_call *call);
    void (*set_pause)(struct pl_upstream_call *call, bool is_paused);
};

/* The state of a call; the diagram is in upstream.c. */
enum pl_up_state {
    PL_UP_START,
    PL_UP_CONNECTING,
    PL_UP_ASKED,     /* the request is being sent, or its answer is awaited */
    PL_UP_ANSWERING, /* on_head was called */
    PL_UP_PAUSED,
    PL_UP_LOST,      /* the road decides at the end of the turn whether to try again */
    PL_UP_CANCELLED, /* cancelled, but the transport still has it */
    PL_UP_OVER,
};

/* Each road's own struct begins with this. */
struct pl_upstream_call {
    struct pl_upstreams *upstreams; /* borrowed */
    const struct pl_road *road;
    const struct pl_upstream_ops *ops;
    void *ctx;
    struct pl_buf body;                       /* owned; the bytes to send, if they were given as
                                                 a whole */
    struct pl_buf *body_back;                 /* borrowed; NULL: not wanted back */
    struct pl_str pieces[PL_UPSTREAM_PIECES]; /* the bytes to send: from `body`, or borrowed
                                                 until sent */
    size_t n_pieces, n_body;                  /* the bytes in them */
    struct pl_str fields;  /* of the answer; owned by the road while the call exists */
    struct pl_timer timer; /* for connecting, for the first byte, then for silence */
    int64_t connect_ms, first_byte_ms, idle_ms, last_ms;
    enum pl_up_state state;
    bool is_started; /* callbacks may come */
    bool is_sent;    /* the whole request is written */
};

/* Whether status and headers are known. */
static inline bool pl_upstream_is_headed(const struct pl_upstream_call *call)
{
    return call->state == PL_UP_ANSWERING || call->state == PL_UP_PAUSED;
}

/* --- upstream.c ------------------------------------------------------------------------------ */

/* Takes over the body of the request. */
void pl_upstream_init(struct pl_upstream_call *call, struct pl_upstreams *upstreams,
                      const struct pl_road *road, const struct pl_upstream_request *request,
                      const struct pl_upstream_ops *ops, void *ctx);
/* Gives the body back. */
void pl_upstream_deinit(struct pl_upstream_call *call);

/* Starts the timeout for connecting, or for the first byte; or stops it. */
void pl_upstream_is_connecting(struct pl_upstream_call *call);
void pl_upstream_is_connected(struct pl_upstream_call *call);
void pl_upstream_is_lost(struct pl_upstream_call *call);
/* Like pl_upstream_cancel, for a road that ends the call itself. */
void pl_upstream_is_cancelled(struct pl_upstream_call *call);

/* No part of the request will be sent again: frees its body. The call may be gone afterwards. */
void pl_upstream_tell_sent(struct pl_upstream_call *call);
/* Callbacks of the transport. After the last two the call no longer exists; after the others it may
 * not. */
void pl_upstream_tell_head(struct pl_upstream_call *call, int status, struct pl_str fields);
void pl_upstream_tell_body(struct pl_upstream_call *call, struct pl_str piece);
void pl_upstream_tell_end(struct pl_upstream_call *call);
void pl_upstream_tell_failure(struct pl_upstream_call *call, enum pl_upstream_failure why,
                              const char *sentence);

/* Messages of both transports. */
#define PL_UPSTREAM_SAY_REFUSED "The model's server does not accept connections."
#define PL_UPSTREAM_SAY_BROKEN  "The connection to the model's server broke off."
#define PL_UPSTREAM_SAY_MEMORY  "Out of memory while calling the model's server."
#define PL_UPSTREAM_SAY_LATE    "The connection to the model's server timed out."

/* --- the roads ------------------------------------------------------------------------------- */

/* Both like pl_upstream_start. PL_NOT_FOUND: the plain road cannot reach the server. */
enum pl_status pl_plain_start(struct pl_upstreams *upstreams,
                              const struct pl_upstream_request *request,
                              const struct pl_upstream_ops *ops, void *ctx,
                              struct pl_upstream_call **ret_call, struct pl_error *err);
enum pl_status pl_curl_start(struct pl_upstreams *upstreams,
                             const struct pl_upstream_request *request,
                             const struct pl_upstream_ops *ops, void *ctx,
                             struct pl_upstream_call **ret_call, struct pl_error *err);
/* Frees connections and handles kept for the next call. */
void pl_plain_destroy(struct pl_upstreams *upstreams);
void pl_curl_destroy(struct pl_upstreams *upstreams);

#endif
