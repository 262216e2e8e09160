/* The members of a generateContent request around its contents: tools, choice, generation. */
#include "format/pieces/choice.h"
#include "format/pieces/effort.h"
#include "format/gemini/gemini_int.h"
#include "format/gemini/schema.h"
#include "format/pieces/hosted_tools.h"
#include "format/profile.h"

#define MAX_STOPS 5

/* Settings that are one value on both sides. */
static const struct {
    const char *key; /* of generationConfig */
    unsigned want;
    size_t offset; /* of the pl_val in pl_settings */
} plain_settings[] = {
    {"temperature", PL_WANT_NUMBER, offsetof(struct pl_settings, temperature)},
    {"topP", PL_WANT_NUMBER, offsetof(struct pl_settings, top_p)},
    {"topK", PL_WANT_INTEGER, offsetof(struct pl_settings, top_k)},
    {"candidateCount", PL_WANT_INTEGER, offsetof(struct pl_settings, n)},
    {"maxOutputTokens", PL_WANT_INTEGER, offsetof(struct pl_settings, max_tokens)},
    {"seed", PL_WANT_INTEGER, offsetof(struct pl_settings, seed)},
    {"presencePenalty", PL_WANT_NUMBER, offsetof(struct pl_settings, presence_penalty)},
    {"frequencyPenalty", PL_WANT_NUMBER, offsetof(struct pl_settings, frequency_penalty)},
    {"responseLogprobs", PL_WANT_BOOL, offsetof(struct pl_settings, logprobs)},
    {"logprobs", PL_WANT_INTEGER, offsetof(struct pl_settings, top_logprobs)},
};

static struct pl_val *setting(struct pl_settings *settings, size_t i)
{
    return (struct pl_val *)((char *)settings + plain_settings[i].offset);
}

static const struct pl_json_node *member(struct pl_conv *conv, const struct pl_json_node *object,
                                         const char *key, unsigned want)
{
    return pl_conv_fit(conv, pl_gemini_field(conv, object, key), want);
}

static struct pl_val field(struct pl_conv *conv, const struct pl_json_node *object, const char *key,
                           unsigned want)
{
    return pl_val_node(member(conv, object, key, want));
}

/* ---- reading ---- */

static void read_thinking(struct pl_conv *conv, const struct pl_json_node *config)
{
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *thinking = member(conv, config, "thinkingConfig", PL_WANT_OBJECT);
    const struct pl_json_node *shows = member(conv, thinking, "includeThoughts", PL_WANT_BOOL);
    s->thinking = pl_val_node(thinking);
    s->thinking_budget = field(conv, thinking, "thinkingBudget", PL_WANT_INTEGER);
    s->effort_val = field(conv, thinking, "thinkingLevel", PL_WANT_STRING);
    s->effort = pl_effort_of_word(conv, s->effort_val.node);
    if (shows)
        s->shows_thoughts =
            (struct pl_flag){true, pl_json_is(shows, PL_JSON_TRUE), pl_val_node(shows)};
}

static void read_output(struct pl_conv *conv, const struct pl_json_node *config)
{
    struct pl_settings *s = &conv->settings;
    struct pl_val mime = field(conv, config, "responseMimeType", PL_WANT_STRING);
    struct pl_val json = field(conv, config, "responseJsonSchema", PL_WANT_OBJECT);
    struct pl_val dialect = field(conv, config, "responseSchema", PL_WANT_OBJECT);
    if (pl_val_is_set(json) || pl_val_is_set(dialect)) {
        s->output = PL_OUTPUT_SCHEMA;
        s->is_openapi_output = !pl_val_is_set(json);
        s->output_schema = pl_val_is_set(json) ? json : dialect;
        /* Another type means more than "JSON": text/x.enum requests one bare word. */
        if (pl_conv_says(conv, mime.node, "application/json"))
            s->output_val = mime;
    } else if (pl_conv_says(conv, mime.node, "application/json")) {
        s->output = PL_OUTPUT_JSON;
        s->output_val = mime;
    } else if (pl_conv_says(conv, mime.node, "text/plain")) {
        s->output = PL_OUTPUT_TEXT;
        s->output_val = mime;
    }
}

/* One name with ANY is a choice of that tool; several names limit the choice. VALIDATED is AUTO
 * with calls that match their declarations. */
