/* Reading Anthropic Messages.
 *
 * A user message may have both tool results and text: it becomes one message of role tool per
 * result and one of role user for everything between them, all with the same element. */
#include "format/anthropic/anthropic_int.h"

#include "format/anthropic/words.h"
#include "format/pieces/effort.h"

static bool is_string(struct pl_val val)
{
    return val.kind == PL_VAL_NODE && pl_json_kind(val.node) == PL_JSON_STRING;
}

static void know(struct pl_conv *conv, const struct pl_json_node *object, const char *key)
{
    pl_conv_know(conv, pl_conv_node(conv, object, key));
}

/* Fills the part from part->node. False: a required member is missing, and the block is kept
 * whole. */
typedef bool fill_fn(struct pl_conv *conv, struct pl_part *part);

static bool fill_text(struct pl_conv *conv, struct pl_part *part)
{
    pl_conv_take(conv, part->node, "text", PL_WANT_STRING, &part->text);
    pl_conv_take(conv, part->node, "citations", PL_WANT_ARRAY, &part->citations);
    return is_string(part->text);
}

static bool fill_thinking(struct pl_conv *conv, struct pl_part *part)
{
    pl_conv_take(conv, part->node, "thinking", PL_WANT_STRING, &part->text);
    pl_conv_take(conv, part->node, "signature", PL_WANT_STRING, &part->signature);
    return is_string(part->text) || is_string(part->signature);
}

static bool fill_redacted(struct pl_conv *conv, struct pl_part *part)
{
    pl_conv_take(conv, part->node, "data", PL_WANT_STRING, &part->data);
    return is_string(part->data);
}

/* The source of an image or a document. */
static bool fill_media(struct pl_conv *conv, struct pl_part *part)
{
    static const char *const words[] = {"base64", "url", "file", "text", NULL};
    static const char *const members[] = {"data", "url", "file_id", "data"};
    const struct pl_json_node *source = pl_conv_member(conv, part->node, "source", PL_WANT_OBJECT);
    int word = pl_conv_word(conv, pl_conv_member(conv, source, "type", PL_WANT_STRING), words);
    if (word < 0)
        return false;
    struct pl_val *const places[] = {&part->data, &part->url, &part->file_id, &part->text};
    *places[word] = pl_conv_get(conv, source, members[word], PL_WANT_STRING);
    if (!is_string(*places[word]))
        return false;
    pl_conv_take(conv, source, "media_type", PL_WANT_STRING, &part->mime);
    if (places[word] == &part->data) {
        struct pl_val said = part->data;
        part->data = (struct pl_val){0};
        pl_conv_take_data(conv, said, part);
    }
    know(conv, source, "type");
    pl_conv_take(conv, part->node, "title", PL_WANT_STRING, &part->name);
    pl_conv_take(conv, part->node, "context", PL_WANT_STRING, &part->context);
    pl_conv_take(conv, part->node, "citations", PL_WANT_OBJECT, &part->citations);
    return true;
}

static bool fill_call(struct pl_conv *conv, struct pl_part *part)
{
    pl_conv_take(conv, part->node, "id", PL_WANT_STRING, &part->id);
    pl_conv_take(conv, part->node, "name", PL_WANT_STRING, &part->name);
    pl_conv_take(conv, part->node, "input", PL_WANT_ANY, &part->args);
    return is_string(part->name);
}

static bool fill_result(struct pl_conv *conv, struct pl_part *part)
{
    pl_conv_take(conv, part->node, "tool_use_id", PL_WANT_STRING, &part->id);
    pl_conv_take_flag(conv, part->node, "is_error", &part->is_error);
    return true;
}

enum place { IN_USER = 1, IN_ASSISTANT = 2, IN_SYSTEM = 4, IN_RESULT = 8 };

