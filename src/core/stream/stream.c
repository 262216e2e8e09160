/* The pipeline of a translation: match the next event against the patterns of repeat.h, else cut
 * and read it; emit deltas in order; write. A stream that ends early gets the target's error
 * event. */
#include "stream/stream.h"

#include "base/mem.h"
#include "json/text.h"

/* Limit for one event: an image can take megabytes on one line. */
enum { MAX_EVENT_BYTES = 64 << 20 };

const struct pl_dialect *const pl_dialects[] = {
    &pl_dialect_openai_chat, &pl_dialect_openai_responses, &pl_dialect_anthropic,
    &pl_dialect_gemini,      &pl_dialect_patches,          NULL,
};

const struct pl_dialect *pl_dialect_find(struct pl_str name)
{
    for (size_t i = 0; pl_dialects[i]; i++)
        if (pl_str_eq(name, pl_str_of(pl_dialects[i]->name)))
            return pl_dialects[i];
    return NULL;
}

static void *zeroed(size_t size)
{
    void *memory = pl_mem_alloc(1, size ? size : 1);
    return memory ? memset(memory, 0, size ? size : 1) : NULL;
}

enum pl_status pl_stream_create(const struct pl_dialect *from, const struct pl_dialect *to,
                                struct pl_stream **ret_stream)
{
    struct pl_stream *s = zeroed(sizeof *s);
    if (!s)
        return PL_NOMEM;
    s->from = from;
    s->to = to;
    s->is_same_vendor = s->passes_through = from == to;
    s->counts = (struct pl_counts){-1, -1, -1, -1, -1, -1, -1};
    pl_sse_init(&s->sse, MAX_EVENT_BYTES);
    pl_json_frames_init(&s->frames, MAX_EVENT_BYTES);
    pl_buf_init(&s->out, 0);
    pl_buf_init(&s->held, 0);
    pl_buf_init(&s->kept, 0);
    pl_buf_init(&s->tier, 0);
    pl_arena_init(&s->arena, 0);
    pl_repeat_init(&s->repeat);
    s->fragment.kind = PL_DELTA_FRAGMENT;
    s->reader = zeroed(from->reader_size);
    s->writer = zeroed(to->writer_size);
    if (!s->reader || !s->writer) {
        pl_stream_destroy(s);
        return PL_NOMEM;
    }
    *ret_stream = s;
    return PL_OK;
}

void pl_stream_destroy(struct pl_stream *s)
{
    if (!s)
        return;
    if (s->reader && s->from->read_deinit)
        s->from->read_deinit(s->reader);
    if (s->writer && s->to->write_deinit)
        s->to->write_deinit(s->writer);
    pl_mem_free(s->reader);
    pl_mem_free(s->writer);
    pl_sse_deinit(&s->sse);
    pl_json_frames_deinit(&s->frames);
    pl_buf_deinit(&s->out);
    pl_buf_deinit(&s->held);
    pl_buf_deinit(&s->kept);
    pl_buf_deinit(&s->tier);
    pl_buf_deinit(&s->own.parts);
    pl_arena_deinit(&s->arena);
    pl_repeat_deinit(&s->repeat);
    pl_vec_deinit(&s->open);
    pl_mem_free(s);
}

/* Error messages of a stream are JSON string contents, too. */
static struct pl_str escaped(struct pl_stream *s, const char *text)
{
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, pl_str_of(text));
    if (quoted.status != PL_OK)
        return PL_STR("out of memory");
    return pl_arena_dup(&s->arena, pl_str_slice(pl_buf_str(&quoted), 1, quoted.len - 1));
}

/* Reports an error: to the target by its error event, to the caller in *err. */
static enum pl_status break_off(struct pl_stream *s, enum pl_status status, struct pl_error *err)
{
    if (status == PL_NOMEM)
        s->status = PL_NOMEM;
    s->passes_through = false;
    pl_stream_emit(s, &(struct pl_delta){
                          .kind = PL_DELTA_ERROR,
                          .type = PL_STR("api_error"),
                          .message = escaped(s, err->message),
                      });
    if (s->out.status != PL_OK)
        return s->out.status;
    return status;
}

/* Only whole events are passed through, so that the output before an error does not depend on how
 * the input was split. n_left bytes of the input are unread. */
static void note_whole(struct pl_stream *s, size_t n_left)
{
    s->n_whole = s->held.len - n_left;
}

static void let_through(struct pl_stream *s)
{
    size_t n_left = s->held.len - s->n_whole;
    if (!s->passes_through || !s->n_whole)
        return;
    s->has_passed = true;
    pl_buf_add(&s->out, pl_str_slice(pl_buf_str(&s->held), 0, s->n_whole));
    memmove(s->held.ptr, s->held.ptr + s->n_whole, n_left);
    s->held.len = n_left;
    s->n_whole = 0;
}

static enum pl_status take_event(struct pl_stream *s, const struct pl_sse_event *event,
                                 struct pl_error *err)
{
    if (s->is_ended)
        return PL_OK;
    pl_arena_reset(&s->arena);
    s->repeat.offer.has_words = s->repeat.offer.is_spoilt = false;
    s->repeat.offer.n_holes = 0;
    enum pl_status status = s->from->read(s, s->reader, event, err);
    if (status == PL_OK)
        status = s->status;
    return status;
}

