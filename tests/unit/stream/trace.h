/* For tests of dialects: a dialect that writes every delta as a line, and one run of a stream. */
#ifndef PL_TESTS_STREAM_TRACE_H
#define PL_TESTS_STREAM_TRACE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/mem.h"
#include "stream/stream.h"

#include <stdlib.h>

static inline void trace_write(struct pl_stream *s, void *state, const struct pl_delta *d)
{
    static const char *const kinds[PL_PART_KIND_COUNT] = {
        [PL_PART_TEXT] = "text", [PL_PART_THINKING] = "thinking", [PL_PART_CALL] = "call"};
    static const char *const finishes[] = {"none", "stop", "length", "tools", "filter", "other"};
    const struct pl_counts *c = &d->counts;
    struct pl_buf *out = &s->out;
    (void)state;
    if (d->choice)
        pl_buf_addf(out, "(%u) ", d->choice);
    switch (d->kind) {
    case PL_DELTA_START:
        pl_buf_addf(out, "start %.*s %.*s %.*s\n", PL_STR_ARG(d->id), PL_STR_ARG(d->model),
                    PL_STR_ARG(d->created));
        break;
    case PL_DELTA_PART_START:
        pl_buf_addf(out, "+%u %s %.*s %.*s\n", d->part, kinds[d->part_kind], PL_STR_ARG(d->id),
                    PL_STR_ARG(d->name));
        break;
    case PL_DELTA_FRAGMENT:
        pl_buf_addf(out, "%u:%.*s\n", d->part, PL_STR_ARG(d->raw));
        break;
    case PL_DELTA_SIGNATURE:
        pl_buf_addf(out, "%u signed %.*s\n", d->part, PL_STR_ARG(d->raw));
        break;
    case PL_DELTA_CITATION:
        pl_buf_addf(out, "%u cites %.*s %.*s\n", d->part, PL_STR_ARG(d->url), PL_STR_ARG(d->title));
        break;
    case PL_DELTA_PART_END:
        pl_buf_addf(out, "-%u\n", d->part);
        break;
    case PL_DELTA_USAGE:
        pl_buf_addf(out, "usage %lld %lld %lld %lld %lld\n", (long long)c->input,
                    (long long)c->output, (long long)c->total, (long long)c->cache_read,
                    (long long)c->reasoning);
        break;
    case PL_DELTA_STOP:
        pl_buf_addf(out, "stop %s %.*s %.*s\n", finishes[d->finish], PL_STR_ARG(d->word),
                    PL_STR_ARG(d->detail));
        break;
    case PL_DELTA_END:
        pl_buf_adds(out, "end\n");
        break;
    case PL_DELTA_ERROR:
        pl_buf_addf(out, "error %.*s %.*s %.*s\n", PL_STR_ARG(d->type), PL_STR_ARG(d->code),
                    PL_STR_ARG(d->message));
        break;
    case PL_DELTA_OTHER:
        pl_buf_addf(out, "other %.*s\n", PL_STR_ARG(d->json));
        break;
    }
}

static const struct pl_dialect trace_dialect = {.name = "trace", .write = trace_write};

/* One run, fed in pieces of n_bytes; the result is to be freed by pl_buf_deinit. */
static inline enum pl_status run_stream(const struct pl_dialect *from, const struct pl_dialect *to,
                                        const char *input, size_t n_bytes, struct pl_buf *ret_out)
{
    struct pl_stream *s;
    struct pl_str text = pl_str_of(input);
    assert_int_equal(pl_stream_create(from, to, &s), PL_OK);
    enum pl_status status = PL_OK;
    for (size_t at = 0; at < text.len && status == PL_OK; at += n_bytes)
        status = pl_stream_feed(s, pl_str_slice(text, at, at + n_bytes), NULL);
    if (status == PL_OK)
        status = pl_stream_end(s, NULL);
    pl_buf_init(ret_out, 0);
    pl_buf_add(ret_out, pl_buf_str(&s->out));
    pl_buf_addc(ret_out, '\0');
    assert_int_equal(ret_out->status, PL_OK);
    pl_stream_destroy(s);
    return status;
}

/* The result is `expected`, whether the input comes whole or byte by byte. */
static inline void check_stream(const struct pl_dialect *from, const struct pl_dialect *to,
                                const char *input, enum pl_status expected_status,
                                const char *expected)
{
    static const size_t pieces[] = {SIZE_MAX / 2, 1, 7};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        PL_CLEANUP_BUF struct pl_buf out;
        enum pl_status status = run_stream(from, to, input, pieces[i], &out);
        assert_string_equal(out.ptr, expected);
        assert_int_equal(status, expected_status);
    }
}

struct scarcity {
    size_t n_left;
    bool has_failed;
};

/* Fails the allocation that the counter reaches 0 at, and all behind it. */
static inline void *scarce_memory(void *ctx, void *ptr, size_t size)
{
    struct scarcity *scarcity = ctx;
    if (!size) {
        free(ptr);
        return NULL;
    }
    if (!scarcity->n_left) {
        scarcity->has_failed = true;
        return NULL;
    }
    scarcity->n_left--;
    return realloc(ptr, size);
}

/* Whichever allocation fails first, the stream says so and nothing leaks. */
static inline void check_memory(const struct pl_dialect *from, const struct pl_dialect *to,
                                const char *input)
{
    struct scarcity scarcity = {.has_failed = true};
    for (size_t n = 0; scarcity.has_failed; n++) {
        struct pl_stream *s;
        assert_in_range(n, 0, 1000);
        scarcity = (struct scarcity){.n_left = n};
        pl_mem_set_hook(scarce_memory, &scarcity);
        enum pl_status status = pl_stream_create(from, to, &s);
        if (status == PL_OK) {
            status = pl_stream_feed(s, pl_str_of(input), NULL);
            if (status == PL_OK)
                status = pl_stream_end(s, NULL);
            pl_stream_destroy(s);
        }
        pl_mem_set_hook(NULL, NULL);
        assert_int_equal(status, scarcity.has_failed ? PL_NOMEM : PL_OK);
    }
}

#endif
