/* Reading Google's stream: see gemini.c. */
#include "stream/gemini/gemini_int.h"

#include "format/gemini/words.h"
#include "format/pieces/instant.h"
#include "json/text.h"
#include "stream/pick.h"

/* ---- parts ---- */

/* A signature may come with an empty text; only Google needs both back. */
static void read_text_signature(struct pl_stream *s, uint32_t choice, uint32_t key,
                                const struct pl_delta *start, struct pl_str signature)
{
    if (!s->is_same_vendor)
        return;
    uint32_t part = pl_stream_open(s, choice, key, start);
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_SIGNATURE,
                                         .choice = choice,
                                         .part = part,
                                         .part_kind = start->part_kind,
                                         .raw = signature});
    pl_stream_close(s, choice, key);
}

static void say_text(struct pl_stream *s, struct pl_gemini_reader *r, const struct pl_repeat_of *of,
                     struct pl_str text)
{
    pl_gemini_finish_call(s, r, of->choice);
    struct pl_open_part *part = pl_stream_find(s, of->choice, of->key);
    if (!part) {
        pl_gemini_end_text(s, r, of->choice);
        pl_stream_open(s, of->choice, of->key, &(struct pl_delta){.part_kind = of->kind});
        part = pl_stream_find(s, of->choice, of->key);
    }
    if (part)
        pl_stream_say(s, part, text);
}

static void read_text(const struct pl_gemini_reading *x, uint32_t choice, struct pl_str text,
                      bool is_thought, struct pl_str signature)
{
    struct pl_repeat_of of = {.choice = choice,
                              .key = is_thought ? PL_GEMINI_KEY_THINKING : PL_GEMINI_KEY_TEXT,
                              .kind = is_thought ? PL_PART_THINKING : PL_PART_TEXT};
    if (text.len) {
        say_text(x->s, x->r, &of, text);
        pl_repeat_offer_words(&x->s->repeat, text, of);
    }
    if (signature.len && !text.len)
        pl_gemini_finish_call(x->s, x->r, choice);
    if (signature.len)
        read_text_signature(x->s, choice, of.key, &(struct pl_delta){.part_kind = of.kind},
                            signature);
}

/* Reads a part type that only Google has. */
static void read_own(const struct pl_gemini_reading *x, uint32_t choice,
                     const struct pl_json_node *part)
{
    static const struct pl_gemini_field fields[] = {
        PL_GEMINI_FIELD("executableCode", "executable_code"),
        PL_GEMINI_FIELD("toolCall", "tool_call"),
        PL_GEMINI_FIELD("codeExecutionResult", "code_execution_result"),
        PL_GEMINI_FIELD("toolResponse", "tool_response"),
    };
    const struct pl_json_node *f[4];
    if (choice || !pl_json_is(part, PL_JSON_OBJECT) || !pl_json_count(part))
        return;
    pl_gemini_get(x->doc, part, fields, 4, f);
    pl_gemini_finish_call(x->s, x->r, choice);
    pl_gemini_end_text(x->s, x->r, choice);
    pl_stream_take_own(x->s, pl_json_span(x->doc, part),
                       f[0] || f[1]   ? PL_OWN_CALL
                       : f[2] || f[3] ? PL_OWN_RESULT
                                      : PL_OWN_ALONE);
}

