/* The public API for the deltas of a stream: a dialect with a writer that makes no bytes. It
 * decodes the deltas and queues them until the caller takes them. */
#include "lib/parley_int.h"

#include "base/mem.h"
#include "base/text/decimal.h"
#include "json/text.h"
#include "stream/stream.h"

_Static_assert((int)PARLEY_FINISH_OTHER == (int)PL_FINISH_OTHER, "parley_finish follows pl_finish");

/* An open call: its end event has all of its arguments. */
struct open_call {
    uint32_t choice, part;
    struct pl_buf id, name, arguments; /* owned; decoded */
};

struct parley_reader {
    struct pl_stream *stream;          /* owned; its writer is read_out */
    struct pl_arena arena;             /* texts of the queue; reset when the queue is empty */
    PL_VEC(struct parley_delta) queue; /* owned */
    size_t n_taken;                    /* deltas the caller has taken */
    PL_VEC(struct open_call) calls;    /* owned */
};

static const struct parley_delta nothing = {
#define EMPTY                                                                                      \
    {                                                                                              \
        "", 0                                                                                      \
    }
    .text = EMPTY,
    .id = EMPTY,
    .name = EMPTY,
    .model = EMPTY,
    .json = EMPTY,
    .url = EMPTY,
    .title = EMPTY,
    .word = EMPTY,
    .code = EMPTY,
    .stop_sequence = EMPTY,
#undef EMPTY
    .usage = {-1, -1, -1, -1, -1, -1, -1},
};

/* --- the queue ------------------------------------------------------------------------------- */

static void fail(struct parley_reader *r)
{
    r->stream->status = PL_NOMEM;
}

/* Adds a delta of this kind; NULL: out of memory, which sets the stream's status. */
static struct parley_delta *add(struct parley_reader *r, enum parley_delta_kind kind,
                                const struct pl_delta *of)
{
    struct parley_delta *delta = pl_vec_add(&r->queue);
    if (!delta) {
        fail(r);
        return NULL;
    }
    *delta = nothing;
    delta->kind = kind;
    delta->choice = of->choice;
    delta->part = of->part;
    return delta;
}

/* Copies to the arena, NUL-terminated: decodes the raw text between a string's quotes … */
static void put(struct parley_reader *r, struct parley_text *to, struct pl_str raw)
{
    char *text = raw.len ? pl_arena_alloc(&r->arena, raw.len + 1, 1) : NULL;
    if (text) {
        *to = (struct parley_text){text, pl_json_decode(text, raw)};
        text[to->size] = '\0';
    } else if (raw.len) {
        fail(r);
    }
}

/* … or copies plain text between `before` and `after`. */
static void put_plain(struct parley_reader *r, struct parley_text *to, const char *before,
                      struct pl_str plain, const char *after)
{
    size_t n_before = strlen(before), n_after = strlen(after);
    size_t size = n_before + plain.len + n_after;
    char *text = plain.len ? pl_arena_alloc(&r->arena, size + 1, 1) : NULL;
    if (text) {
        memcpy(text, before, n_before);
        memcpy(text + n_before, plain.ptr, plain.len);
        memcpy(text + n_before + plain.len, after, n_after + 1);
        *to = (struct parley_text){text, size};
    } else if (plain.len) {
        fail(r);
    }
}

/* --- calls ----------------------------------------------------------------------------------- */

static void deinit_call(struct open_call *call)
{
    pl_buf_deinit(&call->id);
    pl_buf_deinit(&call->name);
    pl_buf_deinit(&call->arguments);
}

static struct open_call *call_of(struct parley_reader *r, const struct pl_delta *delta)
{
    for (size_t i = 0; i < r->calls.len; i++)
        if (r->calls.ptr[i].part == delta->part)
            return &r->calls.ptr[i];
    return NULL;
}

static void put_call(struct parley_reader *r, struct parley_delta *to, const struct open_call *call)
{
    put_plain(r, &to->id, "", pl_buf_str(&call->id), "");
    put_plain(r, &to->name, "", pl_buf_str(&call->name), "");
}

static void keep(struct parley_reader *r, struct pl_buf *to, struct parley_text text)
{
    pl_buf_add(to, (struct pl_str){text.ptr, text.size});
    if (to->status != PL_OK)
        r->stream->status = to->status;
}

static void begin_call(struct parley_reader *r, const struct pl_delta *delta)
{
    struct parley_delta *to = add(r, PARLEY_DELTA_CALL_BEGIN, delta);
    struct open_call *call = to ? pl_vec_add(&r->calls) : NULL;
    if (!call) {
        fail(r);
        return;
    }
    call->choice = delta->choice;
    call->part = delta->part;
    pl_buf_init(&call->id, 0);
    pl_buf_init(&call->name, 0);
    pl_buf_init(&call->arguments, 0);
    to->is_custom = delta->is_custom;
    put(r, &to->id, delta->id);
    put(r, &to->name, delta->name);
    keep(r, &call->id, to->id);
    keep(r, &call->name, to->name);
}

