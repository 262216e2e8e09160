/* openai-chat streams: writing chat.completion.chunk events.
 *
 *     role; then content, reasoning_content, refusal and tool_calls in order of arrival;
 *     finish_reason in its own chunk; usage in a chunk without choices; [DONE]
 *
 * The bytes before the delta are the same in every chunk, so they are built once. */
#include "stream/openai_chat/openai_chat_int.h"

#include "format/openai_chat/words.h"
#include "format/pieces/usage.h"
#include "stream/pick.h"

#include "format/format.h"
#include "stream/sum.h"

struct call {
    uint32_t part, index;
    bool is_custom, has_fragment;
};

struct writer {
    struct pl_buf head; /* `data: {"id":…,"choices":[{"index":0,"delta":{` */
    size_t n_bare;      /* length of `head` up to `"choices":[` */
    PL_VEC(struct call) open;
    uint32_t n_calls;
    bool has_refusal, has_content;
    uint32_t text;             /* the part of the latest text */
    uint32_t thought;          /* the part of the latest reasoning, + 1; 0: none */
    uint64_t n_before, n_said; /* code points of the content before that text, and of the text */
};

static void put(struct pl_stream *s, struct pl_str text)
{
    pl_buf_add(&s->out, text);
}

static void begin(struct pl_stream *s, const struct writer *w)
{
    put(s, pl_buf_str(&w->head));
}

static void end(struct pl_stream *s)
{
    put(s, PL_STR("},\"finish_reason\":null}]}\n\n"));
}

static void add_string(struct pl_buf *to, struct pl_str raw, struct pl_str otherwise)
{
    pl_buf_addc(to, '"');
    pl_buf_add(to, raw.len ? raw : otherwise);
    pl_buf_addc(to, '"');
}

static void write_start(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    pl_buf_init(&w->head, 0);
    pl_buf_adds(&w->head, "data: {\"id\":");
    add_string(&w->head, delta->id, PL_STR("chatcmpl_1"));
    pl_buf_adds(&w->head, ",\"object\":\"chat.completion.chunk\",\"created\":");
    pl_stream_add_created(s, &w->head, delta);
    pl_buf_adds(&w->head, ",\"model\":");
    add_string(&w->head, delta->model, PL_STR("unknown"));
    pl_buf_adds(&w->head, ",\"choices\":[");
    w->n_bare = w->head.len;
    pl_buf_adds(&w->head, "{\"index\":0,\"delta\":{");
    if (w->head.status != PL_OK)
        s->status = w->head.status;
    begin(s, w);
    put(s, PL_STR("\"role\":\"assistant\",\"content\":\"\""));
    end(s);
}

static void write_string(struct pl_stream *s, struct writer *w, struct pl_str key,
                         struct pl_str raw)
{
    begin(s, w);
    put(s, key);
    put(s, raw);
    put(s, PL_STR("\"},\"finish_reason\":null}]}\n\n"));
}

/* A text with its log probabilities. */
static void write_rated(struct pl_stream *s, const struct writer *w, const struct pl_delta *delta)
{
    begin(s, w);
    put(s, PL_STR("\"content\":"));
    pl_stream_put_string(s, delta->raw);
    put(s, PL_STR("},\"logprobs\":{\"content\":"));
    pl_stream_put_json(s, &s->out, delta->json);
    put(s, PL_STR(",\"refusal\":null},\"finish_reason\":null}]}\n\n"));
}

/* ---- calls ---- */

static struct call *find_call(struct writer *w, uint32_t part)
{
    for (size_t i = w->open.len; i-- > 0;)
        if (w->open.ptr[i].part == part)
            return &w->open.ptr[i];
    return NULL;
}

static void write_call_start(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    if (delta->part_kind != PL_PART_CALL)
        return;
    struct call call = {.part = delta->part, .index = w->n_calls++, .is_custom = delta->is_custom};
    if (!pl_vec_push(&w->open, call)) {
        s->status = PL_NOMEM;
        return;
    }
    begin(s, w);
    put(s, PL_STR("\"tool_calls\":[{\"index\":"));
    pl_buf_addu(&s->out, call.index);
    put(s, PL_STR(",\"id\":\""));
    put(s, delta->id.len ? delta->id : PL_STR("call_"));
    if (!delta->id.len)
        pl_buf_addu(&s->out, w->n_calls);
    put(s, call.is_custom ? PL_STR("\",\"type\":\"custom\",\"custom\":{\"name\":\"")
                          : PL_STR("\",\"type\":\"function\",\"function\":{\"name\":\""));
    put(s, delta->name);
    put(s, call.is_custom ? PL_STR("\",\"input\":\"\"}}]") : PL_STR("\",\"arguments\":\"\"}}]"));
    end(s);
}

static void begin_call(struct pl_stream *s, const struct writer *w, const struct call *call)
{
    begin(s, w);
    put(s, PL_STR("\"tool_calls\":[{\"index\":"));
    pl_buf_addu(&s->out, call->index);
}

