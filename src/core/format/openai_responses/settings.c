/* The settings of a Responses request. Stop sequences, seeds, penalties and several choices do not
 * exist here: they get no fate, so they are reported. */
#include "format/openai_responses/openai_responses_int.h"

#include "format/pieces/hosted_tools.h"

#include "format/pieces/choice.h"
#include "format/pieces/effort.h"
#include "format/gemini/schema.h"
#include "format/pieces/tool_name.h"
#include "json/number.h"

static struct pl_val root_member(const struct pl_responses_out *o, const char *key)
{
    return pl_conv_get(o->conv, o->conv->doc->root, key, PL_WANT_ANY);
}

/* Writes a flag; copied if the source spells it the same way. */
static void put_flag(struct pl_responses_out *o, const char *key, struct pl_flag flag)
{
    if (!flag.is_set)
        return;
    pl_w_key(o->w, key);
    enum pl_json_kind same = flag.value ? PL_JSON_TRUE : PL_JSON_FALSE;
    if (flag.val.kind == PL_VAL_NODE && pl_json_kind(flag.val.node) == same) {
        pl_w_value(o->w, flag.val);
    } else {
        pl_w_bool(o->w, flag.value);
        pl_responses_know_scalar(o, flag.val);
    }
}

/* ---- tools ---- */

/* {"type":"grammar","grammar":{"definition","syntax"}} of openai-chat is flat here. */
static void put_custom_format(struct pl_responses_out *o, struct pl_val format)
{
    const struct pl_json_node *grammar = pl_conv_node(o->conv, format.node, "grammar");
    if (!pl_val_is_set(format))
        return;
    pl_w_key(o->w, "format");
    if (!grammar) {
        pl_w_value(o->w, format);
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "grammar");
    pl_w_mapped(o->w, pl_conv_get(o->conv, format.node, "type", PL_WANT_STRING));
    pl_w_opt_value(o->w, "syntax", pl_conv_get(o->conv, grammar, "syntax", PL_WANT_STRING));
    pl_w_opt_value(o->w, "definition", pl_conv_get(o->conv, grammar, "definition", PL_WANT_STRING));
    pl_w_close(o->w, '}');
}

/* Both are required; strict is on by default here and off by default everywhere else. */
static void put_function_body(struct pl_responses_out *o, const struct pl_tool *tool)
{
    pl_w_key(o->w, "parameters");
    if (pl_val_is_set(tool->schema))
        pl_gemini_schema_write_any(o->w, tool->schema, tool->is_openapi_schema);
    else
        pl_w_value(o->w, pl_val_json(PL_STR("{\"type\":\"object\",\"properties\":{}}")));
    if (pl_val_is_set(tool->strict)) {
        pl_w_opt_value(o->w, "strict", tool->strict);
        return;
    }
    pl_w_key(o->w, "strict");
    pl_w_bool(o->w, false);
    pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, tool->node ? tool->node : o->conv->doc->root,
                 "Responses checks arguments strictly by default; strict is false");
}