static void add_arguments(struct parley_reader *r, const struct pl_delta *delta)
{
    struct open_call *call = call_of(r, delta);
    struct parley_delta *to = call ? add(r, PARLEY_DELTA_CALL_ARGUMENTS, delta) : NULL;
    if (!to)
        return;
    put_call(r, to, call);
    put(r, &to->text, delta->raw);
    keep(r, &call->arguments, to->text);
}

static void end_call(struct parley_reader *r, const struct pl_delta *delta)
{
    struct open_call *call = call_of(r, delta);
    if (!call)
        return;
    struct parley_delta *to = add(r, PARLEY_DELTA_CALL_END, delta);
    if (to) {
        to->is_cut = delta->is_cut;
        put_call(r, to, call);
        put_plain(r, &to->text, "", pl_buf_str(&call->arguments), "");
    }
    deinit_call(call);
    *call = r->calls.ptr[--r->calls.len];
}

/* --- the writer of a stream that is read ------------------------------------------------------ */

static struct parley_reader *reader_of(void *state)
{
    return *(struct parley_reader **)state;
}

static void take_start(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct parley_reader *r = reader_of(state);
    struct parley_delta *to = add(r, PARLEY_DELTA_START, delta);
    (void)s;
    if (!to)
        return;
    put(r, &to->id, delta->id);
    put(r, &to->model, delta->model);
    if (!pl_decimal_read(delta->created, &to->created_s))
        to->created_s = 0;
}

static void take_piece(struct parley_reader *r, enum parley_delta_kind kind,
                       const struct pl_delta *delta)
{
    struct parley_delta *to = delta->raw.len ? add(r, kind, delta) : NULL;
    if (to)
        put(r, &to->text, delta->raw);
}

static void take_part_start(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct parley_reader *r = reader_of(state);
    (void)s;
    if (delta->part_kind == PL_PART_CALL)
        begin_call(r, delta);
    else if (delta->part_kind == PL_PART_REDACTED)
        take_piece(r, PARLEY_DELTA_REDACTED, delta);
}

static void take_fragment(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    static const enum parley_delta_kind kinds[PL_PART_KIND_COUNT] = {
        [PL_PART_TEXT] = PARLEY_DELTA_TEXT,
        [PL_PART_THINKING] = PARLEY_DELTA_THINKING,
        [PL_PART_REFUSAL] = PARLEY_DELTA_REFUSAL,
        [PL_PART_REDACTED] = PARLEY_DELTA_REDACTED,
    };
    struct parley_reader *r = reader_of(state);
    (void)s;
    if (delta->part_kind == PL_PART_CALL)
        add_arguments(r, delta);
    else if (kinds[delta->part_kind])
        take_piece(r, kinds[delta->part_kind], delta);
}

static void take_signature(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct parley_reader *r = reader_of(state);
    struct parley_delta *to = add(r, PARLEY_DELTA_SIGNATURE, delta);
    (void)s;
    if (!to)
        return;
    put(r, &to->text, delta->raw);
    put(r, &to->id, delta->id);
}

static void take_citation(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct parley_reader *r = reader_of(state);
    struct parley_delta *to = add(r, PARLEY_DELTA_CITATION, delta);
    (void)s;
    if (!to)
        return;
    put_plain(r, &to->json, "", delta->json, "");
    put(r, &to->url, delta->url);
    put(r, &to->title, delta->title);
}

static void take_part_end(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)s;
    end_call(reader_of(state), delta);
}

static void take_other(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct parley_reader *r = reader_of(state);
    struct parley_delta *to = add(r, PARLEY_DELTA_OTHER, delta);
    (void)s;
    if (to)
        put_plain(r, &to->json, "[", delta->json, "]");
}

static void take_about(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct parley_reader *r = reader_of(state);
    struct parley_delta *to = add(r, PARLEY_DELTA_ABOUT, delta);
    (void)s;
    if (!to)
        return;
    put(r, &to->id, delta->id);
    put_plain(r, &to->json, "", delta->json, "");
}

static void take_usage(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    const struct pl_counts *c = &delta->counts;
    struct parley_delta *to = add(reader_of(state), PARLEY_DELTA_USAGE, delta);
    (void)s;
    if (to)
        to->usage = (struct parley_usage){
            .input = c->input,
            .output = c->output,
            .total = c->total,
            .cache_read = c->cache_read,
            .cache_write = c->cache_write,
            .reasoning = c->reasoning,
            .tool_input = c->tool_input,
        };
}

