/* Writes a whole answer as events: see home.h. */
#include "json/text.h"
#include "json/write.h"
#include "stream/home.h"
#include "stream/pick.h"

static const struct pl_json_node *get(const struct pl_json_doc *doc,
                                      const struct pl_json_node *object, const char *key)
{
    return object ? pl_json_get(doc, object, pl_str_of(key)) : NULL;
}

static bool is(const struct pl_json_doc *doc, const struct pl_json_node *value, const char *word)
{
    return pl_str_eq(pl_pick_raw(doc, value), pl_str_of(word));
}

static void put(struct pl_buf *to, const struct pl_json_doc *doc, const struct pl_json_node *value)
{
    pl_json_write_min(to, doc, value);
}

/* Puts the members of an object except some, each after a comma. */
static void put_members(struct pl_buf *to, const struct pl_json_doc *doc,
                        const struct pl_json_node *object, const char *const *but)
{
    for (const struct pl_json_node *k = pl_json_first_member(object); k < pl_json_end(object);
         k = pl_json_next_member(k)) {
        bool is_left_out = false;
        for (size_t i = 0; but[i]; i++)
            is_left_out |= pl_str_eq(pl_json_raw(doc, k), pl_str_of(but[i]));
        if (is_left_out)
            continue;
        pl_buf_addc(to, ',');
        pl_buf_add(to, pl_json_span(doc, k));
        pl_buf_addc(to, ':');
        put(to, doc, k + 1);
    }
}

/* ---- openai-chat: one chunk with the whole message, one with the finish_reason ---- */

static void put_calls(struct pl_buf *to, const struct pl_json_doc *doc,
                      const struct pl_json_node *calls)
{
    static const char *const none[] = {"index", NULL};
    unsigned index = 0;
    pl_buf_adds(to, ",\"tool_calls\":[");
    for (const struct pl_json_node *n = pl_json_first(calls); n < pl_json_end(calls);
         n = pl_json_next(n)) {
        pl_buf_addf(to, "%s{\"index\":%u", index ? "," : "", index);
        index++;
        put_members(to, doc, n, none);
        pl_buf_addc(to, '}');
    }
    pl_buf_addc(to, ']');
}

static void begin_chunk(struct pl_buf *to, const struct pl_json_doc *doc)
{
    static const char *const heads[] = {"choices", "usage", "object", NULL};
    pl_buf_adds(to, "data: {\"object\":\"chat.completion.chunk\"");
    put_members(to, doc, doc->root, heads);
    pl_buf_adds(to, ",\"choices\":[");
}

static bool tell_chat(struct pl_buf *to, const struct pl_json_doc *doc)
{
    static const char *const own[] = {"message", "finish_reason", "index", NULL};
    static const char *const calls_only[] = {"tool_calls", "role", NULL};
    const struct pl_json_node *choices = get(doc, doc->root, "choices");
    if (!pl_json_is(choices, PL_JSON_ARRAY))
        return false;
    for (const struct pl_json_node *n = pl_json_first(choices); n < pl_json_end(choices);
         n = pl_json_next(n)) {
        const struct pl_json_node *message = get(doc, n, "message");
        const struct pl_json_node *calls = get(doc, message, "tool_calls");
        const struct pl_json_node *reason = get(doc, n, "finish_reason");
        long long index = (long long)pl_pick_count(doc, get(doc, n, "index"));
        begin_chunk(to, doc);
        pl_buf_addf(to, "{\"index\":%lld,\"delta\":{\"role\":\"assistant\"", index < 0 ? 0 : index);
        if (pl_json_is(message, PL_JSON_OBJECT))
            put_members(to, doc, message, calls_only);
        if (pl_json_is(calls, PL_JSON_ARRAY))
            put_calls(to, doc, calls);
        pl_buf_addc(to, '}');
        put_members(to, doc, n, own);
        pl_buf_adds(to, ",\"finish_reason\":null}]}\n\n");
        begin_chunk(to, doc);
        pl_buf_addf(to, "{\"index\":%lld,\"delta\":{},\"finish_reason\":", index < 0 ? 0 : index);
        if (reason)
            put(to, doc, reason);
        else
            pl_buf_adds(to, "\"stop\"");
        pl_buf_adds(to, "}]}\n\n");
    }
    const struct pl_json_node *usage = get(doc, doc->root, "usage");
    if (pl_json_is(usage, PL_JSON_OBJECT)) {
        begin_chunk(to, doc);
        pl_buf_adds(to, "],\"usage\":");
        put(to, doc, usage);
        pl_buf_adds(to, "}\n\n");
    }
    pl_buf_adds(to, "data: [DONE]\n\n");
    return true;
}

