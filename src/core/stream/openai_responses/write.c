/* Turns deltas into events of Responses: the response around its items, and its errors. */
#include "format/pieces/usage.h"
#include "stream/openai_responses/openai_responses_int.h"

/* ---- the response ---- */

static void put_usage(struct pl_buf *to, const struct pl_counts *c)
{
    int64_t input = c->input > 0 ? c->input : 0, output = c->output > 0 ? c->output : 0, sum;
    if (__builtin_add_overflow(input, output, &sum))
        sum = INT64_MAX;
    pl_responses_put_count(to, "{\"input_tokens\":", input);
    pl_responses_put_count(to, ",\"input_tokens_details\":{\"cached_tokens\":", c->cache_read);
    if (c->cache_write >= 0)
        pl_responses_put_count(to, ",\"cache_write_tokens\":", c->cache_write);
    pl_responses_put_count(to, "},\"output_tokens\":", output);
    pl_responses_put_count(to, ",\"output_tokens_details\":{\"reasoning_tokens\":", c->reasoning);
    pl_responses_put_count(to, "},\"total_tokens\":", c->total >= 0 ? c->total : sum);
    pl_buf_addc(to, '}');
}

/* error and reason are JSON. */
static void put_response(struct pl_stream *s, struct pl_responses_writer *w, const char *status,
                         struct pl_str error, const char *reason)
{
    struct pl_buf *out = &s->out;
    pl_buf_add(out, pl_buf_str(&w->head));
    pl_buf_adds(out, status);
    pl_buf_adds(out, "\",\"error\":");
    pl_buf_add(out, error);
    pl_buf_adds(out, ",\"incomplete_details\":");
    pl_buf_adds(out, reason);
    pl_buf_add(out, pl_buf_str(&w->model));
    pl_buf_adds(out, ",\"output\":[");
    bool is_first = true;
    for (size_t i = 0; i < w->items.len; i++) {
        struct pl_responses_span span = w->items.ptr[i];
        if (!span.len)
            continue;
        if (!is_first)
            pl_buf_addc(out, ',');
        is_first = false;
        pl_buf_add(out, pl_str_slice(pl_buf_str(&w->done), span.off, span.off + span.len));
    }
    pl_buf_adds(out, "],\"instructions\":null,\"metadata\":{},\"temperature\":null,\"top_p\":null,"
                     "\"tools\":[],\"tool_choice\":\"auto\",\"parallel_tool_calls\":true,"
                     "\"usage\":");
    if (w->has_usage)
        put_usage(out, &w->counts);
    else
        pl_buf_adds(out, "null");
    const char *tier = pl_tier_word(PL_TIER_RESPONSES, pl_buf_str(&s->tier));
    if (tier)
        pl_responses_put_member(out, "service_tier", pl_str_of(tier));
    pl_buf_addc(out, '}');
}

static void put_response_event(struct pl_stream *s, struct pl_responses_writer *w,
                               const char *event, const char *status, struct pl_str error,
                               const char *reason)
{
    pl_responses_begin_event(&s->out, event, "");
    pl_buf_adds(&s->out, ",\"response\":");
    put_response(s, w, status, error, reason);
    pl_responses_end_event(s, w);
}

static void take_start(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_responses_writer *w = state;
    pl_buf_init(&w->head, 0);
    pl_buf_init(&w->model, 0);
    pl_buf_init(&w->done, 0);
    w->is_started = true;
    pl_buf_adds(&w->head, "{\"id\":\"");
    pl_buf_add(&w->head, delta->id.len ? delta->id : PL_STR("resp_1"));
    pl_buf_adds(&w->head, "\",\"object\":\"response\",\"created_at\":");
    pl_stream_add_created(s, &w->head, delta);
    pl_buf_adds(&w->head, ",\"status\":\"");
    if (delta->model.len)
        pl_responses_put_member(&w->model, "model", delta->model);
    pl_responses_check(s, &w->head);
    pl_responses_check(s, &w->model);
    put_response_event(s, w, "created", "in_progress", PL_STR("null"), "null");
    put_response_event(s, w, "in_progress", "in_progress", PL_STR("null"), "null");
}

static void take_stop(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_responses_writer *w = state;
    const char *reason = delta->finish == PL_FINISH_LENGTH   ? "{\"reason\":\"max_output_tokens\"}"
                         : delta->finish == PL_FINISH_FILTER ? "{\"reason\":\"content_filter\"}"
                                                             : NULL;
    const char *status = reason ? "incomplete" : "completed";
    pl_responses_finish_items(s, w, status);
    put_response_event(s, w, status, status, PL_STR("null"), reason ? reason : "null");
}

