/* Any bytes as a stream of any dialect: it may be refused, it must not crash, and how the bytes
 * were cut on the way must not show in what comes out.
 *
 * The first byte picks the dialects, the second the size of the pieces; the rest is the stream. */
#include "stream/stream.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_DIALECTS = 5 };

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

/* The status of the first call that failed, and all the output of the stream. */
static enum pl_status run(const struct pl_dialect *from, const struct pl_dialect *to,
                          struct pl_str text, size_t n_piece, struct pl_buf *out)
{
    struct pl_stream *stream = NULL;
    struct pl_error err;
    must(pl_stream_create(from, to, &stream) == PL_OK);
    enum pl_status status = PL_OK;
    for (size_t at = 0; at < text.len && status == PL_OK; at += n_piece) {
        size_t end = text.len - at > n_piece ? at + n_piece : text.len;
        status = pl_stream_feed(stream, pl_str_slice(text, at, end), &err);
        pl_buf_add(out, pl_buf_str(&stream->out));
        pl_buf_clear(&stream->out);
    }
    if (status == PL_OK)
        status = pl_stream_end(stream, &err);
    pl_buf_add(out, pl_buf_str(&stream->out));
    must(out->status == PL_OK);
    pl_stream_destroy(stream);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const struct pl_dialect *from = pl_dialects[data[0] % N_DIALECTS];
    const struct pl_dialect *to = pl_dialects[data[0] / N_DIALECTS % N_DIALECTS];
    struct pl_str text = {(const char *)data + 2, size - 2};
    size_t n_piece = 1 + data[1] % 64;
    PL_CLEANUP_BUF struct pl_buf whole;
    PL_CLEANUP_BUF struct pl_buf pieces;
    pl_buf_init(&whole, 0);
    pl_buf_init(&pieces, 0);
    enum pl_status status = run(from, to, text, text.len, &whole);
    must(run(from, to, text, n_piece, &pieces) == status);
    must(pl_str_eq(pl_buf_str(&whole), pl_buf_str(&pieces)));
    return 0;
}
