/* Blocks that only Anthropic has: documents and search results of several blocks, and the calls and
 * results of hosted tools. */
#include "format/anthropic/anthropic_int.h"

static struct pl_val get(struct pl_conv *conv, const struct pl_json_node *object, const char *key)
{
    return pl_conv_get(conv, object, key, PL_WANT_STRING);
}

static bool is_list(const struct pl_json_node *node)
{
    return node && pl_json_kind(node) == PL_JSON_ARRAY;
}

/* A string, or a list of blocks; the source of a document may be either. */
static void tell_content(struct pl_conv *conv, const struct pl_json_node *content,
                         struct pl_gist *gist)
{
    if (!content || !pl_gist_room(conv, gist, is_list(content) ? pl_json_count(content) : 1))
        return;
    if (!is_list(content)) {
        pl_gist_add(gist, PL_PART_TEXT, NULL)->text = pl_val_node(content);
        return;
    }
    for (const struct pl_json_node *b = pl_json_first(content); b < pl_json_end(content);
         b = pl_json_next(b))
        pl_anthropic_read_block(conv, pl_gist_add(gist, PL_PART_OTHER, b));
}

static bool tell_search_result(struct pl_conv *conv, const struct pl_json_node *node,
                               struct pl_gist *gist)
{
    gist->service = PL_SERVICE_PASSAGES;
    gist->name = get(conv, node, "title");
    gist->url = get(conv, node, "source");
    tell_content(conv, pl_conv_member(conv, node, "content", PL_WANT_ARRAY), gist);
    return pl_val_is_set(gist->url);
}

static bool tell_document(struct pl_conv *conv, const struct pl_json_node *node,
                          struct pl_gist *gist)
{
    const struct pl_json_node *source = pl_conv_member(conv, node, "source", PL_WANT_OBJECT);
    const struct pl_json_node *type = pl_conv_member(conv, source, "type", PL_WANT_STRING);
    if (!pl_conv_says(conv, type, "content"))
        return false;
    gist->service = PL_SERVICE_PASSAGES;
    gist->name = get(conv, node, "title");
    gist->context = get(conv, node, "context");
    pl_conv_know(conv, type);
    tell_content(conv, pl_conv_member(conv, source, "content", PL_WANT_CONTENT), gist);
    return true;
}

/* ---- calls ---- */

static const struct {
    const char *name;
    enum pl_service service;
    const char *member; /* the member of the input with all content; NULL: the whole input */
} tools[] = {
    {"web_search", PL_SERVICE_SEARCH, "query"},
    {"web_fetch", PL_SERVICE_FETCH, "url"},
    {"code_execution", PL_SERVICE_CODE, "code"},
    {"bash_code_execution", PL_SERVICE_OTHER, "command"},
};

static bool tell_call(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *gist)
{
    const struct pl_json_node *input = pl_conv_node(conv, node, "input");
    gist->service = PL_SERVICE_OTHER;
    gist->has_call = true;
    gist->id = get(conv, node, "id");
    gist->name = get(conv, node, "name");
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (pl_conv_says(conv, gist->name.node, tools[i].name)) {
            gist->service = tools[i].service;
            gist->input = get(conv, input, tools[i].member);
        }
    if (!pl_val_is_set(gist->input))
        gist->input = pl_val_node(input);
    return pl_val_is_set(gist->name);
}

static bool tell_mcp_call(struct pl_conv *conv, const struct pl_json_node *node,
                          struct pl_gist *gist)
{
    gist->service = PL_SERVICE_MCP;
    gist->has_call = true;
    gist->id = get(conv, node, "id");
    gist->name = get(conv, node, "name");
    gist->server = get(conv, node, "server_name");
    gist->input = pl_conv_get(conv, node, "input", PL_WANT_ANY);
    return pl_val_is_set(gist->name);
}

/* ---- results ---- */

/* {"type":"…_error","error_code":…}; false for other content. */
static bool tell_failure(struct pl_conv *conv, const struct pl_json_node *content,
                         struct pl_gist *gist)
{
    struct pl_val code = get(conv, content, "error_code");
    if (!pl_val_is_set(code))
        return false;
    gist->is_error = (struct pl_flag){true, true, (struct pl_val){0}};
    gist->errors = code;
    pl_conv_know(conv, pl_conv_node(conv, content, "type"));
    return true;
}

