/* A streamed result: numbered chunks, credits, and where text may be split. */
#ifndef PL_EXTPROTO_STREAM_H
#define PL_EXTPROTO_STREAM_H

#include "json/json.h"

enum {
    PL_EXT_CHUNK_BYTES = 32 << 10,
    PL_EXT_MAX_CREDITS = 1024,
    PL_EXT_FREE_CHUNKS = 64,     /* sent and not yet taken by the pipe */
    PL_EXT_FREE_BYTES = 1 << 20, /* the same in bytes */
};

struct pl_ext_stream {
    bool has_credits;
    int64_t credits;           /* left; only with has_credits */
    int64_t index;             /* of the next chunk */
    int64_t n_chunks, n_bytes; /* sent and not yet taken by the pipe */
    bool is_ended;             /* the last chunk was sent */
};

/* Reads the member `stream` of a call's params. Absent or false: no stream. PL_INVALID: neither a
 * boolean nor {"credits": 0 to 1024}. */
enum pl_status pl_ext_stream_read(const struct pl_json_doc *doc, const struct pl_json_node *params,
                                  bool *ret_is_asked, struct pl_ext_stream *ret_stream);

/* Whether a chunk may be sent now; an ended stream sends nothing. */
bool pl_ext_stream_may_send(const struct pl_ext_stream *stream);
/* Counts a chunk as sent; returns its index. Call only if pl_ext_stream_may_send. */
int64_t pl_ext_stream_send(struct pl_ext_stream *stream, int64_t n_bytes, bool is_last);
/* The pipe has taken a chunk of this size. */
void pl_ext_stream_taken(struct pl_ext_stream *stream, int64_t n_bytes);
/* Adds n credits, up to PL_EXT_MAX_CREDITS in total. False: n is not a valid number of credits, or
 * the stream has no credits. */
bool pl_ext_stream_credit(struct pl_ext_stream *stream, int64_t n);

/* Length of the next chunk: at most PL_EXT_CHUNK_BYTES, and never a part of a character.
 * `is_whole`: no more bytes follow. *ret_is_text false: the bytes are not UTF-8 and are sent as
 * base64. 0: wait for more, because a character is incomplete. */
size_t pl_ext_chunk_cut(struct pl_str bytes, bool is_whole, bool *ret_is_text);

#endif
