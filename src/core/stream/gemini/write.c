/* Writing Google's stream: see gemini.c.
 *
 * Each fragment of text is an event. A call waits until it is whole, the counters until the answer
 * ends. A refusal becomes text, since Gemini has no other place for it. */
#include "stream/gemini/gemini_int.h"

#include "base/ascii.h"
#include "format/gemini/words.h"
#include "format/pieces/usage.h"
#include "json/text.h"

#define HEAD "data: {\"candidates\":[{\"content\":{\"parts\":[{"

/* Makes the members that follow the parts in every event. */
void pl_gemini_stream_write_first(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_gemini_writer *w = state;
    pl_buf_init(&w->tail, 0);
    if (delta->model.len) {
        pl_buf_adds(&w->tail, ",\"modelVersion\":\"");
        pl_buf_add(&w->tail, delta->model);
        pl_buf_addc(&w->tail, '"');
    }
    pl_buf_adds(&w->tail, ",\"responseId\":\"");
    pl_buf_add(&w->tail, delta->id.len ? delta->id : PL_STR("resp_1"));
    pl_buf_adds(&w->tail, "\"}\n\n");
    if (w->tail.status != PL_OK)
        s->status = w->tail.status;
}

/* Ends an event after its last part: closing brackets, the candidate's index. */
static void end_parts(struct pl_stream *s, uint32_t choice)
{
    pl_buf_adds(&s->out, "}],\"role\":\"model\"}");
    pl_buf_adds(&s->out, ",\"index\":");
    pl_buf_addu(&s->out, choice);
}

static void end_event(struct pl_stream *s, const struct pl_gemini_writer *w)
{
    pl_buf_adds(&s->out, "}]");
    pl_buf_add(&s->out, pl_buf_str(&w->tail));
}

/* ---- text ---- */

static void write_text(struct pl_stream *s, const struct pl_gemini_writer *w,
                       const struct pl_delta *delta, struct pl_str text, struct pl_str signature)
{
    pl_buf_adds(&s->out, HEAD "\"text\":\"");
    pl_buf_add(&s->out, text);
    pl_buf_addc(&s->out, '"');
    if (delta->part_kind == PL_PART_THINKING)
        pl_buf_adds(&s->out, ",\"thought\":true");
    if (signature.len) {
        pl_buf_adds(&s->out, ",\"thoughtSignature\":");
        pl_stream_put_string(s, signature);
    }
    end_parts(s, delta->choice);
    end_event(s, w);
}

/* ---- calls ---- */

static struct pl_gemini_open_call *call_of(struct pl_gemini_writer *w, uint32_t part)
{
    for (size_t i = 0; i < w->calls.len; i++)
        if (w->calls.ptr[i].part == part)
            return &w->calls.ptr[i];
    return NULL;
}

static void free_call(struct pl_gemini_open_call *call)
{
    pl_buf_deinit(&call->id);
    pl_buf_deinit(&call->name);
    pl_buf_deinit(&call->args);
    pl_buf_deinit(&call->signature);
}

static void add(struct pl_stream *s, struct pl_buf *to, struct pl_str raw)
{
    pl_buf_add(to, raw);
    if (to->status != PL_OK)
        s->status = to->status;
}

static void start_call(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_gemini_writer *w = state;
    if (delta->part_kind != PL_PART_CALL)
        return;
    struct pl_gemini_open_call call = {.part = delta->part, .is_custom = delta->is_custom};
    pl_buf_init(&call.id, 0);
    pl_buf_init(&call.name, 0);
    pl_buf_init(&call.args, 0);
    pl_buf_init(&call.signature, 0);
    add(s, &call.id, delta->id);
    add(s, &call.name, delta->name);
    if (s->status == PL_OK && pl_vec_push(&w->calls, call))
        return;
    s->status = PL_NOMEM;
    free_call(&call);
}

static bool is_blank(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!pl_ascii_is_white(text.ptr[i]))
            return false;
    return true;
}

/* The arguments are an object here. Free text becomes the argument `input`; text that is not an
 * object becomes `_raw`, as in a document. */