static const struct block {
    const char *word;
    enum pl_part_kind kind;
    fill_fn *fill;
    unsigned places;
} blocks[] = {
    {"text", PL_PART_TEXT, fill_text, IN_USER | IN_ASSISTANT | IN_SYSTEM | IN_RESULT},
    {"tool_use", PL_PART_CALL, fill_call, IN_ASSISTANT},
    {"tool_result", PL_PART_RESULT, fill_result, IN_USER},
    {"thinking", PL_PART_THINKING, fill_thinking, IN_ASSISTANT},
    {"redacted_thinking", PL_PART_REDACTED, fill_redacted, IN_ASSISTANT},
    {"image", PL_PART_IMAGE, fill_media, IN_USER | IN_ASSISTANT | IN_RESULT},
    {"document", PL_PART_FILE, fill_media, IN_USER | IN_ASSISTANT | IN_RESULT},
};

static const struct block *block_of(const struct pl_conv *conv, const struct pl_json_node *type,
                                    enum place place)
{
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if ((blocks[i].places & place) && pl_conv_says(conv, type, blocks[i].word))
            return &blocks[i];
    return NULL;
}

/* Fills a new part of kind OTHER as a block of the given type. */
static void fill_as(struct pl_conv *conv, struct pl_part *part, const struct block *block,
                    const struct pl_json_node *type)
{
    if (!block)
        return;
    if (!block->fill(conv, part)) {
        /* It stays OTHER: known only to its vendor. */
        *part =
            (struct pl_part){.kind = PL_PART_OTHER, .node = part->node, .children = part->children};
        return;
    }
    part->kind = block->kind;
    pl_conv_take(conv, part->node, "cache_control", PL_WANT_OBJECT, &part->cache);
    pl_conv_know(conv, type);
}

static void fill(struct pl_conv *conv, struct pl_part *part, enum place place)
{
    const struct pl_json_node *type = pl_conv_member(conv, part->node, "type", PL_WANT_STRING);
    fill_as(conv, part, block_of(conv, type, place), type);
}

void pl_anthropic_read_block(struct pl_conv *conv, struct pl_part *part)
{
    fill(conv, part, IN_RESULT);
}

static void read_result_content(struct pl_conv *conv, const struct pl_json_node *result)
{
    const struct pl_json_node *content = pl_conv_node(conv, result, "content");
    if (!content)
        return;
    if (pl_json_kind(content) != PL_JSON_ARRAY) {
        pl_val_set(&pl_conv_add_child(conv, PL_PART_TEXT, NULL)->text, content);
        return;
    }
    for (const struct pl_json_node *b = pl_json_first(content); b < pl_json_end(content);
         b = pl_json_next(b))
        fill(conv, pl_conv_add_child(conv, PL_PART_OTHER, b), IN_RESULT);
}

/* Adds a part to the last message. A result gets its own message. */
static void read_user_blocks(struct pl_conv *conv, const struct pl_json_node *node,
                             const struct pl_json_node *content, uint32_t element)
{
    bool is_first = true, is_speaking = false;
    for (const struct pl_json_node *b = pl_json_first(content); b < pl_json_end(content);
         b = pl_json_next(b)) {
        const struct pl_json_node *type = pl_conv_member(conv, b, "type", PL_WANT_STRING);
        const struct block *block = block_of(conv, type, IN_USER);
        bool is_result = block && block->kind == PL_PART_RESULT;
        if (is_result || !is_speaking) {
            enum pl_role role = is_result ? PL_ROLE_TOOL : PL_ROLE_USER;
            pl_conv_add_message(conv, role, node, element)->is_phase_split = !is_first;
        }
        is_first = false;
        is_speaking = !is_result;
        fill_as(conv, pl_conv_add_part(conv, PL_PART_OTHER, b), block, type);
        if (is_result)
            read_result_content(conv, b);
    }
    if (is_first)
        pl_conv_add_message(conv, PL_ROLE_USER, node, element);
}

static void read_content(struct pl_conv *conv, enum pl_role role, const struct pl_json_node *node,
                         const struct pl_json_node *content, uint32_t element)
{
    static const enum place places[] = {
        [PL_ROLE_SYSTEM] = IN_SYSTEM, [PL_ROLE_USER] = IN_USER, [PL_ROLE_ASSISTANT] = IN_ASSISTANT};
    bool is_list = content && pl_json_kind(content) == PL_JSON_ARRAY;
    if (is_list && role == PL_ROLE_USER) {
        read_user_blocks(conv, node, content, element);
        return;
    }
    pl_conv_add_message(conv, role, node, element);
    if (is_list)
        for (const struct pl_json_node *b = pl_json_first(content); b < pl_json_end(content);
             b = pl_json_next(b))
            fill(conv, pl_conv_add_part(conv, PL_PART_OTHER, b), places[role]);
    else if (pl_conv_fit(conv, content, PL_WANT_CONTENT))
        pl_val_set(&pl_conv_add_part(conv, PL_PART_TEXT, NULL)->text, content);
}