/* ---- errors ---- */

/* A response has only a few error codes; any other becomes server_error. */
static struct pl_str code_of(const struct pl_delta *delta)
{
    static const struct {
        struct pl_str word, code;
    } codes[] = {
        {{"rate_limit_error", 16}, {"rate_limit_exceeded", 19}},
        {{"rate_limit_exceeded", 19}, {"rate_limit_exceeded", 19}},
        {{"RESOURCE_EXHAUSTED", 18}, {"rate_limit_exceeded", 19}},
        {{"invalid_request_error", 21}, {"invalid_prompt", 14}},
        {{"INVALID_ARGUMENT", 16}, {"invalid_prompt", 14}},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (pl_str_eq(delta->type, codes[i].word) || pl_str_eq(delta->code, codes[i].word))
            return codes[i].code;
    return PL_STR("server_error");
}

/* Writes an error before the response has started, or after bytes that were passed through. */
static void put_bare_error(struct pl_stream *s, struct pl_responses_writer *w, struct pl_str code,
                           struct pl_str message)
{
    if (s->from == s->to) {
        const struct pl_responses_reader *r = s->reader;
        w->sequence = r->next_sequence;
        pl_buf_adds(&s->out, "\n\n"); /* the last line may be incomplete */
    }
    pl_stream_begin_event(s, "error");
    pl_buf_adds(&s->out, "{\"type\":\"error\"");
    pl_responses_put_member(&s->out, "code", code);
    pl_responses_put_member(&s->out, "message", message);
    pl_buf_adds(&s->out, ",\"param\":null");
    pl_responses_end_event(s, w);
}

/* Items that were cut off are not closed: half the arguments of a call must not look complete. */
static void take_error(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_responses_writer *w = state;
    struct pl_str code = code_of(delta);
    struct pl_str message = delta->message.len ? delta->message : PL_STR("the answer broke off");
    if (!w->is_started) {
        put_bare_error(s, w, code, message);
        return;
    }
    pl_responses_finish_items(s, w, "completed");
    PL_CLEANUP_BUF struct pl_buf error;
    pl_buf_init(&error, 0);
    pl_buf_adds(&error, "{\"code\":\"");
    pl_buf_add(&error, code);
    pl_buf_addc(&error, '"');
    pl_responses_put_member(&error, "message", message);
    pl_buf_addc(&error, '}');
    pl_responses_check(s, &error);
    put_response_event(s, w, "failed", "failed", pl_buf_str(&error), "null");
}

/* ---- deltas ---- */

static void start_part(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    bool is_proof = delta->part_kind == PL_PART_REDACTED && delta->id.len;
    if (delta->part_kind == PL_PART_CALL)
        pl_responses_begin_part(s, state, delta);
    else if (is_proof && pl_stream_is_home(s, delta))
        pl_responses_put_proof(s, state, delta);
}

/* A part that was cut off is not closed: half the arguments must not look complete. */
static void end_part(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    if (!delta->is_cut)
        pl_responses_end_part(s, state, delta);
}

static void take_usage(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    struct pl_responses_writer *w = state;
    (void)s;
    w->has_usage = true;
    w->counts = delta->counts;
}

static void put_end(struct pl_stream *s, void *state, const struct pl_delta *delta)
{
    (void)state;
    (void)delta;
    pl_buf_adds(&s->out, "data: [DONE]\n\n");
}

/* A signature comes from another vendor and is useless here. Redacted reasoning may be our own, which
 * a server in between has forwarded. */
pl_delta_writer *const pl_responses_stream_writes[PL_DELTA_COUNT] = {
    [PL_DELTA_START] = take_start,
    [PL_DELTA_PART_START] = start_part,
    [PL_DELTA_FRAGMENT] = pl_responses_add_fragment,
    [PL_DELTA_CITATION] = pl_responses_add_citation,
    [PL_DELTA_PART_END] = end_part,
    [PL_DELTA_USAGE] = take_usage,
    [PL_DELTA_STOP] = take_stop,
    [PL_DELTA_END] = put_end,
    [PL_DELTA_ERROR] = take_error,
    [PL_DELTA_OTHER] = pl_responses_put_others,
};

void pl_responses_stream_write_deinit(void *state)
{
    struct pl_responses_writer *w = state;
    for (size_t i = 0; i < w->open.len; i++)
        pl_responses_deinit_item(&w->open.ptr[i]);
    pl_vec_deinit(&w->open);
    pl_vec_deinit(&w->items);
    pl_buf_deinit(&w->head);
    pl_buf_deinit(&w->model);
    pl_buf_deinit(&w->done);
}
