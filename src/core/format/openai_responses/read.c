/* Reading Responses. Adjacent items of the assistant are one utterance and become one message. But
 * a second message item is not joined to the text of the first: they are separate (commentary,
 * final answer). A call keeps them together in any case: its result answers all of them. */
#include "format/openai_responses/openai_responses_int.h"

#include "conv/pairing.h"
#include "conv/media/sniff.h"
#include "format/pieces/choice.h"
#include "format/pieces/content.h"
#include "format/pieces/effort.h"

struct reader {
    struct pl_conv *conv;
    bool is_in_run;      /* the last message is an utterance that may continue */
    bool run_has_text;   /* it has a message item */
    bool run_has_call;   /* it has a call */
    bool has_state;      /* the server keeps a part of the conversation */
    struct pl_map calls; /* owned; ids so far, filled if has_state */
};

static void know(struct pl_conv *conv, const struct pl_json_node *object, const char *key)
{
    pl_conv_know(conv, pl_conv_node(conv, object, key));
}

static void read_image(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    struct pl_val url = pl_conv_get(conv, n, "image_url", PL_WANT_CHOICE);
    /* The spelling of openai-chat: {"url": …}. */
    if (pl_json_is(url.node, PL_JSON_OBJECT)) {
        part->detail = pl_conv_get(conv, url.node, "detail", PL_WANT_STRING);
        url = pl_conv_get(conv, url.node, "url", PL_WANT_STRING);
    }
    pl_content_set_url(conv, part, url);
    pl_conv_take(conv, n, "file_id", PL_WANT_STRING, &part->file_id);
    if (!pl_val_is_set(part->detail))
        pl_conv_take(conv, n, "detail", PL_WANT_STRING, &part->detail);
}

static void read_file(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    struct pl_val data = pl_conv_get(conv, n, "file_data", PL_WANT_STRING);
    pl_conv_take(conv, n, "file_url", PL_WANT_STRING, &part->url);
    pl_conv_take_data(conv, data, part);
    /* Some clients send plain base64. */
    if (pl_val_is_set(part->data) && !pl_val_is_set(part->mime)) {
        const char *mime = pl_sniff_mime(pl_conv_text(conv, data));
        part->mime = mime ? pl_val_text(pl_str_of(mime)) : (struct pl_val){0};
    }
    pl_conv_take(conv, n, "file_id", PL_WANT_STRING, &part->file_id);
    pl_conv_take(conv, n, "filename", PL_WANT_STRING, &part->name);
    pl_conv_take(conv, n, "detail", PL_WANT_STRING, &part->detail);
}

static void read_audio(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    const struct pl_json_node *audio = pl_conv_member(conv, n, "input_audio", PL_WANT_OBJECT);
    struct pl_val format = pl_conv_get(conv, audio, "format", PL_WANT_STRING);
    pl_conv_take_data(conv, pl_conv_get(conv, audio, "data", PL_WANT_STRING), part);
    if (!pl_val_is_set(format))
        return;
    struct pl_str word = pl_conv_text(conv, format);
    struct pl_str type = pl_str_eq(word, PL_STR("mp3")) ? PL_STR("mpeg") : word;
    part->mime = pl_val_text(pl_conv_printf(conv, "audio/%.*s", PL_STR_ARG(type)));
    part->mime.node = format.node;
}

static void read_text(struct pl_conv *conv, const struct pl_json_node *n, struct pl_part *part)
{
    const struct pl_json_node *annotations = pl_conv_member(conv, n, "annotations", PL_WANT_ARRAY);
    pl_conv_take(conv, n, "text", PL_WANT_STRING, &part->text);
    if (pl_json_is(annotations, PL_JSON_ARRAY) && pl_json_count(annotations))
        part->citations = pl_val_node(annotations);
}

static const struct pl_content_type part_types[] = {
    {"input_text", PL_PART_TEXT, read_text},
    {"output_text", PL_PART_TEXT, read_text},
    {"text", PL_PART_TEXT, read_text},
    {"refusal", PL_PART_REFUSAL, pl_content_read_refusal},
    {"input_image", PL_PART_IMAGE, read_image},
    {"input_file", PL_PART_FILE, read_file},
    {"input_audio", PL_PART_AUDIO, read_audio},
};

