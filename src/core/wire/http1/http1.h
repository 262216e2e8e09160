/* Reads HTTP/1.1 requests (RFC 9112) from bytes that may be split anywhere, and the heads of
 * responses.
 *
 *     feed bytes -> next: HEAD, BODY, BODY, END, HEAD (pipelined), … MORE -> feed more
 *
 * The grammar is llhttp's, in its strict mode. This file adds the limits, keeps the head together
 * and returns the body as views of the fed bytes, so that an upload is never buffered here. */
#ifndef PL_WIRE_HTTP1_H
#define PL_WIRE_HTTP1_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

#include <stdint.h>
#include <strings.h>

/* Limits of a line, of all lines with their ends, and of the number of fields. Trailers after a
 * chunked body are counted separately. There is at most one line between two chunks. */
#define PL_HTTP1_MAX_LINE    8192
#define PL_HTTP1_MAX_HEAD    32768
#define PL_HTTP1_MAX_HEADERS 100

/* X(name, text): the methods we answer. Others are PL_METHOD_OTHER and get 405 or 501. */
#define PL_METHOD_TABLE(X)                                                                         \
    X(GET, "GET")                                                                                  \
    X(HEAD, "HEAD")                                                                                \
    X(POST, "POST")                                                                                \
    X(PUT, "PUT")                                                                                  \
    X(PATCH, "PATCH")                                                                              \
    X(DELETE, "DELETE")                                                                            \
    X(OPTIONS, "OPTIONS")

enum pl_method {
#define X(name, text) PL_METHOD_##name,
    PL_METHOD_TABLE(X)
#undef X
        PL_METHOD_OTHER,
};

const char *pl_method_text(enum pl_method method);

struct pl_http_header {
    struct pl_str name, value; /* name as sent: compare with pl_http_name_is */
};

/* Valid from HEAD until the first call of next after END. */
struct pl_http_head {
    enum pl_method method;
    struct pl_str target; /* as sent; printable characters only */
    const struct pl_http_header *headers;
    size_t n_headers;
    uint64_t content_length; /* 0 if has_length is false */
    bool has_length;
    bool is_chunked;
    bool is_http10;
    bool is_keep_alive;
    bool is_upgrade;       /* Connection: upgrade, with an Upgrade header */
    bool expects_continue; /* the client waits for 100 before it sends the body */
};

enum pl_http1_event {
    PL_HTTP1_MORE, /* all bytes were read: feed more */
    PL_HTTP1_HEAD,
    PL_HTTP1_BODY, /* body is a piece of it, valid until the next call */
    PL_HTTP1_END,  /* end of the message; the next call begins the next one */
};

struct pl_http1; /* owned */

/* NULL when out of memory. Takes about 200 bytes until a request arrives. The memory of a head is
 * kept for the next one, so that a busy connection allocates nothing. */
struct pl_http1 *pl_http1_create(void);
void pl_http1_destroy(struct pl_http1 *http);
/* Frees the memory of the last head, and with it the result of pl_http1_head; for a connection that
 * has been idle for a while. Does nothing within a message. */
void pl_http1_trim(struct pl_http1 *http);

/* `bytes` must stay valid until next has returned PL_HTTP1_MORE or failed. */
void pl_http1_feed(struct pl_http1 *http, struct pl_str bytes);

/* PL_SYNTAX: not HTTP (answer 400 and close); PL_LIMIT: a head over its limits (431, or 414 if
 * pl_http1_is_target_too_long); PL_NOMEM. After a failure the parser cannot be used again. */
enum pl_status pl_http1_next(struct pl_http1 *http, enum pl_http1_event *ret_event,
                             struct pl_error *err);
const struct pl_http_head *pl_http1_head(const struct pl_http1 *http);
struct pl_str pl_http1_body(const struct pl_http1 *http);
bool pl_http1_is_target_too_long(const struct pl_http1 *http);
/* No part of a message was read yet: the connection may be closed without loss. */
bool pl_http1_is_idle(const struct pl_http1 *http);
/* After END of an upgraded request: the remaining bytes, which belong to the next protocol. */
struct pl_str pl_http1_rest(const struct pl_http1 *http);

/* First header with that name (in lower case), trimmed; {NULL, 0} if absent. */
struct pl_str pl_http_header_get(const struct pl_http_head *head, const char *name);
/* How many headers have this name. */
size_t pl_http_header_count(const struct pl_http_head *head, const char *name);
/* Whether a comma-separated list (Connection, Upgrade, If-None-Match …) has this token. Case does
 * not matter, except for a token with quotes, such as an entity tag. */
bool pl_http_list_has(struct pl_str list, const char *token);
static inline bool pl_http_name_is(struct pl_str name, const char *lower)
{
    size_t n = strlen(lower);
    return name.len == n && (n == 0 || strncasecmp(name.ptr, lower, n) == 0);
}

/* Reason phrase; "" for an unknown status. */
const char *pl_http_reason(int status);

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 5.6.7) and back (three forms; false for any other). A
 * two-digit year is from 1970 to 2069. */
#define PL_HTTP_DATE_SIZE 29
void pl_http_date_write(char ret_text[PL_HTTP_DATE_SIZE], int64_t unix_s);
bool pl_http_date_read(struct pl_str text, int64_t *ret_unix_s);

#endif