/* Takes an event that matches a pattern. Returns its length, or 0 if none matches. */
static size_t take_again(struct pl_stream *s, struct pl_str input)
{
    size_t n_bytes = s->is_ended ? 0 : pl_repeat_match(&s->repeat, input);
    if (!n_bytes)
        return 0;
    pl_arena_reset(&s->arena);
    if (!s->from->say_again(s, s->reader))
        return 0;
    s->repeat.n_misses = 0;
    return n_bytes;
}

/* The unread input. */
static struct pl_str *input_of(struct pl_stream *s)
{
    return s->framing == PL_FRAMING_JSON ? &s->frames.input : &s->sse.input;
}

static bool is_at_event(struct pl_stream *s)
{
    return s->framing == PL_FRAMING_JSON ? pl_json_frames_is_at_object(&s->frames)
                                         : pl_sse_is_at_event(&s->sse);
}

static enum pl_status next_event(struct pl_stream *s, struct pl_sse_event *ret_event)
{
    if (s->framing == PL_FRAMING_JSON)
        return pl_json_frames_next(&s->frames, &ret_event->data);
    return pl_sse_next(&s->sse, ret_event);
}

/* Takes an event that matched no pattern and learns it. */
static enum pl_status take_new(struct pl_stream *s, bool is_whole, struct pl_error *err)
{
    struct pl_str input = *input_of(s);
    struct pl_sse_event event = {0};
    enum pl_status status = next_event(s, &event);
    if (status == PL_LIMIT)
        return pl_fail(err, PL_LIMIT, "an event is longer than the maximum of %d MiB",
                       MAX_EVENT_BYTES >> 20);
    if (status == PL_SYNTAX)
        return pl_fail(err, PL_SYNTAX, "expected a JSON object between the events");
    if (status == PL_OK)
        status = take_event(s, &event, err);
    bool has_end = s->framing == PL_FRAMING_JSON || pl_sse_end_line(&s->sse);
    struct pl_str bytes = pl_str_slice(input, 0, input.len - input_of(s)->len);
    if (status == PL_OK && is_whole && has_end && bytes.ptr[bytes.len - 1] != '\r')
        status = pl_repeat_learn(&s->repeat, bytes);
    return status;
}

/* Bytes after the last whole event. The LF of a CRLF never counts as part of the event before: it
 * may be in the next piece of input. */
static size_t n_left(const struct pl_str *input, const struct pl_str *rest)
{
    size_t n = input->len - rest->len;
    bool is_crlf = n >= 2 && input->ptr[n - 1] == '\n' && input->ptr[n - 2] == '\r';
    return rest->len + is_crlf;
}

static enum pl_status take_events(struct pl_stream *s, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    while (status == PL_OK) {
        struct pl_str *rest = input_of(s), input = *rest;
        bool is_whole = is_at_event(s);
        size_t n_again = is_whole ? take_again(s, *rest) : 0;
        *rest = pl_str_slice(*rest, n_again, rest->len);
        status = n_again ? s->status : take_new(s, is_whole, err);
        if (status == PL_OK)
            note_whole(s, n_left(&input, rest));
    }
    return status == PL_NOT_FOUND ? PL_OK : status;
}

/* JSON starts with a bracket, an event stream with a field name, a colon or a byte-order mark. */
static void find_framing(struct pl_stream *s, struct pl_str bytes)
{
    for (size_t i = 0; i < bytes.len && s->framing == PL_FRAMING_UNKNOWN; i++) {
        char c = bytes.ptr[i];
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
            continue;
        bool is_json = s->from->reads_json_framing && (c == '{' || c == '[');
        s->framing = is_json ? PL_FRAMING_JSON : PL_FRAMING_SSE;
        s->is_array = is_json && c == '[';
    }
}

enum pl_status pl_stream_feed(struct pl_stream *s, struct pl_str bytes, struct pl_error *err)
{
    struct pl_error spare;
    if (!err)
        err = &spare;
    if (s->passes_through)
        pl_buf_add(s->is_ended ? &s->out : &s->held, bytes);
    if (s->held.status != PL_OK)
        s->status = s->held.status;
    if (s->is_ended || s->status != PL_OK)
        return s->status;
    if (s->framing == PL_FRAMING_UNKNOWN)
        find_framing(s, bytes);
    if (s->framing == PL_FRAMING_UNKNOWN)
        return PL_OK;
    if (s->framing == PL_FRAMING_JSON)
        pl_json_frames_feed(&s->frames, bytes);
    else
        pl_sse_feed(&s->sse, bytes);
    enum pl_status status = take_events(s, err);
    if (s->is_ended && status == PL_OK)
        note_whole(s, 0);
    let_through(s);
    if (status != PL_OK)
        return break_off(s, status, err);
    return s->out.status;
}

enum pl_status pl_stream_end(struct pl_stream *s, struct pl_error *err)
{
    struct pl_error spare;
    struct pl_sse_event event;
    enum pl_status status = PL_OK;
    if (!err)
        err = &spare;
    if (!s->is_ended && s->framing == PL_FRAMING_SSE && pl_sse_finish(&s->sse, &event) == PL_OK)
        status = take_event(s, &event, err);
    if (status == PL_OK && !s->is_ended && s->from->read_end) {
        s->from->read_end(s, s->reader);
        status = s->status;
    }
    if (status != PL_OK)
        return break_off(s, status, err);
    if (s->is_ended) {
        note_whole(s, 0);
        let_through(s);
        return s->out.status;
    }
    return break_off(s, pl_fail(err, PL_INVALID, "the stream ended before the answer was complete"),
                     err);
}
