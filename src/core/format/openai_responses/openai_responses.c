/* OpenAI's Responses: a list of items instead of messages with parts.
 *
 *     {"model", "instructions", "input": "text" | [item, …], "tools", "text", "reasoning", …}
 *     {"object":"response", "status", "output":[item, …], "usage", …}
 *
 * Reading joins the items of one utterance (reasoning, message, function_call …) into one
 * canonical message; writing splits the parts of a message again, in order. */
#include "format/openai_responses/openai_responses_int.h"

#include "format/openai_chat/words.h"

enum pl_responses_item pl_responses_item_of(const struct pl_conv *conv,
                                            const struct pl_json_node *item)
{
    static const char *const types[] = {
        [PL_ITEM_MESSAGE] = "message",
        [PL_ITEM_CALL] = "function_call",
        [PL_ITEM_OUTPUT] = "function_call_output",
        [PL_ITEM_CUSTOM_CALL] = "custom_tool_call",
        [PL_ITEM_CUSTOM_OUTPUT] = "custom_tool_call_output",
        [PL_ITEM_REASONING] = "reasoning",
        [PL_ITEM_OTHER] = NULL,
    };
    const struct pl_json_node *type = pl_conv_node(conv, item, "type");
    if (!type)
        return pl_conv_node(conv, item, "role") ? PL_ITEM_MESSAGE : PL_ITEM_OTHER;
    int found = pl_conv_word(conv, type, types);
    return found < 0 ? PL_ITEM_OTHER : (enum pl_responses_item)found;
}

static const struct pl_json_node *member(const struct pl_json_doc *doc, const char *key)
{
    return pl_json_get(doc, doc->root, pl_str_of(key));
}

/* Members that no other format has in its root. */
static bool has_own_word(const struct pl_json_doc *doc)
{
    static const char *const words[] = {"instructions", "previous_response_id", "max_output_tokens",
                                        NULL};
    for (int i = 0; words[i]; i++)
        if (member(doc, words[i]))
            return true;
    return false;
}

static int detect(const struct pl_json_doc *doc)
{
    if (!pl_json_is(doc->root, PL_JSON_OBJECT) || member(doc, "messages") ||
        member(doc, "contents"))
        return 0;
    const struct pl_json_node *object = member(doc, "object");
    if (pl_json_is(object, PL_JSON_STRING) && pl_json_raw(doc, object).len == 8 &&
        memcmp(pl_json_raw(doc, object).ptr, "response", 8) == 0)
        return 100;
    const struct pl_json_node *input = member(doc, "input");
    if (pl_json_is(input, PL_JSON_ARRAY))
        return pl_json_count(input) && pl_json_is(pl_json_first(input), PL_JSON_OBJECT) ? 90 : 60;
    if (pl_json_is(input, PL_JSON_STRING))
        return has_own_word(doc) ? 90 : 60;
    return has_own_word(doc) ? 50 : 0;
}

#define OWN_SERVICES                                                                               \
    (PL_SERVICE_BIT(PL_SERVICE_SEARCH) | PL_SERVICE_BIT(PL_SERVICE_CODE) |                         \
     PL_SERVICE_BIT(PL_SERVICE_MCP))

const struct pl_format pl_format_openai_responses = {
    .name = "openai-responses",
    .title = "OpenAI Responses: input items, output items",
    .list_key = "input",
    .is_vendor = true,
    .cite = pl_openai_cite,
    .has_error_flag = true,
    .detect = detect,
    .read = pl_responses_read,
    .write = pl_responses_write,
    .tell = pl_responses_tell,
    .services = {OWN_SERVICES, OWN_SERVICES},
    .joins_services = true,
};