static enum pl_status read_part(const struct pl_gemini_reading *x, uint32_t choice,
                                const struct pl_json_node *part)
{
    enum { TEXT, THOUGHT, SIGNATURE, CALL, RESPONSE, N };
    static const struct pl_gemini_field fields[N] = {
        PL_GEMINI_FIELD("text", "text"),
        PL_GEMINI_FIELD("thought", "thought"),
        PL_GEMINI_FIELD("thoughtSignature", "thought_signature"),
        PL_GEMINI_FIELD("functionCall", "function_call"),
        PL_GEMINI_FIELD("functionResponse", "function_response"),
    };
    const struct pl_json_node *f[N];
    if (pl_json_is(part, PL_JSON_STRING)) {
        read_text(x, choice, pl_json_raw(x->doc, part), false, (struct pl_str){0});
        return PL_OK;
    }
    pl_gemini_get(x->doc, part, fields, N, f);
    struct pl_str signature = pl_pick_raw(x->doc, f[SIGNATURE]);
    if (f[CALL] || signature.len || !f[TEXT])
        pl_repeat_spoil(&x->s->repeat);
    if (f[CALL] && pl_gemini_hold_call(x, choice, part, f[CALL]))
        return PL_OK;
    if (f[RESPONSE] && !choice && pl_gemini_serve_call(x, part, f[RESPONSE]))
        return PL_OK;
    if (f[CALL])
        return pl_gemini_read_call(x, choice, f[CALL], signature);
    /* A signature may come alone, or in a part that only Google has. */
    uint32_t n_beside = (f[THOUGHT] != NULL) + (f[SIGNATURE] != NULL);
    if (f[TEXT] || (signature.len && pl_json_count(part) == n_beside))
        read_text(x, choice, pl_pick_raw(x->doc, f[TEXT]), pl_json_is(f[THOUGHT], PL_JSON_TRUE),
                  signature);
    else
        read_own(x, choice, part);
    return PL_OK;
}

static enum pl_status read_content(const struct pl_gemini_reading *x, uint32_t choice,
                                   const struct pl_json_node *content)
{
    static const struct pl_gemini_field fields[] = {PL_GEMINI_FIELD("parts", "parts")};
    const struct pl_json_node *parts;
    enum pl_status status = PL_OK;
    pl_gemini_get(x->doc, content, fields, 1, &parts);
    if (pl_json_is(parts, PL_JSON_STRING))
        return read_part(x, choice, parts);
    if (!pl_json_is(parts, PL_JSON_ARRAY))
        return PL_OK;
    for (const struct pl_json_node *n = pl_json_first(parts);
         n < pl_json_end(parts) && status == PL_OK; n = pl_json_next(n))
        status = read_part(x, choice, n);
    return status;
}

/* ---- candidates ---- */

static void read_finish(const struct pl_gemini_reading *x, struct pl_gemini_choice *choice,
                        const struct pl_json_node *reason, const struct pl_json_node *message)
{
    struct pl_str word = pl_pick_raw(x->doc, reason);
    const char *numbered = pl_gemini_finish_of_number(pl_pick_count(x->doc, reason));
    if (numbered)
        word = pl_str_of(numbered);
    if (!word.len || pl_str_eq(word, PL_STR("FINISH_REASON_UNSPECIFIED")))
        return;
    choice->is_finished = true;
    choice->finish = pl_gemini_finish_of(word);
    pl_gemini_keep(x->s, &choice->word, word);
    pl_gemini_keep(x->s, &choice->detail, pl_pick_raw(x->doc, message));
}

