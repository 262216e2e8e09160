/* Reading patches: see patches.c.
 *
 * Text comes as text_delta. `content`, the whole text of the block so far, wins: it includes the
 * text of lost patches. A call may be repeated and the last one counts, so calls wait until
 * something else comes. Tool results (they belong to the user's side), patches of another turn or
 * loop, and duplicates are ignored. */
#include "stream/patches/patches_int.h"

#include "json/text.h"
#include "stream/pick.h"

enum { KEY_TEXT, KEY_THINKING, KEY_CALL };

/* Limit of waiting calls: a turn has a few. */
enum { MAX_WAITING = 256 };

struct reading {
    struct pl_stream *s;
    struct pl_patches_reader *r;
    const struct pl_json_doc *doc;
    const struct pl_json_node *data;
    const struct pl_json_node *sequence; /* NULL: absent */
    struct pl_error *err;
};

enum { SESSION, TURN, LOOP, SEQUENCE, TYPE, DATA, N_MEMBERS };

/* Gets one member; for members that few patches have. */
static const struct pl_json_node *get(const struct reading *x, const struct pl_json_node *object,
                                      const char *key)
{
    struct pl_str name = pl_str_of(key);
    const struct pl_json_node *value;
    pl_pick(x->doc, object, &name, 1, &value);
    return value;
}

static struct pl_str raw_of(const struct reading *x, const struct pl_json_node *object,
                            const char *key)
{
    return pl_pick_raw(x->doc, get(x, object, key));
}

static void set(struct pl_stream *s, struct pl_buf *buf, struct pl_str text)
{
    pl_buf_clear(buf);
    pl_buf_add(buf, text);
    if (buf->status != PL_OK)
        s->status = buf->status;
}

static void emit_fragment(struct pl_stream *s, uint32_t part, enum pl_part_kind kind,
                          struct pl_str raw)
{
    pl_stream_emit(s, &(struct pl_delta){
                          .kind = PL_DELTA_FRAGMENT, .part = part, .part_kind = kind, .raw = raw});
}

/* ---- calls ---- */

static void say_call(struct pl_stream *s, struct pl_patches_reader *r,
                     const struct pl_patch_call *call)
{
    uint32_t key = KEY_CALL + r->n_calls++;
    uint32_t part = pl_stream_open(s, 0, key,
                                   &(struct pl_delta){.part_kind = PL_PART_CALL,
                                                      .id = pl_buf_str(&call->id),
                                                      .name = pl_buf_str(&call->name)});
    emit_fragment(s, part, PL_PART_CALL, call->args.len ? pl_buf_str(&call->args) : PL_STR("{}"));
    pl_stream_close(s, 0, key);
}

static void say_calls(struct pl_stream *s, struct pl_patches_reader *r)
{
    for (size_t i = 0; i < r->calls.len; i++) {
        say_call(s, r, &r->calls.ptr[i]);
        pl_patch_call_deinit(&r->calls.ptr[i]);
    }
    r->calls.len = 0;
}

static void close_block(struct pl_stream *s, struct pl_patches_reader *r)
{
    pl_stream_close(s, 0, KEY_TEXT);
    pl_stream_close(s, 0, KEY_THINKING);
    r->block = PL_PART_OTHER;
    pl_buf_clear(&r->content);
}

static struct pl_patch_call *waiting(struct pl_patches_reader *r, struct pl_str id)
{
    for (size_t i = 0; i < r->calls.len; i++)
        if (pl_str_eq(pl_buf_str(&r->calls.ptr[i].id), id))
            return &r->calls.ptr[i];
    return NULL;
}

/* Adds a new call; NULL if it was emitted already (only its status can have changed), or when out
 * of memory. */
static struct pl_patch_call *add_call(const struct reading *x, struct pl_str id)
{
    struct pl_patches_reader *r = x->r;
    struct pl_patch_call call;
    bool is_new = true;
    struct pl_str key = pl_arena_dup(&r->arena, id);
    if ((id.len && !key.ptr) || !pl_map_put(&r->ids, key, &is_new)) {
        x->s->status = PL_NOMEM;
        return NULL;
    }
    if (!is_new)
        return NULL;
    close_block(x->s, r);
    if (r->calls.len == MAX_WAITING)
        say_calls(x->s, r);
    pl_patch_call_init(&call);
    set(x->s, &call.id, id);
    if (x->s->status == PL_OK && pl_vec_push(&r->calls, call)) {
        r->ends_in_call = true;
        return &r->calls.ptr[r->calls.len - 1];
    }
    x->s->status = PL_NOMEM;
    pl_patch_call_deinit(&call);
    return NULL;
}

