/* Writing the settings and tools of an Anthropic request. */
#include "format/anthropic/anthropic_int.h"

#include "format/pieces/choice.h"
#include "format/pieces/effort.h"
#include "format/gemini/schema.h"
#include "format/pieces/hosted_tools.h"
#include "format/pieces/tool_name.h"
#include "json/number.h"

#define DEFAULT_MAX_TOKENS  4096
#define MIN_THINKING_BUDGET 1024

static bool is_kind(struct pl_val val, enum pl_json_kind kind)
{
    return val.kind == PL_VAL_NODE && pl_json_kind(val.node) == kind;
}

static bool int_of(const struct pl_conv *conv, struct pl_val val, int64_t *ret_value)
{
    return is_kind(val, PL_JSON_NUMBER) &&
           pl_json_number_int64(pl_json_span(conv->doc, val.node), ret_value);
}

/* The budget of another vendor that becomes a thinking budget here, or 0. */
static int64_t foreign_budget(const struct pl_anthropic_out *o)
{
    int64_t budget = 0;
    if (o->is_home || !int_of(o->conv, o->conv->settings.thinking_budget, &budget) || budget <= 0)
        return 0;
    return budget < MIN_THINKING_BUDGET ? MIN_THINKING_BUDGET : budget;
}

/* max_tokens is required. If it is absent, there must still be room after a thinking budget. */
void pl_anthropic_put_limit(struct pl_anthropic_out *o)
{
    struct pl_val given = o->conv->settings.max_tokens;
    int64_t value = 0;
    pl_w_key(o->w, "max_tokens");
    if (int_of(o->conv, given, &value) && value >= 0) {
        o->max_tokens = value;
        pl_w_value(o->w, given);
        return;
    }
    o->max_tokens = DEFAULT_MAX_TOKENS;
    if (__builtin_add_overflow(o->max_tokens, foreign_budget(o), &o->max_tokens))
        o->max_tokens = INT64_MAX;
    pl_w_int(o->w, o->max_tokens);
    if (pl_val_is_set(given))
        pl_conv_loss(o->conv, PL_LOSS_APPROXIMATED, given.node,
                     "Anthropic's max_tokens is a whole number; it is %lld here",
                     (long long)o->max_tokens);
    else
        pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, o->conv->doc->root,
                     "Anthropic requires max_tokens, but the source has none; it is %lld",
                     (long long)o->max_tokens);
}

/* The input schema must have the type object. Everything else in it is copied. */
static void put_object_schema(struct pl_anthropic_out *o, const struct pl_tool *tool)
{
    struct pl_conv *conv = o->conv;
    const struct pl_json_node *type = pl_conv_node(conv, tool->schema.node, "type");
    if (pl_conv_says(conv, type, "object")) {
        pl_w_value(o->w, tool->schema);
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "object");
    const struct pl_json_node *schema = tool->schema.node;
    for (const struct pl_json_node *k = pl_json_first_member(schema); k < pl_json_end(schema);
         k = pl_json_next_member(k)) {
        /* A null counts as absent. */
        if (pl_json_key_is(conv->doc, k, PL_STR("type")))
            continue;
        pl_w_key_str(o->w, pl_conv_text(conv, pl_val_node(k)));
        pl_w_value(o->w, pl_val_node(k + 1));
    }
    pl_w_close(o->w, '}');
    if (type)
        pl_conv_know_all(conv, type);
    if (type)
        pl_conv_loss(
            conv, PL_LOSS_APPROXIMATED, type,
            "the input of a tool is an object at Anthropic; the type is written as \"object\"");
    else
        pl_conv_loss(conv, PL_LOSS_SYNTHESISED, schema,
                     "Anthropic requires the type of an input schema; it is \"object\"");
}

