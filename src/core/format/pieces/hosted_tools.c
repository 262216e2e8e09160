/* A table with a column for each vendor: the corresponding members of hosted tools, calls and
 * results. */
#include "format/pieces/hosted_tools.h"

/* The formats that have such tools, as columns of the tables. */
enum column { ANTHROPIC, RESPONSES, GEMINI, CHAT, N_COLUMNS };

static enum column column_of(const struct pl_format *format)
{
    static const struct pl_format *const formats[] = {
        [ANTHROPIC] = &pl_format_anthropic,
        [RESPONSES] = &pl_format_openai_responses,
        [GEMINI] = &pl_format_gemini,
        [CHAT] = &pl_format_openai_chat,
    };
    int i = 0;
    while (i < N_COLUMNS && formats[i] != format)
        i++;
    return (enum column)i;
}

/* The prefix of the `type` of a declaration (the rest is a date), or the member of a tool that
 * holds it. */
static const struct {
    enum column column;
    const char *word;
    enum pl_service service;
} words[] = {
    {ANTHROPIC, "web_search_", PL_SERVICE_SEARCH},    {ANTHROPIC, "web_fetch_", PL_SERVICE_FETCH},
    {ANTHROPIC, "code_execution_", PL_SERVICE_CODE},  {RESPONSES, "web_search", PL_SERVICE_SEARCH},
    {RESPONSES, "code_interpreter", PL_SERVICE_CODE}, {RESPONSES, "mcp", PL_SERVICE_MCP},
    {GEMINI, "googleSearch", PL_SERVICE_SEARCH},      {GEMINI, "urlContext", PL_SERVICE_FETCH},
    {GEMINI, "codeExecution", PL_SERVICE_CODE},
};

/* The start of a declaration at the target: JSON members; NULL: the target has no such tool. For
 * Gemini, the name of the member that holds the rest. */
static const char *const heads[N_COLUMNS][PL_SERVICE_COUNT] = {
    [ANTHROPIC] = {[PL_SERVICE_SEARCH] = "web_search_20250305",
                   [PL_SERVICE_FETCH] = "web_fetch_20250910",
                   [PL_SERVICE_CODE] = "code_execution_20250825",
                   [PL_SERVICE_MCP] = "url"},
    [RESPONSES] = {[PL_SERVICE_SEARCH] = "web_search",
                   [PL_SERVICE_CODE] = "code_interpreter",
                   [PL_SERVICE_MCP] = "mcp"},
    [GEMINI] = {[PL_SERVICE_SEARCH] = "googleSearch",
                [PL_SERVICE_FETCH] = "urlContext",
                [PL_SERVICE_CODE] = "codeExecution",
                [PL_SERVICE_MCP] = "mcpServers"},
};

/* Members with the same meaning, by path. Paths with a common prefix are adjacent. */
static const struct member {
    enum pl_service service;
    const char *paths[N_COLUMNS];
    unsigned want;
} members[] = {
    {PL_SERVICE_SEARCH, {"allowed_domains", "filters/allowed_domains"}, PL_WANT_ARRAY},
    {PL_SERVICE_SEARCH, {"blocked_domains", NULL, "excludeDomains"}, PL_WANT_ARRAY},
    {PL_SERVICE_SEARCH, {NULL, "search_context_size", NULL, "search_context_size"}, PL_WANT_STRING},
    {PL_SERVICE_SEARCH,
     {"user_location/type", "user_location/type", NULL, "user_location/type"},
     PL_WANT_STRING},
    {PL_SERVICE_SEARCH,
     {"user_location/city", "user_location/city", NULL, "user_location/approximate/city"},
     PL_WANT_STRING},
    {PL_SERVICE_SEARCH,
     {"user_location/region", "user_location/region", NULL, "user_location/approximate/region"},
     PL_WANT_STRING},
    {PL_SERVICE_SEARCH,
     {"user_location/country", "user_location/country", NULL, "user_location/approximate/country"},
     PL_WANT_STRING},
    {PL_SERVICE_SEARCH,
     {"user_location/timezone", "user_location/timezone", NULL,
      "user_location/approximate/timezone"},
     PL_WANT_STRING},
    {PL_SERVICE_MCP, {"name", "server_label", "name"}, PL_WANT_STRING},
    {PL_SERVICE_MCP, {"url", "server_url", "streamableHttpTransport/url"}, PL_WANT_STRING},
    {PL_SERVICE_MCP, {NULL, "headers", "streamableHttpTransport/headers"}, PL_WANT_OBJECT},
    {PL_SERVICE_MCP, {"authorization_token", "authorization"}, PL_WANT_STRING},
    {PL_SERVICE_MCP, {"tool_configuration/allowed_tools", "allowed_tools"}, PL_WANT_ARRAY},
};
enum { N_MEMBERS = sizeof members / sizeof *members };

