/* Items that only Responses has: calls of hosted tools, and client tools with special shapes (a
 * shell, a computer). One item holds a call and its result. */
#include "format/openai_responses/openai_responses_int.h"

#include "conv/media/sniff.h"

static struct pl_val get(struct pl_conv *conv, const struct pl_json_node *object, const char *key)
{
    return pl_conv_get(conv, object, key, PL_WANT_STRING);
}

static void tell_search(struct pl_conv *conv, const struct pl_json_node *item, struct pl_gist *gist)
{
    const struct pl_json_node *action = pl_conv_member(conv, item, "action", PL_WANT_OBJECT);
    const struct pl_json_node *type = pl_conv_member(conv, action, "type", PL_WANT_STRING);
    const struct pl_json_node *sources = pl_conv_member(conv, action, "sources", PL_WANT_ARRAY);
    gist->service = PL_SERVICE_SEARCH;
    gist->input = get(conv, action, "query");
    if (pl_conv_says(conv, type, "open_page")) {
        gist->service = PL_SERVICE_FETCH;
        gist->input = get(conv, action, "url");
    } else if (!pl_val_is_set(gist->input)) {
        gist->input = pl_conv_get(conv, action, "queries", PL_WANT_ARRAY);
    }
    if (!pl_val_is_set(gist->input))
        gist->input = pl_val_node(action);
    else
        pl_conv_know(conv, type);
    if (!sources || !pl_gist_room(conv, gist, pl_json_count(sources)))
        return;
    gist->has_result = true;
    for (const struct pl_json_node *s = pl_json_first(sources); s < pl_json_end(sources);
         s = pl_json_next(s)) {
        pl_gist_add(gist, PL_PART_FILE, s)->url = get(conv, s, "url");
        pl_conv_know(conv, pl_conv_node(conv, s, "type"));
    }
}

static void tell_files(struct pl_conv *conv, const struct pl_json_node *item, struct pl_gist *gist)
{
    const struct pl_json_node *results = pl_conv_member(conv, item, "results", PL_WANT_ARRAY);
    gist->service = PL_SERVICE_FILES;
    gist->input = pl_conv_get(conv, item, "queries", PL_WANT_ARRAY);
    if (!results || !pl_gist_room(conv, gist, pl_json_count(results)))
        return;
    gist->has_result = true;
    for (const struct pl_json_node *r = pl_json_first(results); r < pl_json_end(results);
         r = pl_json_next(r))
        pl_gist_add(gist, PL_PART_TEXT, r)->text = get(conv, r, "text");
}

static void tell_code(struct pl_conv *conv, const struct pl_json_node *item, struct pl_gist *gist)
{
    const struct pl_json_node *outputs = pl_conv_member(conv, item, "outputs", PL_WANT_ARRAY);
    gist->service = PL_SERVICE_CODE;
    gist->input = get(conv, item, "code");
    if (!outputs || !pl_gist_room(conv, gist, pl_json_count(outputs)))
        return;
    gist->has_result = true;
    for (const struct pl_json_node *p = pl_json_first(outputs); p < pl_json_end(outputs);
         p = pl_json_next(p)) {
        struct pl_val logs = get(conv, p, "logs");
        pl_conv_know(conv, pl_conv_node(conv, p, "type"));
        if (!pl_val_is_set(logs))
            pl_gist_add(gist, PL_PART_IMAGE, p)->url = get(conv, p, "url");
        else if (!pl_val_is_set(gist->output))
            gist->output = logs;
        else
            pl_gist_add(gist, PL_PART_TEXT, p)->text = logs;
    }
}

/* The text of [{"type":"text","text"}], which most servers send; otherwise the whole value. */
static struct pl_val get_words(struct pl_conv *conv, const struct pl_json_node *content)
{
    const struct pl_json_node *first =
        pl_json_is(content, PL_JSON_ARRAY) && pl_json_count(content) == 1 ? pl_json_first(content)
                                                                          : NULL;
    const struct pl_json_node *type = pl_conv_node(conv, first, "type");
    struct pl_val text = {0};
    if (pl_conv_says(conv, type, "text"))
        text = get(conv, first, "text");
    if (!pl_val_is_set(text))
        return pl_val_node(content);
    pl_conv_know(conv, type);
    return text;
}

