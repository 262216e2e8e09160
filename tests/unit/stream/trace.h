/* For tests of dialects: the deltas of a stream as lines, written and read, and runs of a stream.
 *
 *     start ID MODEL CREATED    +0 call ID NAME    0:words    0 signed S    0 cites URL TITLE
 *     -0 (cut off: -0 cut)      usage IN OUT TOTAL READ WRITTEN REASONING
 *     stop FINISH WORD (WHY)    end    error TYPE CODE MESSAGE    other JSON
 *
 * A delta of another choice than the first has its number before it: (1). Readers are tested by the
 * lines that the dialect `trace` writes for their deltas; writers by the events they write for such
 * lines, or for deltas that a test emits itself. */
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

static const char *const kind_words[PL_PART_KIND_COUNT] = {[PL_PART_TEXT] = "text",
                                                           [PL_PART_THINKING] = "thinking",
                                                           [PL_PART_REFUSAL] = "refusal",
                                                           [PL_PART_CALL] = "call",
                                                           [PL_PART_REDACTED] = "redacted"};
static const char *const finish_words[] = {"none", "stop", "length", "tools", "filter", "other"};

/* ---- deltas into lines ---- */

/* "stop", and the other members, if any. */
static inline void trace_stop(struct pl_buf *out, const struct pl_delta *d)
{
    pl_buf_addf(out, "stop %s", finish_words[d->finish]);
    if (d->word.len)
        pl_buf_addf(out, " %.*s", PL_STR_ARG(d->word));
    if (d->detail.len)
        pl_buf_addf(out, " (%.*s)", PL_STR_ARG(d->detail));
    pl_buf_addc(out, '\n');
}

static inline void trace_part(struct pl_buf *out, const struct pl_delta *d)
{
    pl_buf_addf(out, "+%u %s%s", d->part, kind_words[d->part_kind], d->is_custom ? " custom" : "");
    if (d->part_kind == PL_PART_CALL)
        pl_buf_addf(out, " %.*s %.*s", PL_STR_ARG(d->id), PL_STR_ARG(d->name));
    if (d->part_kind == PL_PART_REDACTED)
        pl_buf_addf(out, " %.*s", PL_STR_ARG(d->raw));
    pl_buf_addc(out, '\n');
}

static inline void trace_write(struct pl_stream *s, void *state, const struct pl_delta *d)
{
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
        trace_part(out, d);
        break;
    case PL_DELTA_FRAGMENT:
        pl_buf_addf(out, "%u:%.*s\n", d->part, PL_STR_ARG(d->raw));
        break;
    case PL_DELTA_SIGNATURE:
        pl_buf_addf(out, "%u signed %.*s\n", d->part, PL_STR_ARG(d->raw));
        break;
    case PL_DELTA_CITATION:
        pl_buf_addf(out, d->title.len ? "%u cites %.*s %.*s\n" : "%u cites %.*s%.*s\n", d->part,
                    PL_STR_ARG(d->url), PL_STR_ARG(d->title));
        break;
    case PL_DELTA_PART_END:
        pl_buf_addf(out, d->is_cut ? "-%u cut\n" : "-%u\n", d->part);
        break;
    case PL_DELTA_USAGE:
        pl_buf_addf(out, "usage %lld %lld %lld %lld %lld %lld\n", (long long)c->input,
                    (long long)c->output, (long long)c->total, (long long)c->cache_read,
                    (long long)c->cache_write, (long long)c->reasoning);
        break;
    case PL_DELTA_STOP:
        trace_stop(out, d);
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
    case PL_DELTA_ABOUT:
        pl_buf_addf(out, "about %.*s%.*s\n", PL_STR_ARG(d->id), PL_STR_ARG(d->json));
        break;
    }
}

/* ---- deltas that a test emits itself ---- */

static inline void drive_start(struct pl_stream *s, const char *id, const char *model)
{
    pl_stream_emit(s, &(struct pl_delta){
                          .kind = PL_DELTA_START, .id = pl_str_of(id), .model = pl_str_of(model)});
}

/* Opens part `key`; for a call, with id and name. */
static inline void drive_part(struct pl_stream *s, uint32_t key, enum pl_part_kind kind,
                              const char *id, const char *name)
{
    pl_stream_open(
        s, 0, key,
        &(struct pl_delta){.part_kind = kind, .id = pl_str_of(id), .name = pl_str_of(name)});
}

static inline void drive_words(struct pl_stream *s, uint32_t key, const char *raw)
{
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_FRAGMENT,
                                         .part = pl_stream_find(s, 0, key)->part,
                                         .raw = pl_str_of(raw)});
}

static inline void drive_end(struct pl_stream *s, enum pl_finish finish)
{
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_STOP, .finish = finish});
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_END});
}

/* ---- lines into deltas ---- */

/* One line is the data of one event. The test numbers the parts; "?" means no id; an error has only
 * a message ("error busy"), its type is always the same. */
