/* A streamed result: numbered chunks, credits, and where text may be cut. */
#ifndef PL_EXTPROTO_STREAM_H
#define PL_EXTPROTO_STREAM_H

#include "json/json.h"

enum {
    PL_EXT_CHUNK_BYTES = 32 << 10,
    PL_EXT_MAX_CREDITS = 1024,
    PL_EXT_FREE_CHUNKS = 64,     /* on the way without credits */
    PL_EXT_FREE_BYTES = 1 << 20, /* the same in bytes */
};

struct pl_ext_stream {
    bool has_credits;
    int64_t credits;           /* left; with credits */
    int64_t index;             /* of the next chunk */
    int64_t n_chunks, n_bytes; /* sent and not yet taken by the pipe */
    bool is_ended;             /* the last chunk was sent */
};

/* What the member `stream` of a call's params asks for. Absent or false: no stream. PL_INVALID: neither a
 * boolean nor {"credits": 0 to 1024}. */
enum pl_status pl_ext_stream_read(const struct pl_json_doc *doc, const struct pl_json_node *params,
                                  bool *ret_is_asked, struct pl_ext_stream *ret_stream);

/* Whether a chunk may be sent now; an ended stream sends nothing. */
bool pl_ext_stream_may_send(const struct pl_ext_stream *stream);
/* A chunk goes out: its index. The stream must be one that may send. */
int64_t pl_ext_stream_send(struct pl_ext_stream *stream, int64_t n_bytes, bool is_last);
/* The pipe has taken a chunk of this size. */
void pl_ext_stream_taken(struct pl_ext_stream *stream, int64_t n_bytes);
/* The reader allows n more; what goes over the most is dropped. False: n is no number of credits, or the
 * stream has none. */
bool pl_ext_stream_credit(struct pl_ext_stream *stream, int64_t n);

/* How many of these bytes make the next chunk: PL_EXT_CHUNK_BYTES at most, and never a part of a character.
 * `is_whole`: nothing follows. *ret_is_text false: the bytes are no UTF-8 and go as base64. 0: wait for
 * more, because a character is not complete. */
size_t pl_ext_chunk_cut(struct pl_str bytes, bool is_whole, bool *ret_is_text);

#endif
