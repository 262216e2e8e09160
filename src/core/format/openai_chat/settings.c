/* openai-chat: writing tools and settings of a request. */
#include "format/openai_chat/openai_chat_int.h"

#include "format/pieces/choice.h"
#include "format/pieces/effort.h"
#include "format/gemini/schema.h"
#include "format/profile.h"
#include "format/pieces/tool_name.h"
#include "format/pieces/usage.h"
#include "json/number.h"

/* ---- tools ---- */

/* In Responses the members of a grammar are beside its type, in Chat Completions in an object. */
static void write_input_format(struct pl_writer *w, struct pl_val format)
{
    const struct pl_json_node *type = pl_conv_node(w->conv, format.node, "type");
    if (!pl_val_is_set(format))
        return;
    pl_w_key(w, "format");
    if (!pl_conv_says(w->conv, type, "grammar") || pl_conv_node(w->conv, format.node, "grammar")) {
        pl_w_value(w, format);
        return;
    }
    pl_conv_know(w->conv, type);
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "grammar");
    pl_w_key(w, "grammar");
    pl_w_open(w, '{');
    pl_w_opt_value(w, "definition",
                   pl_conv_get(w->conv, format.node, "definition", PL_WANT_STRING));
    pl_w_opt_value(w, "syntax", pl_conv_get(w->conv, format.node, "syntax", PL_WANT_STRING));
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}

static void write_tool(struct pl_writer *w, const struct pl_tool *tool)
{
    const char *type = tool->is_custom ? "custom" : "function";
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", type);
    pl_w_key(w, type);
    pl_w_open(w, '{');
    pl_w_key(w, "name");
    pl_tool_name_write(w, tool->name, PL_CHAT_NAME_MAX);
    pl_w_opt_string(w, "description", tool->description);
    if (tool->is_custom) {
        write_input_format(w, tool->schema);
    } else {
        pl_gemini_schema_opt_any(w, "parameters", tool->schema, tool->is_openapi_schema);
        pl_w_opt_value(w, "strict", tool->strict);
    }
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}

/* A hosted tool of another vendor does not exist here. */
static bool write_tools(struct pl_writer *w)
{
    bool is_open = false;
    for (size_t i = 0; i < w->conv->tools.len; i++) {
        if (w->conv->tools.ptr[i].is_hosted)
            continue;
        if (!is_open) {
            pl_w_key(w, "tools");
            pl_w_open(w, '[');
            is_open = true;
        }
        write_tool(w, &w->conv->tools.ptr[i]);
    }
    if (is_open)
        pl_w_close(w, ']');
    return is_open;
}

static bool is_custom_tool(struct pl_conv *conv, struct pl_val name)
{
    for (size_t i = 0; i < conv->tools.len; i++)
        if (conv->tools.ptr[i].is_custom &&
            pl_str_eq(pl_conv_text(conv, conv->tools.ptr[i].name), pl_conv_text(conv, name)))
            return true;
    return false;
}

static void write_tool_reference(struct pl_writer *w, struct pl_val name)
{
    const char *type = is_custom_tool(w->conv, name) ? "custom" : "function";
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", type);
    pl_w_key(w, type);
    pl_w_open(w, '{');
    pl_w_key(w, "name");
    pl_tool_name_write(w, name, PL_CHAT_NAME_MAX);
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}

/* One level deeper than in Responses. */
static void write_allowed_tools(struct pl_writer *w, const char *mode)
{
    const struct pl_json_node *list = w->conv->settings.allowed;
    pl_w_key(w, "tool_choice");
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "allowed_tools");
    pl_w_key(w, "allowed_tools");
    pl_w_open(w, '{');
    pl_w_key_word(w, "mode", mode);
    pl_w_key(w, "tools");
    pl_w_open(w, '[');
    for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
         e = pl_json_next(e)) {
        struct pl_val name = pl_choice_allowed_name(w->conv, e);
        if (pl_val_is_set(name))
            write_tool_reference(w, name);
    }
    pl_w_close(w, ']');
    pl_w_close(w, '}');
    pl_w_close(w, '}');
    pl_choice_know_allowed(w->conv);
}