/* ---- anthropic ---- */

/* The member of a block that comes as a delta: its name, its initial value, and the delta. */
static const struct {
    const char *type, *key, *empty, *delta, *word;
} anthropic_deltas[] = {
    {"text", "text", "\"\"", "text_delta", "text"},
    {"thinking", "thinking", "\"\"", "thinking_delta", "thinking"},
    {"thinking", "signature", "\"\"", "signature_delta", "signature"},
    {"tool_use", "input", "{}", "input_json_delta", "partial_json"},
    {"server_tool_use", "input", "{}", "input_json_delta", "partial_json"},
    {"mcp_tool_use", "input", "{}", "input_json_delta", "partial_json"},
};
enum { N_ANTHROPIC_DELTAS = sizeof anthropic_deltas / sizeof *anthropic_deltas };

void pl_stream_tell_block(struct pl_buf *to, const struct pl_json_doc *doc,
                          const struct pl_json_node *block, unsigned index)
{
    const struct pl_json_node *type = get(doc, block, "type");
    const char *but[N_ANTHROPIC_DELTAS + 2] = {"type"};
    size_t n = 1;
    pl_buf_addf(to,
                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%u,"
                "\"content_block\":{\"type\":",
                index);
    put(to, doc, type);
    for (size_t i = 0; i < N_ANTHROPIC_DELTAS; i++)
        if (is(doc, type, anthropic_deltas[i].type) && get(doc, block, anthropic_deltas[i].key)) {
            but[n++] = anthropic_deltas[i].key;
            pl_buf_addf(to, ",\"%s\":%s", anthropic_deltas[i].key, anthropic_deltas[i].empty);
        }
    put_members(to, doc, block, but);
    pl_buf_adds(to, "}}\n\n");
    for (size_t i = 0; i < N_ANTHROPIC_DELTAS; i++) {
        const struct pl_json_node *value = get(doc, block, anthropic_deltas[i].key);
        if (!is(doc, type, anthropic_deltas[i].type) || !value)
            continue;
        pl_buf_addf(to,
                    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                    "\"index\":%u,\"delta\":{\"type\":\"%s\",\"%s\":",
                    index, anthropic_deltas[i].delta, anthropic_deltas[i].word);
        if (pl_json_kind(value) == PL_JSON_STRING)
            put(to, doc, value);
        else
            pl_json_quote(to, pl_json_span(doc, value));
        pl_buf_adds(to, "}}\n\n");
    }
    pl_buf_addf(to,
                "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%u}"
                "\n\n",
                index);
}