/* ---- source ---- */

static void add(struct pl_hosted_tools *tools, enum column to, enum pl_service service,
                const struct pl_json_node *node)
{
    if (to < N_COLUMNS && heads[to][service])
        tools->ptr[tools->len++] = (struct pl_hosted_tool){service, node};
}

static void add_tool(struct pl_conv *conv, struct pl_hosted_tools *tools, enum column from,
                     enum column to, const struct pl_json_node *node)
{
    const struct pl_json_node *type = pl_conv_member(conv, node, "type", PL_WANT_STRING);
    struct pl_str said = pl_conv_text(conv, pl_val_node(type));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (words[i].column != from)
            continue;
        if (from == GEMINI) {
            const struct pl_json_node *held =
                pl_json_get(conv->doc, node, pl_str_of(words[i].word));
            if (held && pl_json_kind(held) == PL_JSON_OBJECT)
                add(tools, to, words[i].service, held);
        } else if (pl_str_starts(said, pl_str_of(words[i].word))) {
            add(tools, to, words[i].service, node);
            return;
        }
    }
}

/* Lists of servers: beside the tools at Anthropic, in a tool at Google. */
static const struct pl_json_node *servers_of(struct pl_conv *conv, enum column from,
                                             const struct pl_json_node *tool)
{
    const struct pl_json_node *of = from == ANTHROPIC ? conv->doc->root : tool;
    return pl_conv_member(conv, of, from == ANTHROPIC ? "mcp_servers" : "mcpServers",
                          PL_WANT_ARRAY);
}

static void add_servers(struct pl_hosted_tools *tools, enum column to,
                        const struct pl_json_node *list)
{
    for (const struct pl_json_node *s = pl_json_first(list); s < pl_json_end(list);
         s = pl_json_next(s))
        if (pl_json_kind(s) == PL_JSON_OBJECT)
            add(tools, to, PL_SERVICE_MCP, s);
}

static size_t count_most(struct pl_conv *conv, enum column from)
{
    size_t n = 1;
    const struct pl_json_node *list = from == ANTHROPIC ? servers_of(conv, from, NULL) : NULL;
    n += list ? pl_json_count(list) : 0;
    for (size_t i = 0; i < conv->tools.len; i++) {
        list = from == GEMINI && conv->tools.ptr[i].is_hosted
                   ? servers_of(conv, from, conv->tools.ptr[i].node)
                   : NULL;
        n += 4 + (list ? pl_json_count(list) : 0);
    }
    return n;
}

