/* Reads and writes settings and tools of the project's own formats, one function per setting and
 * direction. */
#include "format/pieces/own_settings.h"

#include "format/pieces/choice.h"
#include "format/pieces/effort.h"
#include "format/gemini/schema.h"

#include <stddef.h>

/* Settings that are copied unchanged. */
static const struct {
    const char *key;
    unsigned want;
    size_t at;
} plain[] = {
    {"model", PL_WANT_STRING, offsetof(struct pl_settings, model)},
    {"temperature", PL_WANT_NUMBER, offsetof(struct pl_settings, temperature)},
    {"top_p", PL_WANT_NUMBER, offsetof(struct pl_settings, top_p)},
    {"top_k", PL_WANT_INTEGER, offsetof(struct pl_settings, top_k)},
    {"max_tokens", PL_WANT_INTEGER, offsetof(struct pl_settings, max_tokens)},
    {"max_completion_tokens", PL_WANT_INTEGER,
     offsetof(struct pl_settings, max_tokens)}, /* only read */
    {"stop", PL_WANT_STRINGS, offsetof(struct pl_settings, stop)},
    {"seed", PL_WANT_INTEGER, offsetof(struct pl_settings, seed)},
    {"n", PL_WANT_INTEGER, offsetof(struct pl_settings, n)},
    {"presence_penalty", PL_WANT_NUMBER, offsetof(struct pl_settings, presence_penalty)},
    {"frequency_penalty", PL_WANT_NUMBER, offsetof(struct pl_settings, frequency_penalty)},
    {"stream", PL_WANT_BOOL, offsetof(struct pl_settings, stream)},
    {"logprobs", PL_WANT_BOOL, offsetof(struct pl_settings, logprobs)},
    {"top_logprobs", PL_WANT_INTEGER, offsetof(struct pl_settings, top_logprobs)},
    {"user", PL_WANT_STRING, offsetof(struct pl_settings, user)},
    {"safety_identifier", PL_WANT_STRING, offsetof(struct pl_settings, safety_id)},
    {"metadata", PL_WANT_OBJECT, offsetof(struct pl_settings, metadata)},
    {"service_tier", PL_WANT_STRING, offsetof(struct pl_settings, service_tier)},
    {"verbosity", PL_WANT_STRING, offsetof(struct pl_settings, verbosity)},
};

enum { N_PLAIN = sizeof plain / sizeof *plain };

static const char *const choice_words[] = {"auto", "required", "none", "any", NULL};
static const enum pl_choice choices[] = {PL_CHOICE_AUTO, PL_CHOICE_ANY, PL_CHOICE_NONE,
                                         PL_CHOICE_ANY};

static struct pl_val *slot(struct pl_conv *conv, size_t i)
{
    return (struct pl_val *)((char *)&conv->settings + plain[i].at);
}

/* "auto", or {"type":"function","function":{"name":N}} (the wrapper may be missing). */
static void read_choice(struct pl_conv *conv, const struct pl_json_node *choice)
{
    struct pl_settings *s = &conv->settings;
    if (!choice || s->choice != PL_CHOICE_UNSET)
        return;
    if (pl_choice_read_allowed(conv, choice, pl_conv_node(conv, choice, "allowed_tools")))
        return;
    s->choice_val = pl_val_node(choice);
    int word = pl_conv_word(conv, choice, choice_words);
    const struct pl_json_node *function = pl_conv_member(conv, choice, "function", PL_WANT_OBJECT);
    s->choice_name = pl_conv_get(conv, function ? function : choice, "name", PL_WANT_STRING);
    if (word >= 0)
        s->choice = choices[word];
    else
        s->choice = pl_val_is_set(s->choice_name) ? PL_CHOICE_ONE : PL_CHOICE_OTHER;
    if (s->choice == PL_CHOICE_ONE)
        pl_conv_know(conv, pl_conv_node(conv, choice, "type"));
}

static void read_output(struct pl_conv *conv, const struct pl_json_node *format)
{
    static const char *const words[] = {"text", "json_object", "json_schema", NULL};
    static const enum pl_output kinds[] = {PL_OUTPUT_TEXT, PL_OUTPUT_JSON, PL_OUTPUT_SCHEMA};
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *type = pl_conv_node(conv, format, "type");
    int word = pl_conv_word(conv, type, words);
    if (s->output != PL_OUTPUT_UNSET || word < 0)
        return;
    s->output = kinds[word];
    /* This word means only "any JSON": the writer that writes it marks it. */
    if (s->output != PL_OUTPUT_JSON)
        pl_conv_know(conv, type);
    s->output_val = pl_val_node(format);
    const struct pl_json_node *schema = pl_conv_member(conv, format, "json_schema", PL_WANT_OBJECT);
    s->output_name = pl_conv_get(conv, schema, "name", PL_WANT_STRING);
    s->output_description = pl_conv_get(conv, schema, "description", PL_WANT_STRING);
    s->output_schema = pl_conv_get(conv, schema, "schema", PL_WANT_OBJECT);
    s->output_strict = pl_conv_get(conv, schema, "strict", PL_WANT_BOOL);
}