static void tell_sources(struct pl_conv *conv, const struct pl_json_node *content,
                         struct pl_gist *gist)
{
    if (!is_list(content) || !pl_gist_room(conv, gist, pl_json_count(content)))
        return;
    for (const struct pl_json_node *b = pl_json_first(content); b < pl_json_end(content);
         b = pl_json_next(b)) {
        struct pl_part *part = pl_gist_add(gist, PL_PART_FILE, b);
        part->name = get(conv, b, "title");
        part->url = get(conv, b, "url");
        pl_conv_know(conv, pl_conv_node(conv, b, "type"));
    }
}

static void tell_page(struct pl_conv *conv, const struct pl_json_node *content,
                      struct pl_gist *gist)
{
    const struct pl_json_node *document = pl_conv_member(conv, content, "content", PL_WANT_OBJECT);
    if (!pl_gist_room(conv, gist, 2))
        return;
    pl_gist_add(gist, PL_PART_FILE, content)->url = get(conv, content, "url");
    if (document)
        pl_anthropic_read_block(conv, pl_gist_add(gist, PL_PART_OTHER, document));
}

static void tell_run(struct pl_conv *conv, const struct pl_json_node *content, struct pl_gist *gist)
{
    struct pl_val code = pl_conv_get(conv, content, "return_code", PL_WANT_INTEGER);
    struct pl_str number = pl_conv_text(conv, code);
    gist->output = get(conv, content, "stdout");
    gist->errors = get(conv, content, "stderr");
    if (pl_val_is_set(code))
        gist->is_error = (struct pl_flag){true, !pl_str_eq(number, PL_STR("0")), code};
}

static void tell_all(struct pl_conv *conv, const struct pl_json_node *content, struct pl_gist *gist)
{
    struct pl_val text = get(conv, content, "content");
    gist->output = pl_val_is_set(text) ? text : pl_val_node(content);
}

static const struct result {
    const char *type, *tool;
    enum pl_service service;
    void (*tell)(struct pl_conv *, const struct pl_json_node *, struct pl_gist *);
} results[] = {
    {"web_search_tool_result", "web_search", PL_SERVICE_SEARCH, tell_sources},
    {"web_fetch_tool_result", "web_fetch", PL_SERVICE_FETCH, tell_page},
    {"code_execution_tool_result", "code_execution", PL_SERVICE_CODE, tell_run},
    {"bash_code_execution_tool_result", "bash_code_execution", PL_SERVICE_OTHER, tell_run},
    {"text_editor_code_execution_tool_result", "text_editor_code_execution", PL_SERVICE_OTHER,
     tell_all},
    {"tool_search_tool_result", "tool_search", PL_SERVICE_OTHER, tell_all},
    {"advisor_tool_result", "advisor", PL_SERVICE_OTHER, tell_all},
};

static bool tell_result(struct pl_conv *conv, const struct pl_json_node *node,
                        const struct result *result, struct pl_gist *gist)
{
    const struct pl_json_node *content = pl_conv_node(conv, node, "content");
    gist->service = result->service;
    gist->has_result = true;
    gist->id = get(conv, node, "tool_use_id");
    gist->name = pl_val_text(pl_str_of(result->tool));
    if (!content)
        return true;
    if (!tell_failure(conv, content, gist)) {
        pl_conv_know(conv, pl_conv_node(conv, content, "type"));
        result->tell(conv, content, gist);
    }
    return true;
}

static bool tell_mcp_result(struct pl_conv *conv, const struct pl_json_node *node,
                            struct pl_gist *gist)
{
    gist->service = PL_SERVICE_MCP;
    gist->has_result = true;
    gist->id = get(conv, node, "tool_use_id");
    pl_conv_take_flag(conv, node, "is_error", &gist->is_error);
    tell_content(conv, pl_conv_member(conv, node, "content", PL_WANT_CONTENT), gist);
    return true;
}

static const struct {
    const char *type;
    bool (*tell)(struct pl_conv *, const struct pl_json_node *, struct pl_gist *);
} blocks[] = {
    {"search_result", tell_search_result}, {"document", tell_document},
    {"server_tool_use", tell_call},        {"mcp_tool_use", tell_mcp_call},
    {"mcp_tool_result", tell_mcp_result},
};

bool pl_anthropic_tell(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *ret)
{
    const struct pl_json_node *type = pl_conv_member(conv, node, "type", PL_WANT_STRING);
    pl_conv_take(conv, node, "cache_control", PL_WANT_OBJECT, &ret->cache);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (pl_conv_says(conv, type, blocks[i].type))
            return blocks[i].tell(conv, node, ret);
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (pl_conv_says(conv, type, results[i].type))
            return tell_result(conv, node, &results[i], ret);
    return false;
}