static enum pl_status read_call(const struct reading *x)
{
    struct pl_str id = raw_of(x, x->data, "id");
    struct pl_str name = raw_of(x, x->data, "tool_name");
    const struct pl_json_node *args = get(x, x->data, "arguments");
    if (!id.len)
        return pl_fail(x->err, PL_INVALID, "an add_tool_call patch has no id");
    struct pl_patch_call *call = waiting(x->r, id);
    if (!call)
        call = add_call(x, id);
    if (!call)
        return x->s->status;
    if (name.len)
        set(x->s, &call->name, name);
    if (pl_json_is(args, PL_JSON_STRING))
        set(x->s, &call->args, pl_json_raw(x->doc, args));
    return x->s->status;
}

/* ---- content ---- */

/* Whether the sequence number is new. Notes it. */
static bool is_next(struct pl_patches_reader *r, int64_t sequence)
{
    if (sequence <= r->sequence)
        return false;
    r->sequence = sequence;
    return true;
}

static void say(struct pl_stream *s, struct pl_patches_reader *r, enum pl_part_kind kind,
                struct pl_str raw)
{
    if (!raw.len)
        return;
    uint32_t key = kind == PL_PART_THINKING ? KEY_THINKING : KEY_TEXT;
    struct pl_open_part *part = pl_stream_find(s, 0, key);
    if (!part) {
        pl_stream_open(s, 0, key, &(struct pl_delta){.part_kind = kind});
        part = pl_stream_find(s, 0, key);
    }
    if (part)
        pl_stream_say(s, part, raw);
    pl_buf_add(&r->content, raw);
    if (r->content.status != PL_OK)
        s->status = r->content.status;
    r->ends_in_call = false;
}

bool pl_patches_stream_say_again(struct pl_stream *s, void *state)
{
    struct pl_patches_reader *r = state;
    const struct pl_repeat *repeat = &s->repeat;
    if (r->calls.len || r->block != repeat->of.kind)
        return false;
    for (size_t i = 0; i < repeat->n_holes; i++)
        if (repeat->holes[i].name == SEQUENCE && !is_next(r, pl_repeat_number(repeat->holes[i].is)))
            return true;
    say(s, r, repeat->of.kind, repeat->words);
    return true;
}

/* The patch only continues the open block: the next one may be like it. */
static void offer(const struct reading *x, enum pl_part_kind kind, struct pl_str words)
{
    pl_repeat_offer_words(&x->s->repeat, words, (struct pl_repeat_of){.kind = kind});
    if (x->sequence)
        pl_repeat_offer_hole(&x->s->repeat, pl_json_span(x->doc, x->sequence), SEQUENCE);
}

static enum pl_status decoded(const struct reading *x, struct pl_str raw, struct pl_str *ret_text)
{
    char *memory = pl_arena_alloc(&x->s->arena, raw.len + 1, 1);
    if (!memory)
        return PL_NOMEM;
    *ret_text = (struct pl_str){memory, pl_json_decode(memory, raw)};
    return PL_OK;
}

/* Emitted text cannot be changed, so different content is an error. The same text may be escaped
 * differently. */
static enum pl_status check_content(const struct reading *x, struct pl_str content)
{
    struct pl_str said = {0}, is = {0};
    enum pl_status status = decoded(x, pl_buf_str(&x->r->content), &said);
    if (status == PL_OK)
        status = decoded(x, content, &is);
    if (status == PL_OK && !pl_str_eq(said, is))
        return pl_fail(x->err, PL_INVALID,
                       "the content of a patch is not the sum of the text_deltas before it");
    return status;
}

