/* anthropic streams: writing message and content_block events.
 *
 *     message_start, then for each block content_block_start, its deltas and content_block_stop,
 *     then message_delta with stop_reason and usage, and message_stop
 *
 * Blocks do not overlap: while a call is open, the events of later blocks are queued. A block
 * without text (an empty text, reasoning with only a signature) is not written. Signatures and
 * redacted reasoning of other vendors are dropped. */
#include "stream/anthropic/anthropic_int.h"

#include "format/anthropic/words.h"
#include "format/pieces/usage.h"

#include "format/format.h"
#include "stream/home.h"
#include "stream/sum.h"

struct block {
    uint32_t part;
    uint32_t index; /* valid once is_started */
    enum pl_part_kind kind;
    bool is_custom, is_started, is_ended;
    struct pl_buf head; /* owned; the bytes of a delta event before its text */
    struct pl_buf held; /* owned; events to write once the blocks before it have ended */
};

struct writer {
    PL_VEC(struct block) blocks; /* open; the first one is being written, the others wait */
    uint32_t n_blocks;           /* written or queued: the index of the next one */
    uint32_t n_calls;
    struct pl_buf refusal; /* repeated in stop_details */
};

static void put(struct pl_buf *to, struct pl_str text)
{
    pl_buf_add(to, text);
}

static void put_number(struct pl_buf *to, int64_t value)
{
    pl_buf_addu(to, value < 0 ? 0 : (uint64_t)value);
}

static void put_string(struct pl_buf *to, struct pl_str raw, struct pl_str otherwise)
{
    pl_buf_addc(to, '"');
    put(to, raw.len ? raw : otherwise);
    pl_buf_addc(to, '"');
}

/* ---- usage ---- */

static int64_t less(int64_t all, int64_t part)
{
    return part < 0 ? all : all > part ? all - part : 0;
}

/* Input tokens without those that the cache read and wrote. */
static void put_usage(struct pl_stream *s)
{
    struct pl_buf *to = &s->out;
    const struct pl_counts *c = &s->counts;
    const char *tier = pl_tier_word(PL_TIER_ANTHROPIC, pl_buf_str(&s->tier));
    put(to, PL_STR("\"usage\":{\"input_tokens\":"));
    put_number(to, less(less(c->input, c->cache_read), c->cache_write));
    if (c->cache_write >= 0) {
        put(to, PL_STR(",\"cache_creation_input_tokens\":"));
        put_number(to, c->cache_write);
    }
    if (c->cache_read >= 0) {
        put(to, PL_STR(",\"cache_read_input_tokens\":"));
        put_number(to, c->cache_read);
    }
    put(to, PL_STR(",\"output_tokens\":"));
    put_number(to, c->output);
    if (c->reasoning >= 0) {
        put(to, PL_STR(",\"output_tokens_details\":{\"thinking_tokens\":"));
        put_number(to, c->reasoning);
        put(to, PL_STR("}"));
    }
    if (tier) {
        put(to, PL_STR(",\"service_tier\":"));
        put_string(to, pl_str_of(tier), (struct pl_str){0});
    }
    put(to, PL_STR("}"));
}

/* The counters come at the end; those already known are written now. */
static void write_start(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)state;
    put(&s->out, PL_STR("event: message_start\ndata: {\"type\":\"message_start\",\"message\":"
                        "{\"id\":"));
    put_string(&s->out, delta->id, PL_STR("msg_1"));
    put(&s->out, PL_STR(",\"type\":\"message\",\"role\":\"assistant\",\"model\":"));
    put_string(&s->out, delta->model, PL_STR("unknown"));
    put(&s->out, PL_STR(",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,"));
    put_usage(s);
    put(&s->out, PL_STR("}}\n\n"));
}

/* ---- blocks ---- */

static struct block *find_block(struct writer *w, uint32_t part)
{
    for (size_t i = 0; i < w->blocks.len; i++)
        if (w->blocks.ptr[i].part == part)
            return &w->blocks.ptr[i];
    return NULL;
}

static struct pl_buf *events_of(struct pl_stream *s, const struct writer *w, struct block *block)
{
    return block == w->blocks.ptr ? &s->out : &block->held;
}

static void put_block(struct pl_buf *to, const struct writer *w, const struct block *block,
                      const struct pl_delta *delta)
{
    switch (block->kind) {
    case PL_PART_CALL:
        put(to, PL_STR("{\"type\":\"tool_use\",\"id\":\""));
        put(to, delta->id.len ? delta->id : PL_STR("call_"));
        if (!delta->id.len)
            put_number(to, w->n_calls);
        put(to, PL_STR("\",\"name\":\""));
        put(to, delta->name);
        put(to, PL_STR("\",\"input\":{}}"));
        break;
    case PL_PART_THINKING:
        put(to, PL_STR("{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}"));
        break;
    case PL_PART_REDACTED:
        put(to, PL_STR("{\"type\":\"redacted_thinking\",\"data\":\""));
        put(to, delta->raw);
        put(to, PL_STR("\"}"));
        break;
    default:
        put(to, PL_STR("{\"type\":\"text\",\"text\":\"\"}"));
    }
}

