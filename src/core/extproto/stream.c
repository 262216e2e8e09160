/* The source may be ahead of the pipe by PL_EXT_FREE_CHUNKS and PL_EXT_FREE_BYTES. With credits,
 * the reader's limit applies, too. */
#include "extproto/stream.h"

#include "base/text/utf8.h"
#include "json/number.h"

#include <assert.h>

enum pl_status pl_ext_stream_read(const struct pl_json_doc *doc, const struct pl_json_node *params,
                                  bool *ret_is_asked, struct pl_ext_stream *ret_stream)
{
    const struct pl_json_node *asked = params ? pl_json_get(doc, params, PL_STR("stream")) : NULL;
    struct pl_ext_stream stream = {0};
    bool is_asked = asked && !pl_json_is(asked, PL_JSON_FALSE);
    if (pl_json_is(asked, PL_JSON_OBJECT)) {
        const struct pl_json_node *n = pl_json_member(doc, asked, "credits", PL_JSON_NUMBER);
        stream.has_credits = true;
        if (!n || !pl_json_number_int64(pl_json_span(doc, n), &stream.credits) ||
            stream.credits < 0 || stream.credits > PL_EXT_MAX_CREDITS)
            return PL_INVALID;
    } else if (is_asked && !pl_json_is(asked, PL_JSON_TRUE)) {
        return PL_INVALID;
    }
    *ret_is_asked = is_asked;
    *ret_stream = stream;
    return PL_OK;
}

bool pl_ext_stream_may_send(const struct pl_ext_stream *stream)
{
    return !stream->is_ended && stream->n_chunks < PL_EXT_FREE_CHUNKS &&
           stream->n_bytes < PL_EXT_FREE_BYTES && (!stream->has_credits || stream->credits > 0);
}

int64_t pl_ext_stream_send(struct pl_ext_stream *stream, int64_t n_bytes, bool is_last)
{
    assert(pl_ext_stream_may_send(stream));
    stream->credits -= stream->has_credits;
    stream->n_chunks++;
    stream->n_bytes += n_bytes;
    stream->is_ended = is_last;
    return stream->index++;
}

void pl_ext_stream_taken(struct pl_ext_stream *stream, int64_t n_bytes)
{
    assert(stream->n_chunks > 0 && stream->n_bytes >= n_bytes);
    stream->n_chunks--;
    stream->n_bytes -= n_bytes;
}

bool pl_ext_stream_credit(struct pl_ext_stream *stream, int64_t n)
{
    if (!stream->has_credits || n < 0 || n > PL_EXT_MAX_CREDITS)
        return false;
    stream->credits += n;
    if (stream->credits > PL_EXT_MAX_CREDITS)
        stream->credits = PL_EXT_MAX_CREDITS;
    return true;
}

size_t pl_ext_chunk_cut(struct pl_str bytes, bool is_whole, bool *ret_is_text)
{
    struct pl_str head = pl_str_slice(bytes, 0, PL_EXT_CHUNK_BYTES);
    size_t n = pl_utf8_valid_prefix(head);
    struct pl_str rest = pl_str_slice(head, n, head.len);
    *ret_is_text = true;
    /* A character that the chunk's end would split goes into the next chunk. */
    if (!rest.len || (pl_utf8_is_cut(rest) && (head.len < bytes.len || !is_whole)))
        return n;
    *ret_is_text = n > 0;
    return n > 0 ? n : head.len;
}
