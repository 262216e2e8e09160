/* HTTP requests to other servers, many at once, on the loop: calls to models. Servers at a plain
 * http:// address are asked on connections of our own, all others by libcurl: HTTP/1.1 and 2, TLS,
 * proxies of the environment, which are for hosts elsewhere (docs/adr/0012). Everything is called
 * on the loop's thread; nothing blocks, names are resolved on a thread of the library's own.
 *
 * An answer reaches the call that asked for it and no other (docs/adr/0019). Streams of HTTP/2 are
 * told apart by their numbers, so everybody shares a connection. HTTP/1.1 has nothing but the order
 * of answers: a connection of our own is kept for the next call of the same owner only, and one of
 * libcurl's carries one call.
 *
 * A request that was wholly written is never sent again from here.
 *
 * Times: to be connected, to the first byte of the answer, and of any silence after it. Redirects
 * are not followed, so a key goes nowhere else. */
#ifndef PL_IO_UPSTREAM_H
#define PL_IO_UPSTREAM_H

#include "base/buf.h"
#include "base/status.h"
#include "io/loop.h"

struct pl_upstreams;     /* owned; those of one loop */
struct pl_upstream_call; /* owned by its starter until end, failed or cancel */

enum pl_status pl_upstreams_create(struct pl_loop *loop, struct pl_upstreams **ret_upstreams,
                                   struct pl_error *err);
/* Every call must have ended or been cancelled. Accepts NULL. */
void pl_upstreams_destroy(struct pl_upstreams *upstreams);
/* The loop they are on. */
struct pl_loop *pl_upstreams_loop(const struct pl_upstreams *upstreams);

#define PL_UPSTREAM_PIECES 3

struct pl_upstream_request {
    const char *method;          /* "POST" */
    const char *url;             /* http or https */
    const char *const *headers;  /* "Name: value", ended by NULL; copied. May be NULL */
    struct pl_buf *body;         /* its bytes are taken, not copied; it is empty afterwards. May be
                                    NULL */
    const struct pl_str *pieces; /* instead of `body`: its parts. The array is copied, the bytes
                                    are borrowed until they are sent or the call is gone */
    size_t n_pieces;             /* at most PL_UPSTREAM_PIECES */
    struct pl_buf *body_back; /* where the body goes when the call ends or fails, for another try;
                                 after a cancel it goes nowhere. NULL: it is freed */
    struct pl_str owner;      /* whose call it is; copied. Empty: the connection is not kept */
    const char *ca_file;      /* certificates to trust besides the system's; NULL: none */
    int64_t connect_ms, first_byte_ms, idle_ms; /* 0: 10 s, 120 s, 90 s (security.md) */
};

enum pl_upstream_failure {
    PL_UPSTREAM_REFUSED,   /* connection refused, no such host: it may be back soon */
    PL_UPSTREAM_FORBIDDEN, /* a certificate that is not trusted, a proxy that says no: it will not
                            */
    PL_UPSTREAM_TIMEOUT,   /* one of the times is over */
    PL_UPSTREAM_BROKEN,    /* it broke off */
    PL_UPSTREAM_MEMORY,
};

struct pl_upstream_ops {
    /* Status and headers are known. pl_upstream_header reads them from now on. */
    void (*on_head)(void *ctx, int status);
    void (*on_body)(void *ctx, struct pl_str piece);
    void (*on_end)(void *ctx);
    /* The sentence contains neither URL nor headers, because they may contain a key. */
    void (*on_failed)(void *ctx, enum pl_upstream_failure why, const char *sentence);
    /* The whole request has been passed to the kernel, and none of it will be sent again: the bytes
     * of its body are no longer needed. Not called for a request that was sent before start
     * returned (pl_upstream_is_sent), and not by every transport. May be NULL. */
    void (*on_sent)(void *ctx);
};

/* No callback comes before this has returned; none after on_end, on_failed or cancel, and then the
 * call is gone. PL_INVALID: no URL, or a header with control characters; PL_IO: no libcurl;
 * PL_NOMEM. */
enum pl_status pl_upstream_start(struct pl_upstreams *upstreams,
                                 const struct pl_upstream_request *request,
                                 const struct pl_upstream_ops *ops, void *ctx,
                                 struct pl_upstream_call **ret_call, struct pl_error *err);
/* Whether the bytes of the body are no longer needed. */
bool pl_upstream_is_sent(const struct pl_upstream_call *call);
/* Closes the connection unless the answer was whole. May be called in any callback. Accepts NULL.
 */
void pl_upstream_cancel(struct pl_upstream_call *call);

/* Back-pressure: while it is paused no on_body comes, and the other side cannot send for ever; an
 * answer that was read to its end may still end. The time of a pause is not silence. */
void pl_upstream_pause(struct pl_upstream_call *call);
void pl_upstream_resume(struct pl_upstream_call *call);

/* A header of the answer, valid during the call; {NULL, 0} if it is absent. */
struct pl_str pl_upstream_header(const struct pl_upstream_call *call, const char *name);
/* All of them, "Name: value\r\n" each. */
struct pl_str pl_upstream_headers(const struct pl_upstream_call *call);

#endif