/* A text in older answers; now {"type","message","code"}, or {"type","content"} with the server's
 * message. */
static struct pl_val get_error(struct pl_conv *conv, const struct pl_json_node *item)
{
    const struct pl_json_node *error =
        pl_conv_member(conv, item, "error", PL_WANT_STRING | PL_WANT_OBJECT);
    if (!error || pl_json_kind(error) != PL_JSON_OBJECT)
        return pl_val_node(error);
    struct pl_val message = get(conv, error, "message");
    if (!pl_val_is_set(message))
        message = get_words(conv, pl_conv_node(conv, error, "content"));
    if (pl_val_is_set(message))
        pl_conv_know(conv, pl_conv_node(conv, error, "type"));
    return pl_val_is_set(message) ? message : pl_val_node(error);
}

static void tell_mcp(struct pl_conv *conv, const struct pl_json_node *item, struct pl_gist *gist)
{
    gist->service = PL_SERVICE_MCP;
    gist->name = get(conv, item, "name");
    gist->server = get(conv, item, "server_label");
    gist->input = get(conv, item, "arguments");
    gist->output = get(conv, item, "output");
    gist->errors = get_error(conv, item);
    gist->has_result = pl_val_is_set(gist->output) || pl_val_is_set(gist->errors);
    if (pl_val_is_set(gist->errors))
        gist->is_error = (struct pl_flag){.is_set = true, .value = true};
}

static void tell_image(struct pl_conv *conv, const struct pl_json_node *item, struct pl_gist *gist)
{
    struct pl_val data = get(conv, item, "result");
    if (!pl_val_is_set(data) || !pl_gist_room(conv, gist, 1))
        return;
    const char *mime = pl_sniff_mime(pl_conv_text(conv, data));
    struct pl_part *image = pl_gist_add(gist, PL_PART_IMAGE, item);
    image->data = data;
    image->mime = pl_val_text(pl_str_of(mime ? mime : "image/png"));
    gist->service = PL_SERVICE_IMAGE;
    pl_conv_know(conv, pl_conv_node(conv, item, "type"));
}

/* A client tool: its call or its result. */
static void tell_action(struct pl_conv *conv, const struct pl_json_node *item, struct pl_gist *gist)
{
    static const char *const keys[] = {"action", "actions", "operation", "arguments", "code", NULL};
    gist->service = PL_SERVICE_OTHER;
    gist->id = get(conv, item, "call_id");
    for (int i = 0; keys[i] && !pl_val_is_set(gist->input); i++)
        gist->input = pl_conv_get(conv, item, keys[i], PL_WANT_ANY);
}

static void tell_output(struct pl_conv *conv, const struct pl_json_node *item, struct pl_gist *gist)
{
    static const char *const keys[] = {"output", "result", "tools", NULL};
    gist->service = PL_SERVICE_OTHER;
    gist->has_call = false;
    gist->has_result = true;
    gist->id = get(conv, item, "call_id");
    for (int i = 0; keys[i] && !pl_val_is_set(gist->output); i++)
        gist->output = pl_conv_get(conv, item, keys[i], PL_WANT_ANY);
}