/* Marks only the choice itself: a flag next to it has its own fate. */
static void know_choice(struct pl_writer *w)
{
    static const char *const keys[] = {"type", "mode", NULL};
    const struct pl_json_node *n = w->conv->settings.choice_val.node;
    if (n && pl_json_kind(n) != PL_JSON_OBJECT)
        pl_conv_know(w->conv, n);
    for (int i = 0; keys[i]; i++)
        pl_conv_know(w->conv, pl_conv_node(w->conv, n, keys[i]));
}

static void write_choice(struct pl_writer *w)
{
    static const char *const words[] = {
        [PL_CHOICE_AUTO] = "auto", [PL_CHOICE_ANY] = "required", [PL_CHOICE_NONE] = "none"};
    const struct pl_settings *s = &w->conv->settings;
    switch (s->choice) {
    case PL_CHOICE_UNSET:
        return;
    case PL_CHOICE_OTHER:
        return;
    case PL_CHOICE_ONE:
        pl_w_key(w, "tool_choice");
        write_tool_reference(w, s->choice_name);
        break;
    default:
        if (pl_choice_count_allowed(w->conv))
            write_allowed_tools(w, words[s->choice]);
        else
            pl_w_key_word(w, "tool_choice", words[s->choice]);
    }
    know_choice(w);
    pl_choice_report_mode(w->conv);
}

static bool says_bool(struct pl_val val, bool value)
{
    return val.kind == PL_VAL_NODE &&
           pl_json_kind(val.node) == (value ? PL_JSON_TRUE : PL_JSON_FALSE);
}

static void write_parallel(struct pl_writer *w)
{
    const struct pl_flag *flag = &w->conv->settings.parallel;
    if (!flag->is_set)
        return;
    pl_w_key(w, "parallel_tool_calls");
    if (says_bool(flag->val, flag->value)) {
        pl_w_value(w, flag->val);
    } else {
        pl_w_bool(w, flag->value);
        pl_w_mapped(w, flag->val);
    }
}

/* ---- settings ---- */

static void write_stop(struct pl_writer *w, struct pl_val stop)
{
    enum { MOST = 4 };
    if (stop.kind != PL_VAL_NODE || pl_json_kind(stop.node) != PL_JSON_ARRAY ||
        pl_json_count(stop.node) <= MOST) {
        if (stop.kind != PL_VAL_NODE || !pl_json_is_container(stop.node) ||
            pl_json_count(stop.node))
            pl_w_opt_value(w, "stop", stop);
        return;
    }
    pl_w_key(w, "stop");
    pl_w_open(w, '[');
    const struct pl_json_node *word = pl_json_first(stop.node);
    for (int i = 0; i < MOST; i++, word = pl_json_next(word))
        pl_w_value(w, pl_val_node(word));
    pl_w_close(w, ']');
    for (; word < pl_json_end(stop.node); word = pl_json_next(word))
        pl_conv_loss(w->conv, PL_LOSS_DROPPED, word, "at most %d stop sequences are accepted",
                     MOST);
}

static void write_effort(struct pl_writer *w)
{
    const struct pl_settings *s = &w->conv->settings;
    const char *word = pl_effort_word(s->effort);
    if (word && s->effort_val.node && pl_conv_says(w->conv, s->effort_val.node, word)) {
        pl_w_opt_string(w, "reasoning_effort", s->effort_val);
        return;
    }
    if (word) {
        pl_w_key_word(w, "reasoning_effort", word);
        pl_w_mapped(w, s->effort_val);
        return;
    }
    int64_t budget = 0;
    if (!s->thinking_budget.node ||
        !pl_json_number_int64(pl_json_span(w->conv->doc, s->thinking_budget.node), &budget) ||
        !pl_effort_word(pl_effort_of_budget(budget)))
        return;
    pl_w_key_word(w, "reasoning_effort", pl_effort_word(pl_effort_of_budget(budget)));
    pl_conv_know(w->conv, pl_conv_node(w->conv, s->thinking.node, "type"));
    pl_w_loss(w, PL_LOSS_APPROXIMATED, s->thinking_budget,
              "there is no token budget here, only the nearest effort");
}

