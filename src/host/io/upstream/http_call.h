/* One blocking HTTP request to another server, for commands. libcurl does it, and is loaded on
 * first use: linked, it would cost every start of the program several milliseconds (docs/adr/0010).
 * Redirects are not followed, so that a key is not sent to another host. */
#ifndef PL_IO_HTTP_CALL_H
#define PL_IO_HTTP_CALL_H

#include "base/buf.h"

#define PL_HTTP_CALL_HEADER_SIZE 128

struct pl_http_call {
    const char *method;         /* "GET" */
    const char *url;            /* http or https */
    const char *unix_path;      /* connect to this socket instead of the URL's host; NULL: no */
    const char *bearer;         /* the key; NULL: none */
    const char *const *headers; /* further headers, "Name: value", ended by NULL; may be NULL */
    const char *content_type;   /* of the body; NULL: application/json */
    struct pl_str body;
    bool has_body;
    /* Produces a body that is too large for memory: writes up to `size` more bytes to `to`. 0 is
     * the end; negative is a failure and ends the call. NULL: send `body`. */
    ptrdiff_t (*read_body)(void *ctx, char *to, size_t size);
    void *read_ctx;
    int64_t n_body;     /* the total of read_body; -1: unknown, sent in chunks */
    const char *range;  /* "0-99": requests only these bytes; NULL: all */
    int64_t max_bytes;  /* of the collected answer; 0: 64 MiB */
    int64_t timeout_ms; /* 0: 60 s. For the whole call; with on_piece or read_body, for a silence */
    /* Called with the pieces of a 2xx answer as they arrive; NULL: they are collected in the reply.
     * False ends the call. */
    bool (*on_piece)(void *ctx, struct pl_str piece);
    void *ctx;
    /* A wanted header of the answer, and a buffer for its value (PL_HTTP_CALL_HEADER_SIZE bytes, ""
     * if it is absent or too long); NULL: none. */
    const char *header_name;
    char *header_value;
};

/* *ret_status is the HTTP status; the answer's body is appended to *reply. PL_NOT_FOUND: no
 * connection to the host, or no such host; PL_IO: the connection broke, TLS failed, timeout, no
 * libcurl; PL_LIMIT: the answer is longer than max_bytes; PL_INVALID: a header's value has control
 * characters or is too long; PL_NOMEM. */
enum pl_status pl_http_call(const struct pl_http_call *call, int *ret_status, struct pl_buf *reply,
                            struct pl_error *err);

#endif
