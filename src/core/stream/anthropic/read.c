/* anthropic streams: reading message and content_block events.
 *
 * Blocks are parts, found by their index. Blocks that only anthropic has are collected (own.c); its
 * other events are skipped. Usage comes twice, at the start and at the end, each with some of the
 * counters: the last value of each counts. */
#include "stream/anthropic/anthropic_int.h"

#include "base/hash.h"
#include "format/anthropic/words.h"
#include "json/text.h"
#include "stream/pick.h"

/* The event being read, and the stream that gets its deltas. */
struct in {
    struct pl_stream *s;
    struct pl_anthropic_reader *r;
    struct pl_json_doc doc;
    struct pl_error *err;
};

static struct pl_str raw_of(const struct in *in, const struct pl_json_node *node)
{
    return pl_pick_raw(&in->doc, node);
}

static void emit_piece(struct in *in, enum pl_delta_kind kind, const struct pl_open_part *part,
                       struct pl_str raw)
{
    if (raw.len)
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = kind,
                                  .part = part->part,
                                  .part_kind = part->kind,
                                  .raw = raw,
                              });
}

/* ---- usage ---- */

enum { INPUT, OUTPUT, CACHE_READ, CACHE_WRITE, DETAILS, USAGE_COUNT };
static const struct pl_str usage_names[] = {
    [INPUT] = {"input_tokens", 12},
    [OUTPUT] = {"output_tokens", 13},
    [CACHE_READ] = {"cache_read_input_tokens", 23},
    [CACHE_WRITE] = {"cache_creation_input_tokens", 27},
    [DETAILS] = {"output_tokens_details", 21},
};

static void take_count(const struct in *in, const struct pl_json_node *node, int64_t *count)
{
    int64_t value = pl_pick_count(&in->doc, node);
    if (value >= 0)
        *count = value;
}

/* Adds two counters; -1 is unknown. An unknown `b` adds nothing; an unknown `a` stays unknown. */
static int64_t sum(int64_t a, int64_t b)
{
    int64_t both;
    if (a < 0 || b < 0)
        return a;
    return __builtin_add_overflow(a, b, &both) ? INT64_MAX : both;
}

static void take_usage(struct in *in, const struct pl_json_node *usage)
{
    static const struct pl_str thinking = {"thinking_tokens", 15};
    const struct pl_json_node *u[USAGE_COUNT], *reasoning;
    struct pl_counts *c = &in->r->counts;
    if (!pl_json_is(usage, PL_JSON_OBJECT))
        return;
    if (!in->r->has_counts)
        *c = (struct pl_counts){-1, -1, -1, -1, -1, -1, -1};
    in->r->has_counts = true;
    pl_pick(&in->doc, usage, usage_names, USAGE_COUNT, u);
    pl_pick(&in->doc, u[DETAILS], &thinking, 1, &reasoning);
    take_count(in, u[INPUT], &c->input);
    take_count(in, u[OUTPUT], &c->output);
    take_count(in, u[CACHE_READ], &c->cache_read);
    take_count(in, u[CACHE_WRITE], &c->cache_write);
    take_count(in, reasoning, &c->reasoning);
    struct pl_delta delta = {.kind = PL_DELTA_USAGE, .counts = *c};
    delta.counts.input = sum(sum(c->input, c->cache_read), c->cache_write);
    if (c->output >= 0)
        delta.counts.total = sum(delta.counts.input, c->output);
    pl_stream_emit(in->s, &delta);
}

/* ---- blocks ---- */

static struct pl_anthropic_input *find_input(struct in *in, uint32_t index)
{
    for (size_t i = 0; i < in->r->inputs.len; i++)
        if (in->r->inputs.ptr[i].index == index)
            return &in->r->inputs.ptr[i];
    return NULL;
}