static void read_message(struct pl_conv *conv, const struct pl_json_node *node, uint32_t element)
{
    static const char *const words[] = {"user", "assistant", "system", NULL};
    static const enum pl_role roles[] = {PL_ROLE_USER, PL_ROLE_ASSISTANT, PL_ROLE_SYSTEM};
    const struct pl_json_node *role = pl_conv_member(conv, node, "role", PL_WANT_STRING);
    int word = pl_conv_word(conv, role, words);
    /* An unknown role is read as the user's, and the role is reported. */
    if (word >= 0)
        pl_conv_know(conv, role);
    read_content(conv, roles[word < 0 ? 0 : word], node, pl_conv_node(conv, node, "content"),
                 element);
}

static void read_tool(struct pl_conv *conv, const struct pl_json_node *node)
{
    struct pl_tool *tool = pl_conv_add_tool(conv, node);
    const struct pl_json_node *type = pl_conv_member(conv, node, "type", PL_WANT_STRING);
    pl_conv_take(conv, node, "name", PL_WANT_STRING, &tool->name);
    pl_conv_take(conv, node, "cache_control", PL_WANT_OBJECT, &tool->cache);
    if (type && !pl_conv_says(conv, type, "custom")) {
        tool->is_hosted = true;
        return;
    }
    pl_conv_know(conv, type);
    pl_conv_take(conv, node, "description", PL_WANT_STRING, &tool->description);
    pl_conv_take(conv, node, "input_schema", PL_WANT_OBJECT, &tool->schema);
    pl_conv_take(conv, node, "strict", PL_WANT_BOOL, &tool->strict);
}

static void read_choice(struct pl_conv *conv, const struct pl_json_node *choice)
{
    static const char *const words[] = {"auto", "any", "tool", "none", NULL};
    static const enum pl_choice choices[] = {PL_CHOICE_AUTO, PL_CHOICE_ANY, PL_CHOICE_ONE,
                                             PL_CHOICE_NONE};
    struct pl_settings *s = &conv->settings;
    if (!choice)
        return;
    const struct pl_json_node *type = pl_conv_member(conv, choice, "type", PL_WANT_STRING);
    int word = pl_conv_word(conv, type, words);
    s->choice = word < 0 ? PL_CHOICE_OTHER : choices[word];
    /* Not the whole object: the flag next to the type has its own fate. */
    s->choice_val = pl_val_node(type);
    pl_conv_take(conv, choice, "name", PL_WANT_STRING, &s->choice_name);
    const struct pl_json_node *off =
        pl_conv_member(conv, choice, "disable_parallel_tool_use", PL_WANT_BOOL);
    if (off)
        s->parallel = (struct pl_flag){true, pl_json_kind(off) == PL_JSON_FALSE, pl_val_node(off)};
}

static void read_thinking(struct pl_conv *conv, const struct pl_json_node *thinking)
{
    static const char *const displays[] = {"omitted", "summarized", NULL};
    struct pl_settings *s = &conv->settings;
    if (!thinking)
        return;
    const struct pl_json_node *type = pl_conv_member(conv, thinking, "type", PL_WANT_STRING);
    const struct pl_json_node *display = pl_conv_member(conv, thinking, "display", PL_WANT_STRING);
    s->thinking = pl_val_node(thinking);
    pl_conv_take(conv, thinking, "budget_tokens", PL_WANT_INTEGER, &s->thinking_budget);
    if (pl_val_is_set(s->thinking_budget) && pl_conv_says(conv, type, "enabled"))
        pl_conv_know(conv, type);
    if (pl_conv_says(conv, type, "disabled") && s->effort == PL_EFFORT_UNSET) {
        s->effort = PL_EFFORT_NONE;
        s->effort_val = pl_val_node(type);
    }
    int shows = pl_conv_word(conv, display, displays);
    if (shows >= 0)
        s->shows_thoughts = (struct pl_flag){true, shows == 1, pl_val_node(display)};
}