static enum pl_status read_text(const struct reading *x, enum pl_part_kind kind,
                                const struct pl_json_node *content,
                                const struct pl_json_node *delta)
{
    struct pl_patches_reader *r = x->r;
    struct pl_str whole = pl_pick_raw(x->doc, content);
    bool is_whole = content && pl_str_starts(whole, pl_buf_str(&r->content));
    bool is_closed = !delta;
    say_calls(x->s, r);
    /* Without a delta the content is a new block, unless it continues the open one. */
    if (r->block != kind || (is_closed && !(is_whole && r->content.len))) {
        close_block(x->s, r);
        is_whole = content != NULL;
        r->block = kind;
    } else {
        is_closed = false;
    }
    if (is_whole) {
        say(x->s, r, kind, pl_str_slice(whole, r->content.len, whole.len));
    } else if (delta) {
        say(x->s, r, kind, pl_pick_raw(x->doc, delta));
        if (content && x->s->status == PL_OK)
            return check_content(x, whole);
        offer(x, kind, pl_pick_raw(x->doc, delta));
    }
    if (is_closed)
        close_block(x->s, r);
    return x->s->status;
}

static enum pl_status read_content(const struct reading *x)
{
    enum { BLOCK, CONTENT, DELTA, N };
    static const struct pl_str names[N] = {{"type", 4}, {"content", 7}, {"text_delta", 10}};
    const struct pl_json_node *f[N];
    pl_pick(x->doc, x->data, names, N, f);
    struct pl_str block = pl_pick_raw(x->doc, f[BLOCK]);
    bool is_thinking = pl_str_eq(block, PL_STR("thinking"));
    bool is_string = (!f[CONTENT] || pl_json_is(f[CONTENT], PL_JSON_STRING)) &&
                     (!f[DELTA] || pl_json_is(f[DELTA], PL_JSON_STRING));
    if (is_string && (is_thinking || pl_str_eq(block, PL_STR("text"))))
        return read_text(x, is_thinking ? PL_PART_THINKING : PL_PART_TEXT, f[CONTENT], f[DELTA]);
    pl_stream_emit(
        x->s, &(struct pl_delta){.kind = PL_DELTA_OTHER, .json = pl_json_span(x->doc, x->data)});
    return PL_OK;
}

/* ---- status ---- */

static void read_usage(const struct reading *x)
{
    const struct pl_json_node *usage = get(x, x->data, "usage");
    if (!usage)
        return;
    pl_stream_emit(x->s,
                   &(struct pl_delta){
                       .kind = PL_DELTA_USAGE,
                       .counts = {.input = pl_pick_count(x->doc, get(x, usage, "input_tokens")),
                                  .output = pl_pick_count(x->doc, get(x, usage, "output_tokens")),
                                  .total = -1,
                                  .cache_read = -1,
                                  .cache_write = -1,
                                  .reasoning = -1,
                                  .tool_input = -1}});
}

static void end_turn(struct pl_stream *s, struct pl_patches_reader *r, struct pl_str reason)
{
    static const struct {
        const char *word;
        enum pl_finish finish;
    } reasons[] = {
        {"length", PL_FINISH_LENGTH}, {"filter", PL_FINISH_FILTER}, {"other", PL_FINISH_OTHER}};
    struct pl_delta stop = {.kind = PL_DELTA_STOP, .word = reason};
    stop.finish = r->ends_in_call ? PL_FINISH_TOOLS : PL_FINISH_STOP;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (pl_str_eq(reason, pl_str_of(reasons[i].word)))
            stop.finish = reasons[i].finish;
    say_calls(s, r);
    pl_stream_emit(s, &stop);
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_END});
}

static void read_failure(const struct reading *x, struct pl_str status)
{
    const struct pl_json_node *error = get(x, x->data, "error");
    struct pl_str message = raw_of(x, error, "message"), type = raw_of(x, error, "type");
    bool is_interrupted = pl_str_eq(status, PL_STR("interrupted"));
    if (!message.len)
        message = raw_of(x, x->data, "message");
    if (!message.len)
        message = raw_of(x, x->data, "error");
    if (!message.len)
        message = is_interrupted ? PL_STR("the turn was interrupted") : PL_STR("the turn failed");
    pl_stream_emit(x->s, &(struct pl_delta){.kind = PL_DELTA_ERROR,
                                            .type = type.len ? type : PL_STR("api_error"),
                                            .message = message});
}

static enum pl_status read_status(const struct reading *x)
{
    struct pl_str status = raw_of(x, x->data, "status");
    struct pl_str reason = raw_of(x, x->data, "finish_reason");
    read_usage(x);
    /* A paused turn waits for an answer: it continues, or is complete. */
    x->r->is_paused = pl_str_eq(status, PL_STR("paused"));
    if (pl_str_eq(status, PL_STR("completed")))
        end_turn(x->s, x->r, reason);
    else if (pl_str_eq(status, PL_STR("failed")) || pl_str_eq(status, PL_STR("interrupted")))
        read_failure(x, status);
    else if (pl_str_eq(status, PL_STR("streaming")) && !x->s->is_started)
        pl_stream_emit(
            x->s, &(struct pl_delta){.kind = PL_DELTA_START, .model = raw_of(x, x->data, "model")});
    return x->s->status;
}