static void put_schema(struct pl_anthropic_out *o, const struct pl_tool *tool)
{
    static const struct pl_str free_text = {
        "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\"}},"
        "\"required\":[\"input\"]}",
        sizeof "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\"}},"
               "\"required\":[\"input\"]}" -
            1};
    pl_w_key(o->w, "input_schema");
    if (tool->is_custom) {
        pl_w_value(o->w, pl_val_json(free_text));
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, tool->name,
                  "Anthropic's tools take an object; the free text is its member \"input\"");
        return;
    }
    if (tool->is_openapi_schema) {
        pl_gemini_schema_write_json(o->w, tool->schema);
        return;
    }
    if (is_kind(tool->schema, PL_JSON_OBJECT)) {
        put_object_schema(o, tool);
        return;
    }
    if (tool->schema.kind == PL_VAL_JSON) {
        pl_w_value(o->w, tool->schema);
        return;
    }
    pl_w_value(o->w, pl_val_json(PL_STR("{\"type\":\"object\",\"properties\":{}}")));
    pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, tool->node ? tool->node : o->conv->doc->root,
                 "Anthropic requires an input schema; this one takes no arguments");
}

static void put_tool(struct pl_anthropic_out *o, const struct pl_tool *tool)
{
    if (tool->is_hosted) {
        pl_w_value(o->w, pl_val_node(tool->node));
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key(o->w, "name");
    pl_tool_name_write(o->w, tool->name, PL_ANTHROPIC_MAX_NAME);
    pl_w_opt_string(o->w, "description", tool->description);
    put_schema(o, tool);
    if (is_kind(tool->strict, PL_JSON_TRUE) || is_kind(tool->strict, PL_JSON_FALSE))
        pl_w_opt_value(o->w, "strict", tool->strict);
    pl_anthropic_put_mark(o, tool->cache);
    pl_w_close(o->w, '}');
}

/* Names are unique, and the vendor fixes those of its own tools. */
static void find_taken(struct pl_anthropic_out *o, bool ret_is_taken[PL_SERVICE_COUNT])
{
    for (size_t i = 0; i < o->conv->tools.len; i++) {
        const struct pl_tool *tool = &o->conv->tools.ptr[i];
        struct pl_str name = pl_conv_text(o->conv, tool->name);
        for (int k = 0; k < PL_SERVICE_COUNT && !tool->is_hosted; k++) {
            const char *own = pl_hosted_tool_name((enum pl_service)k);
            ret_is_taken[k] |= own && pl_str_eq(name, pl_str_of(own));
        }
    }
}

/* Hosted tools of another vendor that this one has too. MCP servers have a list beside the
 * tools. */
static void put_hosted(struct pl_anthropic_out *o)
{
    struct pl_hosted_tools tools = pl_hosted_tools_for(o->conv, o->conversion);
    bool is_taken[PL_SERVICE_COUNT] = {false};
    if (tools.len)
        find_taken(o, is_taken);
    for (int is_mcp = 0; is_mcp < 2; is_mcp++) {
        bool is_open = !is_mcp && o->has_tools;
        for (size_t i = 0; i < tools.len; i++) {
            if ((tools.ptr[i].service == PL_SERVICE_MCP) != is_mcp)
                continue;
            if (is_taken[tools.ptr[i].service]) {
                pl_conv_loss(o->conv, PL_LOSS_DROPPED, tools.ptr[i].node,
                             "a function has the name of this tool of Anthropic");
                continue;
            }
            if (!is_open) {
                pl_w_key(o->w, is_mcp ? "mcp_servers" : "tools");
                pl_w_open(o->w, '[');
            }
            is_open = true;
            pl_hosted_tool_write(o->w, o->conversion, &tools.ptr[i]);
        }
        if (is_open)
            pl_w_close(o->w, ']');
        o->has_tools |= is_open && !is_mcp;
    }
}

void pl_anthropic_put_tools(struct pl_anthropic_out *o)
{
    for (size_t i = 0; i < o->conv->tools.len; i++) {
        const struct pl_tool *tool = &o->conv->tools.ptr[i];
        if (tool->is_hosted && (!o->is_home || !tool->node))
            continue;
        if (!o->has_tools) {
            pl_w_key(o->w, "tools");
            pl_w_open(o->w, '[');
        }
        o->has_tools = true;
        put_tool(o, tool);
    }
    put_hosted(o);
}

static void put_choice(struct pl_anthropic_out *o)
{
    static const char *const words[] = {[PL_CHOICE_AUTO] = "auto",
                                        [PL_CHOICE_ANY] = "any",
                                        [PL_CHOICE_ONE] = "tool",
                                        [PL_CHOICE_NONE] = "none"};
    const struct pl_settings *s = &o->conv->settings;
    enum pl_choice choice = s->choice;
    bool is_serial = s->parallel.is_set && !s->parallel.value;
    /* The vendor allows parallel calls by default. */
    if (s->parallel.is_set && s->parallel.value)
        pl_w_mapped(o->w, s->parallel.val);
    struct pl_val name = s->choice_name;
    if (choice == PL_CHOICE_UNSET && is_serial)
        choice = PL_CHOICE_AUTO;
    /* The format has no list of names. A list of one name that must be called is a choice of that
     * tool. */
    if (choice == PL_CHOICE_ANY && pl_choice_count_allowed(o->conv) == 1 &&
        pl_json_count(s->allowed) == 1) {
        choice = PL_CHOICE_ONE;
        name = pl_choice_allowed_name(o->conv, pl_json_first(s->allowed));
        pl_choice_know_allowed(o->conv);
    }
    if (!o->has_tools || choice == PL_CHOICE_UNSET || choice == PL_CHOICE_OTHER ||
        (choice == PL_CHOICE_ONE && !pl_val_is_set(name)))
        return;
    pl_w_key(o->w, "tool_choice");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", words[choice]);
    pl_w_mapped(o->w, s->choice_val);
    pl_choice_report_mode(o->conv);
    if (choice == PL_CHOICE_ONE) {
        pl_w_key(o->w, "name");
        pl_tool_name_write(o->w, name, PL_ANTHROPIC_MAX_NAME);
    }
    /* With choice none the vendor refuses the flag, which would have no effect anyway. */
    if (is_serial && choice != PL_CHOICE_NONE) {
        pl_w_key(o->w, "disable_parallel_tool_use");
        pl_w_bool(o->w, true);
        pl_w_mapped(o->w, s->parallel.val);
    }
    pl_w_close(o->w, '}');
}

/* The vendor refuses a blank stop sequence. */
static void put_stop_one(struct pl_anthropic_out *o, struct pl_val stop)
{
    if (!is_kind(stop, PL_JSON_STRING) && stop.kind != PL_VAL_TEXT)
        return;
    if (pl_anthropic_is_blank(o->conv, stop))
        pl_w_loss(o->w, PL_LOSS_DROPPED, stop,
                  "Anthropic refuses a stop sequence of only white space");
    else
        pl_w_string(o->w, stop);
}

static void put_stop(struct pl_anthropic_out *o)
{
    struct pl_val stop = o->conv->settings.stop;
    if (!pl_val_is_set(stop))
        return;
    pl_w_key(o->w, "stop_sequences");
    pl_w_open(o->w, '[');
    if (is_kind(stop, PL_JSON_ARRAY))
        for (const struct pl_json_node *n = pl_json_first(stop.node); n < pl_json_end(stop.node);
             n = pl_json_next(n))
            put_stop_one(o, pl_val_node(n));
    else
        put_stop_one(o, stop);
    pl_w_close(o->w, ']');
}

static void put_sampling(struct pl_anthropic_out *o)
{
    const struct pl_settings *s = &o->conv->settings;
    if (is_kind(s->temperature, PL_JSON_NUMBER)) {
        struct pl_str number = pl_json_span(o->conv->doc, s->temperature.node);
        bool is_low = pl_json_number_cmp(number, PL_STR("0")) < 0;
        pl_w_key(o->w, "temperature");
        if (is_low || pl_json_number_cmp(number, PL_STR("1")) > 0) {
            pl_w_int(o->w, is_low ? 0 : 1);
            pl_w_loss(o->w, PL_LOSS_APPROXIMATED, s->temperature,
                      "Anthropic's temperature is from 0 to 1; it is clamped");
        } else {
            pl_w_value(o->w, s->temperature);
        }
    } else if (pl_val_is_set(s->temperature) && s->temperature.kind == PL_VAL_JSON) {
        pl_w_opt_value(o->w, "temperature", s->temperature);
        pl_w_mapped(o->w, s->temperature);
    }
    if (is_kind(s->top_p, PL_JSON_NUMBER))
        pl_w_opt_value(o->w, "top_p", s->top_p);
    if (is_kind(s->top_k, PL_JSON_NUMBER))
        pl_w_opt_value(o->w, "top_k", s->top_k);
}

/* Writes `display` if the target has the source's value. */
static void put_display(struct pl_anthropic_out *o)
{
    const struct pl_flag *shows = &o->conv->settings.shows_thoughts;
    if (!shows->is_set)
        return;
    pl_w_key_word(o->w, "display", shows->value ? "summarized" : "omitted");
    pl_w_mapped(o->w, shows->val);
}

static void put_budget(struct pl_anthropic_out *o)
{
    struct pl_val given = o->conv->settings.thinking_budget;
    int64_t budget = foreign_budget(o), asked = 0;
    if (!int_of(o->conv, given, &asked))
        return;
    if (budget >= o->max_tokens)
        budget = o->max_tokens - 1;
    if (budget < MIN_THINKING_BUDGET) {
        pl_w_loss(o->w, PL_LOSS_DROPPED, given,
                  "Anthropic's thinking needs at least 1024 tokens and fewer than max_tokens");
        return;
    }
    pl_w_key(o->w, "thinking");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "enabled");
    pl_w_key(o->w, "budget_tokens");
    if (budget == asked) {
        pl_w_value(o->w, given);
    } else {
        pl_w_int(o->w, budget);
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, given,
                  "Anthropic's thinking needs at least 1024 tokens and fewer than max_tokens");
    }
    put_display(o);
    pl_w_close(o->w, '}');
}