static void read_part(struct pl_conv *conv, const struct pl_json_node *node, pl_part_adder *add)
{
    if (pl_json_is(node, PL_JSON_STRING)) {
        pl_val_set(&add(conv, PL_PART_TEXT, NULL)->text, node);
        return;
    }
    struct pl_part *part =
        pl_content_read(conv, node, part_types, sizeof part_types / sizeof *part_types, add);
    if (part)
        pl_conv_take(conv, node, "prompt_cache_breakpoint", PL_WANT_OBJECT, &part->cache);
}

/* A string is one part. The output of a tool may be any JSON; its text is one part. */
static void read_content(struct pl_conv *conv, const struct pl_json_node *content, unsigned want,
                         pl_part_adder *add)
{
    if (!pl_conv_fit(conv, content, want))
        return;
    if (pl_json_kind(content) != PL_JSON_ARRAY) {
        pl_val_set(&add(conv, PL_PART_TEXT, NULL)->text, content);
        return;
    }
    for (const struct pl_json_node *p = pl_json_first(content); p < pl_json_end(content);
         p = pl_json_next(p))
        read_part(conv, p, add);
}

/* Makes the last message the utterance of an assistant item. */
static void join_run(struct reader *r, const struct pl_json_node *item, uint32_t element,
                     bool is_message)
{
    bool is_said_apart = is_message && r->run_has_text && !r->run_has_call;
    if (!r->is_in_run || is_said_apart) {
        struct pl_message *m = pl_conv_add_message(r->conv, PL_ROLE_ASSISTANT, item, element);
        m->id = pl_conv_get(r->conv, item, "id", PL_WANT_STRING);
        r->run_has_text = r->run_has_call = false;
    }
    r->is_in_run = true;
    r->run_has_text |= is_message;
}

static void read_message(struct reader *r, const struct pl_json_node *item, uint32_t element)
{
    static const char *const words[] = {"system", "developer", "user", "assistant", NULL};
    static const enum pl_role roles[] = {PL_ROLE_SYSTEM, PL_ROLE_DEVELOPER, PL_ROLE_USER,
                                         PL_ROLE_ASSISTANT};
    const struct pl_json_node *role = pl_conv_member(r->conv, item, "role", PL_WANT_STRING);
    int found = pl_conv_word(r->conv, role, words);
    if (found < 0)
        return;
    if (roles[found] == PL_ROLE_ASSISTANT) {
        join_run(r, item, element, true);
    } else {
        struct pl_message *m = pl_conv_add_message(r->conv, roles[found], item, element);
        m->id = pl_conv_get(r->conv, item, "id", PL_WANT_STRING);
        r->is_in_run = false;
    }
    pl_conv_know(r->conv, role);
    know(r->conv, item, "type");
    read_content(r->conv, pl_conv_node(r->conv, item, "content"), PL_WANT_CONTENT,
                 pl_conv_add_part);
}

static void read_call(struct reader *r, const struct pl_json_node *item, uint32_t element,
                      bool is_custom)
{
    join_run(r, item, element, false);
    r->run_has_call = true;
    struct pl_part *call = pl_conv_add_part(r->conv, PL_PART_CALL, item);
    call->id = pl_conv_get(r->conv, item, "call_id", PL_WANT_STRING);
    call->name = pl_conv_get(r->conv, item, "name", PL_WANT_STRING);
    call->args = pl_conv_get(r->conv, item, is_custom ? "input" : "arguments", PL_WANT_ANY);
    call->status = pl_conv_get(r->conv, item, "status", PL_WANT_STRING);
    call->space = pl_conv_get(r->conv, item, "namespace", PL_WANT_STRING);
    call->is_custom = is_custom;
    know(r->conv, item, "type");
    bool is_new = false;
    if (r->has_state && !pl_map_put(&r->calls, pl_conv_text(r->conv, call->id), &is_new))
        r->conv->status = PL_NOMEM;
}