static void write_args(struct pl_stream *s, const struct writer *w, struct call *call,
                       struct pl_str raw)
{
    call->has_fragment = true;
    begin_call(s, w, call);
    put(s, call->is_custom ? PL_STR(",\"custom\":{\"input\":\"")
                           : PL_STR(",\"function\":{\"arguments\":\""));
    put(s, raw);
    put(s, PL_STR("\"}}]},\"finish_reason\":null}]}\n\n"));
}

static void write_call_end(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    struct call *call = find_call(w, delta->part);
    if (!call)
        return;
    if (!call->has_fragment && !call->is_custom && !delta->is_cut)
        write_args(s, w, call, PL_STR("{}"));
    w->open.len--;
    memmove(call, call + 1, (size_t)(w->open.ptr + w->open.len - call) * sizeof *call);
}

/* Only Google's compatible server documents a field for its signatures. */
static void write_signature(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    const struct call *call = find_call(w, delta->part);
    if (!call || s->from != &pl_dialect_gemini)
        return;
    begin_call(s, w, call);
    put(s, PL_STR(",\"extra_content\":{\"google\":{\"thought_signature\":"));
    pl_stream_put_string(s, delta->raw);
    put(s, PL_STR("}}}]"));
    end(s);
}

/* ---- content ---- */

/* Citations tell their place in the whole content. */
static void count_text(struct writer *w, const struct pl_delta *delta)
{
    if (delta->part != w->text) {
        w->n_before += w->n_said;
        w->n_said = 0;
        w->text = delta->part;
    }
    w->n_said += pl_stream_count_points(delta->raw);
}

static void write_fragment(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    struct call *call;
    w->has_content = true;
    switch (delta->part_kind) {
    case PL_PART_TEXT:
        count_text(w, delta);
        if (delta->json.len)
            write_rated(s, w, delta);
        else
            write_string(s, w, PL_STR("\"content\":\""), delta->raw);
        break;
    case PL_PART_THINKING:
        /* Google may divide one thought; the thoughts of others are paragraphs. */
        if (w->thought && w->thought != delta->part + 1 && s->from != &pl_dialect_gemini)
            write_string(s, w, PL_STR("\"reasoning_content\":\""), PL_STR("\\n\\n"));
        w->thought = delta->part + 1;
        write_string(s, w, PL_STR("\"reasoning_content\":\""), delta->raw);
        break;
    case PL_PART_REFUSAL:
        w->has_refusal = true;
        write_string(s, w, PL_STR("\"refusal\":\""), delta->raw);
        break;
    case PL_PART_CALL:
        if ((call = find_call(w, delta->part)))
            write_args(s, w, call, delta->raw);
        break;
    default:
        break;
    }
}

/* url_citation is the only kind. A place that the source gives counts in its own text; otherwise
 * the citation is about all of that text. */
static void write_citation(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    static const struct pl_str names[] = {{"start_index", 11}, {"end_index", 9}};
    struct pl_json_doc doc;
    const struct pl_json_node *place[2] = {0};
    const uint64_t all[] = {0, w->n_said};
    if (!delta->url.len)
        return;
    if (delta->json.len && pl_stream_json(s, delta->json, &doc, NULL) == PL_OK)
        pl_pick(&doc, doc.root, names, 2, place);
    begin(s, w);
    put(s, PL_STR("\"annotations\":[{\"type\":\"url_citation\",\"url_citation\":{"));
    for (size_t i = 0; i < 2; i++) {
        int64_t said = pl_pick_count(&doc, place[i]);
        bool is_inside = said >= 0 && (uint64_t)said <= w->n_said;
        pl_stream_put_string(s, names[i]);
        put(s, PL_STR(":"));
        pl_buf_addu(&s->out, w->n_before + (is_inside ? (uint64_t)said : all[i]));
        put(s, PL_STR(","));
    }
    put(s, PL_STR("\"title\":"));
    pl_stream_put_string(s, delta->title);
    put(s, PL_STR(",\"url\":"));
    pl_stream_put_string(s, delta->url);
    put(s, PL_STR("}}]"));
    end(s);
}

/* Writes parts that only the source's vendor has (an image), as in a whole answer: members of the
 * message that a stream has no deltas for. */
static void write_other(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    static const struct pl_str said[] = {
        {"role", 4}, {"content", 7}, {"refusal", 7}, {"tool_calls", 10}};
    struct pl_json_doc doc;
    const struct pl_json_node *message = pl_stream_say_whole(s, delta, &doc);
    if (!message)
        return;
    for (const struct pl_json_node *k = pl_json_first_member(message); k < pl_json_end(message);
         k = pl_json_next_member(k)) {
        struct pl_str key = pl_json_raw(&doc, k);
        bool is_said = pl_json_kind(k + 1) == PL_JSON_NULL;
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)
            is_said |= pl_str_eq(key, said[i]);
        if (is_said)
            continue;
        w->has_content = true;
        begin(s, w);
        pl_stream_put_string(s, key);
        put(s, PL_STR(":"));
        pl_json_write_min(&s->out, &doc, k + 1);
        end(s);
    }
}

/* ---- the end ---- */