/* ---- hosted tools of other vendors ---- */

/* The vendor's ids begin with a word; ours contains the number of the call. */
static void put_id(struct pl_anthropic_out *o, const char *key, const struct pl_gist *gist)
{
    const char *prefix = gist->service == PL_SERVICE_MCP ? "mcptoolu" : "srvtoolu";
    pl_w_key(o->w, key);
    pl_w_string(o->w, pl_val_text(pl_conv_printf(o->conv, "%s_%u", prefix, gist->number)));
    if (gist->id.node)
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, gist->id,
                  "tools that run at the vendor have the vendor's ids; it has another id here");
}

static void put_call(struct pl_anthropic_out *o, const struct pl_gist *gist)
{
    bool is_mcp = gist->service == PL_SERVICE_MCP;
    pl_w_open(o->w, '{');
    pl_w_key(o->w, "type");
    pl_w_word(o->w, is_mcp ? "mcp_tool_use" : "server_tool_use");
    put_id(o, "id", gist);
    if (is_mcp) {
        pl_w_opt_string(o->w, "name", gist->name);
        pl_w_opt_string(o->w, "server_name", gist->server);
        pl_w_key(o->w, "input");
        if (pl_w_holds_object(o->w, gist->input))
            pl_w_json(o->w, gist->input);
        else
            pl_w_value(o->w, pl_val_json(PL_STR("{}")));
    } else {
        pl_w_key_word(o->w, "name", "code_execution");
        pl_w_key(o->w, "input");
        pl_w_open(o->w, '{');
        pl_w_opt_string(o->w, "code", gist->input);
        pl_w_close(o->w, '}');
    }
    pl_w_close(o->w, '}');
}

static void put_text_block(struct pl_anthropic_out *o, struct pl_val text)
{
    if (!pl_val_is_set(text) || pl_anthropic_is_blank(o->conv, text))
        return;
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "text");
    pl_w_opt_string(o->w, "text", text);
    pl_w_close(o->w, '}');
}

static void put_mcp_content(struct pl_anthropic_out *o, const struct pl_gist *gist)
{
    pl_w_key(o->w, "is_error");
    pl_w_bool(o->w, gist->is_error.is_set && gist->is_error.value);
    pl_w_key(o->w, "content");
    pl_w_open(o->w, '[');
    put_text_block(o, gist->output);
    put_text_block(o, gist->errors);
    for (uint32_t i = 0; i < gist->n_parts; i++)
        put_text_block(o, gist->parts[i].text);
    pl_w_close(o->w, ']');
}

static void put_run(struct pl_anthropic_out *o, const struct pl_gist *gist)
{
    bool has_failed = gist->is_error.is_set && gist->is_error.value;
    struct pl_val none = pl_val_text(PL_STR(""));
    pl_w_key(o->w, "content");
    pl_w_open(o->w, '{');
    pl_w_key_word(o->w, "type", "code_execution_result");
    pl_w_key(o->w, "stdout");
    pl_w_string(o->w, pl_val_is_set(gist->output) ? gist->output : none);
    pl_w_key(o->w, "stderr");
    pl_w_string(o->w, pl_val_is_set(gist->errors) ? gist->errors : none);
    pl_w_key(o->w, "return_code");
    pl_w_int(o->w, has_failed);
    pl_w_key(o->w, "content");
    pl_w_open(o->w, '[');
    pl_w_close(o->w, ']');
    pl_w_close(o->w, '}');
}

static void put_answer(struct pl_anthropic_out *o, const struct pl_gist *gist)
{
    bool is_mcp = gist->service == PL_SERVICE_MCP;
    pl_w_open(o->w, '{');
    pl_w_key(o->w, "type");
    pl_w_word(o->w, is_mcp ? "mcp_tool_result" : "code_execution_tool_result");
    put_id(o, "tool_use_id", gist);
    if (is_mcp)
        put_mcp_content(o, gist);
    else
        put_run(o, gist);
    pl_w_mapped(o->w, gist->is_error.val);
    pl_w_close(o->w, '}');
}

void pl_anthropic_put_gist(struct pl_anthropic_out *o, const struct pl_gist *gist)
{
    if (gist->has_call)
        put_call(o, gist);
    if (gist->has_result)
        put_answer(o, gist);
}