static void keep_input(struct in *in, uint32_t index, const struct pl_json_node *input)
{
    if (!pl_json_is(input, PL_JSON_OBJECT) || !pl_json_count(input))
        return;
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, pl_json_span(&in->doc, input));
    struct pl_anthropic_input kept = {.index = index};
    pl_buf_init(&kept.raw, 0);
    pl_buf_add(&kept.raw, pl_str_slice(pl_buf_str(&quoted), 1, quoted.len - 1));
    if (quoted.status == PL_OK && kept.raw.status == PL_OK && pl_vec_push(&in->r->inputs, kept))
        return;
    pl_buf_deinit(&kept.raw);
    in->s->status = PL_NOMEM;
}

static void drop_input(struct in *in, struct pl_anthropic_input *input)
{
    pl_buf_deinit(&input->raw);
    *input = in->r->inputs.ptr[--in->r->inputs.len];
}

static void keep_citation(struct in *in, const struct pl_json_node *citation)
{
    struct pl_anthropic_reader *r = in->r;
    struct pl_str json = pl_json_span(&in->doc, citation);
    if (!r->citations.max)
        pl_buf_init(&r->citations, 0);
    pl_buf_add(&r->citations, json);
    if (r->citations.status != PL_OK || !pl_vec_push(&r->citation_lens, json.len))
        in->s->status = PL_NOMEM;
}

static void keep_citations(struct in *in, const struct pl_json_node *list)
{
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        keep_citation(in, n);
}

static void say_citations(struct in *in, uint32_t part)
{
    static const struct pl_str names[] = {{"url", 3}, {"title", 5}};
    struct pl_anthropic_reader *r = in->r;
    size_t at = 0;
    for (size_t i = 0; i < r->citation_lens.len; i++) {
        struct pl_str json = {r->citations.ptr + at, r->citation_lens.ptr[i]};
        struct pl_json_doc doc;
        const struct pl_json_node *where[2];
        at += json.len;
        if (pl_stream_json(in->s, json, &doc, NULL) != PL_OK) {
            in->s->status = PL_NOMEM; /* it parsed before: memory ran out */
            break;
        }
        pl_pick(&doc, doc.root, names, 2, where);
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = PL_DELTA_CITATION,
                                  .part = part,
                                  .part_kind = PL_PART_TEXT,
                                  .json = json,
                                  .url = pl_pick_raw(&doc, where[0]),
                                  .title = pl_pick_raw(&doc, where[1]),
                              });
    }
    r->citation_lens.len = 0;
    pl_buf_clear(&r->citations);
}

enum {
    TYPE,
    ID,
    NAME,
    TOOL_INPUT,
    TEXT,
    THINKING,
    SIGNATURE,
    DATA,
    CITATIONS,
    BLOCK_COUNT,
};
static const struct pl_str block_names[] = {
    [TYPE] = {"type", 4},           [ID] = {"id", 2},     [NAME] = {"name", 4},
    [TOOL_INPUT] = {"input", 5},    [TEXT] = {"text", 4}, [THINKING] = {"thinking", 8},
    [SIGNATURE] = {"signature", 9}, [DATA] = {"data", 4}, [CITATIONS] = {"citations", 9},
};

