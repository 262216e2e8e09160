/* Anthropic Messages: POST /v1/messages, its answers and its error bodies.
 *
 * System instructions are beside the messages, content is typed blocks, tool results are inside
 * user messages, and thinking has a signature. */
#include "format/anthropic/anthropic_int.h"
#include "format/anthropic/words.h"

/* Block types that only this format has. */
static const char *const own_blocks[] = {
    "tool_use", "tool_result",     "thinking", "redacted_thinking",
    "document", "server_tool_use", NULL};

/* Members of requests in other formats with a list of messages; this format does not have them. */
static const char *const foreign_members[] = {
    "choices", "protocol", "version", "max_completion_tokens", "response_format", "segments", NULL};

static bool says(const struct pl_json_doc *doc, const struct pl_json_node *object, const char *key,
                 const char *const words[])
{
    struct pl_conv_glance glance = {0};
    const struct pl_conv over = {.doc = doc, .glance = &glance};
    return pl_conv_word(&over, pl_conv_node(&over, object, key), words) >= 0;
}

/* Whether a message has a block that only this format has, or an image with a source. */
static bool has_own_block(const struct pl_json_doc *doc, const struct pl_json_node *message)
{
    const struct pl_json_node *content = pl_json_get(doc, message, PL_STR("content"));
    if (!content || pl_json_kind(content) != PL_JSON_ARRAY)
        return false;
    for (const struct pl_json_node *b = pl_json_first(content); b < pl_json_end(content);
         b = pl_json_next(b))
        if (says(doc, b, "type", own_blocks) || pl_json_member(doc, b, "source", PL_JSON_OBJECT))
            return true;
    return false;
}

static bool has_own_tool(const struct pl_json_doc *doc)
{
    const struct pl_json_node *tools = pl_json_get(doc, doc->root, PL_STR("tools"));
    if (!tools || pl_json_kind(tools) != PL_JSON_ARRAY)
        return false;
    for (const struct pl_json_node *t = pl_json_first(tools); t < pl_json_end(tools);
         t = pl_json_next(t))
        if (pl_json_member(doc, t, "input_schema", PL_JSON_OBJECT))
            return true;
    return false;
}

static int detect_request(const struct pl_json_doc *doc, const struct pl_json_node *messages)
{
    /* Clouds that serve the vendor's models require the API version in the body. */
    if (pl_json_member(doc, doc->root, "anthropic_version", PL_JSON_STRING))
        return 95;
    for (int i = 0; foreign_members[i]; i++)
        if (pl_json_get(doc, doc->root, pl_str_of(foreign_members[i])))
            return 0;
    for (const struct pl_json_node *m = pl_json_first(messages); m < pl_json_end(messages);
         m = pl_json_next(m)) {
        if (pl_json_member(doc, m, "tool_calls", PL_JSON_ARRAY) ||
            pl_json_member(doc, m, "tool_call_id", PL_JSON_STRING))
            return 0;
        if (has_own_block(doc, m))
            return 90;
    }
    if (has_own_tool(doc))
        return 90;
    if (pl_json_member(doc, doc->root, "system", PL_JSON_STRING) ||
        pl_json_member(doc, doc->root, "system", PL_JSON_ARRAY) ||
        pl_json_member(doc, doc->root, "stop_sequences", PL_JSON_ARRAY) ||
        pl_json_member(doc, doc->root, "output_config", PL_JSON_OBJECT))
        return 80;
    const struct pl_json_node *model = pl_json_get(doc, doc->root, PL_STR("model"));
    if (model && pl_json_kind(model) == PL_JSON_STRING &&
        pl_str_starts(pl_json_raw(doc, model), PL_STR("claude")) &&
        pl_json_member(doc, doc->root, "max_tokens", PL_JSON_NUMBER))
        return 70;
    return pl_json_member(doc, doc->root, "max_tokens", PL_JSON_NUMBER) ? 20 : 10;
}

static int detect(const struct pl_json_doc *doc)
{
    static const char *const message[] = {"message", NULL}, *const error[] = {"error", NULL};
    if (pl_json_kind(doc->root) != PL_JSON_OBJECT)
        return 0;
    if (says(doc, doc->root, "type", message) &&
        pl_json_member(doc, doc->root, "content", PL_JSON_ARRAY))
        return 95;
    if (says(doc, doc->root, "type", error) &&
        pl_json_member(doc, doc->root, "error", PL_JSON_OBJECT))
        return 90;
    const struct pl_json_node *messages = pl_json_get(doc, doc->root, PL_STR("messages"));
    return messages && pl_json_kind(messages) == PL_JSON_ARRAY ? detect_request(doc, messages) : 0;
}

const struct pl_format pl_format_anthropic = {
    .name = "anthropic",
    .title = "Anthropic Messages: requests, responses and errors",
    .list_key = "messages",
    .is_vendor = true,
    .cite = pl_anthropic_cite,
    .judge = pl_anthropic_judge,
    .has_error_flag = true,
    .detect = detect,
    .read = pl_anthropic_read,
    .write = pl_anthropic_write,
    .tell = pl_anthropic_tell,
    .services = {PL_SERVICE_BIT(PL_SERVICE_CODE) | PL_SERVICE_BIT(PL_SERVICE_MCP),
                 PL_SERVICE_BIT(PL_SERVICE_CODE) | PL_SERVICE_BIT(PL_SERVICE_MCP)},
};