/* Makes the bytes of a delta event that come before its text. */
static void make_head(struct block *block)
{
    pl_buf_init(&block->head, 0);
    put(&block->head, PL_STR("event: content_block_delta\ndata: "
                             "{\"type\":\"content_block_delta\",\"index\":"));
    put_number(&block->head, block->index);
    switch (block->kind) {
    case PL_PART_CALL:
        put(&block->head, PL_STR(",\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\""));
        break;
    case PL_PART_THINKING:
        put(&block->head, PL_STR(",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\""));
        break;
    default:
        put(&block->head, PL_STR(",\"delta\":{\"type\":\"text_delta\",\"text\":\""));
    }
}

static void put_words(struct pl_buf *to, const struct block *block, struct pl_str raw)
{
    put(to, pl_buf_str(&block->head));
    put(to, raw);
    put(to, PL_STR("\"}}\n\n"));
}

/* For a call, `delta` is its start; for other blocks, any delta of the block. */
static void start_block(struct pl_stream *s, struct writer *w, struct block *block,
                        const struct pl_delta *delta)
{
    struct pl_buf *to = events_of(s, w, block);
    block->index = w->n_blocks++;
    block->is_started = true;
    make_head(block);
    if (block->head.status != PL_OK)
        s->status = block->head.status;
    put(to, PL_STR("event: content_block_start\ndata: {\"type\":\"content_block_start\","
                   "\"index\":"));
    put_number(to, block->index);
    put(to, PL_STR(",\"content_block\":"));
    put_block(to, w, block, delta);
    put(to, PL_STR("}\n\n"));
    /* A tool's input is an object here; free text becomes its member "input". */
    if (block->is_custom)
        put_words(to, block, PL_STR("{\\\"input\\\":\\\""));
}

static void open_block(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    bool is_redacted = delta->part_kind == PL_PART_REDACTED;
    struct block block = {
        .part = delta->part, .kind = delta->part_kind, .is_custom = delta->is_custom};
    if ((is_redacted && !pl_stream_is_home(s, delta)) || delta->part_kind == PL_PART_OTHER)
        return;
    pl_buf_init(&block.held, 0);
    if (!pl_vec_push(&w->blocks, block)) {
        s->status = PL_NOMEM;
        return;
    }
    w->n_calls += delta->part_kind == PL_PART_CALL;
    if (is_redacted || delta->part_kind == PL_PART_CALL)
        start_block(s, w, &w->blocks.ptr[w->blocks.len - 1], delta);
}

/* Escapes `raw` once more: it is a string inside a JSON string. */
static void put_nested(struct pl_buf *to, const struct block *block, struct pl_str raw)
{
    put(to, pl_buf_str(&block->head));
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.ptr[i] == '\\' || raw.ptr[i] == '"')
            pl_buf_addc(to, '\\');
        pl_buf_addc(to, raw.ptr[i]);
    }
    put(to, PL_STR("\"}}\n\n"));
}

static void write_fragment(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    struct block *block = find_block(w, delta->part);
    if (!block)
        return;
    if (!block->is_started)
        start_block(s, w, block, delta);
    if (block->kind == PL_PART_REFUSAL) {
        if (!w->refusal.max)
            pl_buf_init(&w->refusal, 0);
        put(&w->refusal, delta->raw);
    }
    if (block->is_custom)
        put_nested(events_of(s, w, block), block, delta->raw);
    else
        put_words(events_of(s, w, block), block, delta->raw);
}

/* Writes a signature or a citation that comes from anthropic. */
static void write_own(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    struct block *block = find_block(w, delta->part);
    bool is_signature = delta->kind == PL_DELTA_SIGNATURE;
    bool is_ours = is_signature ? pl_stream_is_home(s, delta) : s->is_same_vendor;
    if (!block || !is_ours || block->kind != (is_signature ? PL_PART_THINKING : PL_PART_TEXT))
        return;
    if (!block->is_started)
        start_block(s, w, block, delta);
    put(&s->out, PL_STR("event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                        "\"index\":"));
    put_number(&s->out, block->index);
    if (is_signature) {
        put(&s->out, PL_STR(",\"delta\":{\"type\":\"signature_delta\",\"signature\":"));
        put_string(&s->out, delta->raw, (struct pl_str){0});
    } else {
        put(&s->out, PL_STR(",\"delta\":{\"type\":\"citations_delta\",\"citation\":"));
        put(&s->out, delta->json);
    }
    put(&s->out, PL_STR("}}\n\n"));
}

static void free_block(struct block *block)
{
    pl_buf_deinit(&block->head);
    pl_buf_deinit(&block->held);
}

