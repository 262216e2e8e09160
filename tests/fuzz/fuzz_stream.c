/* Any bytes as a stream of any dialect. It may be refused, but must not crash. The output must not
 * depend on how the bytes are split: whole, in pieces of any size, byte by byte. With its carry the
 * target converts back to the same bytes. The report is valid JSON, and so is the sum of a target.
 *
 * The first byte picks the reader (modulo 5) and the writer, the second the sizes of the pieces;
 * the rest is the stream. */
#include "stream/account.h"
#include "stream/home.h"
#include "stream/sum.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_DIALECTS = 5 };

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

/* Random sizes from 1 to the largest. */
struct cut {
    size_t greatest;
    uint32_t chance;
};

static size_t next_size(struct cut *cut)
{
    cut->chance = cut->chance * 1664525 + 1013904223;
    return cut->greatest == SIZE_MAX ? SIZE_MAX : 1 + (cut->chance >> 8) % cut->greatest;
}

/* Returns the status of the first call that failed, and all output of the stream. */
static enum pl_status run(const struct pl_dialect *from, const struct pl_dialect *to,
                          struct pl_str text, struct cut cut, struct pl_buf *out)
{
    struct pl_stream *stream = NULL;
    struct pl_error err;
    must(pl_stream_create(from, to, &stream) == PL_OK);
    enum pl_status status = PL_OK;
    while (text.len && status == PL_OK) {
        size_t n = next_size(&cut);
        status = pl_stream_feed(stream, pl_str_slice(text, 0, n), &err);
        text = pl_str_slice(text, n, text.len);
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

static void must_be_json(const struct pl_buf *text)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    must(pl_json_parse(&arena, pl_buf_str(text), &pl_json_made, &doc, NULL) == PL_OK);
}

static void check_report(const struct pl_dialect *from, const struct pl_dialect *to,
                         struct pl_str source, const struct pl_buf *target)
{
    PL_CLEANUP_BUF struct pl_buf report;
    struct pl_error err = {0};
    bool is_lossless = false;
    pl_buf_init(&report, 0);
    enum pl_status status =
        pl_stream_report(&report, from, to, source, pl_buf_str(target), &is_lossless, &err);
    must(status == PL_OK || status == PL_LIMIT);
    if (status == PL_OK)
        must_be_json(&report);
    must(from != to || is_lossless);
}

/* With its carry the target converts back to the same bytes, whatever they were. A stream that is
 * not that target is only another stream. */
static void check_home(const struct pl_dialect *from, const struct pl_dialect *to,
                       struct pl_str source, const struct pl_buf *target)
{
    struct pl_buf carry, out, report;
    struct pl_error err = {0};
    bool is_lossless = false;
    pl_buf_init(&carry, 0);
    pl_buf_init(&out, 0);
    pl_buf_init(&report, 0);
    must(pl_stream_carry_write(&carry, from, to, source) == PL_OK);
    must_be_json(&carry);
    must(pl_stream_go_home(&out, &report, to, from, pl_buf_str(&carry), pl_buf_str(target),
                           &is_lossless, &err) == PL_OK);
    must(pl_str_eq(pl_buf_str(&out), source) && is_lossless);
    pl_buf_clear(&out);
    pl_buf_clear(&report);
    enum pl_status status =
        pl_stream_go_home(&out, &report, to, from, pl_buf_str(&carry), source, &is_lossless, &err);
    if (status == PL_OK)
        must_be_json(&report);
    /* The bytes as a carry are refused. */
    must(pl_stream_go_home(&out, &report, to, from, source, source, &is_lossless, &err) != PL_OK);
    pl_buf_deinit(&carry);
    pl_buf_deinit(&out);
    pl_buf_deinit(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    const struct pl_dialect *from = pl_dialects[data[0] % N_DIALECTS];
    const struct pl_dialect *to = pl_dialects[data[0] / N_DIALECTS % N_DIALECTS];
    struct pl_str text = {(const char *)data + 2, size - 2};
    const struct cut cuts[] = {{.greatest = 1},
                               {.greatest = 2 + 4 * (size_t)data[1], .chance = data[1]}};
    PL_CLEANUP_BUF struct pl_buf whole;
    pl_buf_init(&whole, 0);
    enum pl_status status = run(from, to, text, (struct cut){.greatest = SIZE_MAX}, &whole);
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        PL_CLEANUP_BUF struct pl_buf pieces;
        pl_buf_init(&pieces, 0);
        must(run(from, to, text, cuts[i], &pieces) == status);
        must(pl_str_eq(pl_buf_str(&whole), pl_buf_str(&pieces)));
    }
    check_report(from, to, text, &whole);
    if (from != to)
        check_home(from, to, text, &whole);
    return 0;
}