/* Writes one word about thinking; `why` is the setting that it replaces. */
static void put_thinking_word(struct pl_anthropic_out *o, struct pl_str word, struct pl_val why)
{
    pl_w_key(o->w, "thinking");
    pl_w_open(o->w, '{');
    pl_w_key(o->w, "type");
    pl_w_string(o->w, pl_val_text(word));
    if (pl_str_eq(word, PL_STR("adaptive")))
        put_display(o);
    pl_w_close(o->w, '}');
    pl_w_mapped(o->w, why);
}

static void put_thinking(struct pl_anthropic_out *o)
{
    const struct pl_settings *s = &o->conv->settings;
    int64_t budget = 0;
    if (s->thinking.kind == PL_VAL_TEXT) {
        put_thinking_word(o, s->thinking.str,
                          s->thinking); /* the word that format/adapt/fit.c chose */
        return;
    }
    if (o->is_home) {
        pl_w_opt_value(o->w, "thinking", s->thinking);
        return;
    }
    if (int_of(o->conv, s->thinking_budget, &budget)) {
        if (budget > 0)
            put_budget(o);
        else
            put_thinking_word(o, budget ? PL_STR("adaptive") : PL_STR("disabled"),
                              s->thinking_budget);
    } else if (s->effort == PL_EFFORT_NONE) {
        put_thinking_word(o, PL_STR("disabled"), s->effort_val);
    }
}

