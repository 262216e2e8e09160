/* openai-chat streams: reading chat.completion.chunk events.
 *
 * Beside the documented fields, the reader accepts those of compatible servers: reasoning_content,
 * reasoning and reasoning_details (the same text under several names is read once), content in
 * parts, the legacy function_call, a last chunk with content and finish_reason at once, usage in
 * any chunk, no [DONE]. */
#include "stream/openai_chat/openai_chat_int.h"

#include "format/openai_chat/words.h"
#include "stream/pick.h"

/* ---- chunks ---- */

enum {
    REASONING_CONTENT,
    REASONING,
    REASONING_DETAILS,
    CONTENT,
    REFUSAL,
    TOOL_CALLS,
    FUNCTION_CALL,
    ANNOTATIONS,
    IMAGES,
    AUDIO,
    DELTA_COUNT,
};
static const struct pl_str delta_names[] = {
    [REASONING_CONTENT] = {"reasoning_content", 17},
    [REASONING] = {"reasoning", 9},
    [REASONING_DETAILS] = {"reasoning_details", 17},
    [CONTENT] = {"content", 7},
    [REFUSAL] = {"refusal", 7},
    [TOOL_CALLS] = {"tool_calls", 10},
    [FUNCTION_CALL] = {"function_call", 13},
    [ANNOTATIONS] = {"annotations", 11},
    [IMAGES] = {"images", 6},
    [AUDIO] = {"audio", 5},
};

/* Content is a string; some servers send a list of parts instead. */
static void take_content(struct pl_chat_in *in, const struct pl_json_node *content)
{
    static const struct pl_str names[] = {{"text", 4}, {"thinking", 8}, {"image_url", 9}};
    if (!pl_json_is(content, PL_JSON_ARRAY)) {
        pl_chat_say(in, PL_PART_TEXT, pl_pick_raw(&in->doc, content));
        return;
    }
    for (const struct pl_json_node *n = pl_json_first(content), *end = pl_json_end(content);
         n < end; n = pl_json_next(n)) {
        const struct pl_json_node *part[3];
        pl_pick(&in->doc, n, names, 3, part);
        if (pl_json_is(n, PL_JSON_STRING))
            pl_chat_say(in, PL_PART_TEXT, pl_json_raw(&in->doc, n));
        else if (pl_json_is(part[1], PL_JSON_ARRAY))
            pl_chat_take_details(in, part[1], false);
        else if (pl_json_is(part[2], PL_JSON_OBJECT))
            pl_chat_say(in, PL_PART_OTHER, pl_json_span(&in->doc, n));
        else
            pl_chat_say(in, PL_PART_TEXT, pl_pick_raw(&in->doc, part[0]));
    }
}

static void say_annotation(struct pl_chat_in *in, const struct pl_json_doc *doc, uint32_t part,
                           const struct pl_json_node *annotation)
{
    static const struct pl_str citation = {"url_citation", 12};
    static const struct pl_str names[] = {{"url", 3}, {"title", 5}};
    const struct pl_json_node *cited, *where[2];
    pl_pick(doc, annotation, &citation, 1, &cited);
    pl_pick(doc, cited, names, 2, where);
    if (pl_pick_raw(doc, where[0]).len)
        pl_stream_emit(in->s, &(struct pl_delta){
                                  .kind = PL_DELTA_CITATION,
                                  .choice = in->choice,
                                  .part = part,
                                  .part_kind = PL_PART_TEXT,
                                  .json = pl_json_span(doc, annotation),
                                  .url = pl_pick_raw(doc, where[0]),
                                  .title = pl_pick_raw(doc, where[1]),
                              });
}

static void say_annotations(struct pl_chat_in *in, const struct pl_json_doc *doc,
                            const struct pl_json_node *list)
{
    const struct pl_open_part *part =
        pl_stream_find(in->s, in->choice, PL_CHAT_KEY_OF(PL_PART_TEXT));
    if (!part)
        return;
    uint32_t number = part->part;
    for (const struct pl_json_node *n = pl_json_first(list), *end = pl_json_end(list); n < end;
         n = pl_json_next(n))
        say_annotation(in, doc, number, n);
}

