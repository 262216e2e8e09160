/* Reads HTTP/1.1 responses (RFC 9112) from bytes that may be split anywhere.
 *
 *     feed bytes -> next: HEAD, BODY, … END, HEAD (of the next answer), … MORE -> feed more
 *
 * The grammar is llhttp's, in its strict mode. Interim responses (1xx) are skipped. Chunks that
 * were fed together give one piece of body: they are moved together in place, so that a stream of
 * many small chunks costs one call per read. */
#ifndef PL_WIRE_HTTP1_ANSWER_H
#define PL_WIRE_HTTP1_ANSWER_H

#include "wire/http1/http1.h"

#define PL_HTTP1_MAX_ANSWER_HEAD (64u << 10)

struct pl_http1_answer; /* owned */

/* NULL when out of memory. */
struct pl_http1_answer *pl_http1_answer_create(void);
void pl_http1_answer_destroy(struct pl_http1_answer *answer);

/* The reader changes the bytes; they must stay valid until next has returned MORE or failed. */
void pl_http1_answer_feed(struct pl_http1_answer *answer, char *bytes, size_t n);
/* PL_SYNTAX: not HTTP; PL_LIMIT: the head is over its limit; PL_NOMEM. After a failure the reader
 * cannot be used again. */
enum pl_status pl_http1_answer_next(struct pl_http1_answer *answer, enum pl_http1_event *ret_event,
                                    struct pl_error *err);
/* Call it when the other side has closed, after MORE. PL_OK: this was the end of a response without
 * a length; PL_SYNTAX: the response is cut off, or there was none. */
enum pl_status pl_http1_answer_finish(struct pl_http1_answer *answer);

/* Valid from HEAD until the next response begins. */
int pl_http1_answer_status(const struct pl_http1_answer *answer);
/* The fields as sent, "Name: value\r\n" each. */
struct pl_str pl_http1_answer_fields(const struct pl_http1_answer *answer);
/* After BODY: a piece of it, valid until the next call. */
struct pl_str pl_http1_answer_body(const struct pl_http1_answer *answer);
/* After END: whether the connection can be used for another request. */
bool pl_http1_answer_is_kept(const struct pl_http1_answer *answer);
/* After END: whether bytes follow, though no other response was requested. */
bool pl_http1_answer_has_rest(const struct pl_http1_answer *answer);

#endif