static void put_effort(struct pl_anthropic_out *o)
{
    const struct pl_settings *s = &o->conv->settings;
    enum pl_effort effort = s->effort == PL_EFFORT_MINIMAL ? PL_EFFORT_LOW : s->effort;
    const char *word = pl_effort_word(effort);
    pl_w_key(o->w, "effort");
    if (pl_str_eq(pl_conv_text(o->conv, s->effort_val), pl_str_of(word)))
        pl_w_string(o->w, s->effort_val);
    else
        pl_w_word(o->w, word);
    if (s->effort == PL_EFFORT_MINIMAL)
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, s->effort_val,
                  "Anthropic's lowest effort is "
                  "\"low\"");
    else
        pl_w_mapped(o->w, s->effort_val);
}

/* Other members of the vendor's own object. */
static void put_other_output(struct pl_anthropic_out *o, const struct pl_json_node *config)
{
    static const char *const said[] = {"effort", "format", NULL};
    for (const struct pl_json_node *k = pl_json_first_member(config); k < pl_json_end(config);
         k = pl_json_next_member(k)) {
        if (pl_conv_word(o->conv, k, said) >= 0)
            continue;
        pl_w_key_str(o->w, pl_conv_text(o->conv, pl_val_node(k)));
        pl_w_value(o->w, pl_val_node(k + 1));
    }
}