/* The source has the response format as a string, as an object with a type, or in another field. */
static void know_output(struct pl_writer *w)
{
    const struct pl_json_node *n = w->conv->settings.output_val.node;
    if (n && pl_json_kind(n) == PL_JSON_STRING)
        pl_conv_know(w->conv, n);
    pl_conv_know(w->conv, pl_conv_node(w->conv, n, "type"));
}

static void write_output(struct pl_writer *w)
{
    static const char *const types[] = {[PL_OUTPUT_TEXT] = "text",
                                        [PL_OUTPUT_JSON] = "json_object",
                                        [PL_OUTPUT_SCHEMA] = "json_schema"};
    const struct pl_settings *s = &w->conv->settings;
    if (s->output == PL_OUTPUT_UNSET)
        return;
    pl_w_key(w, "response_format");
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", types[s->output]);
    know_output(w);
    if (s->output == PL_OUTPUT_SCHEMA) {
        pl_w_key(w, "json_schema");
        pl_w_open(w, '{');
        pl_w_key(w, "name");
        if (pl_val_is_set(s->output_name)) {
            pl_tool_name_write(w, s->output_name, PL_CHAT_NAME_MAX);
        } else {
            pl_w_word(w, "response");
            pl_conv_loss(w->conv, PL_LOSS_SYNTHESISED,
                         s->output_val.node ? s->output_val.node : w->conv->doc->root,
                         "a schema needs a name; it got the name response");
        }
        pl_w_opt_string(w, "description", s->output_description);
        pl_w_opt_value(w, "strict", s->output_strict);
        pl_gemini_schema_opt_any(w, "schema", s->output_schema, s->is_openapi_output);
        pl_w_close(w, '}');
    }
    pl_w_close(w, '}');
}

/* top_logprobs is only valid together with logprobs. */
static void write_logprobs(struct pl_writer *w)
{
    const struct pl_settings *s = &w->conv->settings;
    bool is_asked = pl_val_is_set(s->logprobs) || pl_val_is_set(s->top_logprobs);
    if (!is_asked)
        return;
    pl_w_key(w, "logprobs");
    if (says_bool(s->logprobs, true) || says_bool(s->logprobs, false)) {
        pl_w_value(w, s->logprobs);
    } else {
        pl_w_bool(w, true);
        pl_w_mapped(w, s->logprobs);
    }
    if (pl_val_is_set(s->top_logprobs) && says_bool(s->logprobs, false))
        pl_w_loss(w, PL_LOSS_DROPPED, s->top_logprobs, "it is not accepted without logprobs");
    else
        pl_w_opt_value(w, "top_logprobs", s->top_logprobs);
}

static void write_verbosity(struct pl_writer *w)
{
    static const char *const words[] = {"low", "medium", "high", NULL};
    if (pl_conv_word(w->conv, w->conv->settings.verbosity.node, words) >= 0)
        pl_w_opt_string(w, "verbosity", w->conv->settings.verbosity);
}

/* A server that knows only the older name of the limit is another vendor's: it may refuse members
 * that only OpenAI has. */
static bool shares_with_responses(const struct pl_conversion *conversion)
{
    return conversion->from == &pl_format_openai_responses &&
           !(conversion->profile && conversion->profile->refuses_max_completion_tokens);
}

/* Cache marks last 30 minutes here; only Responses has other lifetimes. */
static void write_cache_options(struct pl_writer *w, const struct pl_json_node *options)
{
    struct pl_val mode = pl_conv_get(w->conv, options, "mode", PL_WANT_STRING);
    struct pl_val ttl = pl_conv_get(w->conv, options, "ttl", PL_WANT_STRING);
    bool has_ttl = pl_conv_says(w->conv, ttl.node, "30m");
    if (!pl_val_is_set(mode) && !has_ttl)
        return;
    pl_w_key(w, "prompt_cache_options");
    pl_w_open(w, '{');
    pl_w_opt_string(w, "mode", mode);
    if (has_ttl)
        pl_w_opt_string(w, "ttl", ttl);
    pl_w_close(w, '}');
}

