/* Readers are judged by the deltas they make: the dialect `deltas` writes each as one line.
 *
 *     start ID MODEL CREATED      +0 call ID NAME      0:words      0 signed S      0 cites URL
 *     -0      usage IN OUT TOTAL READ WRITTEN REASONING      stop FINISH WORD (WHY)      end
 *     error TYPE CODE MESSAGE
 *
 * Writers are driven by a test itself, through a stream from a dialect that reads nothing. */
#ifndef PL_TESTS_STREAM_DELTAS_H
#define PL_TESTS_STREAM_DELTAS_H

#include "stream/stream.h"

static inline void write_as_line(struct pl_stream *s, void *state, const struct pl_delta *d)
{
    static const char *const kinds[PL_PART_KIND_COUNT] = {[PL_PART_TEXT] = "text",
                                                          [PL_PART_THINKING] = "thinking",
                                                          [PL_PART_REFUSAL] = "refusal",
                                                          [PL_PART_CALL] = "call",
                                                          [PL_PART_REDACTED] = "redacted"};
    static const char *const finishes[] = {"none", "stop", "length", "tools", "filter", "other"};
    const struct pl_counts *c = &d->counts;
    struct pl_buf *out = &s->out;
    (void)state;
    switch (d->kind) {
    case PL_DELTA_START:
        pl_buf_addf(out, "start %.*s %.*s %.*s\n", PL_STR_ARG(d->id), PL_STR_ARG(d->model),
                    PL_STR_ARG(d->created));
        break;
    case PL_DELTA_PART_START:
        pl_buf_addf(out, "+%u %s%s", d->part, kinds[d->part_kind], d->is_custom ? " custom" : "");
        if (d->part_kind == PL_PART_CALL)
            pl_buf_addf(out, " %.*s %.*s", PL_STR_ARG(d->id), PL_STR_ARG(d->name));
        if (d->part_kind == PL_PART_REDACTED)
            pl_buf_addf(out, " %.*s", PL_STR_ARG(d->raw));
        pl_buf_addc(out, '\n');
        break;
    case PL_DELTA_FRAGMENT:
        pl_buf_addf(out, "%u:%.*s\n", d->part, PL_STR_ARG(d->raw));
        break;
    case PL_DELTA_SIGNATURE:
        pl_buf_addf(out, "%u signed %.*s\n", d->part, PL_STR_ARG(d->raw));
        break;
    case PL_DELTA_CITATION:
        pl_buf_addf(out, "%u cites %.*s\n", d->part, PL_STR_ARG(d->url));
        break;
    case PL_DELTA_PART_END:
        pl_buf_addf(out, "-%u\n", d->part);
        break;
    case PL_DELTA_USAGE:
        pl_buf_addf(out, "usage %lld %lld %lld %lld %lld %lld\n", (long long)c->input,
                    (long long)c->output, (long long)c->total, (long long)c->cache_read,
                    (long long)c->cache_write, (long long)c->reasoning);
        break;
    case PL_DELTA_STOP:
        pl_buf_addf(out, "stop %s %.*s (%.*s)\n", finishes[d->finish], PL_STR_ARG(d->word),
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
        break;
    }
}

static const struct pl_dialect deltas_dialect = {.name = "deltas", .write = write_as_line};

/* The deltas of an input fed in pieces of n_bytes; that of the start only where it is expected. */
static inline void assert_deltas_by(const struct pl_dialect *from, const char *input,
                                    size_t n_bytes, const char *expected)
{
    struct pl_stream *s;
    struct pl_str rest = pl_str_of(input);
    enum pl_status status = PL_OK;
    assert_int_equal(pl_stream_create(from, &deltas_dialect, &s), PL_OK);
    while (rest.len && status == PL_OK) {
        status = pl_stream_feed(s, pl_str_slice(rest, 0, n_bytes), NULL);
        rest = pl_str_slice(rest, n_bytes, rest.len);
    }
    if (status == PL_OK)
        status = pl_stream_end(s, NULL);
    pl_buf_addc(&s->out, '\0');
    const char *got = s->out.ptr;
    if (strncmp(got, "start", 5) == 0 && strncmp(expected, "start", 5) != 0)
        got = strchr(got, '\n') + 1;
    assert_string_equal(got, expected);
    if (strstr(expected, "end\n"))
        assert_int_equal(status, PL_OK);
    pl_stream_destroy(s);
}

/* Whole and byte by byte. */
static inline void assert_deltas(const struct pl_dialect *from, const char *input,
                                 const char *expected)
{
    assert_deltas_by(from, input, SIZE_MAX, expected);
    assert_deltas_by(from, input, 1, expected);
}

/* A stream whose deltas the test emits itself. */
static inline struct pl_stream *driven_stream(const struct pl_dialect *to)
{
    struct pl_stream *s;
    assert_int_equal(pl_stream_create(&deltas_dialect, to, &s), PL_OK);
    return s;
}

static inline void drive_start(struct pl_stream *s, const char *id, const char *model)
{
    pl_stream_emit(s, &(struct pl_delta){
                          .kind = PL_DELTA_START, .id = pl_str_of(id), .model = pl_str_of(model)});
}

/* Opens part `key`; of a call, with id and name. */
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

/* All that was written since the last time; forgets it. */
static inline void assert_written(struct pl_stream *s, const char *expected)
{
    pl_buf_addc(&s->out, '\0');
    assert_string_equal(s->out.ptr, expected);
    pl_buf_clear(&s->out);
}

/* Whether some words are among what was written. */
static inline void assert_writes(struct pl_stream *s, const char *words, bool is_there)
{
    pl_buf_addc(&s->out, '\0');
    if ((strstr(s->out.ptr, words) != NULL) != is_there)
        fail_msg("%s is %s in:\n%s", words, is_there ? "not" : "", s->out.ptr);
    s->out.len--;
}

#endif