/* Some servers send annotations before the text: they wait for it. */
static void take_annotations(struct pl_chat_in *in, const struct pl_json_node *annotations)
{
    if (!pl_json_is(annotations, PL_JSON_ARRAY) || !pl_json_count(annotations))
        return;
    if (in->choice || pl_stream_find(in->s, in->choice, PL_CHAT_KEY_OF(PL_PART_TEXT))) {
        say_annotations(in, &in->doc, annotations);
        return;
    }
    struct pl_buf *early = &in->r->early;
    if (!early->max)
        pl_buf_init(early, 0);
    if (early->len)
        pl_buf_addc(early, ',');
    struct pl_str list = pl_json_span(&in->doc, annotations);
    pl_buf_add(early, pl_str_slice(list, 1, list.len - 1));
    if (early->status != PL_OK)
        in->s->status = PL_NOMEM;
}

void pl_chat_say_early(struct pl_chat_in *in)
{
    PL_CLEANUP_BUF struct pl_buf list;
    struct pl_json_doc doc;
    if (in->choice)
        return;
    pl_buf_init(&list, 0);
    pl_buf_addc(&list, '[');
    pl_buf_add(&list, pl_buf_str(&in->r->early));
    pl_buf_addc(&list, ']');
    pl_buf_clear(&in->r->early);
    struct pl_str kept = pl_arena_dup(&in->s->arena, pl_buf_str(&list));
    if (list.status != PL_OK || !kept.ptr || pl_stream_json(in->s, kept, &doc, NULL) != PL_OK)
        in->s->status = PL_NOMEM; /* it parsed before: memory ran out */
    else
        say_annotations(in, &doc, doc.root);
}