static void write_stop(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct writer *w = state;
    /* A filter may say what it objects to, in place of the text it removed. A word that
     * finish_reason repeats is no message. */
    if (delta->finish == PL_FINISH_FILTER && !w->has_refusal) {
        struct pl_str why = delta->detail;
        if (!why.len && !w->has_content && !w->n_calls &&
            !pl_chat_is_plain_finish(delta->finish, delta->word))
            why = delta->word;
        if (why.len)
            write_string(s, w, PL_STR("\"refusal\":\""), why);
    }
    const char *tier = pl_tier_word(PL_TIER_CHAT, pl_buf_str(&s->tier));
    begin(s, w);
    put(s, PL_STR("},\"finish_reason\":\""));
    pl_buf_adds(&s->out, pl_chat_finish_word(delta->finish, w->n_calls > 0));
    put(s, PL_STR("\"}]"));
    if (tier) {
        put(s, PL_STR(",\"service_tier\":"));
        pl_stream_put_string(s, pl_str_of(tier));
    }
    put(s, PL_STR("}\n\n"));
}

static int64_t known(int64_t count)
{
    return count < 0 ? 0 : count;
}

static void write_usage(struct pl_stream *s, const struct writer *w, const struct pl_counts *c)
{
    int64_t total = c->total;
    if (total < 0 && __builtin_add_overflow(known(c->input), known(c->output), &total))
        total = INT64_MAX;
    put(s, pl_str_slice(pl_buf_str(&w->head), 0, w->n_bare));
    put(s, PL_STR("],\"usage\":{\"prompt_tokens\":"));
    pl_buf_addu(&s->out, (uint64_t)known(c->input));
    put(s, PL_STR(",\"completion_tokens\":"));
    pl_buf_addu(&s->out, (uint64_t)known(c->output));
    put(s, PL_STR(",\"total_tokens\":"));
    pl_buf_addu(&s->out, (uint64_t)total);
    if (c->cache_read >= 0 || c->cache_write >= 0) {
        put(s, PL_STR(",\"prompt_tokens_details\":{\"cached_tokens\":"));
        pl_buf_addu(&s->out, (uint64_t)known(c->cache_read));
        if (c->cache_write >= 0) {
            put(s, PL_STR(",\"cache_write_tokens\":"));
            pl_buf_addu(&s->out, (uint64_t)c->cache_write);
        }
        put(s, PL_STR("}"));
    }
    if (c->reasoning >= 0) {
        put(s, PL_STR(",\"completion_tokens_details\":{\"reasoning_tokens\":"));
        pl_buf_addu(&s->out, (uint64_t)c->reasoning);
        put(s, PL_STR("}"));
    }
    put(s, PL_STR("}}\n\n"));
}

/* The counters come after the finish_reason, at the end. */
static void write_end(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)delta;
    if (s->counts.input >= 0 || s->counts.output >= 0 || s->counts.total >= 0)
        write_usage(s, state, &s->counts);
    put(s, PL_STR("data: [DONE]\n\n"));
}

/* Google's error status, in capitals, becomes the code; the type is then one of OpenAI's. */
static void write_error(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)state;
    bool is_status = delta->type.len && delta->type.ptr[0] >= 'A' && delta->type.ptr[0] <= 'Z';
    struct pl_str type = delta->type, code = delta->code;
    if (is_status)
        code = delta->type;
    if (is_status || !type.len)
        type = pl_str_of(pl_chat_error_type(delta->type));
    put(s, PL_STR("data: {\"error\":{\"message\":"));
    add_string(&s->out, delta->message, PL_STR("the server gave no reason"));
    put(s, PL_STR(",\"type\":"));
    pl_stream_put_string(s, type);
    put(s, PL_STR(",\"param\":null,\"code\":"));
    if (code.len)
        pl_stream_put_string(s, code);
    else
        put(s, PL_STR("null"));
    put(s, PL_STR("}}\n\n"));
}

static void write_deinit(void *state)
{
    struct writer *w = state;
    pl_buf_deinit(&w->head);
    pl_vec_deinit(&w->open);
}

static pl_delta_writer *const writes[PL_DELTA_COUNT] = {
    [PL_DELTA_START] = write_start,       [PL_DELTA_PART_START] = write_call_start,
    [PL_DELTA_FRAGMENT] = write_fragment, [PL_DELTA_SIGNATURE] = write_signature,
    [PL_DELTA_CITATION] = write_citation, [PL_DELTA_PART_END] = write_call_end,
    [PL_DELTA_STOP] = write_stop,         [PL_DELTA_END] = write_end,
    [PL_DELTA_ERROR] = write_error,       [PL_DELTA_OTHER] = write_other,
};

const struct pl_dialect pl_dialect_openai_chat = {
    .name = "openai-chat",
    .reader_size = sizeof(struct pl_chat_reader),
    .writer_size = sizeof(struct writer),
    .read = pl_chat_read,
    .say_again = pl_chat_say_again,
    .read_end = pl_chat_read_end,
    .release = pl_chat_release,
    .read_deinit = pl_chat_read_deinit,
    .sum = pl_chat_sum,
    .sum_end = pl_chat_sum_end,
    .format = &pl_format_openai_chat,
    .write = writes,
    .has_logprobs = true,
    .write_deinit = write_deinit,
};