static void read_output(struct reader *r, const struct pl_json_node *item, uint32_t element,
                        bool is_custom)
{
    struct pl_conv *conv = r->conv;
    struct pl_val id = pl_conv_get(conv, item, "call_id", PL_WANT_STRING);
    /* The vendor's server keeps the call: other vendors cannot use a result alone. */
    if (r->has_state && !pl_map_get(&r->calls, pl_conv_text(conv, id)))
        return;
    r->is_in_run = false;
    pl_conv_add_message(conv, PL_ROLE_TOOL, item, element)->id =
        pl_conv_get(conv, item, "id", PL_WANT_STRING);
    struct pl_part *result = pl_conv_add_part(conv, PL_PART_RESULT, item);
    struct pl_val status = pl_conv_get(conv, item, "status", PL_WANT_STRING);
    result->id = id;
    pl_conv_take(conv, item, "name", PL_WANT_STRING, &result->name);
    result->is_custom = is_custom;
    if (pl_conv_says(conv, status.node, "incomplete"))
        result->is_error = (struct pl_flag){true, true, status};
    else
        result->status = status;
    know(conv, item, "type");
    read_content(conv, pl_conv_node(conv, item, "output"), PL_WANT_ANY, pl_conv_add_child);
}

/* Reads the texts of summary or content, a part each; returns their number. */
static uint32_t read_thoughts(struct reader *r, const struct pl_json_node *item, const char *key)
{
    const struct pl_json_node *list = pl_conv_member(r->conv, item, key, PL_WANT_ARRAY);
    uint32_t n = 0;
    if (!list)
        return 0;
    for (const struct pl_json_node *p = pl_json_first(list); p < pl_json_end(list);
         p = pl_json_next(p)) {
        struct pl_val text = pl_conv_get(r->conv, p, "text", PL_WANT_STRING);
        if (!pl_val_is_set(text))
            continue;
        struct pl_part *part = pl_conv_add_part(r->conv, PL_PART_THINKING, item);
        part->text = text;
        part->id = pl_conv_get(r->conv, item, "id", PL_WANT_STRING);
        know(r->conv, p, "type");
        n++;
    }
    return n;
}

static void read_reasoning(struct reader *r, const struct pl_json_node *item, uint32_t element)
{
    struct pl_val proof = pl_conv_get(r->conv, item, "encrypted_content", PL_WANT_STRING);
    join_run(r, item, element, false);
    know(r->conv, item, "type");
    uint32_t n = read_thoughts(r, item, "summary");
    n += read_thoughts(r, item, "content");
    if (n && r->conv->status == PL_OK) {
        /* One item has one proof: it is on the last of its texts. */
        r->conv->parts.ptr[r->conv->parts.len - 1].signature = proof;
    } else if (!n) {
        struct pl_part *part = pl_conv_add_part(r->conv, PL_PART_REDACTED, item);
        part->data = proof;
        part->id = pl_conv_get(r->conv, item, "id", PL_WANT_STRING);
    }
}

/* The gist for other vendors (format/adapt/restate.h). */
static void read_own(struct reader *r, const struct pl_json_node *item, uint32_t element)
{
    enum pl_role role;
    if (!pl_responses_teller(r->conv, item, &role))
        return;
    if (role == PL_ROLE_ASSISTANT) {
        join_run(r, item, element, false);
    } else {
        pl_conv_add_message(r->conv, role, item, element);
        r->is_in_run = false;
    }
    pl_conv_add_part(r->conv, PL_PART_OTHER, item);
}

static void read_item(struct reader *r, const struct pl_json_node *item, uint32_t element)
{
    switch (pl_responses_item_of(r->conv, item)) {
    case PL_ITEM_MESSAGE:
        read_message(r, item, element);
        break;
    case PL_ITEM_CALL:
        read_call(r, item, element, false);
        break;
    case PL_ITEM_CUSTOM_CALL:
        read_call(r, item, element, true);
        break;
    case PL_ITEM_OUTPUT:
        read_output(r, item, element, false);
        break;
    case PL_ITEM_CUSTOM_OUTPUT:
        read_output(r, item, element, true);
        break;
    case PL_ITEM_REASONING:
        read_reasoning(r, item, element);
        break;
    case PL_ITEM_OTHER:
        read_own(r, item, element);
        break;
    }
}

