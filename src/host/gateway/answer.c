/* Converts the answer of a vendor into the answer for the client.
 *
 * Streamed: event by event, as fast as the client takes them. Nothing is sent before the vendor has
 * sent something, so until then a failure is a plain error, or the next model of the chain is
 * called. Otherwise the whole answer is collected and converted. */
#include "gateway/call.h"

#include "base/mem.h"
#include <stdio.h>

enum { MAX_ERROR_BYTES = 64 << 10 };

/* --- errors ---------------------------------------------------------------------------------- */

static bool may_ask_next(int status)
{
    return status == 408 || status == 429 || status >= 500;
}

static bool is_json(const struct pl_gateway_call *call)
{
    return call->answer.len && (call->answer.ptr[0] == '{' || call->answer.ptr[0] == '[');
}

/* The error of the vendor's server in the client's shape; the original body if it already has that
 * shape. */
static void tell_error(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    const struct pl_model_target *target = pl_gateway_call_target(call);
    struct pl_str body = pl_buf_str(&call->answer);
    struct pl_str text = pl_vendor_error_text(&x->arena, target, body);
    bool is_same = call->options.is_embedding ? call->embeds.shape == PL_EMBED_OPENAI
                                              : pl_gateway_call_is_same(call);
    if (is_same && text.len && is_json(call)) {
        x->is_problem = true;
        x->problem_detail = (struct pl_str){0};
        x->status = call->status;
        pl_buf_clear(&x->reply);
        pl_buf_add(&x->reply, pl_vendor_redact(&x->arena, target->vendor, body));
        return;
    }
    bool is_overflow = call->status < 500 && pl_vendor_says_overflow(text);
    int status = call->status >= 400 && call->status < 600 ? call->status : 502;
    if (text.len)
        pl_gateway_call_fail(call, status, is_overflow ? "context_length_exceeded" : NULL,
                             "%s: %.*s", target->vendor->name, PL_STR_ARG(text));
    else
        pl_gateway_call_fail(call, status, NULL, "%s answered with status %d and no explanation.",
                             target->vendor->name, call->status);
}

static void fail_and_finish(struct pl_gateway_call *call, bool may_go_on)
{
    if (may_go_on && pl_gateway_call_next(call))
        return;
    pl_gateway_call_put_headers(call);
    pl_gateway_call_finish(call);
}

static void end_error(struct pl_gateway_call *call)
{
    tell_error(call);
    fail_and_finish(call, may_ask_next(call->status));
}

/* Why an answer cannot be read; the message may quote the answer. */
static struct pl_str reason_of(struct pl_gateway_call *call, const struct pl_error *err)
{
    return pl_vendor_redact(&call->x->arena, pl_gateway_call_target(call)->vendor,
                            pl_str_of(err->message));
}

/* --- a whole answer -------------------------------------------------------------------------- */

void pl_gateway_call_put_headers(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    const struct pl_model_target *target = pl_gateway_call_target(call);
    char name[PL_METER_MODEL_MAX];
    pl_target_name(target, name, sizeof name);
    pl_exchange_header_text(x, "Parley-Model", pl_str_of(name));
    if (call->retry_after[0] && x->is_problem)
        pl_exchange_header(x, "Retry-After", "%s", call->retry_after);
    if (call->loss.len && call->loss.status == PL_OK)
        pl_exchange_header(x, "Parley-Loss", "%.*s", (int)call->loss.len, call->loss.ptr);
}

/* Converts a response of another format into the client's; doc is the parsed text, or NULL. Any
 * thread that has the call. */
static bool convert_answer(struct pl_gateway_call *call, const struct pl_format *from,
                           struct pl_str text, const struct pl_json_doc *doc,
                           const struct pl_format *to, struct pl_buf *ret_out, bool tells_loss)
{
    struct pl_error err = {0};
    struct pl_convert_opts opts = {
        .from = from,
        .to = to,
        .kind = PL_KIND_RESPONSE,
        .mode = PL_MODE_GATEWAY,
        .doc = doc,
        .made_s = call->made_s,
    };
    enum pl_status status = pl_gateway_call_convert(call, text, &opts, ret_out, tells_loss, &err);
    if (status == PL_NOMEM) {
        pl_gateway_call_fail(call, 503, NULL, "There is not enough memory to convert the answer.");
    } else if (status != PL_OK) {
        pl_gateway_call_fail(call, 502, NULL,
                             "The answer of the model's server cannot be read: %.*s.",
                             PL_STR_ARG(reason_of(call, &err)));
    }
    return status == PL_OK;
}