static bool kind_of(struct pl_str type, enum pl_part_kind *ret_kind)
{
    static const struct {
        struct pl_str type;
        enum pl_part_kind kind;
    } kinds[] = {
        {{"text", 4}, PL_PART_TEXT},
        {{"thinking", 8}, PL_PART_THINKING},
        {{"tool_use", 8}, PL_PART_CALL},
        {{"redacted_thinking", 17}, PL_PART_REDACTED},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (pl_str_eq(type, kinds[i].type)) {
            *ret_kind = kinds[i].kind;
            return true;
        }
    return false;
}

static void start_block(struct in *in, uint32_t index, const struct pl_json_node *block)
{
    const struct pl_json_node *b[BLOCK_COUNT];
    enum pl_part_kind kind;
    pl_pick(&in->doc, block, block_names, BLOCK_COUNT, b);
    if (!kind_of(raw_of(in, b[TYPE]), &kind)) {
        if (pl_json_is(block, PL_JSON_OBJECT))
            pl_anthropic_own_start(in->s, in->r, index, pl_json_span(&in->doc, block));
        return;
    }
    pl_stream_open(in->s, 0, index,
                   &(struct pl_delta){
                       .part_kind = kind,
                       .id = raw_of(in, b[ID]),
                       .name = raw_of(in, b[NAME]),
                       .raw = raw_of(in, b[DATA]),
                   });
    const struct pl_open_part *part = pl_stream_find(in->s, 0, index);
    if (!part)
        return;
    switch (kind) {
    case PL_PART_TEXT:
        emit_piece(in, PL_DELTA_FRAGMENT, part, raw_of(in, b[TEXT]));
        keep_citations(in, b[CITATIONS]);
        break;
    case PL_PART_THINKING:
        emit_piece(in, PL_DELTA_FRAGMENT, part, raw_of(in, b[THINKING]));
        emit_piece(in, PL_DELTA_SIGNATURE, part, raw_of(in, b[SIGNATURE]));
        break;
    case PL_PART_CALL:
        keep_input(in, index, b[TOOL_INPUT]);
        break;
    default:
        break;
    }
}

enum { D_TEXT, D_JSON, D_THINKING, D_SIGNATURE, D_CITATION, DELTA_COUNT };
static const struct pl_str delta_names[] = {
    [D_TEXT] = {"text", 4},         [D_JSON] = {"partial_json", 12},
    [D_THINKING] = {"thinking", 8}, [D_SIGNATURE] = {"signature", 9},
    [D_CITATION] = {"citation", 8},
};

/* The text of a delta is in the field for the block's kind. */
static void go_on(struct in *in, uint32_t index, const struct pl_json_node *delta)
{
    static const uint8_t fields[PL_PART_KIND_COUNT] = {
        [PL_PART_TEXT] = D_TEXT, [PL_PART_THINKING] = D_THINKING, [PL_PART_CALL] = D_JSON};
    const struct pl_open_part *part = pl_stream_find(in->s, 0, index);
    const struct pl_json_node *d[DELTA_COUNT];
    pl_pick(&in->doc, delta, delta_names, DELTA_COUNT, d);
    if (!part)
        (void)pl_anthropic_own_add(in->s, in->r, index, raw_of(in, d[D_JSON]));
    if (!part || part->kind == PL_PART_REDACTED)
        return;
    struct pl_str words = raw_of(in, d[fields[part->kind]]);
    emit_piece(in, PL_DELTA_FRAGMENT, part, words);
    if (part->kind == PL_PART_THINKING)
        emit_piece(in, PL_DELTA_SIGNATURE, part, raw_of(in, d[D_SIGNATURE]));
    if (part->kind == PL_PART_TEXT && d[D_CITATION])
        keep_citation(in, d[D_CITATION]);
    if (!d[D_SIGNATURE] && !d[D_CITATION])
        pl_repeat_offer_words(&in->s->repeat, words,
                              (struct pl_repeat_of){.key = index, .kind = part->kind});
}

bool pl_anthropic_stream_say_again(struct pl_stream *s, void *state)
{
    struct pl_open_part *part = pl_stream_find(s, 0, s->repeat.of.key);
    (void)state;
    if (!part || part->kind != s->repeat.of.kind)
        return false;
    pl_stream_say(s, part, s->repeat.words);
    return true;
}

static void stop_block(struct in *in, uint32_t index)
{
    const struct pl_open_part *part = pl_stream_find(in->s, 0, index);
    if (pl_anthropic_own_stop(in->s, in->r, index) || !part)
        return;
    if (part->kind == PL_PART_CALL) {
        struct pl_anthropic_input *input = find_input(in, index);
        if (!part->has_fragment && !part->n_held)
            emit_piece(in, PL_DELTA_FRAGMENT, part, input ? pl_buf_str(&input->raw) : PL_STR("{}"));
        if (input)
            drop_input(in, input);
    } else if (part->kind == PL_PART_TEXT && in->r->citation_lens.len) {
        say_citations(in, part->part);
    }
    pl_stream_close(in->s, 0, index);
}

/* ---- events ---- */

enum {
    E_TYPE,
    E_INDEX,
    E_DELTA,
    E_BLOCK,
    E_MESSAGE,
    E_USAGE,
    E_ERROR,
    EVENT_COUNT,
};
static const struct pl_str event_names[] = {
    [E_TYPE] = {"type", 4},       [E_INDEX] = {"index", 5},
    [E_DELTA] = {"delta", 5},     [E_BLOCK] = {"content_block", 13},
    [E_MESSAGE] = {"message", 7}, [E_USAGE] = {"usage", 5},
    [E_ERROR] = {"error", 5},
};

/* An answer starts once. A second message_start with another id means that the first answer broke
 * off; with the same id it is a duplicate. Streams that are passed through are not checked for
 * this. */
static enum pl_status take_start(struct in *in, const struct pl_json_node *message)
{
    static const struct pl_str names[] = {{"id", 2}, {"model", 5}, {"usage", 5}};
    const struct pl_json_node *m[3];
    pl_pick(&in->doc, message, names, 3, m);
    uint64_t id = pl_hash(raw_of(in, m[0])) | 1;
    if (in->r->id && in->r->id != id && !in->s->passes_through)
        return pl_fail(in->err, PL_INVALID,
                       "another answer (message_start with the id %.*s) begins before the first "
                       "one has ended",
                       (int)(raw_of(in, m[0]).len < 80 ? raw_of(in, m[0]).len : 80),
                       raw_of(in, m[0]).len ? raw_of(in, m[0]).ptr : "");
    in->r->id = id;
    pl_stream_emit(in->s, &(struct pl_delta){
                              .kind = PL_DELTA_START,
                              .id = raw_of(in, m[0]),
                              .model = raw_of(in, m[1]),
                          });
    take_usage(in, m[2]);
    return PL_OK;
}

static void take_stop(struct in *in, const struct pl_json_node *delta)
{
    static const struct pl_str names[] = {
        {"stop_reason", 11}, {"stop_sequence", 13}, {"stop_details", 12}};
    static const struct pl_str explanation = {"explanation", 11};
    const struct pl_json_node *d[3], *why;
    pl_pick(&in->doc, delta, names, 3, d);
    pl_pick(&in->doc, d[2], &explanation, 1, &why);
    struct pl_str word = raw_of(in, d[0]);
    if (pl_json_is(d[2], PL_JSON_OBJECT))
        pl_stream_emit(in->s, &(struct pl_delta){.kind = PL_DELTA_ABOUT,
                                                 .json = pl_json_span(&in->doc, d[2])});
    if (word.len)
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = PL_DELTA_STOP,
                                  .finish = pl_anthropic_finish_of(word),
                                  .word = word,
                                  .stop_sequence = raw_of(in, d[1]),
                                  .detail = raw_of(in, why),
                              });
}