static void put_tool(struct pl_responses_out *o, const struct pl_tool *tool)
{
    static const char *const known[] = {"type",   "name",   "description", "parameters",
                                        "format", "strict", NULL};
    if (tool->is_hosted) {
        pl_w_value(o->w, pl_val_node(tool->node));
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", tool->is_custom ? "custom" : "function");
    pl_w_key(o->w, "name");
    pl_tool_name_write(o->w, tool->name, PL_RESPONSES_NAME_LEN);
    pl_w_opt_string(o->w, "description", tool->description);
    if (tool->is_custom)
        put_custom_format(o, tool->schema);
    else if (!o->is_own)
        put_function_body(o, tool);
    else {
        pl_w_opt_value(o->w, "parameters", tool->schema);
        pl_w_opt_value(o->w, "strict", tool->strict);
    }
    pl_responses_put_extras(o, tool->node, known);
    pl_w_close(o->w, '}');
}

static void put_tools(struct pl_responses_out *o)
{
    struct pl_hosted_tools hosted = pl_hosted_tools_for(o->conv, o->conversion);
    bool is_open = false;
    for (size_t i = 0; i < o->conv->tools.len; i++) {
        /* A hosted tool does not run at another vendor. */
        if (o->conv->tools.ptr[i].is_hosted && !o->is_own)
            continue;
        /* Already written with its namespace. */
        if (pl_val_is_set(o->conv->tools.ptr[i].space) && o->is_own)
            continue;
        if (!is_open) {
            pl_w_key(o->w, "tools");
            pl_w_open(o->w, '[');
            is_open = true;
        }
        put_tool(o, &o->conv->tools.ptr[i]);
    }
    for (size_t i = 0; i < hosted.len; i++) {
        if (!is_open) {
            pl_w_key(o->w, "tools");
            pl_w_open(o->w, '[');
        }
        is_open = true;
        pl_hosted_tool_write(o->w, o->conversion, &hosted.ptr[i]);
    }
    if (is_open)
        pl_w_close(o->w, ']');
}

static bool is_custom_tool(const struct pl_responses_out *o, struct pl_val name)
{
    struct pl_str wanted = pl_conv_text(o->conv, name);
    for (size_t i = 0; i < o->conv->tools.len; i++)
        if (pl_str_eq(pl_conv_text(o->conv, o->conv->tools.ptr[i].name), wanted))
            return o->conv->tools.ptr[i].is_custom;
    return false;
}

static void put_named(struct pl_responses_out *o, struct pl_val name, bool is_custom)
{
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", is_custom ? "custom" : "function");
    pl_w_key(o->w, "name");
    pl_tool_name_write(o->w, name, PL_RESPONSES_NAME_LEN);
    pl_w_close(o->w, '}');
}

/* Copies the whole object if nothing changed: a hosted tool has no name. */
static void put_allowed_tools(struct pl_responses_out *o, const char *mode)
{
    const struct pl_settings *s = &o->conv->settings;
    if (o->is_own && pl_conv_says(o->conv, s->choice_val.node, mode) && !s->is_changed) {
        pl_w_opt_value(o->w, "tool_choice", s->allowed_val);
        return;
    }
    pl_w_key(o->w, "tool_choice");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "allowed_tools");
    pl_w_key_word(o->w, "mode", mode);
    pl_w_mapped(o->w, s->choice_val);
    pl_w_key(o->w, "tools");
    pl_w_open(o->w, '[');
    for (const struct pl_json_node *e = pl_json_first(s->allowed); e < pl_json_end(s->allowed);
         e = pl_json_next(e)) {
        struct pl_val name = pl_choice_allowed_name(o->conv, e);
        if (pl_val_is_set(name))
            put_named(o, name, is_custom_tool(o, name));
    }
    pl_w_close(o->w, ']');
    pl_w_close(o->w, '}');
    pl_choice_know_allowed(o->conv);
}

static void put_choice(struct pl_responses_out *o)
{
    static const char *const words[] = {
        [PL_CHOICE_AUTO] = "auto",
        [PL_CHOICE_ANY] = "required",
        [PL_CHOICE_NONE] = "none",
        [PL_CHOICE_OTHER] = NULL,
    };
    const struct pl_settings *s = &o->conv->settings;
    pl_choice_report_mode(o->conv);
    if (s->choice == PL_CHOICE_ONE) {
        pl_w_key(o->w, "tool_choice");
        pl_responses_know_scalar(o, s->choice_val);
        put_named(o, s->choice_name, is_custom_tool(o, s->choice_name));
    } else if (s->choice == PL_CHOICE_OTHER && o->is_own) {
        pl_w_opt_value(o->w, "tool_choice", s->choice_val);
    } else if (s->choice != PL_CHOICE_UNSET && words[s->choice] &&
               pl_choice_count_allowed(o->conv)) {
        put_allowed_tools(o, words[s->choice]);
    } else if (s->choice != PL_CHOICE_UNSET && words[s->choice]) {
        pl_w_key(o->w, "tool_choice");
        if (pl_conv_says(o->conv, s->choice_val.node, words[s->choice])) {
            pl_w_value(o->w, s->choice_val);
        } else {
            pl_w_word(o->w, words[s->choice]);
            pl_responses_know_scalar(o, s->choice_val);
            pl_w_mapped(o->w, pl_conv_get(o->conv, s->choice_val.node, "type", PL_WANT_STRING));
            pl_w_mapped(o->w, pl_conv_get(o->conv, s->choice_val.node, "mode", PL_WANT_STRING));
        }
    }
}

/* ---- text and reasoning ---- */