static void read_choice(struct pl_conv *conv, const struct pl_json_node *root)
{
    static const char *const modes[] = {"AUTO", "ANY", "NONE", "VALIDATED", NULL};
    static const enum pl_choice choices[] = {PL_CHOICE_AUTO, PL_CHOICE_ANY, PL_CHOICE_NONE,
                                             PL_CHOICE_AUTO};
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *config =
        member(conv, member(conv, root, "toolConfig", PL_WANT_OBJECT), "functionCallingConfig",
               PL_WANT_OBJECT);
    const struct pl_json_node *mode = pl_conv_member(conv, config, "mode", PL_WANT_STRING);
    const struct pl_json_node *names = member(conv, config, "allowedFunctionNames", PL_WANT_ARRAY);
    if (!mode)
        return;
    int i = pl_conv_word(conv, mode, modes);
    s->choice_val = pl_val_node(mode);
    s->choice = i >= 0 ? choices[i] : PL_CHOICE_OTHER;
    if (s->choice == PL_CHOICE_ANY && names && pl_json_count(names) == 1) {
        s->choice_name = pl_val_node(pl_conv_fit(conv, pl_json_first(names), PL_WANT_STRING));
        if (pl_val_is_set(s->choice_name))
            s->choice = PL_CHOICE_ONE;
    } else if (names && pl_json_count(names) &&
               (s->choice == PL_CHOICE_ANY || s->choice == PL_CHOICE_AUTO)) {
        s->allowed = names;
        s->allowed_val = pl_val_node(config);
    }
}

static void read_declarations(struct pl_conv *conv, const struct pl_json_node *list)
{
    for (const struct pl_json_node *d = pl_json_first(list); d < pl_json_end(list);
         d = pl_json_next(d)) {
        if (!pl_conv_fit(conv, d, PL_WANT_OBJECT))
            continue;
        struct pl_tool *tool = pl_conv_add_tool(conv, d);
        struct pl_val dialect = pl_conv_get(conv, d, "parameters", PL_WANT_OBJECT);
        tool->name = pl_conv_get(conv, d, "name", PL_WANT_STRING);
        tool->description = pl_conv_get(conv, d, "description", PL_WANT_STRING);
        tool->schema = field(conv, d, "parametersJsonSchema", PL_WANT_OBJECT);
        if (!pl_val_is_set(tool->schema)) {
            tool->schema = dialect;
            tool->is_openapi_schema = pl_val_is_set(dialect);
        }
    }
}

/* Everything else beside the declarations runs at the vendor. */
static void read_tool(struct pl_conv *conv, const struct pl_json_node *tool)
{
    const struct pl_json_node *list = member(conv, tool, "functionDeclarations", PL_WANT_ARRAY);
    if (list)
        read_declarations(conv, list);
    if (!pl_conv_fit(conv, tool, PL_WANT_OBJECT) || (list && pl_json_count(tool) == 1))
        return;
    pl_conv_add_tool(conv, tool)->is_hosted = true;
    for (const struct pl_json_node *key = pl_json_first_member(tool); key < pl_json_end(tool);
         key = pl_json_next_member(key))
        if (pl_json_is(key + 1, PL_JSON_OBJECT))
            pl_conv_switch(conv, key + 1);
}

static void read_tools(struct pl_conv *conv, const struct pl_json_node *tools)
{
    if (!tools)
        return;
    if (!pl_json_is(tools, PL_JSON_ARRAY)) {
        read_tool(conv, tools);
        return;
    }
    for (const struct pl_json_node *t = pl_json_first(tools); t < pl_json_end(tools);
         t = pl_json_next(t))
        read_tool(conv, t);
}

void pl_gemini_read_settings(struct pl_conv *conv, const struct pl_json_node *root)
{
    const struct pl_json_node *config = member(conv, root, "generationConfig", PL_WANT_OBJECT);
    for (size_t i = 0; i < sizeof plain_settings / sizeof *plain_settings; i++)
        *setting(&conv->settings, i) =
            field(conv, config, plain_settings[i].key, plain_settings[i].want);
    conv->settings.stop = field(conv, config, "stopSequences", PL_WANT_STRINGS);
    conv->settings.model = pl_conv_get(conv, root, "model", PL_WANT_STRING);
    conv->settings.service_tier = field(conv, root, "serviceTier", PL_WANT_STRING);
    read_thinking(conv, config);
    read_output(conv, config);
    read_choice(conv, root);
    read_tools(conv, pl_conv_node(conv, root, "tools"));
    pl_conv_switch(conv,
                   member(conv, member(conv, config, "audioTranscriptionConfig", PL_WANT_OBJECT),
                          "languageAuto", PL_WANT_OBJECT));
}