static inline enum pl_status trace_read(struct pl_stream *s, void *state,
                                        const struct pl_sse_event *event, struct pl_error *err)
{
    char line[256], a[64] = "", b[64] = "", c[64] = "";
    unsigned key;
    struct pl_counts n;
    long long v[6];
    struct pl_delta d = {0};
    (void)state, (void)err;
    assert_true(event->data.len < sizeof line);
    memcpy(line, event->data.ptr, event->data.len);
    line[event->data.len] = '\0';
    if (sscanf(line, "+%u %63s %63s %63s", &key, a, b, c) >= 2) {
        for (size_t i = 0; i < PL_PART_KIND_COUNT; i++)
            if (kind_words[i] && strcmp(a, kind_words[i]) == 0)
                d.part_kind = (enum pl_part_kind)i;
        if (strcmp(a, "custom") == 0)
            d.part_kind = PL_PART_CALL, d.is_custom = true;
        d.id = pl_str_of(strcmp(b, "?") == 0 ? "" : b);
        d.name = pl_str_of(c);
        pl_stream_open(s, 0, key, &d);
    } else if (sscanf(line, "-%u", &key) == 1) {
        pl_stream_close(s, 0, key);
    } else if (sscanf(line, "start %63s %63s %63s", a, b, c) == 3) {
        d = (struct pl_delta){.kind = PL_DELTA_START,
                              .id = pl_str_of(a),
                              .model = pl_str_of(b),
                              .created = pl_str_of(c)};
        pl_stream_emit(s, &d);
    } else if (sscanf(line, "%u cites %63s %63s", &key, a, b) == 3) {
        d = (struct pl_delta){.kind = PL_DELTA_CITATION,
                              .part = pl_stream_find(s, 0, key)->part,
                              .json = PL_STR("{}"),
                              .url = pl_str_of(a),
                              .title = pl_str_of(b)};
        pl_stream_emit(s, &d);
    } else if (sscanf(line, "usage %lld %lld %lld %lld %lld %lld", v, v + 1, v + 2, v + 3, v + 4,
                      v + 5) == 6) {
        n = (struct pl_counts){v[0], v[1], v[2], v[3], v[4], v[5], -1};
        pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_USAGE, .counts = n});
    } else if (sscanf(line, "stop %63s", a) == 1) {
        d.kind = PL_DELTA_STOP;
        for (size_t i = 0; i < 6; i++)
            if (strcmp(a, finish_words[i]) == 0)
                d.finish = (enum pl_finish)i;
        pl_stream_emit(s, &d);
    } else if (strcmp(line, "end") == 0) {
        pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_END});
    } else if (strncmp(line, "error ", 6) == 0) {
        d = (struct pl_delta){.kind = PL_DELTA_ERROR,
                              .type = PL_STR("overloaded_error"),
                              .message = pl_str_of(line + 6)};
        pl_stream_emit(s, &d);
    } else {
        char *words = strchr(line, ':');
        assert_non_null(words);
        assert_int_equal(sscanf(line, "%u", &key), 1);
        drive_words(s, key, words + 1);
    }
    return PL_OK;
}

static pl_delta_writer *const trace_writes[PL_DELTA_COUNT] = {[0 ... PL_DELTA_COUNT - 1] =
                                                                  trace_write};
static const struct pl_dialect trace_dialect = {
    .name = "trace", .read = trace_read, .write = trace_writes, .has_choices = true};

/* A stream for deltas that the test emits itself. */
static inline struct pl_stream *driven_stream(const struct pl_dialect *to)
{
    struct pl_stream *s;
    assert_int_equal(pl_stream_create(&trace_dialect, to, &s), PL_OK);
    return s;
}

/* Compares the output since the last call, and clears it. */
static inline void assert_written(struct pl_stream *s, const char *expected)
{
    pl_buf_addc(&s->out, '\0');
    assert_string_equal(s->out.ptr, expected);
    pl_buf_clear(&s->out);
}

/* Whether the output contains the words. */
static inline void assert_writes(struct pl_stream *s, const char *words, bool is_there)
{
    pl_buf_addc(&s->out, '\0');
    if ((strstr(s->out.ptr, words) != NULL) != is_there)
        fail_msg("%s is %s in:\n%s", words, is_there ? "not" : "", s->out.ptr);
    s->out.len--;
}

/* ---- runs ---- */

/* One run, fed in pieces of n_bytes; free the result with pl_buf_deinit. */
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

/* The result is `expected` if the input comes whole, byte by byte or in other pieces. */
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

/* The same for the deltas; the start is checked only if it is expected. */
static inline void check_deltas(const struct pl_dialect *from, const char *input,
                                const char *expected)
{
    static const size_t pieces[] = {SIZE_MAX / 2, 1, 7};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        PL_CLEANUP_BUF struct pl_buf out;
        enum pl_status status = run_stream(from, &trace_dialect, input, pieces[i], &out);
        const char *got = out.ptr;
        if (strncmp(got, "start", 5) == 0 && strncmp(expected, "start", 5) != 0)
            got = strchr(got, '\n') + 1;
        assert_string_equal(got, expected);
        if (strstr(expected, "end\n"))
            assert_int_equal(status, PL_OK);
    }
}

struct scarcity {
    size_t n_left;
    bool has_failed;
};

/* Fails the allocation at which the counter reaches 0, and all later ones. */
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

/* Whichever allocation fails first, the stream reports it and nothing leaks. */
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