static void write_args(struct pl_stream *s, const struct pl_gemini_open_call *call)
{
    struct pl_str raw = pl_buf_str(&call->args);
    char *memory = pl_arena_alloc(&s->arena, raw.len + 1, 1);
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    struct pl_json_doc doc;
    if (!memory) {
        s->status = PL_NOMEM;
        return;
    }
    struct pl_str text = {memory, pl_json_decode(memory, raw)};
    if (!call->is_custom && is_blank(text)) {
        pl_buf_adds(&s->out, "{}");
        return;
    }
    enum pl_status status =
        call->is_custom ? PL_INVALID : pl_json_parse(&s->arena, text, &opts, &doc, NULL);
    if (status == PL_NOMEM)
        s->status = PL_NOMEM;
    if (status == PL_OK && pl_json_kind(doc.root) == PL_JSON_OBJECT) {
        pl_json_write_min(&s->out, &doc, doc.root);
        return;
    }
    pl_buf_adds(&s->out, call->is_custom ? "{\"input\":" : "{\"_raw\":");
    pl_stream_put_string(s, raw);
    pl_buf_addc(&s->out, '}');
}

static void write_call(struct pl_stream *s, const struct pl_gemini_writer *w,
                       const struct pl_gemini_open_call *call, uint32_t choice)
{
    pl_buf_adds(&s->out, HEAD "\"functionCall\":{");
    if (call->id.len) {
        pl_buf_adds(&s->out, "\"id\":");
        pl_stream_put_string(s, pl_buf_str(&call->id));
        pl_buf_addc(&s->out, ',');
    }
    pl_buf_adds(&s->out, "\"name\":");
    pl_stream_put_string(s, pl_buf_str(&call->name));
    pl_buf_adds(&s->out, ",\"args\":");
    write_args(s, call);
    pl_buf_addc(&s->out, '}');
    if (call->signature.len) {
        pl_buf_adds(&s->out, ",\"thoughtSignature\":");
        pl_stream_put_string(s, pl_buf_str(&call->signature));
    }
    end_parts(s, choice);
    end_event(s, w);
}

/* An incomplete call must not look complete, so it is not written. */
static void end_call(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_gemini_writer *w = state;
    struct pl_gemini_open_call *call = call_of(w, delta->part);
    if (!call)
        return;
    if (!delta->is_cut)
        write_call(s, w, call, delta->choice);
    free_call(call);
    w->calls.len--;
    memmove(call, call + 1, (size_t)(w->calls.ptr + w->calls.len - call) * sizeof *call);
}

/* ---- around the content ---- */

static void write_citation(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    const struct pl_gemini_writer *w = state;
    if (!delta->url.len)
        return;
    pl_buf_adds(&s->out, "data: {\"candidates\":[{\"citationMetadata\":{\"citations\":[{\"uri\":");
    pl_stream_put_string(s, delta->url);
    if (delta->title.len) {
        pl_buf_adds(&s->out, ",\"title\":");
        pl_stream_put_string(s, delta->title);
    }
    pl_buf_adds(&s->out, "}]},\"index\":");
    pl_buf_addu(&s->out, delta->choice);
    end_event(s, w);
}

/* Some servers count reasoning apart from the output: then the rest is unknown. */
static int64_t less(int64_t count, int64_t part)
{
    if (count < 0 || part <= 0)
        return count;
    return count >= part ? count - part : -1;
}

static void write_usage(struct pl_stream *s, const struct pl_counts *c)
{
    bool knows_both = c->input >= 0 && c->output >= 0;
    int64_t both;
    if (!knows_both || __builtin_add_overflow(c->input, c->output, &both))
        both = -1;
    const struct {
        const char *key;
        int64_t count;
    } counts[] = {
        {"\"promptTokenCount\":", less(c->input, c->tool_input)},
        {"\"cachedContentTokenCount\":", c->cache_read},
        {"\"candidatesTokenCount\":", less(c->output, c->reasoning)},
        {"\"toolUsePromptTokenCount\":", c->tool_input},
        {"\"thoughtsTokenCount\":", c->reasoning},
        {"\"totalTokenCount\":", c->total >= 0 ? c->total : both},
    };
    const char *tier = pl_tier_word(PL_TIER_GEMINI, pl_buf_str(&s->tier));
    const char *separator = ",\"usageMetadata\":{";
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i].count < 0)
            continue;
        pl_buf_adds(&s->out, separator);
        pl_buf_adds(&s->out, counts[i].key);
        pl_buf_addu(&s->out, (uint64_t)counts[i].count);
        separator = ",";
    }
    if (separator[1] == '\0' && tier) {
        pl_buf_adds(&s->out, ",\"serviceTier\":");
        pl_stream_put_string(s, pl_str_of(tier));
    }
    if (separator[1] == '\0')
        pl_buf_addc(&s->out, '}');
}

/* Writes an empty text too, as Google's last events have: clients add up the texts of all
 * events. */
