/* One HTTP request to somebody else, waiting for the answer: for commands. libcurl does it, and is
 * loaded when it is first needed: linked, it would cost every start of the program several
 * milliseconds (docs/adr/0010). Redirects are not followed, so a key goes nowhere else. */
#ifndef PL_IO_HTTP_CALL_H
#define PL_IO_HTTP_CALL_H

#include "base/buf.h"

#define PL_HTTP_CALL_HEADER_SIZE 128

struct pl_http_call {
    const char *method;         /* "GET" */
    const char *url;            /* http or https */
    const char *unix_path;      /* talk to this socket instead of the URL's host; NULL: none */
    const char *bearer;         /* key; NULL: none */
    const char *const *headers; /* more of them, "Name: value", ended by NULL; may be NULL */
    const char *content_type;   /* of the body; NULL: application/json */
    struct pl_str body;
    bool has_body;
    /* A body that is too large to be held: called for up to `size` more bytes of it, written to
     * `to`. 0 is the end, negative a failure, which ends the call. NULL: the body is `body`. */
    ptrdiff_t (*read_body)(void *ctx, char *to, size_t size);
    void *read_ctx;
    int64_t n_body;     /* bytes read_body will give; -1: not known, it is sent in chunks */
    const char *range;  /* "0-99": only these bytes are wanted; NULL: all */
    int64_t max_bytes;  /* of the answer that is gathered; 0: 64 MiB */
    int64_t timeout_ms; /* 0: 60 s. Of the whole call; with on_piece or read_body, of a silence */
    /* Called with pieces of the answer as they come, when it is 2xx; NULL: gathered in the reply.
     * false ends the call. */
    bool (*on_piece)(void *ctx, struct pl_str piece);
    void *ctx;
    /* A wanted header of the answer, and the place for its value (PL_HTTP_CALL_HEADER_SIZE bytes,
     * "" if it is absent or too long); NULL: none. */
    const char *header_name;
    char *header_value;
};

/* *ret_status is the HTTP status; the answer's body is appended to *reply. PL_NOT_FOUND: nobody
 * listens there, or there is no such host; PL_IO: the call broke off, TLS failed, too slow, no
 * libcurl; PL_LIMIT: the answer is longer than max_bytes; PL_INVALID: a header's value has control
 * characters or is too long; PL_NOMEM. */
enum pl_status pl_http_call(const struct pl_http_call *call, int *ret_status, struct pl_buf *reply,
                            struct pl_error *err);

#endif