struct pl_hosted_tools pl_hosted_tools_for(struct pl_conv *conv,
                                           const struct pl_conversion *conversion)
{
    struct pl_hosted_tools tools = {0};
    enum column from = column_of(conversion->from), to = column_of(conversion->to);
    if (from == to || from == N_COLUMNS || to == N_COLUMNS)
        return tools;
    tools.ptr = pl_arena_alloc(conv->arena, count_most(conv, from), sizeof *tools.ptr);
    if (!tools.ptr) {
        conv->status = PL_NOMEM;
        return tools;
    }
    const struct pl_json_node *options =
        from == CHAT ? pl_conv_member(conv, conv->doc->root, "web_search_options", PL_WANT_OBJECT)
                     : NULL;
    if (options)
        add(&tools, to, PL_SERVICE_SEARCH, options);
    for (size_t i = 0; i < conv->tools.len; i++) {
        const struct pl_tool *tool = &conv->tools.ptr[i];
        if (!tool->is_hosted || !tool->node)
            continue;
        add_tool(conv, &tools, from, to, tool->node);
        const struct pl_json_node *list =
            from == GEMINI ? servers_of(conv, from, tool->node) : NULL;
        if (list)
            add_servers(&tools, to, list);
    }
    const struct pl_json_node *list = from == ANTHROPIC ? servers_of(conv, from, NULL) : NULL;
    if (list)
        add_servers(&tools, to, list);
    return tools;
}

bool pl_hosted_tools_have(const struct pl_hosted_tools *tools, enum pl_service service)
{
    for (size_t i = 0; i < tools->len; i++)
        if (tools->ptr[i].service == service)
            return true;
    return false;
}

/* ---- target ---- */

/* One step of a path; `rest` is the remainder, empty after the last step. */
static struct pl_str step_of(struct pl_str path, struct pl_str *ret_rest)
{
    const char *slash = path.len ? memchr(path.ptr, '/', path.len) : NULL;
    size_t n = slash ? (size_t)(slash - path.ptr) : path.len;
    *ret_rest = slash ? pl_str_slice(path, n + 1, path.len) : (struct pl_str){0};
    return pl_str_slice(path, 0, n);
}

static const struct pl_json_node *find(struct pl_conv *conv, const struct pl_json_node *node,
                                       const char *path, unsigned want)
{
    struct pl_str rest = pl_str_of(path);
    while (rest.len && node) {
        struct pl_str step = step_of(rest, &rest);
        node = pl_json_kind(node) == PL_JSON_OBJECT ? pl_json_get(conv->doc, node, step) : NULL;
    }
    return node && (want >> pl_json_kind(node) & 1) ? node : NULL;
}

/* The length of the common prefix of `open` and `path`, in whole steps; `open` ends in a slash. */
static size_t shared(struct pl_str open, struct pl_str path)
{
    size_t n = 0;
    for (size_t i = 0; i < open.len && i < path.len && open.ptr[i] == path.ptr[i]; i++)
        if (open.ptr[i] == '/')
            n = i + 1;
    return n;
}

static size_t count_steps(struct pl_str objects)
{
    size_t n = 0;
    for (size_t i = 0; i < objects.len; i++)
        n += objects.ptr[i] == '/';
    return n;
}

/* Closes and opens objects until those of `path` are open; returns its last step. */
static struct pl_str enter(struct pl_writer *w, struct pl_str *open, struct pl_str path)
{
    size_t same = shared(*open, path);
    for (size_t i = count_steps(pl_str_slice(*open, same, open->len)); i > 0; i--)
        pl_w_close(w, '}');
    struct pl_str rest = pl_str_slice(path, same, path.len), step = step_of(rest, &rest);
    while (rest.len) {
        pl_w_key_n(w, step.ptr, step.len);
        pl_w_open(w, '{');
        step = step_of(rest, &rest);
    }
    *open = pl_str_slice(path, 0, path.len - step.len);
    return step;
}

static void write_members(struct pl_writer *w, const struct pl_hosted_tool *tool, enum column from,
                          enum column to)
{
    struct pl_str open = {0};
    for (size_t i = 0; i < N_MEMBERS; i++) {
        const struct member *m = &members[i];
        if (m->service != tool->service || !m->paths[from] || !m->paths[to])
            continue;
        const struct pl_json_node *value = find(w->conv, tool->node, m->paths[from], m->want);
        if (!value)
            continue;
        struct pl_str key = enter(w, &open, pl_str_of(m->paths[to]));
        pl_w_key_n(w, key.ptr, key.len);
        pl_w_value(w, pl_val_node(value));
    }
    for (size_t i = count_steps(open); i > 0; i--)
        pl_w_close(w, '}');
}

