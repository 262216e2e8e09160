/* The answer of generateContent around its content: finish reason, usage, errors. */
#include "conv/pairing.h"
#include "format/gemini/gemini_int.h"
#include "format/gemini/words.h"
#include "format/pieces/citation.h"
#include "format/pieces/usage.h"
#include "json/number.h"

static struct pl_val field(struct pl_conv *conv, const struct pl_json_node *object, const char *key,
                           unsigned want)
{
    return pl_val_node(pl_conv_fit(conv, pl_gemini_field(conv, object, key), want));
}

/* ---- finish ---- */

/* STOP after a call means that the call waits for its result, unless the vendor has answered it. */
static struct pl_val finish_of_number(struct pl_conv *conv, const struct pl_json_node *node)
{
    int64_t number = 0;
    (void)pl_json_number_int64(pl_json_span(conv->doc, node), &number);
    const char *word = pl_gemini_finish_of_number(number);
    if (!word)
        return (struct pl_val){0};
    return (struct pl_val){.kind = PL_VAL_TEXT, .node = node, .str = pl_str_of(word)};
}

static void read_finish(struct pl_conv *conv, const struct pl_json_node *candidate)
{
    struct pl_answer *a = &conv->answer;
    bool is_open = pl_conv_serve_calls(conv);
    a->finish_val = field(conv, candidate, "finishReason", PL_WANT_STRING | PL_WANT_INTEGER);
    a->finish_detail = field(conv, candidate, "finishMessage", PL_WANT_STRING);
    if (pl_json_is(a->finish_val.node, PL_JSON_NUMBER))
        a->finish_val = finish_of_number(conv, a->finish_val.node);
    else if (pl_conv_is_hollow(conv, a->finish_val.node))
        a->finish_val = (struct pl_val){0};
    if (!pl_val_is_set(a->finish_val))
        return;
    a->finish = pl_gemini_finish_of(pl_conv_text(conv, a->finish_val));
    if (a->finish == PL_FINISH_STOP && is_open)
        a->finish = PL_FINISH_TOOLS;
}

/* A blocked prompt has no candidate: there is no answer, and the feedback says why. */
static void read_block(struct pl_conv *conv, const struct pl_json_node *root)
{
    const struct pl_json_node *feedback =
        pl_conv_fit(conv, pl_gemini_field(conv, root, "promptFeedback"), PL_WANT_OBJECT);
    struct pl_val reason = field(conv, feedback, "blockReason", PL_WANT_STRING);
    struct pl_val message = field(conv, feedback, "blockReasonMessage", PL_WANT_STRING);
    if (!pl_val_is_set(reason))
        return;
    conv->answer.finish = PL_FINISH_FILTER;
    conv->answer.finish_detail = pl_val_is_set(message) ? message : reason;
}

static void read_usage(struct pl_conv *conv, const struct pl_json_node *usage)
{
    conv->answer.usage = (struct pl_usage){
        .node = usage,
        .input = field(conv, usage, "promptTokenCount", PL_WANT_INTEGER),
        .output = field(conv, usage, "candidatesTokenCount", PL_WANT_INTEGER),
        .total = field(conv, usage, "totalTokenCount", PL_WANT_INTEGER),
        .cache_read = field(conv, usage, "cachedContentTokenCount", PL_WANT_INTEGER),
        .reasoning = field(conv, usage, "thoughtsTokenCount", PL_WANT_INTEGER),
        .tool_input = field(conv, usage, "toolUsePromptTokenCount", PL_WANT_INTEGER),
        .output_excludes_thought = true,
    };
    conv->answer.service_tier = field(conv, usage, "serviceTier", PL_WANT_STRING);
}

void pl_gemini_read_answer(struct pl_conv *conv, const struct pl_json_node *root,
                           const struct pl_json_node *candidate)
{
    const struct pl_json_node *index = pl_conv_node(conv, candidate, "index");
    conv->answer.id = field(conv, root, "responseId", PL_WANT_STRING);
    conv->answer.model = field(conv, root, "modelVersion", PL_WANT_STRING);
    /* The first candidate has index 0 in every format. */
    if (index && pl_str_eq(pl_json_span(conv->doc, index), PL_STR("0")))
        pl_conv_know(conv, index);
    if (candidate)
        read_finish(conv, candidate);
    else
        read_block(conv, root);
    conv->answer.ratings = candidate ? field(conv, candidate, "safetyRatings", PL_WANT_ARRAY)
                                     : field(conv, root, "promptFeedback", PL_WANT_OBJECT);
    read_usage(conv,
               pl_conv_fit(conv, pl_gemini_field(conv, root, "usageMetadata"), PL_WANT_OBJECT));
}

/* Words of other vendors that mean exactly the same as this format's word. */
static const char *const equal_words[] = {
    "stop",       "length",   "tool_calls", "content_filter",    "function_call", "end_turn",
    "max_tokens", "tool_use", "refusal",    "stop_sequence",     "completed",     "incomplete",
    "SAFETY",     "STOP",     "MAX_TOKENS", "max_output_tokens", "return",        "call",
    "end",        NULL,
};