/* Members that both of OpenAI's formats spell alike. */
static void write_shared(struct pl_writer *w, const struct pl_conversion *conversion)
{
    static const struct {
        const char *key;
        unsigned want;
    } shared[] = {
        {"store", PL_WANT_BOOL},
        {"prompt_cache_key", PL_WANT_STRING},
        {"prompt_cache_retention", PL_WANT_STRING},
        {"moderation", PL_WANT_OBJECT},
    };
    const struct pl_json_node *root = w->conv->doc->root;
    if (!shares_with_responses(conversion))
        return;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        pl_w_opt_value(w, shared[i].key, pl_conv_get(w->conv, root, shared[i].key, shared[i].want));
    write_cache_options(w, pl_conv_member(w->conv, root, "prompt_cache_options", PL_WANT_OBJECT));
}

/* Streams of the other formats always report usage. */
static void write_stream_options(struct pl_writer *w, const struct pl_conversion *conversion)
{
    struct pl_val stream = w->conv->settings.stream, obfuscation = {0};
    bool asks_usage = conversion->mode == PL_MODE_GATEWAY && conversion->from != conversion->to &&
                      stream.kind == PL_VAL_NODE && pl_json_kind(stream.node) == PL_JSON_TRUE;
    if (shares_with_responses(conversion))
        obfuscation = pl_conv_get(
            w->conv, pl_conv_member(w->conv, w->conv->doc->root, "stream_options", PL_WANT_OBJECT),
            "include_obfuscation", PL_WANT_BOOL);
    if (!asks_usage && !pl_val_is_set(obfuscation))
        return;
    pl_w_key(w, "stream_options");
    pl_w_open(w, '{');
    if (asks_usage) {
        pl_w_key(w, "include_usage");
        pl_w_bool(w, true);
    }
    pl_w_opt_value(w, "include_obfuscation", obfuscation);
    pl_w_close(w, '}');
}

/* max_tokens is the older name: newer models refuse it, some servers know only this one. */
static bool is_limit_older(struct pl_writer *w, const struct pl_conversion *conversion)
{
    const struct pl_json_node *root = w->conv->doc->root;
    if (conversion->profile && conversion->profile->refuses_max_completion_tokens)
        return true;
    return conversion->from == conversion->to && pl_conv_node(w->conv, root, "max_tokens") &&
           !pl_conv_node(w->conv, root, "max_completion_tokens") &&
           !(conversion->profile && conversion->profile->refuses_max_tokens);
}

void pl_openai_chat_write_settings(struct pl_writer *w, const struct pl_conversion *conversion)
{
    const struct pl_settings *s = &w->conv->settings;
    bool is_older = is_limit_older(w, conversion);
    const struct {
        const char *key;
        struct pl_val val;
    } plain[] = {
        {"temperature", s->temperature},
        {"top_p", s->top_p},
        {is_older ? "max_tokens" : "max_completion_tokens", s->max_tokens},
        {"seed", s->seed},
        {"n", s->n},
        {"presence_penalty", s->presence_penalty},
        {"frequency_penalty", s->frequency_penalty},
        {"stream", s->stream},
        {"user", s->user},
        {"safety_identifier", s->safety_id},
        {"metadata", s->metadata},
    };
    if (write_tools(w)) {
        write_choice(w);
        write_parallel(w);
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        pl_w_opt_value(w, plain[i].key, plain[i].val);
    write_stream_options(w, conversion);
    write_stop(w, s->stop);
    write_logprobs(w);
    write_effort(w);
    write_verbosity(w);
    write_output(w);
    pl_tier_write(w, PL_TIER_CHAT, "service_tier", s->service_tier);
    write_shared(w, conversion);
}