static void take_error(struct in *in, const struct pl_json_node *error)
{
    static const struct pl_str names[] = {{"type", 4}, {"message", 7}};
    const struct pl_json_node *e[2];
    pl_pick(&in->doc, error, names, 2, e);
    pl_stream_emit(in->s, &(struct pl_delta){
                              .kind = PL_DELTA_ERROR,
                              .type = raw_of(in, e[0]),
                              .message = raw_of(in, e[1] ? e[1] : error),
                          });
}

/* Event types, the most frequent first. */
enum event {
    BLOCK_DELTA,
    BLOCK_START,
    BLOCK_STOP,
    MESSAGE_START,
    MESSAGE_DELTA,
    MESSAGE_STOP,
    ERROR,
    UNKNOWN,
};

static enum event event_of(struct pl_str type)
{
    static const struct pl_str types[] = {
        [BLOCK_DELTA] = {"content_block_delta", 19},
        [BLOCK_START] = {"content_block_start", 19},
        [BLOCK_STOP] = {"content_block_stop", 18},
        [MESSAGE_START] = {"message_start", 13},
        [MESSAGE_DELTA] = {"message_delta", 13},
        [MESSAGE_STOP] = {"message_stop", 12},
        [ERROR] = {"error", 5},
    };
    for (size_t i = 0; i < UNKNOWN; i++)
        if (pl_str_eq(type, types[i]))
            return (enum event)i;
    return UNKNOWN;
}