static void read_output(struct pl_conv *conv, const struct pl_json_node *root)
{
    struct pl_settings *s = &conv->settings;
    const struct pl_json_node *config = pl_conv_member(conv, root, "output_config", PL_WANT_OBJECT);
    const struct pl_json_node *format = pl_conv_member(conv, config, "format", PL_WANT_OBJECT);
    const struct pl_json_node *effort = pl_conv_member(conv, config, "effort", PL_WANT_STRING);
    s->effort = pl_effort_of_word(conv, effort);
    if (s->effort != PL_EFFORT_UNSET)
        s->effort_val = pl_val_node(effort);
    if (!format)
        format = pl_conv_member(conv, root, "output_format", PL_WANT_OBJECT);
    if (!pl_conv_says(conv, pl_conv_member(conv, format, "type", PL_WANT_STRING), "json_schema"))
        return;
    know(conv, format, "type");
    s->output = PL_OUTPUT_SCHEMA;
    s->output_val = pl_val_node(format);
    pl_conv_take(conv, format, "schema", PL_WANT_OBJECT, &s->output_schema);
}

static void read_settings(struct pl_conv *conv, const struct pl_json_node *root)
{
    struct pl_settings *s = &conv->settings;
    pl_conv_take(conv, root, "model", PL_WANT_STRING, &s->model);
    pl_conv_take(conv, root, "max_tokens", PL_WANT_INTEGER, &s->max_tokens);
    pl_conv_take(conv, root, "temperature", PL_WANT_NUMBER, &s->temperature);
    pl_conv_take(conv, root, "top_p", PL_WANT_NUMBER, &s->top_p);
    pl_conv_take(conv, root, "top_k", PL_WANT_INTEGER, &s->top_k);
    pl_conv_take(conv, root, "stop_sequences", PL_WANT_STRINGS, &s->stop);
    pl_conv_take(conv, root, "stream", PL_WANT_BOOL, &s->stream);
    pl_conv_take(conv, root, "service_tier", PL_WANT_STRING, &s->service_tier);
    s->safety_id = pl_conv_get(conv, pl_conv_member(conv, root, "metadata", PL_WANT_OBJECT),
                               "user_id", PL_WANT_STRING);
    read_choice(conv, pl_conv_member(conv, root, "tool_choice", PL_WANT_OBJECT));
    read_output(conv, root);
    read_thinking(conv, pl_conv_member(conv, root, "thinking", PL_WANT_OBJECT));
}

static enum pl_status read_request(struct pl_conv *conv, struct pl_error *err)
{
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *messages = pl_conv_node(conv, root, "messages");
    if (!messages || pl_json_kind(messages) != PL_JSON_ARRAY)
        return pl_fail(err, PL_INVALID,
                       "an Anthropic request needs the array \"messages\"; for a response give "
                       "--kind response");
    read_settings(conv, root);
    const struct pl_json_node *system = pl_conv_member(conv, root, "system", PL_WANT_CONTENT);
    if (system)
        read_content(conv, PL_ROLE_SYSTEM, system, system, PL_NO_ELEMENT);
    conv->list = messages;
    uint32_t element = 0;
    for (const struct pl_json_node *m = pl_json_first(messages); m < pl_json_end(messages);
         m = pl_json_next(m), element++)
        if (pl_conv_fit(conv, m, PL_WANT_OBJECT))
            read_message(conv, m, element);
    const struct pl_json_node *tools = pl_conv_member(conv, root, "tools", PL_WANT_ARRAY);
    if (tools)
        for (const struct pl_json_node *t = pl_json_first(tools); t < pl_json_end(tools);
             t = pl_json_next(t))
            if (pl_conv_fit(conv, t, PL_WANT_OBJECT))
                read_tool(conv, t);
    return conv->status;
}