static void take_stop(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct parley_reader *r = reader_of(state);
    struct parley_delta *to = add(r, PARLEY_DELTA_FINISH, delta);
    (void)s;
    if (!to)
        return;
    to->finish = (enum parley_finish)delta->finish;
    put(r, &to->word, delta->word);
    put(r, &to->stop_sequence, delta->stop_sequence);
    put(r, &to->text, delta->detail);
}

static void take_end(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)s;
    (void)add(reader_of(state), PARLEY_DELTA_END, delta);
}

static void take_error(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct parley_reader *r = reader_of(state);
    (void)s;
    while (r->calls.len) {
        const struct open_call *call = &r->calls.ptr[0];
        end_call(r, &(struct pl_delta){.choice = call->choice, .part = call->part, .is_cut = true});
    }
    struct parley_delta *to = add(r, PARLEY_DELTA_ERROR, delta);
    if (!to)
        return;
    put(r, &to->text, delta->message);
    put(r, &to->word, delta->type);
    put(r, &to->code, delta->code);
}

static pl_delta_writer *const writes[PL_DELTA_COUNT] = {
    [PL_DELTA_START] = take_start,       [PL_DELTA_PART_START] = take_part_start,
    [PL_DELTA_FRAGMENT] = take_fragment, [PL_DELTA_SIGNATURE] = take_signature,
    [PL_DELTA_CITATION] = take_citation, [PL_DELTA_PART_END] = take_part_end,
    [PL_DELTA_USAGE] = take_usage,       [PL_DELTA_STOP] = take_stop,
    [PL_DELTA_END] = take_end,           [PL_DELTA_ERROR] = take_error,
    [PL_DELTA_OTHER] = take_other,       [PL_DELTA_ABOUT] = take_about,
};

static const struct pl_dialect read_out = {
    .name = "deltas",
    .writer_size = sizeof(struct parley_reader *),
    .write = writes,
    .has_choices = true,
    .takes_all = true,
};

/* --- life ------------------------------------------------------------------------------------ */

static enum pl_status create(const char *name, struct parley_reader *r, struct pl_error *err)
{
    const struct pl_dialect *dialect = NULL;
    enum pl_status status = pl_import_dialect(name, &dialect, err);
    if (status == PL_OK)
        status = pl_stream_create(dialect, &read_out, &r->stream);
    if (status != PL_OK)
        return status;
    *(struct parley_reader **)r->stream->writer = r;
    /* The caller may send the answer back to its vendor, so signatures are included. */
    r->stream->is_same_vendor = true;
    return PL_OK;
}

enum parley_status parley_reader_create(const char *dialect, struct parley_reader **ret_reader,
                                        struct parley_error *err)
{
    struct pl_error detail = {0};
    struct parley_reader *reader = pl_mem_alloc(1, sizeof *reader);
    if (!reader)
        return pl_export_error(PL_NOMEM, &detail, err);
    *reader = (struct parley_reader){0};
    pl_arena_init(&reader->arena, 0);
    enum pl_status status = create(dialect, reader, &detail);
    if (status == PL_OK)
        *ret_reader = reader;
    else
        parley_reader_destroy(reader);
    return pl_export_error(status, &detail, err);
}

void parley_reader_destroy(struct parley_reader *reader)
{
    if (!reader)
        return;
    while (reader->calls.len)
        deinit_call(&reader->calls.ptr[--reader->calls.len]);
    pl_vec_deinit(&reader->calls);
    pl_vec_deinit(&reader->queue);
    pl_arena_deinit(&reader->arena);
    pl_stream_destroy(reader->stream);
    pl_mem_free(reader);
}

/* Empties the queue if the caller has taken all of it. */
static void forget_taken(struct parley_reader *r)
{
    if (r->n_taken < r->queue.len)
        return;
    r->n_taken = r->queue.len = 0;
    pl_arena_reset(&r->arena);
}

enum parley_status parley_reader_feed(struct parley_reader *reader, const char *bytes, size_t size,
                                      struct parley_error *err)
{
    struct pl_error detail = {0};
    forget_taken(reader);
    enum pl_status status = pl_stream_feed(reader->stream, (struct pl_str){bytes, size}, &detail);
    return pl_export_error(status, &detail, err);
}

enum parley_status parley_reader_end(struct parley_reader *reader, struct parley_error *err)
{
    struct pl_error detail = {0};
    forget_taken(reader);
    return pl_export_error(pl_stream_end(reader->stream, &detail), &detail, err);
}

const struct parley_delta *parley_reader_next(struct parley_reader *reader)
{
    return reader->n_taken < reader->queue.len ? &reader->queue.ptr[reader->n_taken++] : NULL;
}
