/* Writing patches: see patches.c. */
#include "stream/patches/patches_int.h"

/* While a block is short, every delta repeats its whole text as `content`. Above this many bytes,
 * the text is repeated only when it has doubled and when the block closes, so that the output grows
 * linearly and not with the square of the text. */
enum { ALWAYS_REPEATED = 1024 };

#define AFTER_SEQUENCE ",\"turn_id\":\"turn_1\",\"loop_id\":\"root\",\"patch_type\":\""

static void begin_patch(struct pl_stream *s, struct pl_patches_writer *w, struct pl_str rest)
{
    pl_buf_adds(&s->out, "{\"session_id\":\"sess_1\",\"sequence\":");
    pl_buf_addu(&s->out, ++w->sequence);
    pl_buf_add(&s->out, rest);
}

static void end_patch(struct pl_stream *s)
{
    pl_buf_adds(&s->out, "}}\n");
}

/* ---- content ---- */

static void write_content(struct pl_stream *s, struct pl_patches_writer *w, struct pl_str delta,
                          bool repeats)
{
    begin_patch(s, w, PL_STR(AFTER_SEQUENCE "add_content\",\"data\":{\"type\":\""));
    pl_buf_adds(&s->out, w->block);
    if (repeats) {
        pl_buf_adds(&s->out, "\",\"content\":\"");
        pl_buf_add(&s->out, pl_buf_str(&w->content));
        w->n_said = w->content.len;
    }
    pl_buf_adds(&s->out, "\",\"text_delta\":\"");
    pl_buf_add(&s->out, delta);
    pl_buf_addc(&s->out, '"');
    end_patch(s);
}

static void close_block(struct pl_stream *s, struct pl_patches_writer *w)
{
    if (w->block && w->n_said < w->content.len)
        write_content(s, w, (struct pl_str){0}, true);
    w->block = NULL;
    pl_buf_clear(&w->content);
    w->n_said = 0;
}

static void add_content(struct pl_stream *s, struct pl_patches_writer *w, const char *block,
                        struct pl_str raw)
{
    if (w->block != block) {
        close_block(s, w);
        w->block = block;
    }
    pl_buf_add(&w->content, raw);
    if (w->content.status != PL_OK) {
        s->status = w->content.status;
        return;
    }
    bool has_doubled = w->content.len / 2 >= w->n_said;
    write_content(s, w, raw, w->content.len <= ALWAYS_REPEATED || has_doubled);
}

/* ---- calls ---- */

static struct pl_patch_call *call_of(struct pl_patches_writer *w, uint32_t part)
{
    for (size_t i = 0; i < w->calls.len; i++)
        if (w->calls.ptr[i].part == part)
            return &w->calls.ptr[i];
    return NULL;
}

static void add(struct pl_stream *s, struct pl_buf *to, struct pl_str raw)
{
    pl_buf_add(to, raw);
    if (to->status != PL_OK)
        s->status = to->status;
}

static void start_call(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_patches_writer *w = state;
    if (delta->part_kind != PL_PART_CALL)
        return;
    struct pl_patch_call call;
    pl_patch_call_init(&call);
    call.part = delta->part;
    call.is_custom = delta->is_custom;
    w->n_calls++;
    if (delta->id.len)
        add(s, &call.id, delta->id);
    else
        pl_buf_addf(&call.id, "tc_%u", (unsigned)w->n_calls);
    add(s, &call.name, delta->name);
    if (s->status == PL_OK && call.id.status == PL_OK && pl_vec_push(&w->calls, call))
        return;
    s->status = PL_NOMEM;
    pl_patch_call_deinit(&call);
}

static void write_call(struct pl_stream *s, struct pl_patches_writer *w,
                       const struct pl_patch_call *call)
{
    close_block(s, w);
    begin_patch(s, w, PL_STR(AFTER_SEQUENCE "add_tool_call\",\"data\":{\"id\":"));
    pl_stream_put_string(s, pl_buf_str(&call->id));
    pl_buf_adds(&s->out, ",\"tool_name\":");
    pl_stream_put_string(s, pl_buf_str(&call->name));
    pl_buf_adds(&s->out, ",\"display_name\":");
    pl_stream_put_string(s, pl_buf_str(&call->name));
    pl_buf_adds(&s->out, ",\"arguments\":");
    bool is_bare = !call->args.len && !call->is_custom;
    pl_stream_put_string(s, is_bare ? PL_STR("{}") : pl_buf_str(&call->args));
    pl_buf_adds(&s->out, ",\"status\":\"pending\"");
    end_patch(s);
}

/* An incomplete call must not be run. */
static void end_call(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_patches_writer *w = state;
    struct pl_patch_call *call = call_of(w, delta->part);
    if (!call)
        return;
    if (!delta->is_cut)
        write_call(s, w, call);
    pl_patch_call_deinit(call);
    w->calls.len--;
    memmove(call, call + 1, (size_t)(w->calls.ptr + w->calls.len - call) * sizeof *call);
}

/* ---- status ---- */

static void begin_status(struct pl_stream *s, struct pl_patches_writer *w, const char *status)
{
    begin_patch(s, w, PL_STR(AFTER_SEQUENCE "set_status\",\"data\":{\"status\":\""));
    pl_buf_adds(&s->out, status);
    pl_buf_addc(&s->out, '"');
}