void pl_own_settings_read(struct pl_conv *conv, const struct pl_json_node *object)
{
    struct pl_settings *s = &conv->settings;
    for (size_t i = 0; i < N_PLAIN; i++)
        if (!pl_val_is_set(*slot(conv, i)))
            *slot(conv, i) = pl_conv_get(conv, object, plain[i].key, plain[i].want);
    read_choice(conv, pl_conv_member(conv, object, "tool_choice", PL_WANT_CHOICE));
    read_output(conv, pl_conv_member(conv, object, "response_format", PL_WANT_OBJECT));
    if (!s->parallel.is_set)
        pl_conv_take_flag(conv, object, "parallel_tool_calls", &s->parallel);
    const struct pl_json_node *effort =
        pl_conv_member(conv, object, "reasoning_effort", PL_WANT_STRING);
    if (effort && s->effort == PL_EFFORT_UNSET) {
        s->effort = pl_effort_of_word(conv, effort);
        s->effort_val = pl_val_node(effort);
    }
}

static void read_tool(struct pl_conv *conv, const struct pl_json_node *node)
{
    if (!pl_conv_fit(conv, node, PL_WANT_OBJECT))
        return;
    struct pl_tool *tool = pl_conv_add_tool(conv, node);
    const struct pl_json_node *type = pl_conv_node(conv, node, "type");
    const struct pl_json_node *function = pl_conv_member(conv, node, "function", PL_WANT_OBJECT);
    const struct pl_json_node *custom = pl_conv_member(conv, node, "custom", PL_WANT_OBJECT);
    tool->is_custom = custom && !function;
    const struct pl_json_node *body = function ? function : custom ? custom : node;
    tool->name = pl_conv_get(conv, body, "name", PL_WANT_STRING);
    tool->is_hosted = !pl_val_is_set(tool->name);
    if (tool->is_hosted)
        return;
    pl_conv_know(conv, type);
    tool->description = pl_conv_get(conv, body, "description", PL_WANT_STRING);
    tool->strict = pl_conv_get(conv, body, "strict", PL_WANT_BOOL);
    tool->schema =
        pl_conv_get(conv, body, tool->is_custom ? "format" : "parameters", PL_WANT_OBJECT);
    if (!pl_val_is_set(tool->schema))
        tool->schema = pl_conv_get(conv, body, "input_schema", PL_WANT_OBJECT);
}

void pl_own_tools_read(struct pl_conv *conv, const struct pl_json_node *array)
{
    if (!array || pl_json_kind(array) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *n = pl_json_first(array); n < pl_json_end(array);
         n = pl_json_next(n))
        read_tool(conv, n);
}

static bool has_choice(const struct pl_settings *s)
{
    return s->choice != PL_CHOICE_UNSET && s->choice != PL_CHOICE_OTHER &&
           (s->choice != PL_CHOICE_ONE || pl_val_is_set(s->choice_name));
}

bool pl_own_settings_are_set(const struct pl_conv *conv)
{
    const struct pl_settings *s = &conv->settings;
    bool is_set = has_choice(s) || s->parallel.is_set || s->effort != PL_EFFORT_UNSET ||
                  s->output != PL_OUTPUT_UNSET;
    for (size_t i = 0; i < N_PLAIN && !is_set; i++)
        is_set = pl_val_is_set(*(const struct pl_val *)((const char *)s + plain[i].at));
    return is_set;
}

/* The target's word for `val`: copied if the source has the same one. */
static void write_word(struct pl_writer *w, struct pl_val val, const char *word)
{
    if (val.kind == PL_VAL_NODE && pl_conv_says(w->conv, val.node, word)) {
        pl_w_string(w, val);
    } else {
        pl_w_word(w, word);
        pl_w_mapped(w, val);
    }
}

/* As in Chat Completions, with its words for a choice. */
static void write_allowed(struct pl_writer *w, const struct pl_settings *s)
{
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "allowed_tools");
    pl_w_key(w, "allowed_tools");
    pl_w_open(w, '{');
    pl_w_key(w, "mode");
    write_word(w, s->choice_val, s->choice == PL_CHOICE_ANY ? "required" : "auto");
    pl_w_key(w, "tools");
    pl_w_open(w, '[');
    for (const struct pl_json_node *e = pl_json_first(s->allowed), *end = pl_json_end(s->allowed);
         e < end; e = pl_json_next(e)) {
        struct pl_val name = pl_choice_allowed_name(w->conv, e);
        if (!pl_val_is_set(name))
            continue;
        pl_w_open(w, '{');
        pl_w_key_word(w, "type", "function");
        pl_w_key(w, "function");
        pl_w_open(w, '{');
        pl_w_opt_string(w, "name", name);
        pl_w_close(w, '}');
        pl_w_close(w, '}');
    }
    pl_w_close(w, ']');
    pl_w_close(w, '}');
    pl_w_close(w, '}');
    pl_choice_know_allowed(w->conv);
}

