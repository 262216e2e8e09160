/* OpenAI Chat Completions, and extensions of compatible servers: requests, responses and errors of
 * POST /v1/chat/completions. This file tells it from similar formats; reading and writing are in
 * read.c and write.c. */
#include "format/openai_chat/openai_chat_int.h"
#include "format/openai_chat/words.h"

#include "json/text.h"

static bool has(const struct pl_json_doc *doc, const struct pl_json_node *object, const char *key)
{
    return pl_json_get(doc, object, pl_str_of(key)) != NULL;
}

static bool has_any(const struct pl_json_doc *doc, const struct pl_json_node *object,
                    const char *const keys[])
{
    for (int i = 0; keys[i]; i++)
        if (has(doc, object, keys[i]))
            return true;
    return false;
}

static bool says(const struct pl_json_doc *doc, const struct pl_json_node *object, const char *key,
                 const char *word)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(key));
    return n && pl_json_kind(n) == PL_JSON_STRING && pl_json_text_is(doc, n, pl_str_of(word));
}

/* Whether only this format (1) or only Anthropic (-1) has a content part of this kind. */
static int weigh_part(const struct pl_json_doc *doc, const struct pl_json_node *part)
{
    static const char *const ours[] = {"image_url", "input_audio", "file", NULL};
    static const char *const theirs[] = {"tool_use", "tool_result", "thinking", "redacted_thinking",
                                         "image",    "document",    NULL};
    for (int i = 0; ours[i]; i++)
        if (says(doc, part, "type", ours[i]))
            return 1;
    for (int i = 0; theirs[i]; i++)
        if (says(doc, part, "type", theirs[i]))
            return -1;
    return 0;
}

static int weigh_message(const struct pl_json_doc *doc, const struct pl_json_node *m)
{
    static const char *const keys[] = {"tool_calls", "tool_call_id",      "function_call",
                                       "refusal",    "reasoning_content", NULL};
    int weight = 2 * has_any(doc, m, keys);
    weight += says(doc, m, "role", "developer") || says(doc, m, "role", "tool") ||
              says(doc, m, "role", "function");
    weight += says(doc, m, "role", "system");
    const struct pl_json_node *content = pl_json_member(doc, m, "content", PL_JSON_ARRAY);
    if (content)
        for (const struct pl_json_node *p = pl_json_first(content); p < pl_json_end(content);
             p = pl_json_next(p))
            weight += 2 * weigh_part(doc, p);
    return weight;
}

static int detect_request(const struct pl_json_doc *doc, const struct pl_json_node *messages)
{
    static const char *const not_ours[] = {"protocol", "system",         "system_prompt",
                                           "version",  "stop_sequences", "thinking",
                                           "top_k",    "settings",       NULL};
    static const char *const ours[] = {"max_completion_tokens",
                                       "response_format",
                                       "parallel_tool_calls",
                                       "frequency_penalty",
                                       "presence_penalty",
                                       "logit_bias",
                                       "reasoning_effort",
                                       "functions",
                                       "stream_options",
                                       "n",
                                       "seed",
                                       "stop",
                                       "logprobs",
                                       "prompt_cache_key",
                                       NULL};
    int score = 50 + 5 * has(doc, doc->root, "model") + 25 * has_any(doc, doc->root, ours);
    if (has_any(doc, doc->root, not_ours))
        score -= 30;
    int n = 0, weight = 0;
    for (const struct pl_json_node *m = pl_json_first(messages);
         m < pl_json_end(messages) && n < 50; m = pl_json_next(m), n++)
        weight += weigh_message(doc, m);
    const struct pl_json_node *tools = pl_json_member(doc, doc->root, "tools", PL_JSON_ARRAY);
    if (tools && pl_json_count(tools))
        weight += has(doc, pl_json_first(tools), "function") ? 4 : -4;
    score += 5 * (weight > 5 ? 5 : weight < -8 ? -8 : weight);
    return score < 0 ? 0 : score > 95 ? 95 : score;
}

static int detect(const struct pl_json_doc *doc)
{
    const struct pl_json_node *root = doc->root;
    if (pl_json_kind(root) != PL_JSON_OBJECT)
        return 0;
    if (says(doc, root, "object", "chat.completion"))
        return 100;
    if (pl_json_member(doc, root, "choices", PL_JSON_ARRAY))
        return 80;
    const struct pl_json_node *error = pl_json_get(doc, root, PL_STR("error"));
    if (error && has(doc, error, "message") && !has(doc, root, "type")) {
        /* Compatible servers leave the type out; Google has a status instead. */
        if (has(doc, error, "type"))
            return 70;
        if (has(doc, error, "code") && !has(doc, error, "status"))
            return 40;
    }
    const struct pl_json_node *messages = pl_json_member(doc, root, "messages", PL_JSON_ARRAY);
    return messages ? detect_request(doc, messages) : 0;
}

const struct pl_format pl_format_openai_chat = {
    .name = "openai-chat",
    .title = "OpenAI Chat Completions and compatible servers",
    .list_key = "messages",
    .is_vendor = true,
    .cite = pl_openai_cite,
    .judge = pl_openai_judge,
    .detect = detect,
    .read = pl_openai_chat_read,
    .write = pl_openai_chat_write,
    .check_form = pl_openai_chat_check_form,
    .wants_wav = true,
};