static enum pl_status read_candidate(const struct pl_gemini_reading *x,
                                     const struct pl_json_node *candidate)
{
    enum { CONTENT, INDEX, REASON, MESSAGE, CITATIONS, GROUNDING, SAFETY, N };
    static const struct pl_gemini_field fields[N] = {
        PL_GEMINI_FIELD("content", "content"),
        PL_GEMINI_FIELD("index", "index"),
        PL_GEMINI_FIELD("finishReason", "finish_reason"),
        PL_GEMINI_FIELD("finishMessage", "finish_message"),
        PL_GEMINI_FIELD("citationMetadata", "citation_metadata"),
        PL_GEMINI_FIELD("groundingMetadata", "grounding_metadata"),
        PL_GEMINI_FIELD("safetyRatings", "safety_ratings"),
    };
    const struct pl_json_node *f[N];
    pl_gemini_get(x->doc, candidate, fields, N, f);
    int64_t index = f[INDEX] ? pl_pick_count(x->doc, f[INDEX]) : 0;
    if (index < 0 || index >= PL_GEMINI_MAX_CHOICES)
        return PL_OK;
    struct pl_gemini_choice *choice = &x->r->choices[index];
    choice->is_seen = true;
    enum pl_status status = read_content(x, (uint32_t)index, f[CONTENT]);
    if (status == PL_OK && x->r->is_torn)
        status = pl_fail(x->err, PL_INVALID, "a call broke off before all of its arguments came");
    if (status != PL_OK)
        return status;
    if (f[SAFETY])
        pl_stream_emit(x->s, &(struct pl_delta){.kind = PL_DELTA_ABOUT,
                                                .choice = (uint32_t)index,
                                                .json = pl_json_span(x->doc, f[SAFETY])});
    if (f[CITATIONS] || f[REASON])
        pl_repeat_spoil(&x->s->repeat);
    if (f[CITATIONS] || f[GROUNDING])
        pl_gemini_keep_sources(x, (uint32_t)index, f[CITATIONS], f[GROUNDING]);
    if (f[REASON])
        read_finish(x, choice, f[REASON], f[MESSAGE]);
    return PL_OK;
}

static void read_feedback(const struct pl_gemini_reading *x, const struct pl_json_node *feedback)
{
    static const struct pl_gemini_field fields[] = {
        PL_GEMINI_FIELD("blockReason", "block_reason"),
        PL_GEMINI_FIELD("blockReasonMessage", "block_reason_message")};
    const struct pl_json_node *f[2];
    struct pl_gemini_choice *choice = &x->r->choices[0];
    pl_gemini_get(x->doc, feedback, fields, 2, f);
    struct pl_str reason = pl_pick_raw(x->doc, f[0]), message = pl_pick_raw(x->doc, f[1]);
    if (!reason.len || pl_str_eq(reason, PL_STR("BLOCKED_REASON_UNSPECIFIED")) ||
        pl_str_eq(reason, PL_STR("BLOCK_REASON_UNSPECIFIED")))
        return;
    choice->is_seen = choice->is_finished = true;
    choice->finish = PL_FINISH_FILTER;
    pl_gemini_keep(x->s, &choice->word, reason);
    pl_gemini_keep(x->s, &choice->detail, message.len ? message : reason);
}

/* ---- counters, errors ---- */

/* Counters are snapshots: the last value counts, except a placeholder 0. */
static void merge(int64_t *count, int64_t now)
{
    if (now > 0 || (now == 0 && *count < 0))
        *count = now;
}

/* Every event has counters, so plain digits are parsed here. */
static int64_t count_of(const struct pl_json_doc *doc, const struct pl_json_node *number)
{
    struct pl_str digits = pl_json_span(doc, number);
    int64_t value = 0;
    if (!(number->tag & PL_JSON_INTEGER) || digits.len > 18 || digits.ptr[0] == '-')
        return pl_pick_count(doc, number);
    for (size_t i = 0; i < digits.len; i++)
        value = value * 10 + (digits.ptr[i] - '0');
    return value;
}

