/* HTTP requests to other servers, many at once, on the loop: calls to models. Servers at a plain
 * http:// address are called on connections of our own, all others through libcurl: HTTP/1.1 and 2,
 * TLS, and proxies from the environment, which are only for other machines (docs/adr/0012).
 * Everything is called on the loop's thread. Nothing blocks: libcurl resolves names on a thread of
 * its own.
 *
 * An answer reaches only the call that asked for it (docs/adr/0019). HTTP/2 streams have numbers,
 * so everybody shares a connection. HTTP/1.1 has only the order of answers: a connection of our own
 * is kept only for the next call of the same owner, and a connection of libcurl carries one call.
 *
 * A request that was wholly written is never sent again from here.
 *
 * There are three timeouts: for connecting, for the first byte of the answer, and for any silence
 * after it. Redirects are not followed, so that a key is not sent to another host. */
#ifndef PL_IO_UPSTREAM_H
#define PL_IO_UPSTREAM_H

#include "base/buf.h"
#include "base/status.h"
#include "io/loop.h"

struct pl_upstreams;     /* owned; one per loop */
struct pl_upstream_call; /* owned by its starter until end, failed or cancel */

enum pl_status pl_upstreams_create(struct pl_loop *loop, struct pl_upstreams **ret_upstreams,
                                   struct pl_error *err);
/* Every call must have ended or been cancelled. Accepts NULL. */
void pl_upstreams_destroy(struct pl_upstreams *upstreams);
/* The loop of these upstreams. */
struct pl_loop *pl_upstreams_loop(const struct pl_upstreams *upstreams);

#define PL_UPSTREAM_PIECES 3

struct pl_upstream_request {
    const char *method;          /* "POST" */
    const char *url;             /* http or https */
    const char *const *headers;  /* "Name: value", ended by NULL; copied. May be NULL */
    struct pl_buf *body;         /* its bytes are moved, not copied; it is empty afterwards. May
                                    be NULL */
    const struct pl_str *pieces; /* the body in parts, instead of `body`. The array is copied;
                                    the bytes are borrowed until they are sent or the call is
                                    gone */
    size_t n_pieces;             /* at most PL_UPSTREAM_PIECES */
    struct pl_buf *body_back;    /* gets the body back when the call ends or fails, for a retry, but
                                 not after a cancel. NULL: the body is freed */
    struct pl_str owner;         /* who makes the call; copied. Empty: the connection is not kept */
    const char *ca_file;         /* certificates to trust in addition to the system's; NULL: none */
    int64_t connect_ms, first_byte_ms, idle_ms; /* 0: 10 s, 120 s, 90 s */
};

enum pl_upstream_failure {
    PL_UPSTREAM_REFUSED,   /* connection refused, no such host: a retry may succeed */
    PL_UPSTREAM_FORBIDDEN, /* an untrusted certificate, a proxy that refuses: a retry is useless */
    PL_UPSTREAM_TIMEOUT,   /* one of the timeouts */
    PL_UPSTREAM_BROKEN,    /* the connection broke */
    PL_UPSTREAM_MEMORY,
};

struct pl_upstream_ops {
    /* Status and headers are known. From now on pl_upstream_header reads them. */
    void (*on_head)(void *ctx, int status);
    void (*on_body)(void *ctx, struct pl_str piece);
    void (*on_end)(void *ctx);
    /* `sentence` contains neither URL nor headers, because they may contain a key. */
    void (*on_failed)(void *ctx, enum pl_upstream_failure why, const char *sentence);
    /* The kernel has the whole request, and no part of it will be sent again: the bytes of its body
     * are no longer needed. Not called if the request was sent before start returned
     * (pl_upstream_is_sent), and not by every transport. May be NULL. */
    void (*on_sent)(void *ctx);
};

/* No callback comes before this has returned. After on_end, on_failed or cancel the call no longer
 * exists. PL_INVALID: no URL, or a header with control characters; PL_IO: no libcurl; PL_NOMEM. */
enum pl_status pl_upstream_start(struct pl_upstreams *upstreams,
                                 const struct pl_upstream_request *request,
                                 const struct pl_upstream_ops *ops, void *ctx,
                                 struct pl_upstream_call **ret_call, struct pl_error *err);
/* Whether the bytes of the body are no longer needed. */
bool pl_upstream_is_sent(const struct pl_upstream_call *call);
/* Closes the connection unless the answer was complete. Allowed in any callback. Accepts NULL. */
void pl_upstream_cancel(struct pl_upstream_call *call);

/* Back-pressure: during a pause no on_body comes, and the other side can send only a limited
 * amount. An answer that was already read to its end may still end. A pause does not count as
 * silence. */
void pl_upstream_pause(struct pl_upstream_call *call);
void pl_upstream_resume(struct pl_upstream_call *call);

/* A header of the answer, valid during the call; {NULL, 0} if it is absent. */
struct pl_str pl_upstream_header(const struct pl_upstream_call *call, const char *name);
/* All headers, "Name: value\r\n" each. */
struct pl_str pl_upstream_headers(const struct pl_upstream_call *call);

#endif