/* Whether the request continues a conversation that the server keeps. */
static bool has_state(struct pl_conv *conv, const struct pl_json_node *list)
{
    const struct pl_json_node *root = conv->doc->root;
    if (pl_conv_node(conv, root, "previous_response_id") ||
        pl_conv_node(conv, root, "conversation"))
        return true;
    for (const struct pl_json_node *i = pl_json_first(list); i < pl_json_end(list);
         i = pl_json_next(i))
        if (pl_conv_says(conv, pl_conv_member(conv, i, "type", PL_WANT_STRING), "item_reference"))
            return true;
    return false;
}

static void read_items(struct pl_conv *conv, const struct pl_json_node *list)
{
    struct reader r = {.conv = conv, .has_state = has_state(conv, list)};
    uint32_t element = 0;
    conv->list = list;
    for (const struct pl_json_node *i = pl_json_first(list);
         i < pl_json_end(list) && conv->status == PL_OK; i = pl_json_next(i))
        read_item(&r, i, element++);
    pl_map_deinit(&r.calls);
}

static void read_tool(struct pl_conv *conv, const struct pl_json_node *t, struct pl_val space)
{
    struct pl_tool *tool = pl_conv_add_tool(conv, t);
    const struct pl_json_node *type = pl_conv_member(conv, t, "type", PL_WANT_STRING);
    tool->space = space;
    tool->is_custom = pl_conv_says(conv, type, "custom");
    tool->is_hosted = !tool->is_custom && !pl_conv_says(conv, type, "function");
    if (tool->is_hosted)
        return;
    pl_conv_know(conv, type);
    pl_conv_take(conv, t, "name", PL_WANT_STRING, &tool->name);
    pl_conv_take(conv, t, "description", PL_WANT_STRING, &tool->description);
    tool->schema = pl_conv_get(conv, t, tool->is_custom ? "format" : "parameters", PL_WANT_OBJECT);
    pl_conv_take(conv, t, "strict", PL_WANT_BOOL, &tool->strict);
}

/* {"type":"namespace","name","description","tools":[…]}: written whole to this format; for others
 * its tools are listed among the rest. */
static void read_namespace(struct pl_conv *conv, const struct pl_json_node *t)
{
    const struct pl_json_node *type = pl_conv_node(conv, t, "type");
    if (!pl_conv_says(conv, type, "namespace"))
        return;
    const struct pl_json_node *list = pl_conv_member(conv, t, "tools", PL_WANT_ARRAY);
    struct pl_val space = pl_conv_get(conv, t, "name", PL_WANT_STRING);
    if (!list || !pl_val_is_set(space))
        return;
    pl_conv_know(conv, type);
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        if (pl_conv_fit(conv, n, PL_WANT_OBJECT))
            read_tool(conv, n, space);
}