/* The member that identifies an answer; Gemini has another one if it refuses to answer. */
static const struct answer_mark {
    const struct pl_format *format;
    const char *name;
    enum pl_json_kind kind;
} answer_marks[] = {
    {&pl_format_openai_chat, "choices", PL_JSON_ARRAY},
    {&pl_format_openai_responses, "output", PL_JSON_ARRAY},
    {&pl_format_anthropic, "content", PL_JSON_ARRAY},
    {&pl_format_gemini, "candidates", PL_JSON_ARRAY},
    {&pl_format_gemini, "promptFeedback", PL_JSON_OBJECT},
};

static bool is_of_dialect(const struct pl_json_doc *doc, const struct pl_format *format)
{
    if (pl_json_kind(doc->root) != PL_JSON_OBJECT)
        return false;
    for (size_t i = 0; i < sizeof answer_marks / sizeof *answer_marks; i++) {
        const struct answer_mark *mark = &answer_marks[i];
        const struct pl_json_node *node =
            mark->format == format ? pl_json_get(doc, doc->root, pl_str_of(mark->name)) : NULL;
        if (node && pl_json_kind(node) == mark->kind)
            return true;
    }
    return false;
}

static void read_answer(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    const struct pl_model_target *target = pl_gateway_call_target(call);
    struct pl_str text = pl_buf_str(&call->answer);
    struct pl_json_doc doc;
    struct pl_error err = {0};
    if (call->options.is_embedding) {
        pl_gateway_call_read_embedding(call);
        return;
    }
    if (pl_json_parse(&x->arena, text, &pl_json_any, &doc, &err) != PL_OK) {
        pl_gateway_call_fail(call, 502, NULL, "%s sent an answer that is not JSON: %.*s.",
                             target->vendor->name, PL_STR_ARG(reason_of(call, &err)));
        return;
    }
    if (!is_of_dialect(&doc, target->format)) {
        struct pl_str says = pl_vendor_error_text(&x->arena, target, text);
        pl_gateway_call_fail(call, 502, NULL, "%s sent an answer that is not an answer of %s%s%.*s",
                             target->vendor->name, target->format->name, says.len ? ": " : ".",
                             PL_STR_ARG(says));
        return;
    }
    pl_gateway_call_read_counts(call, &doc);
    if (pl_gateway_call_is_same(call)) {
        struct pl_buf old = x->reply;
        x->reply = call->answer;
        x->reply.max = old.max;
        call->answer = old;
    } else if (!convert_answer(call, target->format, text, &doc, call->options.speech->format,
                               &x->reply, true)) {
        return;
    }
    pl_gateway_call_own_whole(call, &x->reply);
    if (!call->is_kept)
        return;
    /* Answers are stored in OpenAI's shape. */
    if (call->options.speech == &pl_speech_openai_responses)
        pl_buf_add(&call->last, pl_buf_str(&x->reply));
    else
        (void)convert_answer(call, call->options.speech->format, pl_buf_str(&x->reply), NULL,
                             &pl_format_openai_responses, &call->last, false);
    call->whole = pl_buf_str(&call->last);
}

static void kept(struct pl_exchange *x)
{
    pl_gateway_call_finish(x->state);
}

static void answer_read(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    bool is_gone = pl_gateway_call_is_back(call);
    if (!x->is_problem || call->counts.input >= 0)
        pl_gateway_call_count(call);
    if (x->is_problem && !is_gone) {
        fail_and_finish(call, true);
        return;
    }
    pl_gateway_call_put_headers(call);
    if (call->is_kept && call->whole.len)
        pl_gateway_call_keep(call, kept);
    else
        pl_gateway_call_finish(call);
}

static void convert_whole(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    if (call->options.speech == &pl_speech_openai_responses)
        pl_buf_add(&x->reply, call->whole);
    else
        (void)convert_answer(call, &pl_format_openai_responses, call->whole, NULL,
                             call->options.speech->format, &x->reply, false);
}

void pl_gateway_call_answer_whole(struct pl_gateway_call *call)
{
    pl_gateway_call_work(call, call->whole.len, convert_whole, answer_read);
}

/* --- an answer that flows -------------------------------------------------------------------- */

/* Writes the events of a stream as elements of one array, which is what Gemini sends by default.
 * The stream has written whole events, each with one line of data. */
static void add_elements(struct pl_gateway_call *call, struct pl_str events)
{
    struct pl_buf *to = &call->x->reply;
    struct pl_str data = PL_STR("data: ");
    for (size_t at = 0; at < events.len;) {
        const char *end = memchr(events.ptr + at, '\n', events.len - at);
        size_t next = end ? (size_t)(end - events.ptr) + 1 : events.len;
        struct pl_str line = pl_str_slice(events, at, next);
        at = next;
        if (!pl_str_starts(line, data))
            continue;
        while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r'))
            line.len--;
        pl_buf_add(to, call->has_elements ? PL_STR(",\r\n") : PL_STR("["));
        call->has_elements = true;
        pl_buf_add(to, pl_str_slice(line, data.len, line.len));
    }
}