static const struct own {
    const char *type, *tool;
    enum pl_role role;
    void (*tell)(struct pl_conv *, const struct pl_json_node *, struct pl_gist *);
} items[] = {
    {"web_search_call", NULL, PL_ROLE_ASSISTANT, tell_search},
    {"file_search_call", NULL, PL_ROLE_ASSISTANT, tell_files},
    {"code_interpreter_call", NULL, PL_ROLE_ASSISTANT, tell_code},
    {"mcp_call", NULL, PL_ROLE_ASSISTANT, tell_mcp},
    {"image_generation_call", NULL, PL_ROLE_ASSISTANT, tell_image},
    {"local_shell_call", "local_shell", PL_ROLE_ASSISTANT, tell_action},
    {"shell_call", "shell", PL_ROLE_ASSISTANT, tell_action},
    {"apply_patch_call", "apply_patch", PL_ROLE_ASSISTANT, tell_action},
    {"computer_call", "computer", PL_ROLE_ASSISTANT, tell_action},
    {"tool_search_call", "tool_search", PL_ROLE_ASSISTANT, tell_action},
    {"tool_search_output", "tool_search", PL_ROLE_ASSISTANT, tell_output},
    {"program", "program", PL_ROLE_ASSISTANT, tell_action},
    {"program_output", "program", PL_ROLE_ASSISTANT, tell_output},
    {"local_shell_call_output", "local_shell", PL_ROLE_USER, tell_output},
    {"shell_call_output", "shell", PL_ROLE_USER, tell_output},
    {"apply_patch_call_output", "apply_patch", PL_ROLE_USER, tell_output},
    {"computer_call_output", "computer", PL_ROLE_USER, tell_output},
};

static const struct own *own_of(const struct pl_conv *conv, const struct pl_json_node *item)
{
    const struct pl_json_node *type = pl_conv_node(conv, item, "type");
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (pl_conv_says(conv, type, items[i].type))
            return &items[i];
    return NULL;
}

bool pl_responses_teller(const struct pl_conv *conv, const struct pl_json_node *item,
                         enum pl_role *ret_role)
{
    const struct own *own = own_of(conv, item);
    if (own)
        *ret_role = own->role;
    return own != NULL;
}

/* "completed" is the default. A failure is in the result. Other formats have no place for any other
 * status, so it is reported. */
static void tell_status(struct pl_conv *conv, const struct pl_json_node *item, struct pl_gist *gist)
{
    struct pl_val status = get(conv, item, "status");
    bool has_failed = pl_conv_says(conv, status.node, "failed") && gist->has_result;
    if (has_failed && !gist->is_error.is_set)
        gist->is_error = (struct pl_flag){true, true, status};
    else if (has_failed || pl_conv_says(conv, status.node, "completed"))
        pl_conv_know(conv, status.node);
}

bool pl_responses_tell(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *ret)
{
    const struct own *own = own_of(conv, node);
    if (!own)
        return false;
    ret->has_call = true;
    ret->id = get(conv, node, "id");
    if (own->tool)
        ret->name = pl_val_text(pl_str_of(own->tool));
    own->tell(conv, node, ret);
    tell_status(conv, node, ret);
    return ret->service != PL_SERVICE_NONE;
}

/* ---- hosted tools of other vendors ---- */

static void put_search(struct pl_responses_out *o, const struct pl_gist *gist,
                       const struct pl_gist *result)
{
    pl_w_key(o->w, "action");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "search");
    pl_w_key(o->w, "query");
    pl_w_string(o->w, pl_val_is_set(gist->input) ? gist->input : pl_val_text(PL_STR("")));
    if (result && result->n_parts) {
        pl_w_key(o->w, "sources");
        pl_w_open(o->w, '[');
        for (uint32_t i = 0; i < result->n_parts; i++) {
            if (!pl_val_is_set(result->parts[i].url))
                continue;
            pl_w_open(o->w, '{');
            pl_w_key_word(o->w, "type", "url");
            pl_w_opt_string(o->w, "url", result->parts[i].url);
            pl_w_close(o->w, '}');
        }
        pl_w_close(o->w, ']');
    }
    pl_w_close(o->w, '}');
}

static void put_logs(struct pl_responses_out *o, struct pl_val logs)
{
    if (!pl_val_is_set(logs) || pl_conv_is_blank(o->conv, logs)) {
        pl_w_mapped(o->w, logs);
        return;
    }
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "logs");
    pl_w_opt_string(o->w, "logs", logs);
    pl_w_close(o->w, '}');
}