/* ---- writing ---- */

static bool refuses_json_schema(const struct pl_conversion *conversion)
{
    return conversion->profile && conversion->profile->refuses_json_schema;
}

/* The API refuses an object schema without properties, so a function without parameters gets no
 * schema. */
static bool has_properties(const struct pl_conv *conv, struct pl_val schema)
{
    if (schema.kind != PL_VAL_NODE ||
        !pl_conv_says(conv, pl_conv_node(conv, schema.node, "type"), "object"))
        return true;
    const struct pl_json_node *properties = pl_conv_node(conv, schema.node, "properties");
    return pl_json_is(properties, PL_JSON_OBJECT) && pl_json_count(properties) > 0;
}

static void write_schema(struct pl_writer *w, const struct pl_conversion *conversion,
                         struct pl_val schema)
{
    if (!pl_val_is_set(schema))
        return;
    if (!refuses_json_schema(conversion)) {
        pl_w_opt_value(w, "parametersJsonSchema", schema);
    } else if (has_properties(w->conv, schema)) {
        pl_w_key(w, "parameters");
        pl_gemini_schema_write_dialect(w, schema);
    } else {
        pl_conv_know(w->conv, pl_conv_node(w->conv, schema.node, "type"));
    }
}

/* A tool that takes free text becomes a function of one string; its calls are written likewise. */
static void write_custom_schema(struct pl_writer *w, const struct pl_conversion *conversion,
                                const struct pl_tool *tool)
{
    bool is_legacy = refuses_json_schema(conversion);
    pl_w_key(w, is_legacy ? "parameters" : "parametersJsonSchema");
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", is_legacy ? "OBJECT" : "object");
    pl_w_key(w, "properties");
    pl_w_open(w, '{');
    pl_w_key(w, "input");
    pl_w_open(w, '{');
    pl_w_key_word(w, "type", is_legacy ? "STRING" : "string");
    pl_w_close(w, '}');
    pl_w_close(w, '}');
    pl_w_key(w, "required");
    pl_w_open(w, '[');
    pl_w_word(w, "input");
    pl_w_close(w, ']');
    pl_w_close(w, '}');
    pl_conv_loss(w->conv, PL_LOSS_APPROXIMATED, tool->node,
                 "a free-text tool is declared as a function with one string, `input`");
}

static void write_tools(struct pl_writer *w, const struct pl_conversion *conversion)
{
    struct pl_conv *conv = w->conv;
    struct pl_hosted_tools hosted = pl_hosted_tools_for(conv, conversion);
    bool is_open = false;
    for (size_t i = 0; i < conv->tools.len; i++) {
        const struct pl_tool *tool = &conv->tools.ptr[i];
        if (tool->is_hosted || !pl_val_is_set(tool->name))
            continue;
        if (!is_open) {
            pl_w_key(w, "tools");
            pl_w_open(w, '[');
            pl_w_open(w, '{');
            pl_w_key(w, "functionDeclarations");
            pl_w_open(w, '[');
            is_open = true;
        }
        pl_w_open(w, '{');
        pl_w_key(w, "name");
        pl_gemini_write_name(w, tool->name);
        pl_w_opt_string(w, "description", tool->description);
        if (tool->is_custom)
            write_custom_schema(w, conversion, tool);
        else
            write_schema(w, conversion, tool->schema);
        pl_w_close(w, '}');
    }
    if (is_open) {
        pl_w_close(w, ']');
        pl_w_close(w, '}');
    }
    for (size_t i = 0; i < hosted.len; i++) {
        if (!is_open) {
            pl_w_key(w, "tools");
            pl_w_open(w, '[');
        }
        is_open = true;
        pl_hosted_tool_write(w, conversion, &hosted.ptr[i]);
    }
    if (is_open)
        pl_w_close(w, ']');
}

static void write_names(struct pl_writer *w, const struct pl_json_node *list)
{
    pl_w_open(w, '[');
    for (const struct pl_json_node *e = pl_json_first(list); e < pl_json_end(list);
         e = pl_json_next(e)) {
        struct pl_val name = pl_choice_allowed_name(w->conv, e);
        if (pl_val_is_set(name))
            pl_gemini_write_name(w, name);
    }
    pl_w_close(w, ']');
    pl_choice_know_allowed(w->conv);
}

