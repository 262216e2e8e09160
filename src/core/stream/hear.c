/* A dialect whose writer makes no bytes: it decodes the deltas and calls the listener. */
#include "stream/hear.h"

#include "base/mem.h"
#include "json/text.h"

/* An open part. A call collects its arguments here, every part its signature. */
struct heard_part {
    uint32_t number;
    enum pl_part_kind kind;
    struct pl_buf id, name, arguments, signature, data; /* owned; decoded */
};

struct pl_hearing {
    struct pl_stream *stream; /* owned; its writer is below */
    const struct pl_hear_ops *ops;
    void *ctx;
    PL_VEC(struct heard_part) parts;    /* owned */
    struct pl_heard_end end;            /* its strings are in `kept` */
    struct pl_buf model, word, detail;  /* owned; decoded */
    struct pl_buf fingerprint, ratings; /* owned */
    struct pl_buf scratch;              /* owned; a fragment, decoded */
    bool is_over;
};

/* --- decoding -------------------------------------------------------------------------------- */

/* Decodes `raw` and appends it. */
static void add_decoded(struct pl_stream *s, struct pl_buf *to, struct pl_str raw)
{
    char *at = pl_buf_reserve(to, raw.len);
    if (at)
        to->len += pl_json_decode(at, raw);
    if (to->status != PL_OK)
        s->status = to->status;
}

static struct pl_str decoded(struct pl_hearing *h, struct pl_str raw)
{
    if (!raw.len || !memchr(raw.ptr, '\\', raw.len))
        return raw;
    pl_buf_clear(&h->scratch);
    add_decoded(h->stream, &h->scratch, raw);
    return pl_buf_str(&h->scratch);
}

/* --- parts ----------------------------------------------------------------------------------- */

static void deinit_part(struct heard_part *part)
{
    struct pl_buf *all[] = {&part->id, &part->name, &part->arguments, &part->signature,
                            &part->data};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pl_buf_deinit(all[i]);
}

static void start_part(struct pl_hearing *h, const struct pl_delta *delta)
{
    struct heard_part *part = pl_vec_add(&h->parts);
    if (!part) {
        h->stream->status = PL_NOMEM;
        return;
    }
    *part = (struct heard_part){.number = delta->part, .kind = delta->part_kind};
    struct pl_buf *all[] = {&part->id, &part->name, &part->arguments, &part->signature,
                            &part->data};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pl_buf_init(all[i], 0);
    add_decoded(h->stream, &part->id, delta->id);
    add_decoded(h->stream, &part->name, delta->name);
    if (part->kind == PL_PART_REDACTED)
        add_decoded(h->stream, &part->data, delta->raw);
}

static struct heard_part *part_of(struct pl_hearing *h, const struct pl_delta *delta)
{
    for (size_t i = 0; i < h->parts.len; i++)
        if (h->parts.ptr[i].number == delta->part)
            return &h->parts.ptr[i];
    return NULL;
}

static void take_fragment(struct pl_hearing *h, const struct pl_delta *delta)
{
    struct heard_part *part = part_of(h, delta);
    if (!part)
        return;
    if (part->kind == PL_PART_CALL || part->kind == PL_PART_REDACTED) {
        bool is_call = part->kind == PL_PART_CALL;
        add_decoded(h->stream, is_call ? &part->arguments : &part->data, delta->raw);
        return;
    }
    struct pl_str text = decoded(h, delta->raw);
    if (!text.len)
        return;
    if (part->kind == PL_PART_REFUSAL)
        h->ops->on_refusal(h->ctx, text);
    else if (part->kind == PL_PART_TEXT || part->kind == PL_PART_THINKING)
        h->ops->on_text(h->ctx, part->kind == PL_PART_THINKING, text);
}

static void end_part(struct pl_hearing *h, const struct pl_delta *delta)
{
    struct heard_part *part = part_of(h, delta);
    if (!part)
        return;
    struct pl_heard_proof proof = {
        .signature = pl_buf_str(&part->signature),
        .data = pl_buf_str(&part->data),
    };
    bool is_call = part->kind == PL_PART_CALL;
    if (!is_call)
        proof.id = pl_buf_str(&part->id);
    /* An incomplete call is dropped. */
    if (h->stream->status == PL_OK && is_call && !delta->is_cut)
        h->ops->on_call(h->ctx, pl_buf_str(&part->id), pl_buf_str(&part->name),
                        pl_buf_str(&part->arguments), &proof);
    else if (h->stream->status == PL_OK && !is_call && (proof.signature.len || proof.data.len))
        h->ops->on_proof(h->ctx, part->kind, &proof);
    deinit_part(part);
    *part = h->parts.ptr[--h->parts.len];
}

/* --- the writer of a stream that the caller keeps -------------------------------------------- */

static void keep(struct pl_hearing *h, struct pl_buf *to, struct pl_str raw, struct pl_str *ret)
{
    if (!raw.len)
        return;
    pl_buf_clear(to);
    add_decoded(h->stream, to, raw);
    *ret = pl_buf_str(to);
}