static void put_text_format(struct pl_responses_out *o)
{
    static const char *const types[] = {
        [PL_OUTPUT_TEXT] = "text",
        [PL_OUTPUT_JSON] = "json_object",
        [PL_OUTPUT_SCHEMA] = "json_schema",
    };
    static const char *const known[] = {"type", "name", "description", "strict", "schema", NULL};
    const struct pl_settings *s = &o->conv->settings;
    if (s->output == PL_OUTPUT_UNSET)
        return;
    pl_w_key(o->w, "format");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", types[s->output]);
    pl_responses_know_scalar(o, s->output_val);
    pl_conv_know(o->conv, pl_conv_node(o->conv, s->output_val.node, "type"));
    if (s->output == PL_OUTPUT_SCHEMA) {
        pl_w_key(o->w, "name");
        if (pl_val_is_set(s->output_name)) {
            pl_tool_name_write(o->w, s->output_name, PL_RESPONSES_NAME_LEN);
        } else {
            pl_w_word(o->w, "answer");
            pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, o->conv->doc->root,
                         "a schema of the answer needs a name; it got the name answer");
        }
        pl_w_opt_string(o->w, "description", s->output_description);
        pl_w_opt_value(o->w, "strict", s->output_strict);
        pl_w_key(o->w, "schema");
        if (pl_val_is_set(s->output_schema))
            pl_gemini_schema_write_any(o->w, s->output_schema, s->is_openapi_output);
        else
            pl_w_value(o->w, pl_val_json(PL_STR("{}")));
    }
    pl_responses_put_extras(o, s->output_val.node, known);
    pl_w_close(o->w, '}');
}

static void put_text(struct pl_responses_out *o)
{
    static const char *const known[] = {"format", "verbosity", NULL};
    const struct pl_settings *s = &o->conv->settings;
    struct pl_val own = o->is_own ? root_member(o, "text") : (struct pl_val){0};
    if (s->output == PL_OUTPUT_UNSET && !pl_val_is_set(s->verbosity) && !pl_val_is_set(own))
        return;
    pl_w_key(o->w, "text");
    pl_w_open(o->w, '{');
    put_text_format(o);
    pl_w_opt_string(o->w, "verbosity", s->verbosity);
    pl_responses_put_extras(o, own.node, known);
    pl_w_close(o->w, '}');
}

/* The effort is a word: a token budget is rounded to one, and disabled thinking is "none". */
static enum pl_effort effort_of(struct pl_responses_out *o)
{
    const struct pl_settings *s = &o->conv->settings;
    int64_t budget = 0;
    if (s->effort != PL_EFFORT_UNSET)
        return s->effort;
    if (s->thinking_budget.kind == PL_VAL_NODE &&
        pl_json_kind(s->thinking_budget.node) == PL_JSON_NUMBER &&
        pl_json_number_int64(pl_json_span(o->conv->doc, s->thinking_budget.node), &budget)) {
        enum pl_effort effort = pl_effort_of_budget(budget);
        if (effort != PL_EFFORT_UNSET)
            pl_w_loss(o->w, PL_LOSS_APPROXIMATED, s->thinking_budget,
                      "a token budget for thinking becomes one of six words here");
        return effort;
    }
    const struct pl_json_node *type = pl_conv_node(o->conv, s->thinking.node, "type");
    if (!pl_conv_says(o->conv, type, "disabled"))
        return PL_EFFORT_UNSET;
    pl_conv_know(o->conv, type);
    return PL_EFFORT_NONE;
}

static void put_effort(struct pl_responses_out *o, enum pl_effort effort)
{
    struct pl_val word = o->conv->settings.effort_val;
    const char *said = pl_effort_word(effort);
    if (!said) {
        if (o->is_own)
            pl_w_opt_value(o->w, "effort", word);
        return;
    }
    pl_w_key(o->w, "effort");
    if (pl_conv_says(o->conv, word.node, said)) {
        pl_w_value(o->w, word);
    } else {
        pl_w_word(o->w, said);
        pl_responses_know_scalar(o, word);
    }
}

/* "auto" shows thoughts, absence hides them; the form of the thoughts is not set. */
static void know_shown(struct pl_responses_out *o, struct pl_flag shows)
{
    if (!shows.is_set || !shows.val.node || o->is_own)
        return;
    if (pl_json_kind(shows.val.node) != PL_JSON_STRING)
        pl_responses_know_scalar(o, shows.val);
    else if (shows.value)
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, shows.val,
                  "the model decides how thoughts are shown: summary is auto");
}