static void begin_flow(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    if (call->state == PL_GW_ASKED)
        pl_gateway_call_become(call, PL_GW_FLOWING);
    x->content_type =
        call->options.is_array ? "application/json" : "text/event-stream; charset=utf-8";
    pl_exchange_header(x, "X-Accel-Buffering", "no");
    if (call->is_looked_at && !x->head->is_http10)
        pl_exchange_header(x, "Trailer", "Parley-Loss");
    pl_gateway_call_put_headers(call);
    pl_exchange_flow(x, pl_gateway_call_room);
}

void pl_gateway_call_room(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    if (call->state != PL_GW_PAUSED)
        return;
    pl_gateway_call_become(call, PL_GW_FLOWING);
    pl_vendor_resume(call->vendor);
}

void pl_gateway_call_pass_on(struct pl_gateway_call *call)
{
    struct pl_exchange *x = call->x;
    struct pl_stream *stream = pl_gateway_call_writer(call);
    if (!stream->out.len)
        return;
    if (call->options.is_array) {
        add_elements(call, pl_buf_str(&stream->out));
    } else if (!x->reply.len) {
        struct pl_buf old = x->reply;
        x->reply = stream->out;
        stream->out = old;
    } else {
        pl_buf_add(&x->reply, pl_buf_str(&stream->out));
    }
    pl_buf_clear(&stream->out);
    if (!pl_exchange_is_flowing(x))
        begin_flow(call);
    else
        pl_exchange_flow_more(x);
    if (call->vendor && call->state == PL_GW_FLOWING && x->reply.len > PL_GATEWAY_MAX_WAITING) {
        pl_gateway_call_become(call, PL_GW_PAUSED);
        pl_vendor_pause(call->vendor);
    }
}

static void finish_flow(struct pl_exchange *x)
{
    struct pl_gateway_call *call = x->state;
    pl_gateway_call_pass_on(call);
    if (call->options.is_array && pl_exchange_is_flowing(x))
        pl_buf_add(&x->reply, PL_STR("]"));
    pl_gateway_call_end_loss(call);
}

void pl_gateway_call_end_flow(struct pl_gateway_call *call)
{
    pl_gateway_call_count(call);
    if (call->is_kept && call->whole.len)
        pl_gateway_call_keep(call, finish_flow);
    else
        finish_flow(call->x);
}

static void end_stream(struct pl_gateway_call *call)
{
    struct pl_error err = {0};
    size_t before = call->stream->out.len;
    enum pl_status status = pl_stream_end(call->stream, &err);
    pl_gateway_call_keep_bytes(call, (struct pl_str){0}, before);
    if (call->record)
        (void)pl_stream_end(call->record, NULL);
    if (status != PL_OK && !pl_exchange_is_flowing(call->x)) {
        pl_gateway_call_fail(call, 502, NULL, "The stream of %s cannot be read: %.*s.",
                             pl_gateway_call_target(call)->vendor->name,
                             PL_STR_ARG(reason_of(call, &err)));
        fail_and_finish(call, true);
        return;
    }
    pl_gateway_call_own_events(call, &call->stream->out);
    pl_gateway_call_note_whole(call, call->record ? call->record : call->stream);
    pl_gateway_call_end_flow(call);
}

/* Whether the stream keeps the whole answer to repeat it at its end. Such a stream is cut off at
 * the length where an answer that is not streamed would be refused. */
static bool is_gathered(const struct pl_gateway_call *call)
{
    return call->record || call->options.speech->dialect == &pl_dialect_openai_responses;
}

static void feed(struct pl_gateway_call *call, struct pl_str piece)
{
    struct pl_error err = {0};
    if (is_gathered(call) && call->n_said + piece.len > PL_GATEWAY_MAX_ANSWER) {
        pl_gateway_call_stop_asking(call);
        end_stream(call);
        return;
    }
    size_t before = call->stream->out.len;
    enum pl_status status = pl_stream_feed(call->stream, piece, &err);
    pl_gateway_call_keep_bytes(call, piece, before);
    if (!call->first_at_ms)
        call->first_at_ms = pl_loop_unix_ms(call->x->shard->loop);
    call->n_said += piece.len;
    if (call->record)
        (void)pl_stream_feed(call->record, piece, NULL);
    bool is_broken = status != PL_OK;
    if (is_broken && !pl_exchange_is_flowing(call->x)) {
        pl_gateway_call_stop_asking(call);
        pl_gateway_call_fail(call, 502, NULL, "The stream of %s cannot be read: %.*s.",
                             pl_gateway_call_target(call)->vendor->name,
                             PL_STR_ARG(reason_of(call, &err)));
        fail_and_finish(call, true);
        return;
    }
    pl_gateway_call_own_events(call, &call->stream->out);
    /* The event with the whole answer is sent only after the answer is stored: the next request may
     * refer to it. */
    pl_gateway_call_note_whole(call, call->record ? call->record : call->stream);
    if (!(call->is_kept && call->whole.len))
        pl_gateway_call_pass_on(call);
    if (is_broken) {
        pl_gateway_call_stop_asking(call);
        pl_gateway_call_end_flow(call);
    }
}