void pl_gemini_write_finish(struct pl_writer *w)
{
    const struct pl_answer *a = &w->conv->answer;
    if (a->finish == PL_FINISH_NONE)
        return;
    pl_w_key_word(w, "finishReason", pl_gemini_finish_word(a->finish));
    if (pl_conv_word(w->conv, a->finish_val.node, equal_words) >= 0)
        pl_w_mapped(w, a->finish_val);
    else if (pl_val_is_set(a->finish_val))
        pl_w_loss(w, PL_LOSS_APPROXIMATED, a->finish_val,
                  "Gemini has no such finish reason; the nearest one is used");
    if (a->finish_detail.kind == PL_VAL_NODE &&
        pl_json_kind(a->finish_detail.node) == PL_JSON_STRING)
        pl_w_opt_string(w, "finishMessage", a->finish_detail);
}

/* Writes the pages that an answer of another vendor cites. */
void pl_gemini_write_cites(struct pl_writer *w, const struct pl_conversion *conversion)
{
    struct pl_cites_list list;
    bool is_open = false;
    pl_cites_list_pages(w->conv, conversion->from, &list);
    for (size_t i = 0; i < list.anchors.len; i++) {
        const struct pl_cite_entry *entry = &list.entries.ptr[list.anchors.ptr[i].entry];
        if (!entry->cited.url)
            continue;
        if (!is_open) {
            pl_w_key(w, "citationMetadata");
            pl_w_open(w, '{');
            pl_w_key(w, "citations");
            pl_w_open(w, '[');
            is_open = true;
        }
        pl_w_open(w, '{');
        pl_cites_write_page(w, entry, "uri", false);
        pl_w_close(w, '}');
    }
    if (is_open) {
        pl_w_close(w, ']');
        pl_w_close(w, '}');
    }
    pl_cites_list_deinit(&list);
}

void pl_gemini_write_answer(struct pl_writer *w)
{
    static const struct {
        const char *key;
        enum pl_counter counter;
    } counters[] = {
        {"promptTokenCount", PL_COUNT_PROMPT},
        {"cachedContentTokenCount", PL_COUNT_CACHE_READ},
        {"candidatesTokenCount", PL_COUNT_OUTPUT_BARE},
        {"toolUsePromptTokenCount", PL_COUNT_TOOL_INPUT},
        {"thoughtsTokenCount", PL_COUNT_REASONING},
        {"totalTokenCount", PL_COUNT_TOTAL},
    };
    if (w->conv->answer.usage.node) {
        pl_w_key(w, "usageMetadata");
        pl_w_open(w, '{');
        for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
            pl_usage_write(w, counters[i].key, counters[i].counter, false);
        pl_tier_write(w, PL_TIER_GEMINI, "serviceTier", w->conv->answer.service_tier);
        pl_w_close(w, '}');
    }
    pl_w_opt_string(w, "modelVersion", w->conv->answer.model);
    pl_w_opt_string(w, "responseId", w->conv->answer.id);
}

/* ---- errors ---- */

bool pl_gemini_read_error(struct pl_conv *conv, const struct pl_json_node *root)
{
    const struct pl_json_node *error = pl_conv_node(conv, root, "error");
    struct pl_answer *a = &conv->answer;
    if (!error || pl_json_kind(error) != PL_JSON_OBJECT)
        return false;
    a->is_error = true;
    a->error_code = pl_conv_get(conv, error, "code", PL_WANT_SCALAR);
    a->error_message = pl_conv_get(conv, error, "message", PL_WANT_STRING);
    a->error_status = pl_conv_get(conv, error, "status", PL_WANT_STRING);
    return true;
}

static const struct pl_gemini_error *error_of(struct pl_conv *conv, struct pl_val word)
{
    return pl_val_is_set(word) ? pl_gemini_error_of(pl_conv_text(conv, word)) : NULL;
}

void pl_gemini_write_error(struct pl_writer *w)
{
    const struct pl_answer *a = &w->conv->answer;
    const struct pl_gemini_error *by_code = error_of(w->conv, a->error_code);
    const struct pl_gemini_error *by_type = error_of(w->conv, a->error_type);
    const struct pl_gemini_error *error = by_code ? by_code : by_type;
    pl_w_key(w, "error");
    pl_w_open(w, '{');
    pl_w_key(w, "code");
    pl_w_int(w, error ? error->code : 500);
    pl_w_key(w, "message");
    if (pl_val_is_set(a->error_message))
        pl_w_string(w, a->error_message);
    else
        pl_w_word(w, "");
    pl_w_key_word(w, "status", error ? error->status : "UNKNOWN");
    pl_w_close(w, '}');
    if (by_type && by_type->code == error->code)
        pl_w_mapped(w, a->error_type);
    if (by_code)
        pl_w_loss(w, PL_LOSS_APPROXIMATED, a->error_code,
                  "Google's status identifies the kind of error");
}