static void put_code(struct pl_responses_out *o, const struct pl_gist *gist,
                     const struct pl_gist *result)
{
    pl_w_key(o->w, "code");
    pl_w_string(o->w, pl_val_is_set(gist->input) ? gist->input : pl_val_text(PL_STR("")));
    pl_w_key_word(o->w, "container_id", "");
    pl_conv_loss(
        o->conv, PL_LOSS_SYNTHESISED, gist->input.node,
        "a program here runs in a container, but this one ran elsewhere; container_id is empty");
    pl_w_key(o->w, "outputs");
    pl_w_open(o->w, '[');
    if (result) {
        put_logs(o, result->output);
        put_logs(o, result->errors);
    }
    pl_w_close(o->w, ']');
}

/* The text of a result, which is one text here. */
static struct pl_val words_of(const struct pl_gist *result)
{
    if (pl_val_is_set(result->output))
        return result->output;
    for (uint32_t i = 0; i < result->n_parts; i++)
        if (result->parts[i].kind == PL_PART_TEXT)
            return result->parts[i].text;
    return result->errors;
}

/* The server's error for a call that failed. */
static void put_failure(struct pl_responses_out *o, struct pl_val words)
{
    pl_w_key(o->w, "error");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "mcp_tool_execution_error");
    pl_w_key(o->w, "content");
    pl_w_open(o->w, '[');
    if (pl_val_is_set(words)) {
        pl_w_open(o->w, '{');
        pl_w_key_word(o->w, "type", "text");
        pl_w_opt_string(o->w, "text", words);
        pl_w_close(o->w, '}');
    }
    pl_w_close(o->w, ']');
    pl_w_close(o->w, '}');
}

static void put_mcp(struct pl_responses_out *o, const struct pl_gist *gist,
                    const struct pl_gist *result)
{
    pl_w_opt_string(o->w, "name", gist->name);
    pl_w_opt_string(o->w, "server_label", gist->server);
    pl_w_key(o->w, "arguments");
    pl_w_string(o->w, pl_val_is_set(gist->input) ? gist->input : pl_val_text(PL_STR("{}")));
    if (!result)
        return;
    if (result->is_error.is_set && result->is_error.value)
        put_failure(o, words_of(result));
    else
        pl_w_opt_string(o->w, "output", words_of(result));
}

static void report_id(struct pl_responses_out *o, struct pl_val id)
{
    if (id.node)
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, id,
                  "tools that run at the vendor have the vendor's ids; it has another id here");
}

void pl_responses_put_gist(struct pl_responses_out *o, const struct pl_gist *gist)
{
    static const struct {
        const char *type, *prefix;
        void (*put)(struct pl_responses_out *, const struct pl_gist *, const struct pl_gist *);
    } shapes[PL_SERVICE_COUNT] = {
        [PL_SERVICE_SEARCH] = {"web_search_call", "ws", put_search},
        [PL_SERVICE_CODE] = {"code_interpreter_call", "ci", put_code},
        [PL_SERVICE_MCP] = {"mcp_call", "mcp", put_mcp},
    };
    const struct pl_gist *result = gist->has_result ? gist : gist->answer;
    bool has_failed = result && result->is_error.is_set && result->is_error.value;
    pl_w_key(o->w, "type");
    pl_w_word(o->w, shapes[gist->service].type);
    pl_w_key(o->w, "id");
    pl_w_string(o->w, pl_val_text(pl_conv_printf(o->conv, "%s_%u", shapes[gist->service].prefix,
                                                 gist->number)));
    pl_w_key(o->w, "status");
    pl_w_word(o->w, has_failed ? "failed" : "completed");
    shapes[gist->service].put(o, gist, result);
    report_id(o, gist->id);
    if (gist->service != PL_SERVICE_MCP && gist->name.node)
        pl_w_loss(o->w, PL_LOSS_MOVED, gist->name, "the kind of the item identifies the tool");
    if (!result)
        return;
    if (result != gist)
        report_id(o, result->id);
    pl_w_mapped(o->w, result->is_error.val);
}