static void write_allowed(struct pl_writer *w, const struct pl_json_node *list)
{
    pl_w_key(w, "allowedFunctionNames");
    write_names(w, list);
}

static void write_choice(struct pl_writer *w)
{
    static const char *const modes[] = {[PL_CHOICE_AUTO] = "AUTO",
                                        [PL_CHOICE_ANY] = "ANY",
                                        [PL_CHOICE_ONE] = "ANY",
                                        [PL_CHOICE_NONE] = "NONE"};
    const struct pl_settings *s = &w->conv->settings;
    if (s->choice == PL_CHOICE_UNSET || s->choice == PL_CHOICE_OTHER)
        return;
    /* Names are allowed only with ANY and VALIDATED. */
    bool is_limited = s->choice != PL_CHOICE_NONE && pl_choice_count_allowed(w->conv);
    bool is_validated = (is_limited && s->choice == PL_CHOICE_AUTO) ||
                        pl_conv_says(w->conv, s->choice_val.node, "VALIDATED");
    pl_w_key(w, "toolConfig");
    pl_w_open(w, '{');
    pl_w_key(w, "functionCallingConfig");
    pl_w_open(w, '{');
    pl_w_key_word(w, "mode", is_validated ? "VALIDATED" : modes[s->choice]);
    /* The mode covers a choice that is a word. For a choice with a name, only the name is written
     * with it. */
    if (s->choice == PL_CHOICE_ONE && pl_val_is_set(s->choice_name)) {
        pl_w_key(w, "allowedFunctionNames");
        pl_w_open(w, '[');
        pl_gemini_write_name(w, s->choice_name);
        pl_w_close(w, ']');
    } else if (is_limited) {
        write_allowed(w, s->allowed);
    }
    if (is_validated && pl_conv_says(w->conv, s->choice_val.node, "auto"))
        pl_w_loss(w, PL_LOSS_APPROXIMATED, s->choice_val,
                  "names work only with VALIDATED, which also enforces the declarations");
    else
        pl_w_mapped(w, s->choice_val);
    pl_w_close(w, '}');
    pl_w_close(w, '}');
}

/* Writes a key of generationConfig; the first one opens the object. */
static void config_key(struct pl_writer *w, bool *is_open, const char *key)
{
    if (!*is_open) {
        pl_w_key(w, "generationConfig");
        pl_w_open(w, '{');
        *is_open = true;
    }
    pl_w_key(w, key);
}

/* Gemini refuses an empty list and more than five, so the list is opened with its first word. */
static void write_stop(struct pl_writer *w, bool *is_open, int *n, struct pl_val stop)
{
    if (pl_conv_text(w->conv, stop).len == 0) {
        pl_w_loss(w, PL_LOSS_DROPPED, stop, "Gemini accepts no empty stop sequence");
        return;
    }
    if (*n == MAX_STOPS) {
        pl_w_loss(w, PL_LOSS_DROPPED, stop, "Gemini accepts at most 5 stop sequences");
        return;
    }
    if ((*n)++ == 0) {
        config_key(w, is_open, "stopSequences");
        pl_w_open(w, '[');
    }
    pl_w_value(w, stop);
}

static void write_stops(struct pl_writer *w, bool *is_open)
{
    struct pl_val stop = w->conv->settings.stop;
    bool is_list = stop.kind == PL_VAL_NODE && pl_json_is(stop.node, PL_JSON_ARRAY);
    int n = 0;
    if (!is_list && pl_val_is_set(stop))
        write_stop(w, is_open, &n, stop);
    for (const struct pl_json_node *s = is_list ? pl_json_first(stop.node) : NULL;
         is_list && s < pl_json_end(stop.node); s = pl_json_next(s))
        write_stop(w, is_open, &n, pl_val_node(s));
    if (n)
        pl_w_close(w, ']');
}

/* The media type covers the source's output format: a word, or an object with a type. */
static void know_output(struct pl_writer *w)
{
    const struct pl_val output = w->conv->settings.output_val;
    pl_w_mapped(w, output);
    if (output.node)
        pl_conv_know(w->conv, pl_conv_node(w->conv, output.node, "type"));
}

