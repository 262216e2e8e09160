/* anthropic streams: reading message and content_block events.
 *
 * blocks.c reads the content blocks; unknown events are skipped. Usage comes twice, at the start and at the end, each with some of the
 * counters: the last value of each counts. */
#include "stream/anthropic/anthropic_int.h"

#include "base/hash.h"
#include "format/anthropic/words.h"
#include "json/text.h"
#include "stream/pick.h"

static struct pl_str raw_of(const struct pl_anthropic_in *in, const struct pl_json_node *node)
{
    return pl_pick_raw(&in->doc, node);
}

/* ---- usage ---- */

enum { INPUT, OUTPUT, CACHE_READ, CACHE_WRITE, DETAILS, TIER, USAGE_COUNT };
static const struct pl_str usage_names[] = {
    [INPUT] = {"input_tokens", 12},
    [OUTPUT] = {"output_tokens", 13},
    [CACHE_READ] = {"cache_read_input_tokens", 23},
    [CACHE_WRITE] = {"cache_creation_input_tokens", 27},
    [DETAILS] = {"output_tokens_details", 21},
    [TIER] = {"service_tier", 12},
};

static void take_count(const struct pl_anthropic_in *in, const struct pl_json_node *node,
                       int64_t *count)
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

static void take_usage(struct pl_anthropic_in *in, const struct pl_json_node *usage)
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
    pl_stream_note_tier(in->s, pl_pick_raw(&in->doc, u[TIER]));
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

static void take_stop(struct pl_anthropic_in *in, const struct pl_json_node *delta)
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

/* Blocks in the message itself are complete: a program that runs at the vendor and calls the
 * client's tools gets answers that are only message_start and message_stop. */
static enum pl_status take_blocks(struct pl_anthropic_in *in, const struct pl_json_node *content)
{
    enum pl_status status = PL_OK;
    uint32_t index = 0;
    if (!pl_json_is(content, PL_JSON_ARRAY))
        return PL_OK;
    for (const struct pl_json_node *n = pl_json_first(content);
         n < pl_json_end(content) && status == PL_OK; n = pl_json_next(n), index++) {
        status = pl_anthropic_block_start(in, index, n);
        if (status == PL_OK)
            status = pl_anthropic_block_stop(in, index);
    }
    in->r->n_begun = 0; /* the blocks in events have indices of their own */
    return status;
}

/* An answer starts once. A second message_start with another id means that the first answer broke
 * off; with the same id it is a duplicate. Streams that are passed through are not checked for
 * this. */
static enum pl_status take_start(struct pl_anthropic_in *in, const struct pl_json_node *message)
{
    static const struct pl_str names[] = {{"id", 2}, {"model", 5}, {"usage", 5}, {"content", 7}};
    const struct pl_json_node *m[4];
    pl_pick(&in->doc, message, names, 4, m);
    uint64_t id = pl_hash(raw_of(in, m[0])) | 1;
    bool is_first = !in->r->id;
    if (!is_first && in->r->id != id && !in->s->passes_through)
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
    if (!is_first)
        return PL_OK;
    take_stop(in, message);
    return take_blocks(in, m[3]);
}

static void take_error(struct pl_anthropic_in *in, const struct pl_json_node *error)
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

static enum pl_status take_block_event(struct pl_anthropic_in *in, enum event event,
                                       const struct pl_json_node **e)
{
    int64_t index = pl_pick_count(&in->doc, e[E_INDEX]);
    if (index < 0 || index > UINT32_MAX)
        return pl_fail(in->err, PL_INVALID, "an event of a content block needs its \"index\"");
    if (event == BLOCK_DELTA)
        return pl_anthropic_block_delta(in, (uint32_t)index, e[E_DELTA]);
    if (event == BLOCK_START)
        return pl_anthropic_block_start(in, (uint32_t)index, e[E_BLOCK]);
    return pl_anthropic_block_stop(in, (uint32_t)index);
}

/* Without the last events nobody knows why the answer ended. */
static enum pl_status take_end(struct pl_anthropic_in *in)
{
    bool is_told = in->r->has_delta || in->s->is_stopped || in->s->passes_through;
    if (!is_told)
        return pl_fail(in->err, PL_INVALID, "message_stop comes without a message_delta before it");
    pl_anthropic_blocks_end(in);
    pl_stream_emit(in->s, &(struct pl_delta){.kind = PL_DELTA_END});
    return in->s->status;
}

static enum pl_status check_started(const struct pl_anthropic_in *in, enum event event)
{
    bool needs_start = event != MESSAGE_START && event != ERROR && event != UNKNOWN;
    if (!needs_start || in->r->id || in->s->passes_through)
        return PL_OK;
    return pl_fail(in->err, PL_INVALID, "the stream does not begin with message_start");
}

static enum pl_status take_event(struct pl_anthropic_in *in, struct pl_str type)
{
    const struct pl_json_node *e[EVENT_COUNT];
    if (pl_json_kind(in->doc.root) != PL_JSON_OBJECT)
        return pl_fail(in->err, PL_INVALID, "an event must be a JSON object, but this is %s",
                       pl_json_kind_name(pl_json_kind(in->doc.root)));
    pl_pick(&in->doc, in->doc.root, event_names, EVENT_COUNT, e);
    if (e[E_TYPE] && !pl_json_is(e[E_TYPE], PL_JSON_STRING) && !in->s->passes_through)
        return pl_fail(in->err, PL_INVALID, "the type of an event must be a string, but this is %s",
                       pl_json_kind_name(pl_json_kind(e[E_TYPE])));
    if (e[E_TYPE])
        type = raw_of(in, e[E_TYPE]);
    enum event event = event_of(type);
    enum pl_status status = check_started(in, event);
    if (status != PL_OK)
        return status;
    switch (event) {
    case BLOCK_DELTA:
    case BLOCK_START:
    case BLOCK_STOP:
        return take_block_event(in, event, e);
    case MESSAGE_START:
        return take_start(in, e[E_MESSAGE]);
    case MESSAGE_DELTA:
        in->r->has_delta = true;
        take_usage(in, e[E_USAGE]);
        take_stop(in, e[E_DELTA]);
        break;
    case MESSAGE_STOP:
        return take_end(in);
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
    struct pl_anthropic_in in = {.s = s, .r = state, .err = err};
    if (event->type.len && event_of(event->type) == UNKNOWN)
        return PL_OK;
    enum pl_status status = pl_stream_json(s, event->data, &in.doc, err);
    return status == PL_OK ? take_event(&in, event->type) : status;
}

void pl_anthropic_stream_read_deinit(void *state)
{
    struct pl_anthropic_reader *r = state;
    pl_anthropic_blocks_deinit(r);
    pl_anthropic_own_deinit(r);
}
