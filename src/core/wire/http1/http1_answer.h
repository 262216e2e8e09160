/* HTTP/1.1 answers (RFC 9112) out of bytes that may be cut anywhere.
 *
 *     feed bytes -> next: HEAD, BODY, … END, HEAD (of the next answer), … MORE -> feed more
 *
 * The grammar is llhttp's, in its strict mode. Interim answers (1xx) are passed over. The body of
 * all chunks that were fed together comes as one piece: the chunks are moved together in place, so
 * that a stream of many small chunks costs one call per read. */
#ifndef PL_WIRE_HTTP1_ANSWER_H
#define PL_WIRE_HTTP1_ANSWER_H

#include "wire/http1/http1.h"

#define PL_HTTP1_MAX_ANSWER_HEAD (64u << 10)

struct pl_http1_answer; /* owned */

/* NULL when out of memory. */
struct pl_http1_answer *pl_http1_answer_create(void);
void pl_http1_answer_destroy(struct pl_http1_answer *answer);

/* The bytes are the reader's to change; they must stay until next has returned MORE or failed. */
void pl_http1_answer_feed(struct pl_http1_answer *answer, char *bytes, size_t n);
/* PL_SYNTAX: not HTTP; PL_LIMIT: the head is over its limit; PL_NOMEM. After a failure the reader
 * is finished. */
enum pl_status pl_http1_answer_next(struct pl_http1_answer *answer, enum pl_http1_event *ret_event,
                                    struct pl_error *err);
/* The other side sends no more, after MORE was told. PL_OK: that was the end of the answer, which
 * had no length; PL_SYNTAX: the answer is cut off, or there was none. */
enum pl_status pl_http1_answer_finish(struct pl_http1_answer *answer);

/* From HEAD until the next answer begins. */
int pl_http1_answer_status(const struct pl_http1_answer *answer);
/* The fields as they were sent, "Name: value\r\n" each. */
struct pl_str pl_http1_answer_fields(const struct pl_http1_answer *answer);
/* After BODY: a piece of it, valid until the next call. */
struct pl_str pl_http1_answer_body(const struct pl_http1_answer *answer);
/* After END: whether the other side takes another request on this connection. */
bool pl_http1_answer_is_kept(const struct pl_http1_answer *answer);
/* After END: bytes were fed after it, though no other answer was requested. */
bool pl_http1_answer_has_rest(const struct pl_http1_answer *answer);

#endif