static void write_stop(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    const struct pl_gemini_writer *w = state;
    pl_buf_adds(&s->out, HEAD "\"text\":\"\"");
    end_parts(s, delta->choice);
    pl_buf_adds(&s->out, ",\"finishReason\":\"");
    pl_buf_adds(&s->out, pl_gemini_finish_word(delta->finish));
    pl_buf_addc(&s->out, '"');
    if (delta->detail.len) {
        pl_buf_adds(&s->out, ",\"finishMessage\":");
        pl_stream_put_string(s, delta->detail);
    }
    pl_buf_adds(&s->out, "}]");
    if (delta->choice == 0 && w->has_usage)
        write_usage(s, &w->counts);
    pl_buf_add(&s->out, pl_buf_str(&w->tail));
}

static void write_error(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)state;
    const struct pl_gemini_error *error = pl_gemini_error_of(delta->code);
    if (!error)
        error = pl_gemini_error_of(delta->type);
    pl_stream_begin_event(s, NULL);
    pl_buf_adds(&s->out, "{\"error\":{\"code\":");
    pl_buf_addu(&s->out, (uint64_t)(error ? error->code : 500));
    pl_buf_adds(&s->out, ",\"message\":");
    pl_stream_put_string(s, delta->message.len ? delta->message : PL_STR("the stream failed"));
    pl_buf_adds(&s->out, ",\"status\":\"");
    pl_buf_adds(&s->out, error ? error->status : "UNKNOWN");
    pl_buf_adds(&s->out, "\"}}");
    pl_stream_end_event(s);
}

/* Writes parts that only the source's vendor has, in the form of a whole answer, one event each. */
static void write_other(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    const struct pl_gemini_writer *w = state;
    struct pl_json_doc doc;
    const struct pl_json_node *parts = pl_stream_say_whole(s, delta, &doc);
    if (!parts || pl_json_kind(parts) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *n = pl_json_first(parts); n < pl_json_end(parts);
         n = pl_json_next(n)) {
        if (pl_json_kind(n) != PL_JSON_OBJECT || !pl_json_count(n))
            continue;
        PL_CLEANUP_BUF struct pl_buf part;
        pl_buf_init(&part, 0);
        pl_json_write_min(&part, &doc, n);
        if (part.status != PL_OK)
            s->status = PL_NOMEM;
        pl_buf_adds(&s->out, HEAD);
        pl_buf_add(&s->out, pl_str_slice(pl_buf_str(&part), 1, part.len ? part.len - 1 : 0));
        end_parts(s, delta->choice);
        end_event(s, w);
    }
}

/* ---- deltas ---- */

static void write_fragment(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_gemini_writer *w = state;
    struct pl_gemini_open_call *call;
    if (delta->part_kind == PL_PART_TEXT || delta->part_kind == PL_PART_THINKING ||
        delta->part_kind == PL_PART_REFUSAL)
        write_text(s, w, delta, delta->raw, (struct pl_str){0});
    else if ((call = call_of(w, delta->part)))
        add(s, &call->args, delta->raw);
}

static void write_signature(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_gemini_writer *w = state;
    struct pl_gemini_open_call *call = call_of(w, delta->part);
    if (!pl_stream_is_home(s, delta))
        return;
    if (call)
        add(s, &call->signature, delta->raw);
    else
        write_text(s, w, delta, (struct pl_str){0}, delta->raw);
}

static void take_usage(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_gemini_writer *w = state;
    (void)s;
    w->counts = delta->counts;
    w->has_usage = true;
}

/* No event marks the end. */
pl_delta_writer *const pl_gemini_stream_writes[PL_DELTA_COUNT] = {
    [PL_DELTA_PART_START] = start_call,     [PL_DELTA_FRAGMENT] = write_fragment,
    [PL_DELTA_SIGNATURE] = write_signature, [PL_DELTA_CITATION] = write_citation,
    [PL_DELTA_PART_END] = end_call,         [PL_DELTA_USAGE] = take_usage,
    [PL_DELTA_STOP] = write_stop,           [PL_DELTA_ERROR] = write_error,
    [PL_DELTA_OTHER] = write_other,
};

void pl_gemini_stream_write_deinit(void *state)
{
    struct pl_gemini_writer *w = state;
    for (size_t i = 0; i < w->calls.len; i++)
        free_call(&w->calls.ptr[i]);
    pl_vec_deinit(&w->calls);
    pl_buf_deinit(&w->tail);
}