static void write_output(struct pl_writer *w, const struct pl_conversion *conversion, bool *is_open)
{
    const struct pl_settings *s = &w->conv->settings;
    if (s->output == PL_OUTPUT_TEXT)
        know_output(w);
    if (s->output != PL_OUTPUT_JSON && s->output != PL_OUTPUT_SCHEMA)
        return;
    config_key(w, is_open, "responseMimeType");
    pl_w_word(w, "application/json");
    if (s->output == PL_OUTPUT_JSON)
        know_output(w);
    if (!pl_val_is_set(s->output_schema))
        return;
    if (refuses_json_schema(conversion)) {
        config_key(w, is_open, "responseSchema");
        pl_gemini_schema_write_dialect(w, s->output_schema);
    } else {
        config_key(w, is_open, "responseJsonSchema");
        pl_w_value(w, s->output_schema);
    }
}

/* There is no level for "none", and some models have no levels. */
static void write_effort_as_budget(struct pl_writer *w)
{
    const struct pl_settings *s = &w->conv->settings;
    pl_w_key(w, "thinkingBudget");
    pl_w_int(w, pl_effort_budget(s->effort));
    pl_w_loss(w, PL_LOSS_APPROXIMATED, s->effort_val,
              s->effort == PL_EFFORT_NONE ? "no effort is written as a thinking budget of 0"
                                          : "this model has no levels; a budget is used instead");
}

/* Writes a level or a budget: the API refuses both at once. */
static void write_effort(struct pl_writer *w, const struct pl_conversion *conversion)
{
    static const char *const levels[] = {
        [PL_EFFORT_MINIMAL] = "MINIMAL", [PL_EFFORT_LOW] = "LOW",    [PL_EFFORT_MEDIUM] = "MEDIUM",
        [PL_EFFORT_HIGH] = "HIGH",       [PL_EFFORT_XHIGH] = "HIGH", [PL_EFFORT_MAX] = "HIGH"};
    const struct pl_settings *s = &w->conv->settings;
    if (pl_val_is_set(s->thinking_budget)) {
        pl_w_opt_value(w, "thinkingBudget", s->thinking_budget);
        if (s->effort_val.node && s->effort_val.node != s->thinking_budget.node &&
            pl_conv_fate_of(w->conv, s->effort_val.node) == PL_FATE_NONE)
            pl_w_loss(w, PL_LOSS_APPROXIMATED, s->effort_val, "the budget is used instead");
        return;
    }
    if (s->effort == PL_EFFORT_UNSET)
        return;
    bool has_levels = !conversion->profile || !conversion->profile->refuses_thinking_level;
    if (s->effort == PL_EFFORT_NONE || !has_levels) {
        write_effort_as_budget(w);
        return;
    }
    pl_w_key_word(w, "thinkingLevel", levels[s->effort]);
    if (s->effort > PL_EFFORT_HIGH)
        pl_w_loss(w, PL_LOSS_APPROXIMATED, s->effort_val, "Gemini's highest level is HIGH");
    else
        pl_w_mapped(w, s->effort_val);
}

static void write_thinking(struct pl_writer *w, const struct pl_conversion *conversion,
                           bool *is_open)
{
    const struct pl_settings *s = &w->conv->settings;
    if (!pl_val_is_set(s->thinking_budget) && s->effort == PL_EFFORT_UNSET &&
        !s->shows_thoughts.is_set)
        return;
    config_key(w, is_open, "thinkingConfig");
    pl_w_open(w, '{');
    if (s->shows_thoughts.is_set) {
        pl_w_key(w, "includeThoughts");
        pl_w_bool(w, s->shows_thoughts.value);
        if (pl_json_is(s->shows_thoughts.val.node, PL_JSON_STRING))
            pl_w_loss(w, PL_LOSS_APPROXIMATED, s->shows_thoughts.val,
                      "Gemini can only show thoughts or not");
        else
            pl_w_mapped(w, s->shows_thoughts.val);
    }
    write_effort(w, conversion);
    pl_w_close(w, '}');
}

/* Numbers of alternatives are accepted only together with the switch. */
static void write_logprobs(struct pl_writer *w, bool *is_open)
{
    const struct pl_settings *s = &w->conv->settings;
    bool is_off = pl_json_is(s->logprobs.node, PL_JSON_FALSE);
    if (is_off && pl_val_is_set(s->top_logprobs))
        pl_w_loss(w, PL_LOSS_DROPPED, s->top_logprobs, "it is not accepted without logprobs");
    if (pl_val_is_set(s->logprobs)) {
        config_key(w, is_open, "responseLogprobs");
        pl_w_value(w, s->logprobs);
    } else if (pl_val_is_set(s->top_logprobs)) {
        config_key(w, is_open, "responseLogprobs");
        pl_w_bool(w, true);
    }
    if (pl_val_is_set(s->top_logprobs) && !is_off) {
        config_key(w, is_open, "logprobs");
        pl_w_value(w, s->top_logprobs);
    }
}