/* ---- envelopes ---- */

static void make_ready(struct pl_patches_reader *r)
{
    r->is_ready = true;
    r->block = PL_PART_OTHER;
    r->sequence = -1;
    pl_buf_init(&r->session_id, 0);
    pl_buf_init(&r->turn_id, 0);
    pl_buf_init(&r->loop_id, 0);
    pl_buf_init(&r->content, 0);
    pl_arena_init(&r->arena, 0);
}

/* Whether a patch is the next one of this turn. */
static bool is_ours(const struct reading *x, const struct pl_json_node *const f[])
{
    struct pl_patches_reader *r = x->r;
    struct pl_str turn = pl_pick_raw(x->doc, f[TURN]), loop = pl_pick_raw(x->doc, f[LOOP]);
    int64_t sequence = pl_pick_count(x->doc, f[SEQUENCE]);
    if (!r->has_turn) {
        r->has_turn = true;
        set(x->s, &r->session_id, pl_pick_raw(x->doc, f[SESSION]));
        set(x->s, &r->turn_id, turn);
        set(x->s, &r->loop_id, loop);
    }
    if (!pl_str_eq(turn, pl_buf_str(&r->turn_id)) || !pl_str_eq(loop, pl_buf_str(&r->loop_id)))
        return false;
    return sequence < 0 || is_next(r, sequence);
}

static const struct {
    const char *type;
    enum pl_status (*read)(const struct reading *x);
} patch_types[] = {
    {"add_content", read_content},
    {"add_tool_call", read_call},
    {"set_status", read_status},
};

enum pl_status pl_patches_stream_read(struct pl_stream *s, void *state,
                                      const struct pl_sse_event *event, struct pl_error *err)
{
    static const struct pl_str members[N_MEMBERS] = {
        [SESSION] = {"session_id", 10}, [TURN] = {"turn_id", 7},     [LOOP] = {"loop_id", 7},
        [SEQUENCE] = {"sequence", 8},   [TYPE] = {"patch_type", 10}, [DATA] = {"data", 4},
    };
    const struct pl_json_node *f[N_MEMBERS];
    struct pl_json_doc doc;
    struct reading x = {.s = s, .r = state, .doc = &doc, .err = err};
    if (!x.r->is_ready)
        make_ready(x.r);
    if (!event->data.len)
        return PL_OK;
    enum pl_status status = pl_stream_json(s, event->data, &doc, err);
    if (status != PL_OK)
        return status;
    pl_pick(&doc, doc.root, members, N_MEMBERS, f);
    struct pl_str type = pl_pick_raw(&doc, f[TYPE]);
    x.data = f[DATA];
    x.sequence = pl_json_is(f[SEQUENCE], PL_JSON_NUMBER) ? f[SEQUENCE] : NULL;
    if (!type.len || !pl_json_is(x.data, PL_JSON_OBJECT) || !is_ours(&x, f))
        return s->status;
    for (size_t i = 0; i < sizeof patch_types / sizeof *patch_types; i++)
        if (pl_str_eq(type, pl_str_of(patch_types[i].type)))
            return patch_types[i].read(&x);
    return PL_OK;
}

/* Calls wait for their final form, which will not come: emit them now. */
void pl_patches_stream_release(struct pl_stream *s, void *state)
{
    say_calls(s, state);
}

void pl_patches_stream_read_end(struct pl_stream *s, void *state)
{
    struct pl_patches_reader *r = state;
    if (r->is_paused)
        end_turn(s, r, (struct pl_str){0});
}

void pl_patches_stream_read_deinit(void *state)
{
    struct pl_patches_reader *r = state;
    for (size_t i = 0; i < r->calls.len; i++)
        pl_patch_call_deinit(&r->calls.ptr[i]);
    pl_vec_deinit(&r->calls);
    pl_map_deinit(&r->ids);
    pl_arena_deinit(&r->arena);
    pl_buf_deinit(&r->session_id);
    pl_buf_deinit(&r->turn_id);
    pl_buf_deinit(&r->loop_id);
    pl_buf_deinit(&r->content);
}