/* --- what comes from the vendor -------------------------------------------------------------- */

static bool is_good(const struct pl_gateway_call *call)
{
    return call->status >= 200 && call->status < 300;
}

static bool is_printable(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    return true;
}

static void on_head(void *ctx, int status, struct pl_str content_type, struct pl_str retry_after)
{
    struct pl_gateway_call *call = ctx;
    const struct pl_speech *speech = call->options.speech;
    const struct pl_dialect *from = pl_gateway_call_target(call)->dialect;
    (void)content_type;
    call->status = status;
    call->made_s = pl_loop_unix_ms(call->x->shard->loop) / 1000;
    call->retry_after[0] = 0;
    if (retry_after.len && retry_after.len < sizeof call->retry_after &&
        is_printable(retry_after)) {
        memcpy(call->retry_after, retry_after.ptr, retry_after.len);
        call->retry_after[retry_after.len] = 0;
    }
    if (!is_good(call) || !call->is_stream)
        return;
    enum pl_status made = pl_stream_create(from, speech->dialect, &call->stream);
    if (made == PL_OK && call->is_kept && speech != &pl_speech_openai_responses)
        made = pl_stream_create(from, &pl_dialect_openai_responses, &call->record);
    if (made == PL_OK) {
        call->stream->made_s = call->made_s;
        if (call->record)
            call->record->made_s = call->made_s;
        pl_gateway_call_begin_loss(call);
        return;
    }
    pl_gateway_call_fail(call, 503, NULL, "There is not enough memory for the stream.");
    pl_gateway_call_finish(call);
}

static void on_body(void *ctx, struct pl_str piece)
{
    struct pl_gateway_call *call = ctx;
    if (call->stream) {
        feed(call, piece);
        return;
    }
    if (!is_good(call) && call->answer.len > MAX_ERROR_BYTES)
        return;
    pl_buf_add(&call->answer, piece);
    if (call->answer.status == PL_OK)
        return;
    pl_gateway_call_fail(call, call->answer.status == PL_LIMIT ? 502 : 503, NULL,
                         "The answer of %s is longer than %u MiB.",
                         pl_gateway_call_target(call)->vendor->name, PL_GATEWAY_MAX_ANSWER >> 20);
    pl_gateway_call_put_headers(call);
    pl_gateway_call_finish(call);
}

static void on_end(void *ctx)
{
    struct pl_gateway_call *call = ctx;
    call->vendor = NULL;
    pl_gateway_call_stop_asking(call);
    if (call->stream)
        end_stream(call);
    else if (!is_good(call))
        end_error(call);
    else
        pl_gateway_call_work(call, call->answer.len, read_answer, answer_read);
}

static void on_failed(void *ctx, enum pl_vendor_failure why, const char *sentence)
{
    static const int statuses[] = {
        [PL_VENDOR_REFUSED] = 502, [PL_VENDOR_TIMEOUT] = 504, [PL_VENDOR_BROKEN] = 502,
        [PL_VENDOR_MEMORY] = 503,  [PL_VENDOR_FULL] = 429,    [PL_VENDOR_LATE] = 503,
    };
    struct pl_gateway_call *call = ctx;
    call->vendor = NULL;
    pl_gateway_call_stop_asking(call);
    if (pl_exchange_is_flowing(call->x)) {
        end_stream(call);
        return;
    }
    call->retry_after[0] = 0;
    pl_gateway_call_fail(call, statuses[why], NULL, "%s: %s",
                         pl_gateway_call_target(call)->vendor->name, sentence);
    call->x->problem_detail = pl_arena_dup(&call->x->arena, pl_str_of(sentence));
    fail_and_finish(call, true);
}

static void on_sent(void *ctx)
{
    pl_gateway_call_let_go(ctx);
}

const struct pl_vendor_ops pl_gateway_call_vendor_ops = {on_head, on_body, on_end, on_failed,
                                                         on_sent};