static void write_config(struct pl_writer *w, const struct pl_conversion *conversion)
{
    bool is_open = false;
    for (size_t i = 0; i < sizeof plain_settings / sizeof *plain_settings; i++) {
        struct pl_settings *s = &w->conv->settings;
        const struct pl_val *at = setting(s, i);
        if (!pl_val_is_set(*at) || at == &s->logprobs || at == &s->top_logprobs)
            continue;
        config_key(w, &is_open, plain_settings[i].key);
        pl_w_value(w, *at);
    }
    write_logprobs(w, &is_open);
    write_stops(w, &is_open);
    write_output(w, conversion, &is_open);
    write_thinking(w, conversion, &is_open);
    if (is_open)
        pl_w_close(w, '}');
}

static void write_tier(struct pl_writer *w)
{
    static const char *const same[] = {"standard", "flex", "priority", NULL};
    static const char *const normal[] = {"default", "standard_only", NULL};
    struct pl_val tier = w->conv->settings.service_tier;
    if (pl_conv_word(w->conv, tier.node, same) >= 0) {
        pl_w_opt_string(w, "serviceTier", tier);
    } else if (pl_conv_word(w->conv, tier.node, normal) >= 0) {
        pl_w_key_word(w, "serviceTier", "standard");
        pl_w_loss(w, PL_LOSS_APPROXIMATED, tier, "Gemini's normal tier is `standard`");
    }
}

/* The API's defaults are no loss: parallel calls, and an answer in one piece. */
static void know_defaults(struct pl_writer *w)
{
    const struct pl_settings *s = &w->conv->settings;
    if (s->parallel.is_set && s->parallel.value)
        pl_w_mapped(w, s->parallel.val);
    else if (s->parallel.is_set)
        pl_w_loss(w, PL_LOSS_DROPPED, s->parallel.val,
                  "Gemini decides itself how many functions it calls at once");
    if (s->stream.kind == PL_VAL_NODE && pl_json_is(s->stream.node, PL_JSON_FALSE))
        pl_w_mapped(w, s->stream);
}

/* The choice of a document of Gemini's own, without what a repair dropped. */
static void write_own_choice(struct pl_writer *w)
{
    static const char *const calling[] = {"functionCallingConfig", NULL};
    static const char *const names[] = {"allowedFunctionNames", NULL};
    const struct pl_settings *s = &w->conv->settings;
    const struct pl_json_node *whole = pl_gemini_field(w->conv, w->conv->doc->root, "toolConfig");
    const struct pl_json_node *config = pl_gemini_field(w->conv, whole, calling[0]);
    bool is_kept = config && s->choice != PL_CHOICE_UNSET;
    if (!is_kept && pl_json_count(whole) == 1)
        return;
    pl_w_key(w, "toolConfig");
    pl_w_open(w, '{');
    if (is_kept) {
        pl_w_key(w, calling[0]);
        pl_w_open(w, '{');
        pl_gemini_write_rest(w, config, s->allowed ? names : (const char *const[]){NULL});
        if (s->allowed) {
            pl_w_key(w, names[0]);
            write_names(w, s->allowed);
        }
        pl_w_close(w, '}');
    }
    pl_gemini_write_rest(w, whole, calling);
    pl_w_close(w, '}');
}

/* A document of Gemini's own keeps its members, except what a repair changed. */
static void write_own(struct pl_writer *w)
{
    static const char *const written[] = {"contents", "systemInstruction", NULL};
    static const char *const changed[] = {"contents", "systemInstruction", "toolConfig", NULL};
    const struct pl_json_node *root = w->conv->doc->root;
    bool is_changed = w->conv->settings.is_changed &&
                      pl_gemini_field(w->conv, pl_gemini_field(w->conv, root, "toolConfig"),
                                      "functionCallingConfig");
    pl_gemini_write_rest(w, root, is_changed ? changed : written);
    if (is_changed)
        write_own_choice(w);
}

void pl_gemini_write_settings(struct pl_writer *w, const struct pl_conversion *conversion)
{
    if (conversion->from == conversion->to) {
        write_own(w);
        return;
    }
    pl_w_opt_string(w, "model", w->conv->settings.model);
    write_tools(w, conversion);
    write_choice(w);
    write_config(w, conversion);
    write_tier(w);
    know_defaults(w);
}
