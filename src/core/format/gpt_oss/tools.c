/* gpt-oss: tools as openai/harmony declares them.
 *
 *     # Tools
 *
 *     ## functions
 *
 *     namespace functions {
 *
 *     // Gets the weather.
 *     type get_weather = (_: {
 *     city: string,
 *     }) => any;
 *
 *     } // namespace functions
 *
 * The functions of a request are in the developer message. The two tools of the models' training
 * are in the system message, with the text of that training. */
#include "format/gpt_oss/gpt_oss_int.h"

#include "format/pieces/tool_name.h"

static void put_description(struct pl_buf *to, struct pl_str words)
{
    while (words.len) {
        const char *feed = memchr(words.ptr, '\n', words.len);
        size_t n = feed ? (size_t)(feed - words.ptr) : words.len;
        bool has_return = feed && n && words.ptr[n - 1] == '\r';
        pl_buf_adds(to, "// ");
        pl_buf_add(to, pl_str_slice(words, 0, n - has_return));
        pl_buf_addc(to, '\n');
        words = pl_str_slice(words, feed ? n + 1 : n, words.len);
    }
}

static void put_function(struct pl_conv *conv, struct pl_buf *to, const struct pl_tool *tool)
{
    struct pl_str name = pl_tool_name(conv, tool->name, PL_GPT_OSS_NAME_MAX);
    put_description(to, pl_conv_text(conv, tool->description));
    pl_buf_addf(to, "type %.*s = (", PL_STR_ARG(name));
    if (tool->is_custom) {
        pl_buf_adds(to, "_: string");
    } else if (tool->schema.kind == PL_VAL_NODE) {
        pl_buf_adds(to, "_: ");
        pl_gpt_oss_type(conv, to, tool->schema.node);
    }
    pl_buf_adds(to, ") => any;\n\n");
    if (pl_str_eq(name, pl_conv_text(conv, tool->name)))
        pl_conv_know(conv, tool->name.node);
    else
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, tool->name.node, "the tool has the name %.*s here",
                     PL_STR_ARG(name));
    struct pl_str words = pl_conv_text(conv, tool->description);
    if (tool->description.node && pl_json_has_half(conv->doc, tool->description.node))
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, tool->description.node,
                     "half of a surrogate pair is no character; U+FFFD is in its place");
    if (pl_gpt_oss_defuse(conv, words).ptr != words.ptr)
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, tool->description.node,
                     "it contains special tokens of gpt-oss; a space in each keeps a model from "
                     "obeying them");
    pl_conv_know(conv, tool->description.node);
    if (!tool->is_custom && pl_val_is_set(tool->schema)) {
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, tool->schema.node,
                     "the schema is written as a TypeScript type, without its other rules");
        pl_conv_know_all(conv, tool->schema.node);
    }
}

void pl_gpt_oss_functions(struct pl_conv *conv, struct pl_buf *to)
{
    bool has_any = false;
    for (size_t i = 0; i < conv->tools.len && conv->status == PL_OK; i++) {
        const struct pl_tool *tool = &conv->tools.ptr[i];
        if (tool->is_hosted)
            continue;
        if (!has_any)
            pl_buf_adds(to, "# Tools\n\n## functions\n\nnamespace functions {\n\n");
        has_any = true;
        put_function(conv, to, tool);
    }
    if (has_any)
        pl_buf_adds(to, "} // namespace functions");
}

/* ---- tools beside the model ---- */