static void read_usage(const struct pl_gemini_reading *x, const struct pl_json_node *usage)
{
    static const struct pl_gemini_field fields[] = {
        [PL_GEMINI_PROMPT] = PL_GEMINI_FIELD("promptTokenCount", "prompt_token_count"),
        [PL_GEMINI_CANDIDATES] = PL_GEMINI_FIELD("candidatesTokenCount", "candidates_token_count"),
        [PL_GEMINI_THOUGHTS] = PL_GEMINI_FIELD("thoughtsTokenCount", "thoughts_token_count"),
        [PL_GEMINI_TOOL_PROMPT] =
            PL_GEMINI_FIELD("toolUsePromptTokenCount", "tool_use_prompt_token_count"),
        [PL_GEMINI_CACHED] =
            PL_GEMINI_FIELD("cachedContentTokenCount", "cached_content_token_count"),
        [PL_GEMINI_TOTAL] = PL_GEMINI_FIELD("totalTokenCount", "total_token_count"),
        [PL_GEMINI_COUNTERS] = PL_GEMINI_FIELD("serviceTier", "service_tier"),
    };
    const struct pl_json_node *f[PL_GEMINI_COUNTERS + 1];
    pl_gemini_get(x->doc, usage, fields, PL_GEMINI_COUNTERS + 1, f);
    pl_stream_note_tier(x->s, pl_pick_raw(x->doc, f[PL_GEMINI_COUNTERS]));
    for (size_t i = 0; i < PL_GEMINI_COUNTERS; i++)
        if (f[i]) {
            merge(&x->r->counts[i], count_of(x->doc, f[i]));
            x->r->has_usage = true;
            if (pl_json_kind(f[i]) == PL_JSON_NUMBER)
                pl_repeat_offer_hole(&x->s->repeat, pl_json_span(x->doc, f[i]), (uint8_t)(i + 1));
        }
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t total;
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return __builtin_add_overflow(a, b, &total) ? -1 : total;
}

static void emit_usage(struct pl_stream *s, const int64_t c[static PL_GEMINI_COUNTERS])
{
    int64_t prompt = c[PL_GEMINI_PROMPT], tools = c[PL_GEMINI_TOOL_PROMPT];
    pl_stream_emit(s, &(struct pl_delta){
                          .kind = PL_DELTA_USAGE,
                          .counts = {.input = prompt < 0 ? -1 : sum(prompt, tools),
                                     .output = sum(c[PL_GEMINI_CANDIDATES], c[PL_GEMINI_THOUGHTS]),
                                     .total = c[PL_GEMINI_TOTAL],
                                     .cache_read = c[PL_GEMINI_CACHED],
                                     .cache_write = -1,
                                     .reasoning = c[PL_GEMINI_THOUGHTS],
                                     .tool_input = tools}});
}

static void read_error(const struct pl_gemini_reading *x, const struct pl_json_node *error)
{
    static const struct pl_gemini_field fields[] = {PL_GEMINI_FIELD("code", "code"),
                                                    PL_GEMINI_FIELD("message", "message"),
                                                    PL_GEMINI_FIELD("status", "status")};
    const struct pl_json_node *f[3];
    pl_gemini_get(x->doc, error, fields, 3, f);
    struct pl_str status = pl_pick_raw(x->doc, f[2]), message = pl_pick_raw(x->doc, f[1]);
    if (pl_json_is(error, PL_JSON_STRING))
        message = pl_json_raw(x->doc, error);
    const struct pl_gemini_error *known =
        pl_gemini_error_by_status(status, pl_pick_count(x->doc, f[0]));
    pl_stream_emit(x->s, &(struct pl_delta){
                             .kind = PL_DELTA_ERROR,
                             .type = pl_str_of(known ? known->word : "api_error"),
                             .code = status,
                             .message = message.len ? message : PL_STR("the model's server failed"),
                         });
}

/* ---- events ---- */

static void read_start(const struct pl_gemini_reading *x, const struct pl_json_node *id,
                       const struct pl_json_node *model, const struct pl_json_node *created)
{
    char digits[24];
    struct pl_buf seconds = {.ptr = digits, .cap = sizeof digits - 1, .max = sizeof digits - 1};
    int64_t us;
    if (created && pl_instant_parse(pl_pick_raw(x->doc, created), &us) && us >= 0)
        pl_buf_addf(&seconds, "%lld", (long long)(us / 1000000));
    pl_stream_emit(x->s, &(struct pl_delta){.kind = PL_DELTA_START,
                                            .id = pl_pick_raw(x->doc, id),
                                            .model = pl_pick_raw(x->doc, model),
                                            .created = pl_buf_str(&seconds)});
}