static enum pl_status take_block_event(struct in *in, enum event event,
                                       const struct pl_json_node **e)
{
    int64_t index = pl_pick_count(&in->doc, e[E_INDEX]);
    if (index < 0 || index > UINT32_MAX)
        return pl_fail(in->err, PL_INVALID, "an event of a content block needs its \"index\"");
    if (event == BLOCK_DELTA)
        go_on(in, (uint32_t)index, e[E_DELTA]);
    else if (event == BLOCK_START)
        start_block(in, (uint32_t)index, e[E_BLOCK]);
    else
        stop_block(in, (uint32_t)index);
    return PL_OK;
}

static enum pl_status take_event(struct in *in, struct pl_str type)
{
    const struct pl_json_node *e[EVENT_COUNT];
    if (pl_json_kind(in->doc.root) != PL_JSON_OBJECT)
        return pl_fail(in->err, PL_INVALID, "an event must be a JSON object, but this is %s",
                       pl_json_kind_name(pl_json_kind(in->doc.root)));
    pl_pick(&in->doc, in->doc.root, event_names, EVENT_COUNT, e);
    if (e[E_TYPE])
        type = raw_of(in, e[E_TYPE]);
    enum event event = event_of(type);
    switch (event) {
    case BLOCK_DELTA:
    case BLOCK_START:
    case BLOCK_STOP:
        return take_block_event(in, event, e);
    case MESSAGE_START:
        return take_start(in, e[E_MESSAGE]);
    case MESSAGE_DELTA:
        take_usage(in, e[E_USAGE]);
        take_stop(in, e[E_DELTA]);
        break;
    case MESSAGE_STOP:
        pl_stream_emit(in->s, &(struct pl_delta){.kind = PL_DELTA_END});
        break;
    case ERROR:
        take_error(in, e[E_ERROR]);
        break;
    case UNKNOWN:
        if (!e[E_TYPE] && e[E_ERROR])
            take_error(in, e[E_ERROR]);
        break;
    }
    return PL_OK;
}

enum pl_status pl_anthropic_stream_read(struct pl_stream *s, void *state,
                                        const struct pl_sse_event *event, struct pl_error *err)
{
    struct in in = {.s = s, .r = state, .err = err};
    if (event->type.len && event_of(event->type) == UNKNOWN)
        return PL_OK;
    enum pl_status status = pl_stream_json(s, event->data, &in.doc, err);
    return status == PL_OK ? take_event(&in, event->type) : status;
}

/* Citations wait for the end of their text, which will not come: emit them now. */
void pl_anthropic_stream_release(struct pl_stream *s, void *state)
{
    struct in in = {.s = s, .r = state};
    for (size_t i = 0; i < s->open.len; i++)
        if (s->open.ptr[i].kind == PL_PART_TEXT)
            say_citations(&in, s->open.ptr[i].part);
}

void pl_anthropic_stream_read_deinit(void *state)
{
    struct pl_anthropic_reader *r = state;
    for (size_t i = 0; i < r->inputs.len; i++)
        pl_buf_deinit(&r->inputs.ptr[i].raw);
    pl_vec_deinit(&r->inputs);
    pl_anthropic_own_deinit(r);
    pl_vec_deinit(&r->citation_lens);
    pl_buf_deinit(&r->citations);
}