/* When the first block has ended, writes the queued events of the next one. */
static void write_waiting(struct pl_stream *s, struct writer *w)
{
    while (w->blocks.len && w->blocks.ptr[0].is_ended) {
        free_block(&w->blocks.ptr[0]);
        w->blocks.len--;
        memmove(w->blocks.ptr, w->blocks.ptr + 1, w->blocks.len * sizeof *w->blocks.ptr);
        if (!w->blocks.len)
            break;
        struct pl_buf *held = &w->blocks.ptr[0].held;
        if (held->status != PL_OK)
            s->status = held->status;
        put(&s->out, pl_buf_str(held));
        pl_buf_clear(held);
    }
}

static void close_block(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    struct block *block = find_block(w, delta->part);
    if (!block)
        return;
    struct pl_buf *to = events_of(s, w, block);
    if (block->is_custom && !delta->is_cut)
        put_words(to, block, PL_STR("\\\"}"));
    if (block->is_started && !delta->is_cut) {
        put(to, PL_STR("event: content_block_stop\ndata: {\"type\":\"content_block_stop\","
                       "\"index\":"));
        put_number(to, block->index);
        put(to, PL_STR("}\n\n"));
    }
    block->is_ended = true;
    write_waiting(s, w);
}

/* Writes parts that only the source's vendor has, in the form of a whole answer. No block is
 * open. */
static void write_other(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    struct pl_json_doc doc;
    const struct pl_json_node *blocks = pl_stream_say_whole(s, delta, &doc);
    if (!blocks || pl_json_kind(blocks) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
         n = pl_json_next(n))
        pl_stream_tell_block(&s->out, &doc, n, w->n_blocks++);
}

/* ---- the end ---- */

static void write_stop(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    struct pl_str why = pl_buf_str(&w->refusal);
    if (w->refusal.status != PL_OK)
        s->status = w->refusal.status;
    if (!why.len && delta->finish == PL_FINISH_FILTER)
        why = delta->detail;
    put(&s->out, PL_STR("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":"
                        "{\"stop_reason\":\""));
    pl_buf_adds(&s->out, pl_anthropic_finish_word((struct pl_anthropic_ending){
                             .finish = delta->finish,
                             .has_call = w->n_calls > 0,
                             .has_refusal = w->refusal.len > 0,
                             .has_stop_sequence = delta->stop_sequence.len > 0,
                         }));
    put(&s->out, PL_STR("\",\"stop_sequence\":"));
    if (delta->stop_sequence.len)
        put_string(&s->out, delta->stop_sequence, (struct pl_str){0});
    else
        put(&s->out, PL_STR("null"));
    if (why.len) {
        put(&s->out, PL_STR(",\"stop_details\":{\"type\":\"refusal\",\"category\":null,"
                            "\"explanation\":"));
        put_string(&s->out, why, (struct pl_str){0});
        put(&s->out, PL_STR("}"));
    }
    put(&s->out, PL_STR("},"));
    put_usage(s);
    put(&s->out, PL_STR("}\n\n"));
}

static void write_end(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)state;
    (void)delta;
    put(&s->out, PL_STR("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
}

static void write_error(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)state;
    const char *type = pl_anthropic_error_type(delta->code);
    if (!type)
        type = pl_anthropic_error_type(delta->type);
    put(&s->out, PL_STR("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\""));
    pl_buf_adds(&s->out, type ? type : "api_error");
    put(&s->out, PL_STR("\",\"message\":"));
    put_string(&s->out, delta->message, PL_STR("the server gave no reason"));
    put(&s->out, PL_STR("}}\n\n"));
}

static void write_deinit(void *state)
{
    struct writer *w = state;
    for (size_t i = 0; i < w->blocks.len; i++)
        free_block(&w->blocks.ptr[i]);
    pl_vec_deinit(&w->blocks);
    pl_buf_deinit(&w->refusal);
}

/* The counters are written together with the stop reason. */
static pl_delta_writer *const writes[PL_DELTA_COUNT] = {
    [PL_DELTA_START] = write_start,       [PL_DELTA_PART_START] = open_block,
    [PL_DELTA_FRAGMENT] = write_fragment, [PL_DELTA_SIGNATURE] = write_own,
    [PL_DELTA_CITATION] = write_own,      [PL_DELTA_PART_END] = close_block,
    [PL_DELTA_STOP] = write_stop,         [PL_DELTA_END] = write_end,
    [PL_DELTA_ERROR] = write_error,       [PL_DELTA_OTHER] = write_other,
};

const struct pl_dialect pl_dialect_anthropic = {
    .name = "anthropic",
    .reader_size = sizeof(struct pl_anthropic_reader),
    .writer_size = sizeof(struct writer),
    .read = pl_anthropic_stream_read,
    .say_again = pl_anthropic_stream_say_again,
    .release = pl_anthropic_stream_release,
    .read_deinit = pl_anthropic_stream_read_deinit,
    .sum_size = sizeof(struct pl_anthropic_sum),
    .sum = pl_anthropic_sum,
    .sum_end = pl_anthropic_sum_end,
    .format = &pl_format_anthropic,
    .write = writes,
    .write_deinit = write_deinit,
};