static enum pl_status read_object(const struct pl_gemini_reading *x,
                                  const struct pl_json_node *object)
{
    enum { CANDIDATES, MODEL, ID, USAGE, FEEDBACK, CREATED, ERROR, N };
    static const struct pl_gemini_field fields[N] = {
        PL_GEMINI_FIELD("candidates", "candidates"),
        PL_GEMINI_FIELD("modelVersion", "model_version"),
        PL_GEMINI_FIELD("responseId", "response_id"),
        PL_GEMINI_FIELD("usageMetadata", "usage_metadata"),
        PL_GEMINI_FIELD("promptFeedback", "prompt_feedback"),
        PL_GEMINI_FIELD("createTime", "create_time"),
        PL_GEMINI_FIELD("error", "error"),
    };
    const struct pl_json_node *f[N];
    enum pl_status status = PL_OK;
    pl_gemini_get(x->doc, object, fields, N, f);
    if (f[ERROR]) {
        read_error(x, f[ERROR]);
        return PL_OK;
    }
    if (!x->s->is_started && (f[ID] || f[MODEL] || f[CANDIDATES]))
        read_start(x, f[ID], f[MODEL], f[CREATED]);
    if (f[USAGE])
        read_usage(x, f[USAGE]);
    if (pl_json_is(f[CANDIDATES], PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(f[CANDIDATES]);
             n < pl_json_end(f[CANDIDATES]) && status == PL_OK; n = pl_json_next(n))
            status = read_candidate(x, n);
    if (f[FEEDBACK]) {
        pl_repeat_spoil(&x->s->repeat);
        read_feedback(x, f[FEEDBACK]);
        pl_stream_emit(x->s, &(struct pl_delta){.kind = PL_DELTA_ABOUT,
                                                .json = pl_json_span(x->doc, f[FEEDBACK])});
    }
    return status;
}

static enum pl_status read_document(const struct pl_gemini_reading *x)
{
    const struct pl_json_node *root = x->doc->root;
    enum pl_status status = PL_OK;
    if (!pl_json_is(root, PL_JSON_ARRAY))
        return read_object(x, root);
    for (const struct pl_json_node *n = pl_json_first(root);
         n < pl_json_end(root) && status == PL_OK; n = pl_json_next(n))
        status = read_object(x, n);
    return status;
}

/* Reads data that is not a single value: several objects on one line, or a piece of the array that
 * comes without alt=sse. */
static enum pl_status read_values(const struct pl_gemini_reading *x, struct pl_str data)
{
    struct pl_json_frames frames;
    struct pl_json_doc doc;
    struct pl_str object;
    struct pl_gemini_reading one = *x;
    one.doc = &doc;
    struct pl_error first = *x->err;
    enum pl_status status;
    pl_json_frames_init(&frames, 0);
    pl_json_frames_feed(&frames, data);
    while ((status = pl_json_frames_next(&frames, &object)) == PL_OK) {
        status = pl_stream_json(x->s, object, &doc, x->err);
        if (status == PL_OK)
            status = read_document(&one);
        if (status != PL_OK)
            break;
    }
    if (status == PL_SYNTAX || pl_json_frames_is_open(&frames)) {
        *x->err = first;
        status = PL_SYNTAX;
    }
    pl_json_frames_deinit(&frames);
    return status == PL_NOT_FOUND ? PL_OK : status;
}

static void make_ready(struct pl_gemini_reader *r)
{
    r->is_ready = true;
    pl_buf_init(&r->waiting, 0);
    for (size_t i = 0; i < PL_GEMINI_COUNTERS; i++)
        r->counts[i] = -1;
    for (size_t i = 0; i < PL_GEMINI_MAX_CHOICES; i++) {
        struct pl_gemini_choice *choice = &r->choices[i];
        struct pl_buf *const bufs[] = {
            &choice->word,       &choice->detail,    &choice->call.id, &choice->call.signature,
            &choice->call.whole, &choice->citations, &choice->chunks};
        for (size_t k = 0; k < sizeof bufs / sizeof *bufs; k++)
            pl_buf_init(bufs[k], 0);
    }
}

enum pl_status pl_gemini_stream_read(struct pl_stream *s, void *state,
                                     const struct pl_sse_event *event, struct pl_error *err)
{
    struct pl_gemini_reader *r = state;
    struct pl_json_doc doc;
    struct pl_gemini_reading x = {.s = s, .r = r, .doc = &doc, .err = err};
    if (!r->is_ready)
        make_ready(r);
    /* Compatible servers may end their stream like OpenAI. */
    if (!event->data.len || pl_sse_is_done(event))
        return PL_OK;
    enum pl_status status = pl_stream_json(s, event->data, &doc, err);
    if (status == PL_SYNTAX)
        return read_values(&x, event->data);
    return status == PL_OK ? read_document(&x) : status;
}

bool pl_gemini_stream_say_again(struct pl_stream *s, void *state)
{
    struct pl_gemini_reader *r = state;
    const struct pl_repeat *repeat = &s->repeat;
    if (r->choices[repeat->of.choice].call.is_open)
        return false;
    for (size_t i = 0; i < repeat->n_holes; i++)
        if (repeat->holes[i].name)
            merge(&r->counts[repeat->holes[i].name - 1], pl_repeat_number(repeat->holes[i].is));
    say_text(s, r, &repeat->of, repeat->words);
    return true;
}

/* ---- the end ---- */

static void emit_stop(struct pl_stream *s, uint32_t index, const struct pl_gemini_choice *choice)
{
    bool waits = choice->finish == PL_FINISH_STOP && choice->has_call;
    if (index) {
        pl_stream_close(s, index, PL_GEMINI_KEY_TEXT);
        pl_stream_close(s, index, PL_GEMINI_KEY_THINKING);
    }
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_STOP,
                                         .choice = index,
                                         .finish = waits ? PL_FINISH_TOOLS : choice->finish,
                                         .word = pl_buf_str(&choice->word),
                                         .detail = pl_buf_str(&choice->detail)});
}