static void read_tools(struct pl_conv *conv, const struct pl_json_node *list)
{
    if (!pl_json_is(list, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *t = pl_json_first(list); t < pl_json_end(list);
         t = pl_json_next(t)) {
        if (!pl_conv_fit(conv, t, PL_WANT_OBJECT))
            continue;
        read_tool(conv, t, (struct pl_val){0});
        read_namespace(conv, t);
    }
}

static void read_choice(struct pl_conv *conv, struct pl_settings *s)
{
    static const char *const words[] = {"auto", "required", "none", NULL};
    static const enum pl_choice choices[] = {PL_CHOICE_AUTO, PL_CHOICE_ANY, PL_CHOICE_NONE};
    static const char *const types[] = {"function", "custom", NULL};
    s->choice_val = pl_conv_get(conv, conv->doc->root, "tool_choice", PL_WANT_CHOICE);
    if (!pl_val_is_set(s->choice_val) ||
        pl_choice_read_allowed(conv, s->choice_val.node, s->choice_val.node))
        return;
    int word = pl_conv_word(conv, s->choice_val.node, words);
    const struct pl_json_node *type =
        pl_conv_member(conv, s->choice_val.node, "type", PL_WANT_STRING);
    s->choice_name = pl_conv_get(conv, s->choice_val.node, "name", PL_WANT_STRING);
    if (word >= 0) {
        s->choice = choices[word];
    } else if (pl_conv_word(conv, type, types) >= 0 && pl_val_is_set(s->choice_name)) {
        s->choice = PL_CHOICE_ONE;
        pl_conv_know(conv, type);
    } else {
        s->choice = PL_CHOICE_OTHER;
    }
}

static void read_text_settings(struct pl_conv *conv, struct pl_settings *s)
{
    static const char *const types[] = {"text", "json_object", "json_schema", NULL};
    static const enum pl_output outputs[] = {PL_OUTPUT_TEXT, PL_OUTPUT_JSON, PL_OUTPUT_SCHEMA};
    const struct pl_json_node *text = pl_conv_member(conv, conv->doc->root, "text", PL_WANT_OBJECT);
    const struct pl_json_node *format = pl_conv_member(conv, text, "format", PL_WANT_OBJECT);
    pl_conv_take(conv, text, "verbosity", PL_WANT_STRING, &s->verbosity);
    int type = pl_conv_word(conv, pl_conv_member(conv, format, "type", PL_WANT_STRING), types);
    if (type < 0)
        return;
    s->output = outputs[type];
    /* This word means only "any JSON": the writer that writes it marks it. */
    if (s->output != PL_OUTPUT_JSON)
        know(conv, format, "type");
    s->output_val = pl_val_node(format);
    if (s->output != PL_OUTPUT_SCHEMA)
        return;
    pl_conv_take(conv, format, "name", PL_WANT_STRING, &s->output_name);
    pl_conv_take(conv, format, "description", PL_WANT_STRING, &s->output_description);
    pl_conv_take(conv, format, "schema", PL_WANT_OBJECT, &s->output_schema);
    pl_conv_take(conv, format, "strict", PL_WANT_BOOL, &s->output_strict);
}

static void read_reasoning_settings(struct pl_conv *conv, struct pl_settings *s)
{
    const struct pl_json_node *reasoning =
        pl_conv_member(conv, conv->doc->root, "reasoning", PL_WANT_OBJECT);
    struct pl_val summary = pl_conv_get(conv, reasoning, "summary", PL_WANT_STRING);
    pl_conv_take(conv, reasoning, "effort", PL_WANT_STRING, &s->effort_val);
    s->effort = pl_effort_of_word(conv, s->effort_val.node);
    if (!pl_val_is_set(summary))
        return;
    /* Other formats can show or hide thoughts, but not set their length. */
    s->shows_thoughts = (struct pl_flag){.is_set = true, .value = true};
    if (pl_conv_says(conv, summary.node, "auto"))
        s->shows_thoughts.val = summary;
}

/* A word in a list requests log probabilities. */
static void read_include(struct pl_conv *conv, struct pl_settings *s)
{
    const struct pl_json_node *include =
        pl_conv_member(conv, conv->doc->root, "include", PL_WANT_ARRAY);
    if (!pl_json_is(include, PL_JSON_ARRAY))
        return;
    for (const struct pl_json_node *i = pl_json_first(include); i < pl_json_end(include);
         i = pl_json_next(i))
        if (pl_conv_says(conv, i, "message.output_text.logprobs"))
            s->logprobs = (struct pl_val){.kind = PL_VAL_JSON, .node = i, .str = PL_STR("true")};
}

static void read_settings(struct pl_conv *conv)
{
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *root = conv->doc->root;
    const struct {
        const char *key;
        unsigned want;
        struct pl_val *to;
    } plain[] = {
        {"model", PL_WANT_STRING, &s->model},
        {"temperature", PL_WANT_NUMBER, &s->temperature},
        {"top_p", PL_WANT_NUMBER, &s->top_p},
        {"max_output_tokens", PL_WANT_INTEGER, &s->max_tokens},
        {"top_logprobs", PL_WANT_INTEGER, &s->top_logprobs},
        {"stream", PL_WANT_BOOL, &s->stream},
        {"user", PL_WANT_STRING, &s->user},
        {"safety_identifier", PL_WANT_STRING, &s->safety_id},
        {"metadata", PL_WANT_OBJECT, &s->metadata},
        {"service_tier", PL_WANT_STRING, &s->service_tier},
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        *plain[i].to = pl_conv_get(conv, root, plain[i].key, plain[i].want);
    pl_conv_take_flag(conv, root, "parallel_tool_calls", &s->parallel);
    read_choice(conv, s);
    read_text_settings(conv, s);
    read_reasoning_settings(conv, s);
    read_include(conv, s);
    read_tools(conv, pl_conv_member(conv, root, "tools", PL_WANT_ARRAY));
}

static enum pl_status read_request(struct pl_conv *conv, struct pl_error *err)
{
    static const char *const state[] = {"previous_response_id", "conversation", "prompt", NULL};
    const struct pl_json_node *root = conv->doc->root;
    struct pl_val instructions = pl_conv_get(conv, root, "instructions", PL_WANT_STRING);
    const struct pl_json_node *input = pl_conv_node(conv, root, "input");
    bool has_words = input || pl_json_is(instructions.node, PL_JSON_STRING);
    for (int i = 0; state[i]; i++)
        has_words |= pl_conv_node(conv, root, state[i]) != NULL;
    if (!has_words)
        return pl_fail(err, PL_INVALID,
                       "a Responses request needs `input`, a string or a list of items");
    if (input && !pl_json_is(input, PL_JSON_STRING) && !pl_json_is(input, PL_JSON_ARRAY))
        return pl_fail(err, PL_INVALID, "`input` must be a string or a list of items, not %s",
                       pl_json_kind_name(pl_json_kind(input)));
    read_settings(conv);
    if (pl_json_is(instructions.node, PL_JSON_STRING)) {
        pl_conv_add_message(conv, PL_ROLE_SYSTEM, instructions.node, PL_NO_ELEMENT);
        pl_conv_add_part(conv, PL_PART_TEXT, NULL)->text = instructions;
    }
    if (pl_json_is(input, PL_JSON_ARRAY)) {
        read_items(conv, input);
    } else if (input) {
        pl_conv_add_message(conv, PL_ROLE_USER, input, 0);
        pl_val_set(&pl_conv_add_part(conv, PL_PART_TEXT, NULL)->text, input);
    }
    pl_responses_name_apart(conv);
    return conv->status;
}

static void read_finish(struct pl_conv *conv, struct pl_answer *a)
{
    static const char *const reasons[] = {"max_output_tokens", "content_filter", NULL};
    static const enum pl_finish finishes[] = {PL_FINISH_LENGTH, PL_FINISH_FILTER};
    const struct pl_json_node *root = conv->doc->root;
    struct pl_val status = pl_conv_get(conv, root, "status", PL_WANT_STRING);
    const struct pl_json_node *details =
        pl_conv_member(conv, root, "incomplete_details", PL_WANT_OBJECT);
    struct pl_val reason = pl_conv_get(conv, details, "reason", PL_WANT_STRING);
    bool is_open = pl_conv_serve_calls(conv);
    a->finish_val = status;
    if (pl_conv_says(conv, status.node, "completed")) {
        a->finish = is_open ? PL_FINISH_TOOLS : PL_FINISH_STOP;
    } else if (pl_val_is_set(reason)) {
        int found = pl_conv_word(conv, reason.node, reasons);
        a->finish = found < 0 ? PL_FINISH_OTHER : finishes[found];
        a->finish_val = reason;
        pl_conv_know(conv, status.node);
    } else if (pl_val_is_set(status)) {
        a->finish = PL_FINISH_OTHER;
    }
}

static void read_usage(struct pl_conv *conv, struct pl_usage *u)
{
    u->node = pl_conv_member(conv, conv->doc->root, "usage", PL_WANT_OBJECT);
    const struct pl_json_node *in =
        pl_conv_member(conv, u->node, "input_tokens_details", PL_WANT_OBJECT);
    pl_conv_take(conv, u->node, "input_tokens", PL_WANT_INTEGER, &u->input);
    pl_conv_take(conv, u->node, "output_tokens", PL_WANT_INTEGER, &u->output);
    pl_conv_take(conv, u->node, "total_tokens", PL_WANT_INTEGER, &u->total);
    pl_conv_take(conv, in, "cached_tokens", PL_WANT_INTEGER, &u->cache_read);
    pl_conv_take(conv, in, "cache_write_tokens", PL_WANT_INTEGER, &u->cache_write);
    u->reasoning =
        pl_conv_get(conv, pl_conv_member(conv, u->node, "output_tokens_details", PL_WANT_OBJECT),
                    "reasoning_tokens", PL_WANT_INTEGER);
}

/* Reads an error body, or a failed response. */
static void read_error(struct pl_conv *conv, const struct pl_json_node *error)
{
    struct pl_answer *a = &conv->answer;
    a->is_error = true;
    pl_conv_take(conv, error, "message", PL_WANT_STRING, &a->error_message);
    pl_conv_take(conv, error, "type", PL_WANT_STRING, &a->error_type);
    pl_conv_take(conv, error, "code", PL_WANT_SCALAR, &a->error_code);
    pl_conv_take(conv, error, "param", PL_WANT_STRING, &a->error_param);
    know(conv, conv->doc->root, "status");
}

/* Every text has its own entries; only those of the first text with entries are read. */
static void read_logprobs(struct pl_conv *conv)
{
    for (size_t i = 0; i < conv->parts.len && !pl_val_is_set(conv->settings.logprobs); i++) {
        const struct pl_part *part = &conv->parts.ptr[i];
        struct pl_val entries = part->kind == PL_PART_TEXT
                                    ? pl_conv_get(conv, part->node, "logprobs", PL_WANT_ARRAY)
                                    : (struct pl_val){0};
        if (pl_json_is(entries.node, PL_JSON_ARRAY) && pl_json_count(entries.node))
            conv->settings.logprobs = entries;
    }
}

static enum pl_status read_answer(struct pl_conv *conv, struct pl_error *err)
{
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *error = pl_conv_node(conv, root, "error");
    const struct pl_json_node *output = pl_conv_node(conv, root, "output");
    struct pl_answer *a = &conv->answer;
    if (!pl_json_is(error, PL_JSON_OBJECT) && !pl_json_is(output, PL_JSON_ARRAY))
        return pl_fail(err, PL_INVALID,
                       "a response of Responses needs a list `output` or an object `error`");
    a->is_set = true;
    pl_conv_take(conv, root, "id", PL_WANT_STRING, &a->id);
    pl_conv_take(conv, root, "created_at", PL_WANT_TIME, &a->created);
    pl_conv_take(conv, root, "model", PL_WANT_STRING, &a->model);
    pl_conv_take(conv, root, "service_tier", PL_WANT_STRING, &a->service_tier);
    know(conv, root, "object");
    read_usage(conv, &a->usage);
    if (pl_json_is(output, PL_JSON_ARRAY))
        read_items(conv, output);
    read_finish(conv, a);
    read_logprobs(conv);
    if (pl_json_is(error, PL_JSON_OBJECT))
        read_error(conv, error);
    return conv->status;
}

enum pl_status pl_responses_read(struct pl_conv *conv, enum pl_format_kind kind,
                                 struct pl_error *err)
{
    const struct pl_json_node *root = conv->doc->root;
    if (!pl_json_is(root, PL_JSON_OBJECT))
        return pl_fail(err, PL_INVALID, "a Responses document must be an object, not %s",
                       pl_json_kind_name(pl_json_kind(root)));
    bool is_answer = kind == PL_KIND_RESPONSE ||
                     (pl_conv_node(conv, root, "output") && !pl_conv_node(conv, root, "input"));
    return is_answer ? read_answer(conv, err) : read_request(conv, err);
}