static void write_start(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_patches_writer *w = state;
    begin_status(s, w, "streaming");
    if (delta->model.len) {
        pl_buf_adds(&s->out, ",\"model\":");
        pl_stream_put_string(s, delta->model);
    }
    end_patch(s);
}

static void write_usage(struct pl_stream *s, const struct pl_counts *c)
{
    pl_buf_adds(&s->out, ",\"usage\":{");
    if (c->input >= 0) {
        pl_buf_adds(&s->out, "\"input_tokens\":");
        pl_buf_addu(&s->out, (uint64_t)c->input);
    }
    if (c->output >= 0) {
        pl_buf_adds(&s->out, c->input >= 0 ? ",\"output_tokens\":" : "\"output_tokens\":");
        pl_buf_addu(&s->out, (uint64_t)c->output);
    }
    pl_buf_addc(&s->out, '}');
}

/* The model has finished the turn; its calls wait to be run. */
static void write_stop(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_patches_writer *w = state;
    static const char *const reasons[] = {
        [PL_FINISH_NONE] = NULL,  [PL_FINISH_STOP] = NULL,       [PL_FINISH_LENGTH] = "length",
        [PL_FINISH_TOOLS] = NULL, [PL_FINISH_FILTER] = "filter", [PL_FINISH_OTHER] = "other",
    };
    close_block(s, w);
    begin_status(s, w, "completed");
    if (reasons[delta->finish]) {
        pl_buf_adds(&s->out, ",\"finish_reason\":\"");
        pl_buf_adds(&s->out, reasons[delta->finish]);
        pl_buf_addc(&s->out, '"');
    }
    if (w->has_usage && (w->counts.input >= 0 || w->counts.output >= 0))
        write_usage(s, &w->counts);
    end_patch(s);
}

static void put_failure(struct pl_stream *s, const struct pl_delta *delta)
{
    pl_buf_adds(&s->out, ",\"error\":{\"type\":");
    pl_stream_put_string(s, delta->type.len ? delta->type : PL_STR("api_error"));
    pl_buf_adds(&s->out, ",\"message\":");
    pl_stream_put_string(s, delta->message.len ? delta->message : PL_STR("the stream failed"));
    pl_buf_addc(&s->out, '}');
}

static void write_own_error(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_patches_writer *w = state;
    close_block(s, w);
    begin_status(s, w, "failed");
    put_failure(s, delta);
    end_patch(s);
}

/* After patches that were passed through, the error is the next patch of the same turn. */
static void write_last_error(struct pl_stream *s, const struct pl_delta *delta)
{
    const struct pl_patches_reader *r = s->reader;
    bool has_turn = r->has_turn;
    pl_stream_begin_event(s, NULL);
    pl_buf_adds(&s->out, "{\"session_id\":");
    pl_stream_put_string(s, has_turn ? pl_buf_str(&r->session_id) : PL_STR("sess_1"));
    pl_buf_adds(&s->out, ",\"sequence\":");
    pl_buf_addu(&s->out, has_turn && r->sequence < INT64_MAX ? (uint64_t)r->sequence + 1 : 1);
    pl_buf_adds(&s->out, ",\"turn_id\":");
    pl_stream_put_string(s, has_turn ? pl_buf_str(&r->turn_id) : PL_STR("turn_1"));
    pl_buf_adds(&s->out, ",\"loop_id\":");
    pl_stream_put_string(s, has_turn ? pl_buf_str(&r->loop_id) : PL_STR("root"));
    pl_buf_adds(&s->out, ",\"patch_type\":\"set_status\",\"data\":{\"status\":\"failed\"");
    put_failure(s, delta);
    pl_buf_adds(&s->out, "}}");
    pl_stream_end_event(s);
}

/* ---- deltas ---- */

static void write_fragment(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_patches_writer *w = state;
    static const char text[] = "text", thinking[] = "thinking";
    struct pl_patch_call *call;
    if (delta->part_kind == PL_PART_TEXT || delta->part_kind == PL_PART_REFUSAL)
        add_content(s, w, text, delta->raw);
    else if (delta->part_kind == PL_PART_THINKING)
        add_content(s, w, thinking, delta->raw);
    else if ((call = call_of(w, delta->part)))
        add(s, &call->args, delta->raw);
}

static void take_usage(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_patches_writer *w = state;
    (void)s;
    w->counts = delta->counts;
    w->has_usage = true;
}

static void write_error(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    if (s->from == s->to)
        write_last_error(s, delta);
    else
        write_own_error(s, state, delta);
}

void pl_patches_stream_write_first(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_patches_writer *w = state;
    (void)s;
    (void)delta;
    pl_buf_init(&w->content, 0);
}

/* A turn has no place for signatures and citations. */
pl_delta_writer *const pl_patches_stream_writes[PL_DELTA_COUNT] = {
    [PL_DELTA_START] = write_start,       [PL_DELTA_PART_START] = start_call,
    [PL_DELTA_FRAGMENT] = write_fragment, [PL_DELTA_PART_END] = end_call,
    [PL_DELTA_USAGE] = take_usage,        [PL_DELTA_STOP] = write_stop,
    [PL_DELTA_ERROR] = write_error,
};

void pl_patches_stream_write_deinit(void *state)
{
    struct pl_patches_writer *w = state;
    for (size_t i = 0; i < w->calls.len; i++)
        pl_patch_call_deinit(&w->calls.ptr[i]);
    pl_vec_deinit(&w->calls);
    pl_buf_deinit(&w->content);
}