static void put_reasoning(struct pl_responses_out *o)
{
    static const char *const known[] = {"effort", NULL};
    struct pl_flag shows = o->conv->settings.shows_thoughts;
    struct pl_val own = o->is_own ? root_member(o, "reasoning") : (struct pl_val){0};
    enum pl_effort effort = effort_of(o);
    bool has_summary = shows.is_set && shows.value && !o->is_own;
    know_shown(o, shows);
    if (effort == PL_EFFORT_UNSET && !has_summary && !pl_val_is_set(own))
        return;
    pl_w_key(o->w, "reasoning");
    pl_w_open(o->w, '{');
    put_effort(o, effort);
    if (has_summary)
        pl_w_key_word(o->w, "summary", "auto");
    pl_responses_put_extras(o, own.node, known);
    pl_w_close(o->w, '}');
}

/* ---- the rest ---- */

/* A word in a list requests log probabilities. */
static void put_include(struct pl_responses_out *o)
{
    struct pl_val asked = o->conv->settings.logprobs;
    if (!pl_val_is_set(asked) || o->is_own)
        return;
    if (asked.kind == PL_VAL_NODE && pl_json_kind(asked.node) == PL_JSON_TRUE) {
        pl_w_key(o->w, "include");
        pl_w_open(o->w, '[');
        pl_w_word(o->w, "message.output_text.logprobs");
        pl_w_close(o->w, ']');
    }
    pl_responses_know_scalar(o, asked);
}

/* The service tier, in the words of the vendors that have one. */
static void put_service_tier(struct pl_responses_out *o)
{
    static const char *const own[] = {"auto",     "default", "flex",      "scale",
                                      "priority", "fast",    "ultrafast", NULL};
    static const char *const plain[] = {"standard_only", "standard", NULL};
    struct pl_val tier = o->conv->settings.service_tier;
    if (o->is_own || pl_conv_word(o->conv, tier.node, own) >= 0) {
        pl_w_opt_value(o->w, "service_tier", tier);
    } else if (pl_conv_word(o->conv, tier.node, plain) >= 0) {
        pl_w_key_word(o->w, "service_tier", "default");
        pl_w_loss(o->w, PL_LOSS_MOVED, tier, "the normal tier is default here");
    }
}

static void put_metadata(struct pl_responses_out *o)
{
    struct pl_val metadata = o->conv->settings.metadata;
    if (metadata.kind == PL_VAL_NODE && pl_json_kind(metadata.node) == PL_JSON_OBJECT)
        pl_w_opt_value(o->w, "metadata", metadata);
}

/* Members that both of OpenAI's formats spell alike. */
static void put_shared(struct pl_responses_out *o)
{
    static const char *const shared[] = {
        "store", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "moderation",
        NULL,
    };
    if (o->conversion->from != &pl_format_openai_chat)
        return;
    for (int i = 0; shared[i]; i++)
        pl_w_opt_value(o->w, shared[i], root_member(o, shared[i]));
    struct pl_val obfuscation = pl_conv_get(o->conv, root_member(o, "stream_options").node,
                                            "include_obfuscation", PL_WANT_BOOL);
    if (pl_val_is_set(obfuscation)) {
        pl_w_key(o->w, "stream_options");
        pl_w_open(o->w, '{');
        pl_w_opt_value(o->w, "include_obfuscation", obfuscation);
        pl_w_close(o->w, '}');
    }
}

void pl_responses_put_settings(struct pl_responses_out *o)
{
    static const char *const known[] = {
        "model",
        "instructions",
        "input",
        "tools",
        "tool_choice",
        "text",
        "reasoning",
        "temperature",
        "top_p",
        "max_output_tokens",
        "top_logprobs",
        "stream",
        "user",
        "safety_identifier",
        "metadata",
        "service_tier",
        "parallel_tool_calls",
        NULL,
    };
    const struct pl_settings *s = &o->conv->settings;
    put_tools(o);
    put_choice(o);
    put_flag(o, "parallel_tool_calls", s->parallel);
    put_text(o);
    put_reasoning(o);
    pl_w_opt_value(o->w, "temperature", s->temperature);
    pl_w_opt_value(o->w, "top_p", s->top_p);
    pl_w_opt_value(o->w, "max_output_tokens", s->max_tokens);
    pl_w_opt_value(o->w, "top_logprobs", s->top_logprobs);
    put_include(o);
    pl_w_opt_value(o->w, "stream", s->stream);
    put_service_tier(o);
    pl_w_opt_string(o->w, "user", s->user);
    pl_w_opt_string(o->w, "safety_identifier", s->safety_id);
    put_metadata(o);
    put_shared(o);
    pl_responses_put_extras(o, o->conv->doc->root, known);
}