const char *pl_hosted_tool_name(enum pl_service service)
{
    static const char *const names[PL_SERVICE_COUNT] = {[PL_SERVICE_SEARCH] = "web_search",
                                                        [PL_SERVICE_FETCH] = "web_fetch",
                                                        [PL_SERVICE_CODE] = "code_execution"};
    return names[service];
}

static void write_head(struct pl_writer *w, enum column to, enum pl_service service)
{
    pl_w_key(w, "type");
    pl_w_word(w, heads[to][service]);
    if (to == ANTHROPIC && pl_hosted_tool_name(service)) {
        pl_w_key(w, "name");
        pl_w_word(w, pl_hosted_tool_name(service));
    }
    if (to == RESPONSES && service == PL_SERVICE_CODE) {
        pl_w_key(w, "container");
        pl_w_open(w, '{');
        pl_w_key_word(w, "type", "auto");
        pl_w_close(w, '}');
    }
    /* Other vendors do not ask for approval. */
    if (to == RESPONSES && service == PL_SERVICE_MCP)
        pl_w_key_word(w, "require_approval", "never");
}

static bool is_untold(const struct pl_conv *conv, const struct pl_json_node *node)
{
    for (uint32_t i = 0; i < node->skip; i++)
        if (!(node[i].tag & PL_JSON_KEY) && pl_conv_fate_of(conv, node + i) != PL_FATE_NONE)
            return false;
    return pl_json_kind(node) != PL_JSON_NULL;
}

/* Member by member: the tool itself is written. */
static void report_rest(struct pl_conv *conv, const struct pl_json_node *tool)
{
    if (!pl_json_count(tool))
        pl_conv_know(conv, tool);
    for (const struct pl_json_node *k = pl_json_first_member(tool); k < pl_json_end(tool);
         k = pl_json_next_member(k))
        if (is_untold(conv, k + 1))
            pl_conv_loss(conv, PL_LOSS_DROPPED, k + 1, "the tool of the target has no such member");
}

void pl_hosted_tool_write(struct pl_writer *w, const struct pl_conversion *conversion,
                          const struct pl_hosted_tool *tool)
{
    enum column from = column_of(conversion->from), to = column_of(conversion->to);
    bool is_list = to == GEMINI && tool->service == PL_SERVICE_MCP;
    pl_w_open(w, '{');
    if (to == GEMINI) {
        pl_w_key(w, heads[to][tool->service]);
        if (is_list)
            pl_w_open(w, '[');
        pl_w_open(w, '{');
    } else {
        write_head(w, to, tool->service);
    }
    write_members(w, tool, from, to);
    if (to == GEMINI) {
        pl_w_close(w, '}');
        if (is_list)
            pl_w_close(w, ']');
    }
    pl_w_close(w, '}');
    /* The target has its own word for the kind of tool. */
    pl_conv_know(w->conv, pl_conv_node(w->conv, tool->node, "type"));
    const struct pl_json_node *name = pl_conv_node(w->conv, tool->node, "name");
    if (from == ANTHROPIC && tool->service != PL_SERVICE_MCP && name)
        pl_conv_loss(w->conv, PL_LOSS_MOVED, name, "the kind of the tool determines its name here");
    if (from == RESPONSES && tool->service == PL_SERVICE_CODE)
        pl_conv_know(w->conv, find(w->conv, tool->node, "container/type", PL_WANT_STRING));
    const struct pl_json_node *approval = pl_conv_node(w->conv, tool->node, "require_approval");
    if (pl_conv_says(w->conv, approval, "never"))
        pl_conv_loss(w->conv, PL_LOSS_MOVED, approval, "there is no approval here");
    report_rest(w->conv, tool->node);
}