static void put_output(struct pl_anthropic_out *o)
{
    const struct pl_settings *s = &o->conv->settings;
    const struct pl_json_node *own =
        o->is_home ? pl_conv_node(o->conv, o->conv->doc->root, "output_config") : NULL;
    bool has_effort = s->effort >= PL_EFFORT_MINIMAL;
    bool has_schema = s->output == PL_OUTPUT_SCHEMA && pl_val_is_set(s->output_schema);
    /* Plain text is the vendor's default. A word next to a schema adds nothing. */
    if (s->output == PL_OUTPUT_TEXT || (has_schema && is_kind(s->output_val, PL_JSON_STRING)))
        pl_w_mapped(o->w, s->output_val);
    else if (s->output == PL_OUTPUT_JSON)
        pl_w_loss(o->w, PL_LOSS_DROPPED, s->output_val,
                  "Anthropic writes JSON only with a schema; give one");
    if (!has_effort && !has_schema && !own)
        return;
    pl_w_key(o->w, "output_config");
    pl_w_open(o->w, '{');
    if (has_effort)
        put_effort(o);
    if (has_schema) {
        pl_w_key(o->w, "format");
        pl_w_open(o->w, '{');
        pl_w_key_word(o->w, "type", "json_schema");
        pl_w_key(o->w, "schema");
        pl_gemini_schema_write_any(o->w, s->output_schema, s->is_openapi_output);
        pl_w_close(o->w, '}');
    }
    if (own && pl_json_kind(own) == PL_JSON_OBJECT)
        put_other_output(o, own);
    pl_w_close(o->w, '}');
}

/* The id of the user: from the newer member, otherwise from the older one. */
static void put_user(struct pl_anthropic_out *o)
{
    const struct pl_settings *s = &o->conv->settings;
    struct pl_val user = is_kind(s->safety_id, PL_JSON_STRING) ? s->safety_id : s->user;
    if (!is_kind(user, PL_JSON_STRING))
        return;
    pl_w_key(o->w, "metadata");
    pl_w_open(o->w, '{');
    pl_w_opt_string(o->w, "user_id", user);
    pl_w_close(o->w, '}');
}

static void put_tier(struct pl_anthropic_out *o)
{
    static const char *const same[] = {"auto", "standard_only", NULL};
    struct pl_val tier = o->conv->settings.service_tier;
    if (pl_conv_word(o->conv, tier.node, same) >= 0) {
        pl_w_opt_string(o->w, "service_tier", tier);
    } else if (pl_conv_says(o->conv, tier.node, "default")) {
        pl_w_key_word(o->w, "service_tier", "standard_only");
        pl_w_loss(o->w, PL_LOSS_MOVED, tier, "Anthropic's equivalent is standard_only");
    }
}

void pl_anthropic_put_settings(struct pl_anthropic_out *o)
{
    struct pl_val stream = o->conv->settings.stream;
    put_choice(o);
    put_stop(o);
    if (is_kind(stream, PL_JSON_TRUE) || is_kind(stream, PL_JSON_FALSE))
        pl_w_opt_value(o->w, "stream", stream);
    put_sampling(o);
    put_thinking(o);
    put_output(o);
    put_user(o);
    put_tier(o);
}