/* Keeps the last value: ratings are repeated as the answer grows. */
static void keep_json(struct pl_hearing *h, struct pl_buf *to, struct pl_str json,
                      struct pl_str *ret)
{
    pl_buf_clear(to);
    pl_buf_add(to, json);
    if (to->status != PL_OK)
        h->stream->status = to->status;
    *ret = pl_buf_str(to);
}

static void take_error(struct pl_hearing *h, const struct pl_delta *delta)
{
    struct pl_buf texts[2];
    for (size_t i = 0; i < 2; i++)
        pl_buf_init(&texts[i], 0);
    add_decoded(h->stream, &texts[0], delta->type);
    add_decoded(h->stream, &texts[1], delta->code);
    h->is_over = true;
    h->ops->on_error(h->ctx, pl_buf_str(&texts[0]), pl_buf_str(&texts[1]),
                     decoded(h, delta->message));
    for (size_t i = 0; i < 2; i++)
        pl_buf_deinit(&texts[i]);
}

static void write(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_hearing *h = *(struct pl_hearing **)state;
    (void)s;
    if (h->is_over)
        return;
    struct heard_part *part;
    switch (delta->kind) {
    case PL_DELTA_START:
        keep(h, &h->model, delta->model, &h->end.model);
        break;
    case PL_DELTA_PART_START:
        start_part(h, delta);
        break;
    case PL_DELTA_FRAGMENT:
        take_fragment(h, delta);
        break;
    case PL_DELTA_SIGNATURE:
        part = part_of(h, delta);
        if (!part)
            break;
        add_decoded(h->stream, &part->signature, delta->raw);
        if (part->kind != PL_PART_CALL && !part->id.len)
            add_decoded(h->stream, &part->id, delta->id);
        break;
    case PL_DELTA_CITATION:
        h->ops->on_citation(h->ctx, delta->json);
        break;
    case PL_DELTA_PART_END:
        end_part(h, delta);
        break;
    case PL_DELTA_USAGE:
        h->end.counts = delta->counts;
        break;
    case PL_DELTA_STOP:
        h->end.finish = delta->finish;
        keep(h, &h->word, delta->word, &h->end.word);
        keep(h, &h->detail, delta->detail, &h->end.detail);
        break;
    case PL_DELTA_END:
        h->is_over = true;
        h->ops->on_end(h->ctx, &h->end);
        break;
    case PL_DELTA_ERROR:
        take_error(h, delta);
        break;
    case PL_DELTA_ABOUT:
        keep(h, &h->fingerprint, delta->id, &h->end.fingerprint);
        if (delta->json.len)
            keep_json(h, &h->ratings, delta->json, &h->end.ratings);
        break;
    case PL_DELTA_OTHER:
        break;
    }
}

static pl_delta_writer *const writes[PL_DELTA_COUNT] = {[0 ... PL_DELTA_COUNT - 1] = write};

/* Of several answers, only the first is reported. */
static const struct pl_dialect heard = {
    .name = "heard",
    .writer_size = sizeof(struct pl_hearing *),
    .write = writes,
};

/* --- life ------------------------------------------------------------------------------------ */

enum pl_status pl_hearing_create(const struct pl_dialect *dialect, const struct pl_hear_ops *ops,
                                 void *ctx, struct pl_hearing **ret_hearing)
{
    struct pl_hearing *h = pl_mem_alloc(1, sizeof *h);
    if (!h)
        return PL_NOMEM;
    *h = (struct pl_hearing){
        .ops = ops,
        .ctx = ctx,
        .end.counts = {-1, -1, -1, -1, -1, -1, -1},
    };
    struct pl_buf *all[] = {&h->model,       &h->word,    &h->detail,
                            &h->fingerprint, &h->ratings, &h->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pl_buf_init(all[i], 0);
    enum pl_status status = pl_stream_create(dialect, &heard, &h->stream);
    if (status != PL_OK) {
        pl_mem_free(h);
        return status;
    }
    *(struct pl_hearing **)h->stream->writer = h;
    /* The caller keeps the answer, and so its signatures. */
    h->stream->is_same_vendor = true;
    *ret_hearing = h;
    return PL_OK;
}

void pl_hearing_destroy(struct pl_hearing *h)
{
    if (!h)
        return;
    while (h->parts.len)
        deinit_part(&h->parts.ptr[--h->parts.len]);
    pl_vec_deinit(&h->parts);
    pl_buf_deinit(&h->model);
    pl_buf_deinit(&h->word);
    pl_buf_deinit(&h->detail);
    pl_buf_deinit(&h->fingerprint);
    pl_buf_deinit(&h->ratings);
    pl_buf_deinit(&h->scratch);
    pl_stream_destroy(h->stream);
    pl_mem_free(h);
}

/* Bad input was already reported as an error of the stream. */
static enum pl_status only_memory(enum pl_status status)
{
    return status == PL_NOMEM ? PL_NOMEM : PL_OK;
}

enum pl_status pl_hearing_feed(struct pl_hearing *h, struct pl_str bytes)
{
    struct pl_error err = {0};
    return h->is_over ? PL_OK : only_memory(pl_stream_feed(h->stream, bytes, &err));
}

enum pl_status pl_hearing_finish(struct pl_hearing *h)
{
    struct pl_error err = {0};
    return h->is_over ? PL_OK : only_memory(pl_stream_end(h->stream, &err));
}