void pl_gemini_stream_read_end(struct pl_stream *s, void *state)
{
    struct pl_gemini_reader *r = state;
    bool is_seen = false, is_finished = true;
    for (uint32_t i = 0; i < PL_GEMINI_MAX_CHOICES; i++) {
        is_seen |= r->choices[i].is_seen;
        is_finished &= r->choices[i].is_finished || !r->choices[i].is_seen;
    }
    if (!is_seen || !is_finished)
        return;
    if (r->has_usage)
        emit_usage(s, r->counts);
    for (uint32_t i = 0; i < PL_GEMINI_MAX_CHOICES; i++)
        if (r->choices[i].is_seen) {
            pl_gemini_end_call(s, r, i);
            pl_gemini_finish_call(s, r, i);
            pl_gemini_end_sources(s, r, i);
            emit_stop(s, i, &r->choices[i]);
        }
    pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_END});
}

void pl_gemini_stream_read_deinit(void *state)
{
    struct pl_gemini_reader *r = state;
    pl_buf_deinit(&r->waiting);
    for (size_t i = 0; i < PL_GEMINI_MAX_CHOICES; i++) {
        struct pl_gemini_choice *choice = &r->choices[i];
        pl_buf_deinit(&choice->word);
        pl_buf_deinit(&choice->detail);
        pl_buf_deinit(&choice->citations);
        pl_buf_deinit(&choice->chunks);
        pl_buf_deinit(&choice->call.id);
        pl_buf_deinit(&choice->call.signature);
        pl_buf_deinit(&choice->call.whole);
        if (choice->call.is_open)
            pl_gemini_args_deinit(&choice->call.args);
    }
}