static void write_choice(struct pl_writer *w, const struct pl_settings *s)
{
    pl_w_key(w, "tool_choice");
    pl_choice_report_mode(w->conv);
    if (s->choice != PL_CHOICE_ONE && pl_choice_count_allowed(w->conv)) {
        write_allowed(w, s);
        return;
    }
    if (s->choice != PL_CHOICE_ONE) {
        write_word(w, s->choice_val,
                   s->choice == PL_CHOICE_AUTO  ? "auto"
                   : s->choice == PL_CHOICE_ANY ? "required"
                                                : "none");
        return;
    }
    if (s->choice_val.kind == PL_VAL_NODE && !pl_json_is_container(s->choice_val.node))
        pl_w_mapped(w, s->choice_val);
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", "function");
    pl_w_key(w, "function");
    pl_w_open(w, '{');
    pl_w_opt_string(w, "name", s->choice_name);
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}

static void write_flag(struct pl_writer *w, const char *key, struct pl_flag flag)
{
    pl_w_key(w, key);
    if (flag.val.kind == PL_VAL_NODE &&
        pl_json_kind(flag.val.node) == (flag.value ? PL_JSON_TRUE : PL_JSON_FALSE)) {
        pl_w_value(w, flag.val);
    } else {
        pl_w_bool(w, flag.value);
        pl_w_mapped(w, flag.val);
    }
}

static void write_output(struct pl_writer *w, const struct pl_settings *s)
{
    static const char *const words[] = {
        [PL_OUTPUT_UNSET] = "text",
        [PL_OUTPUT_TEXT] = "text",
        [PL_OUTPUT_JSON] = "json_object",
        [PL_OUTPUT_SCHEMA] = "json_schema",
    };
    pl_w_key(w, "response_format");
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", words[s->output]);
    if (s->output_val.kind == PL_VAL_NODE)
        pl_conv_know(w->conv, pl_json_is_container(s->output_val.node)
                                  ? pl_conv_node(w->conv, s->output_val.node, "type")
                                  : s->output_val.node);
    if (s->output == PL_OUTPUT_SCHEMA) {
        pl_w_key(w, "json_schema");
        pl_w_open(w, '{');
        if (pl_val_is_set(s->output_name))
            pl_w_opt_string(w, "name", s->output_name);
        else
            pl_w_key_word(w, "name", "answer");
        pl_w_opt_string(w, "description", s->output_description);
        pl_gemini_schema_opt_any(w, "schema", s->output_schema, s->is_openapi_output);
        pl_w_opt_value(w, "strict", s->output_strict);
        pl_w_close(w, '}');
    }
    pl_w_close(w, '}');
}

void pl_own_settings_write(struct pl_writer *w)
{
    const struct pl_settings *s = &w->conv->settings;
    for (size_t i = 0; i < N_PLAIN; i++)
        if (i == 0 || plain[i].at != plain[i - 1].at)
            pl_w_opt_value(w, plain[i].key, *slot(w->conv, i));
    if (has_choice(s))
        write_choice(w, s);
    if (s->parallel.is_set)
        write_flag(w, "parallel_tool_calls", s->parallel);
    if (s->effort != PL_EFFORT_UNSET) {
        pl_w_key(w, "reasoning_effort");
        write_word(w, s->effort_val, pl_effort_word(s->effort));
    }
    if (s->output != PL_OUTPUT_UNSET)
        write_output(w, s);
}

static bool is_writable(const struct pl_tool *tool)
{
    return !tool->is_hosted && pl_val_is_set(tool->name);
}

bool pl_own_tools_are_set(const struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->tools.len; i++)
        if (is_writable(&conv->tools.ptr[i]))
            return true;
    return false;
}

void pl_own_tools_write(struct pl_writer *w)
{
    pl_w_open(w, '[');
    for (size_t i = 0; i < w->conv->tools.len; i++) {
        const struct pl_tool *tool = &w->conv->tools.ptr[i];
        if (!is_writable(tool))
            continue;
        const char *type = tool->is_custom ? "custom" : "function";
        pl_w_open(w, '{');
        pl_w_key_word(w, "type", type);
        pl_w_key(w, type);
        pl_w_open(w, '{');
        pl_w_opt_string(w, "name", tool->name);
        pl_w_opt_string(w, "description", tool->description);
        pl_gemini_schema_opt_any(w, tool->is_custom ? "format" : "parameters", tool->schema,
                                 tool->is_openapi_schema);
        pl_w_opt_value(w, "strict", tool->strict);
        pl_w_close(w, '}');
        pl_w_close(w, '}');
    }
    pl_w_close(w, ']');
}