static const char browser[] =
    "## browser\n"
    "\n"
    "// Tool for browsing.\n"
    "// The `cursor` appears in brackets before each browsing display: `[{cursor}]`.\n"
    "// Cite information from the tool using the following format:\n"
    "// `【{cursor}†L{line_start}(-L{line_end})?】`, for example: `【6†L9-L11】` or `【8†L3】`.\n"
    "// Do not quote more than 10 words directly from the tool output.\n"
    "// sources=web (default: web)\n"
    "namespace browser {\n"
    "\n"
    "// Searches for information related to `query` and displays `topn` results.\n"
    "type search = (_: {\n"
    "query: string,\n"
    "topn?: number, // default: 10\n"
    "source?: string,\n"
    "}) => any;\n"
    "\n"
    "// Opens the link `id` from the page indicated by `cursor` starting at line number `loc`, "
    "showing `num_lines` lines.\n"
    "// Valid link ids are displayed with the formatting: `【{id}†.*】`.\n"
    "// If `cursor` is not provided, the most recent page is implied.\n"
    "// If `id` is a string, it is treated as a fully qualified URL associated with `source`.\n"
    "// If `loc` is not provided, the viewport will be positioned at the beginning of the document "
    "or centered on the most relevant passage, if available.\n"
    "// Use this function without `id` to scroll to a new location of an opened page.\n"
    "type open = (_: {\n"
    "id?: number | string, // default: -1\n"
    "cursor?: number, // default: -1\n"
    "loc?: number, // default: -1\n"
    "num_lines?: number, // default: -1\n"
    "view_source?: boolean, // default: false\n"
    "source?: string,\n"
    "}) => any;\n"
    "\n"
    "// Finds exact matches of `pattern` in the current page, or the page given by `cursor`.\n"
    "type find = (_: {\n"
    "pattern: string,\n"
    "cursor?: number, // default: -1\n"
    "}) => any;\n"
    "\n"
    "} // namespace browser";

static const char python[] =
    "## python\n"
    "\n"
    "Use this tool to execute Python code in your chain of thought. The code will not be shown to "
    "the user. This tool should be used for internal reasoning, but not for code that is intended "
    "to be visible to the user (e.g. when creating plots, tables, or files).\n"
    "\n"
    "When you send a message containing Python code to python, it will be executed in a stateful "
    "Jupyter notebook environment. python will respond with the output of the execution or time "
    "out after 120.0 seconds. The drive at '/mnt/data' can be used to save and persist user files. "
    "Internet access for this session is UNKNOWN. Depends on the cluster.";

enum { N_BUILTINS = 2 };
static const struct {
    const char *text, *detail;
} builtins[N_BUILTINS] = {
    {browser, "written as the browser that gpt-oss models were trained with; run it yourself"},
    {python, "written as the Python tool that gpt-oss models were trained with; run it yourself"},
};

/* The vendors' names of hosted tools: the prefix of `type`, or for Gemini a member. */
static const struct {
    const char *type, *member;
    int builtin;
} hosted[] = {
    {"web_search", "googleSearch", 0},
    {"web_fetch", "google_search", 0},
    {"browser", "urlContext", 0},
    {"code_interpreter", "codeExecution", 1},
    {"code_execution", "code_execution", 1},
};

static int builtin_of(const struct pl_conv *conv, const struct pl_tool *tool)
{
    const struct pl_json_node *type = pl_json_get(conv->doc, tool->node, PL_STR("type"));
    struct pl_str word =
        type && pl_json_kind(type) == PL_JSON_STRING ? pl_json_raw(conv->doc, type) : PL_STR("");
    for (size_t i = 0; i < sizeof hosted / sizeof *hosted; i++)
        if (pl_str_starts(word, pl_str_of(hosted[i].type)) ||
            pl_json_get(conv->doc, tool->node, pl_str_of(hosted[i].member)))
            return hosted[i].builtin;
    return -1;
}

void pl_gpt_oss_builtins(struct pl_conv *conv, struct pl_buf *to)
{
    bool is_wanted[N_BUILTINS] = {0};
    for (size_t i = 0; i < conv->tools.len; i++) {
        const struct pl_tool *tool = &conv->tools.ptr[i];
        int builtin = tool->is_hosted && tool->node ? builtin_of(conv, tool) : -1;
        if (builtin < 0)
            continue;
        is_wanted[builtin] = true;
        pl_conv_loss(conv, PL_LOSS_APPROXIMATED, tool->node, "%s", builtins[builtin].detail);
        pl_conv_know(conv, pl_conv_node(conv, tool->node, "type"));
    }
    bool has_any = false;
    for (size_t i = 0; i < N_BUILTINS; i++) {
        if (!is_wanted[i])
            continue;
        pl_buf_adds(to, has_any ? "\n\n" : "# Tools\n\n");
        pl_buf_adds(to, builtins[i].text);
        has_any = true;
    }
}