static void read_usage(struct pl_conv *conv, const struct pl_json_node *usage)
{
    struct pl_usage *u = &conv->answer.usage;
    u->node = usage;
    u->input_excludes_cache = true;
    pl_conv_take(conv, usage, "input_tokens", PL_WANT_INTEGER, &u->input);
    pl_conv_take(conv, usage, "output_tokens", PL_WANT_INTEGER, &u->output);
    pl_conv_take(conv, usage, "cache_read_input_tokens", PL_WANT_INTEGER, &u->cache_read);
    pl_conv_take(conv, usage, "cache_creation_input_tokens", PL_WANT_INTEGER, &u->cache_write);
    u->reasoning =
        pl_conv_get(conv, pl_conv_member(conv, usage, "output_tokens_details", PL_WANT_OBJECT),
                    "thinking_tokens", PL_WANT_INTEGER);
    pl_conv_take(conv, usage, "service_tier", PL_WANT_STRING, &conv->answer.service_tier);
}

static void read_finish(struct pl_conv *conv, const struct pl_json_node *root)
{
    struct pl_answer *a = &conv->answer;
    pl_conv_take(conv, root, "stop_reason", PL_WANT_STRING, &a->finish_val);
    pl_conv_take(conv, root, "stop_sequence", PL_WANT_STRING, &a->stop_sequence);
    if (pl_conv_is_hollow(conv, a->finish_val.node))
        a->finish_val = (struct pl_val){0};
    if (pl_val_is_set(a->finish_val))
        a->finish = pl_anthropic_finish_of(pl_conv_text(conv, a->finish_val));
    const struct pl_json_node *details = pl_conv_member(conv, root, "stop_details", PL_WANT_OBJECT);
    if (pl_conv_says(conv, pl_conv_member(conv, details, "type", PL_WANT_STRING), "refusal"))
        know(conv, details, "type");
    pl_conv_take(conv, details, "explanation", PL_WANT_STRING, &a->finish_detail);
    a->ratings = pl_val_node(details);
}

static void read_error(struct pl_conv *conv, const struct pl_json_node *root)
{
    struct pl_answer *a = &conv->answer;
    const struct pl_json_node *error = pl_conv_node(conv, root, "error");
    a->is_set = a->is_error = true;
    pl_conv_take(conv, error, "type", PL_WANT_STRING, &a->error_type);
    pl_conv_take(conv, error, "message", PL_WANT_STRING, &a->error_message);
    pl_conv_take(conv, root, "request_id", PL_WANT_STRING, &a->request_id);
    know(conv, root, "type");
}

static enum pl_status read_response(struct pl_conv *conv, struct pl_error *err)
{
    const struct pl_json_node *root = conv->doc->root;
    if (pl_conv_node(conv, root, "error")) {
        read_error(conv, root);
        return conv->status;
    }
    const struct pl_json_node *content = pl_conv_node(conv, root, "content");
    if (!content)
        return pl_fail(
            err, PL_INVALID,
            "an Anthropic response needs \"content\" or \"error\"; for a request give --kind "
            "request");
    struct pl_answer *a = &conv->answer;
    a->is_set = true;
    pl_conv_take(conv, root, "id", PL_WANT_STRING, &a->id);
    pl_conv_take(conv, root, "model", PL_WANT_STRING, &a->model);
    know(conv, root, "type");
    know(conv, root, "role");
    read_content(conv, PL_ROLE_ASSISTANT, root, content, PL_NO_ELEMENT);
    read_finish(conv, root);
    read_usage(conv, pl_conv_member(conv, root, "usage", PL_WANT_OBJECT));
    return conv->status;
}

enum pl_status pl_anthropic_read(struct pl_conv *conv, enum pl_format_kind kind,
                                 struct pl_error *err)
{
    if (pl_json_kind(conv->doc->root) != PL_JSON_OBJECT)
        return pl_fail(err, PL_INVALID, "an Anthropic document must be an object, but this is %s",
                       pl_json_kind_name(pl_json_kind(conv->doc->root)));
    return kind == PL_KIND_RESPONSE ? read_response(conv, err) : read_request(conv, err);
}