static void take_images(struct pl_chat_in *in, const struct pl_json_node *images)
{
    if (!pl_json_is(images, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *n = pl_json_first(images); n < pl_json_end(images);
         n = pl_json_next(n))
        pl_chat_say(in, PL_PART_OTHER, pl_json_span(&in->doc, n));
}

/* Spoken answers have their words beside the sound. */
static void take_audio(struct pl_chat_in *in, const struct pl_json_node *audio)
{
    static const struct pl_str name = {"transcript", 10};
    const struct pl_json_node *transcript;
    pl_pick(&in->doc, audio, &name, 1, &transcript);
    pl_chat_say(in, PL_PART_TEXT, pl_pick_raw(&in->doc, transcript));
}

/* If the chunk is only text of one kind, the next chunk may be like it. */
static void offer_words(struct pl_chat_in *in, const struct pl_json_node *const *d)
{
    static const enum pl_part_kind kinds[] = {
        [REASONING_CONTENT] = PL_PART_THINKING,
        [REASONING] = PL_PART_THINKING,
        [CONTENT] = PL_PART_TEXT,
        [REFUSAL] = PL_PART_REFUSAL,
    };
    size_t n_fields = 0, only = 0;
    for (size_t i = 0; i < DELTA_COUNT; i++)
        if (d[i]) {
            n_fields++;
            only = i;
        }
    bool is_words = n_fields == 1 && only <= REFUSAL;
    if (in->choice || (n_fields && !is_words && only != TOOL_CALLS) || n_fields > 1)
        pl_repeat_spoil(&in->s->repeat);
    else if (is_words)
        pl_repeat_offer_words(
            &in->s->repeat, pl_pick_raw(&in->doc, d[only]),
            (struct pl_repeat_of){.key = PL_CHAT_KEY_OF(kinds[only]), .kind = kinds[only]});
}

static enum pl_status take_delta(struct pl_chat_in *in, const struct pl_json_node *delta)
{
    const struct pl_json_node *d[DELTA_COUNT];
    pl_pick(&in->doc, delta, delta_names, DELTA_COUNT, d);
    struct pl_str thought = pl_pick_raw(&in->doc, d[REASONING_CONTENT]);
    if (!thought.len)
        thought = pl_pick_raw(&in->doc, d[REASONING]);
    if (d[REASONING_DETAILS] && thought.len)
        pl_chat_begin_thought(in, d[REASONING_DETAILS]);
    pl_chat_say(in, PL_PART_THINKING, thought);
    if (d[REASONING_DETAILS])
        pl_chat_take_details(in, d[REASONING_DETAILS], thought.len > 0);
    if (d[CONTENT])
        take_content(in, d[CONTENT]);
    take_audio(in, d[AUDIO]);
    pl_chat_say(in, PL_PART_REFUSAL, pl_pick_raw(&in->doc, d[REFUSAL]));
    if (d[ANNOTATIONS])
        take_annotations(in, d[ANNOTATIONS]);
    take_images(in, d[IMAGES]);
    offer_words(in, d);
    enum pl_status status = pl_chat_take_function_call(in, d[FUNCTION_CALL]);
    return status == PL_OK ? pl_chat_take_calls(in, d[TOOL_CALLS]) : status;
}

enum {
    CHOICE_INDEX,
    CHOICE_DELTA,
    FINISH_REASON,
    FILTER_RESULTS,
    MESSAGE,
    LOGPROBS,
    CHOICE_COUNT,
};
static const struct pl_str choice_names[] = {[CHOICE_INDEX] = {"index", 5},
                                             [CHOICE_DELTA] = {"delta", 5},
                                             [FINISH_REASON] = {"finish_reason", 13},
                                             [FILTER_RESULTS] = {"content_filter_results", 22},
                                             [MESSAGE] = {"message", 7},
                                             [LOGPROBS] = {"logprobs", 8}};

/* Log probabilities belong to the text of their event. */
static void take_logprobs(struct pl_chat_in *in, const struct pl_json_node *logprobs)
{
    static const struct pl_str name = {"content", 7};
    const struct pl_json_node *list;
    pl_pick(&in->doc, logprobs, &name, 1, &list);
    if (!pl_json_is(list, PL_JSON_ARRAY) || !pl_json_count(list))
        return;
    pl_repeat_spoil(&in->s->repeat);
    in->logprobs = pl_json_span(&in->doc, list);
}

/* A token without text has log probabilities, too. */
static void say_logprobs(struct pl_chat_in *in)
{
    struct pl_open_part *part = pl_stream_find(in->s, in->choice, PL_CHAT_KEY_OF(PL_PART_TEXT));
    if (part)
        pl_stream_say_rated(in->s, part, (struct pl_str){0}, in->logprobs);
    in->logprobs.len = 0;
}

static enum pl_status take_choice(struct pl_chat_in *in, const struct pl_json_node *choice)
{
    const struct pl_json_node *c[CHOICE_COUNT];
    pl_pick(&in->doc, choice, choice_names, CHOICE_COUNT, c);
    int64_t index = pl_pick_count(&in->doc, c[CHOICE_INDEX]);
    /* Only Gemini can hold more than one answer. */
    bool is_taken = in->s->to == &pl_dialect_gemini || in->s->to->takes_all;
    if (index > 0 && (!is_taken || index > UINT8_MAX))
        return PL_OK;
    in->choice = index > 0 ? (uint32_t)index : 0;
    /* Some servers give the whole message in the first chunk; later ones repeat what was said. */
    bool is_whole = !c[CHOICE_DELTA] && !in->s->n_parts;
    if (c[LOGPROBS])
        take_logprobs(in, c[LOGPROBS]);
    enum pl_status status = take_delta(in, is_whole ? c[MESSAGE] : c[CHOICE_DELTA]);
    if (in->logprobs.len)
        say_logprobs(in);
    struct pl_str word = pl_pick_raw(&in->doc, c[FINISH_REASON]);
    /* The last chunk has an empty object. */
    if (pl_json_is(c[FILTER_RESULTS], PL_JSON_OBJECT) && pl_json_count(c[FILTER_RESULTS]))
        pl_stream_emit(in->s,
                       &(struct pl_delta){.kind = PL_DELTA_ABOUT,
                                          .choice = in->choice,
                                          .json = pl_json_span(&in->doc, c[FILTER_RESULTS])});
    if (status != PL_OK || !word.len)
        return status;
    pl_repeat_spoil(&in->s->repeat);
    pl_stream_emit(in->s, &(struct pl_delta){
                              .kind = PL_DELTA_STOP,
                              .choice = in->choice,
                              .finish = pl_chat_finish_of(word),
                              .word = word,
                          });
    return PL_OK;
}

enum {
    PROMPT,
    COMPLETION,
    TOTAL,
    PROMPT_DETAILS,
    COMPLETION_DETAILS,
    USAGE_COUNT,
};
static const struct pl_str usage_names[] = {
    [PROMPT] = {"prompt_tokens", 13},
    [COMPLETION] = {"completion_tokens", 17},
    [TOTAL] = {"total_tokens", 12},
    [PROMPT_DETAILS] = {"prompt_tokens_details", 21},
    [COMPLETION_DETAILS] = {"completion_tokens_details", 25},
};

static void take_usage(struct pl_chat_in *in, const struct pl_json_node *usage)
{
    static const struct pl_str cache_names[] = {{"cached_tokens", 13}, {"cache_write_tokens", 18}};
    static const struct pl_str reasoning_name = {"reasoning_tokens", 16};
    const struct pl_json_node *u[USAGE_COUNT], *cache[2], *reasoning;
    pl_pick(&in->doc, usage, usage_names, USAGE_COUNT, u);
    pl_pick(&in->doc, u[PROMPT_DETAILS], cache_names, 2, cache);
    pl_pick(&in->doc, u[COMPLETION_DETAILS], &reasoning_name, 1, &reasoning);
    pl_stream_emit(in->s, &(struct pl_delta){
                              .kind = PL_DELTA_USAGE,
                              .counts =
                                  {
                                      .input = pl_pick_count(&in->doc, u[PROMPT]),
                                      .output = pl_pick_count(&in->doc, u[COMPLETION]),
                                      .total = pl_pick_count(&in->doc, u[TOTAL]),
                                      .cache_read = pl_pick_count(&in->doc, cache[0]),
                                      .cache_write = pl_pick_count(&in->doc, cache[1]),
                                      .reasoning = pl_pick_count(&in->doc, reasoning),
                                      .tool_input = -1,
                                  },
                          });
}

static void take_error(struct pl_chat_in *in, const struct pl_json_node *error)
{
    static const struct pl_str names[] = {{"message", 7}, {"type", 4}, {"code", 4}};
    const struct pl_json_node *e[3];
    pl_pick(&in->doc, error, names, 3, e);
    pl_stream_emit(in->s, &(struct pl_delta){
                              .kind = PL_DELTA_ERROR,
                              .message = pl_pick_raw(&in->doc, e[0] ? e[0] : error),
                              .type = pl_pick_raw(&in->doc, e[1]),
                              .code = pl_pick_word(&in->doc, e[2]),
                          });
}

enum { CHUNK_ID, CREATED, MODEL, CHOICES, USAGE, ERROR, PADDING, FINGERPRINT, TIER, CHUNK_COUNT };
static const struct pl_str chunk_names[] = {
    [CHUNK_ID] = {"id", 2},          [CREATED] = {"created", 7},
    [MODEL] = {"model", 5},          [CHOICES] = {"choices", 7},
    [USAGE] = {"usage", 5},          [ERROR] = {"error", 5},
    [PADDING] = {"obfuscation", 11}, [FINGERPRINT] = {"system_fingerprint", 18},
    [TIER] = {"service_tier", 12},
};

static enum pl_status take_chunk(struct pl_chat_in *in)
{
    const struct pl_json_node *c[CHUNK_COUNT];
    enum pl_status status = PL_OK;
    if (pl_json_kind(in->doc.root) != PL_JSON_OBJECT)
        return pl_fail(in->err, PL_INVALID, "a chunk must be a JSON object, but this is %s",
                       pl_json_kind_name(pl_json_kind(in->doc.root)));
    pl_pick(&in->doc, in->doc.root, chunk_names, CHUNK_COUNT, c);
    if (c[ERROR]) {
        take_error(in, c[ERROR]);
        return PL_OK;
    }
    bool has_choices = pl_json_is(c[CHOICES], PL_JSON_ARRAY) && pl_json_count(c[CHOICES]);
    pl_stream_note_tier(in->s, pl_pick_raw(&in->doc, c[TIER]));
    in->model = pl_pick_raw(&in->doc, c[MODEL]);
    if (has_choices && !in->s->is_started) {
        bool is_time =
            pl_pick_count(&in->doc, c[CREATED]) >= 0 && (c[CREATED]->tag & PL_JSON_INTEGER);
        pl_stream_emit(
            in->s, &(struct pl_delta){
                       .kind = PL_DELTA_START,
                       .id = pl_pick_raw(&in->doc, c[CHUNK_ID]),
                       .model = pl_pick_raw(&in->doc, c[MODEL]),
                       .created = is_time ? pl_json_span(&in->doc, c[CREATED]) : (struct pl_str){0},
                   });
        if (pl_pick_raw(&in->doc, c[FINGERPRINT]).len)
            pl_stream_emit(in->s, &(struct pl_delta){.kind = PL_DELTA_ABOUT,
                                                     .id = pl_pick_raw(&in->doc, c[FINGERPRINT])});
    }
    if (has_choices)
        for (const struct pl_json_node *n = pl_json_first(c[CHOICES]);
             n < pl_json_end(c[CHOICES]) && status == PL_OK; n = pl_json_next(n))
            status = take_choice(in, n);
    if (pl_json_is(c[USAGE], PL_JSON_OBJECT))
        take_usage(in, c[USAGE]);
    if (c[USAGE])
        pl_repeat_spoil(&in->s->repeat);
    if (pl_json_is(c[PADDING], PL_JSON_STRING))
        pl_repeat_offer_hole(&in->s->repeat, pl_json_raw(&in->doc, c[PADDING]), 1);
    return status;
}

static void take_end(struct pl_chat_in *in)
{
    pl_chat_settle(in, true);
    pl_stream_emit(in->s, &(struct pl_delta){.kind = PL_DELTA_END});
}

enum pl_status pl_chat_read(struct pl_stream *s, void *state, const struct pl_sse_event *event,
                            struct pl_error *err)
{
    struct pl_chat_in in = {.s = s, .r = state, .err = err};
    if (pl_sse_is_done(event)) {
        if (!s->is_started)
            return pl_fail(err, PL_INVALID, "the stream ended before the answer began");
        enum pl_status named = pl_chat_check_calls(&in);
        if (named == PL_OK)
            take_end(&in);
        return named;
    }
    enum pl_status status = pl_stream_json(s, event->data, &in.doc, err);
    return status == PL_OK ? take_chunk(&in) : status;
}

bool pl_chat_say_again(struct pl_stream *s, void *state)
{
    struct pl_chat_in in = {.s = s, .r = state};
    const struct pl_repeat_of *of = &s->repeat.of;
    if (of->kind == PL_PART_CALL)
        return pl_chat_take_args_again(&in);
    if (in.r->calls.len)
        return false;
    pl_chat_say_now(&in, of->kind, s->repeat.words);
    return true;
}

/* Not every server sends [DONE]; a finish_reason is enough. */
void pl_chat_read_end(struct pl_stream *s, void *state)
{
    struct pl_chat_in in = {.s = s, .r = state};
    if (s->is_stopped && pl_chat_check_calls(&in) == PL_OK)
        take_end(&in);
}

void pl_chat_read_deinit(void *state)
{
    struct pl_chat_reader *r = state;
    for (size_t i = 0; i < r->calls.len; i++)
        pl_chat_deinit_call(&r->calls.ptr[i]);
    pl_vec_deinit(&r->calls);
    pl_vec_deinit(&r->runs);
    pl_buf_deinit(&r->held);
    pl_buf_deinit(&r->early);
    pl_chat_drop_proofs(r);
}