static bool tell_anthropic(struct pl_buf *to, const struct pl_json_doc *doc)
{
    static const char *const late[] = {"content", "stop_reason", "stop_sequence", "stop_details",
                                       NULL};
    static const char *const last[] = {"stop_reason", "stop_sequence", "stop_details"};
    const struct pl_json_node *content = get(doc, doc->root, "content");
    const struct pl_json_node *usage = get(doc, doc->root, "usage");
    unsigned index = 0;
    if (!pl_json_is(content, PL_JSON_ARRAY))
        return false;
    for (const struct pl_json_node *n = pl_json_first(content); n < pl_json_end(content);
         n = pl_json_next(n))
        if (!pl_json_is(n, PL_JSON_OBJECT) || !get(doc, n, "type"))
            return false;
    pl_buf_adds(to, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{"
                    "\"content\":[],\"stop_reason\":null,\"stop_sequence\":null");
    put_members(to, doc, doc->root, late);
    pl_buf_adds(to, "}}\n\n");
    for (const struct pl_json_node *n = pl_json_first(content); n < pl_json_end(content);
         n = pl_json_next(n))
        pl_stream_tell_block(to, doc, n, index++);
    pl_buf_adds(to, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{");
    for (size_t i = 0, n = 0; i < sizeof last / sizeof *last; i++) {
        const struct pl_json_node *value = get(doc, doc->root, last[i]);
        if (!value)
            continue;
        pl_buf_addf(to, "%s\"%s\":", n++ ? "," : "", last[i]);
        put(to, doc, value);
    }
    pl_buf_adds(to, "},\"usage\":");
    if (usage)
        put(to, doc, usage);
    else
        pl_buf_adds(to, "{\"output_tokens\":0}");
    pl_buf_adds(to, "}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    return true;
}

/* ---- openai-responses: whole items, and everything at the end ---- */

static bool tell_responses(struct pl_buf *to, const struct pl_json_doc *doc)
{
    static const char *const late[] = {"output", "status", "usage", NULL};
    static const char *const stages[] = {"added", "done"};
    const struct pl_json_node *output = get(doc, doc->root, "output");
    const struct pl_json_node *status = get(doc, doc->root, "status");
    unsigned sequence = 0, index = 0;
    if (!pl_json_is(output, PL_JSON_ARRAY))
        return false;
    pl_buf_addf(to,
                "event: response.created\ndata: {\"type\":\"response.created\","
                "\"sequence_number\":%u,\"response\":{\"status\":\"in_progress\",\"output\":[]",
                sequence++);
    put_members(to, doc, doc->root, late);
    pl_buf_adds(to, "}}\n\n");
    for (const struct pl_json_node *n = pl_json_first(output); n < pl_json_end(output);
         n = pl_json_next(n), index++)
        for (size_t i = 0; i < 2; i++) {
            pl_buf_addf(to,
                        "event: response.output_item.%s\ndata: {\"type\":"
                        "\"response.output_item.%s\",\"output_index\":%u,\"sequence_number\":%u,"
                        "\"item\":",
                        stages[i], stages[i], index, sequence++);
            put(to, doc, n);
            pl_buf_adds(to, "}\n\n");
        }
    const char *word = is(doc, status, "incomplete") ? "incomplete" : "completed";
    pl_buf_addf(to,
                "event: response.%s\ndata: {\"type\":\"response.%s\",\"sequence_number\":%u,"
                "\"response\":",
                word, word, sequence);
    put(to, doc, doc->root);
    pl_buf_adds(to, "}\n\n");
    return true;
}

/* ---- gemini: an event is a response ---- */

static bool tell_gemini(struct pl_buf *to, const struct pl_json_doc *doc)
{
    if (!pl_json_is(get(doc, doc->root, "candidates"), PL_JSON_ARRAY))
        return false;
    pl_buf_adds(to, "data: ");
    put(to, doc, doc->root);
    pl_buf_adds(to, "\n\n");
    return true;
}

bool pl_stream_tell(struct pl_buf *to, const struct pl_dialect *dialect,
                    const struct pl_json_doc *answer)
{
    static const struct {
        const struct pl_dialect *dialect;
        bool (*tell)(struct pl_buf *to, const struct pl_json_doc *answer);
    } tells[] = {{&pl_dialect_openai_chat, tell_chat},
                 {&pl_dialect_openai_responses, tell_responses},
                 {&pl_dialect_anthropic, tell_anthropic},
                 {&pl_dialect_gemini, tell_gemini}};
    if (pl_json_kind(answer->root) != PL_JSON_OBJECT)
        return false;
    for (size_t i = 0; i < sizeof tells / sizeof *tells; i++)
        if (tells[i].dialect == dialect)
            return tells[i].tell(to, answer);
    return false;
}
