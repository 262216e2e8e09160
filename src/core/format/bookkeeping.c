#include "format/bookkeeping.h"

/* "*" matches any one segment; a pointer in the table covers everything below it. */
static const struct line {
    const struct pl_format *format;
    const char *pointer;
} lines[] = {
    /* Responses repeat the request. */
    {&pl_format_openai_responses, "/background"},
    {&pl_format_openai_responses, "/conversation"},
    {&pl_format_openai_responses, "/instructions"},
    {&pl_format_openai_responses, "/max_output_tokens"},
    {&pl_format_openai_responses, "/max_tool_calls"},
    {&pl_format_openai_responses, "/metadata"},
    {&pl_format_openai_responses, "/parallel_tool_calls"},
    {&pl_format_openai_responses, "/previous_response_id"},
    {&pl_format_openai_responses, "/prompt"},
    {&pl_format_openai_responses, "/prompt_cache_key"},
    {&pl_format_openai_responses, "/prompt_cache_retention"},
    {&pl_format_openai_responses, "/reasoning"},
    {&pl_format_openai_responses, "/safety_identifier"},
    {&pl_format_openai_responses, "/store"},
    {&pl_format_openai_responses, "/temperature"},
    {&pl_format_openai_responses, "/text"},
    {&pl_format_openai_responses, "/tool_choice"},
    {&pl_format_openai_responses, "/tools"},
    {&pl_format_openai_responses, "/top_logprobs"},
    {&pl_format_openai_responses, "/top_p"},
    {&pl_format_openai_responses, "/truncation"},
    {&pl_format_openai_responses, "/user"},
    /* The vendor's own numbers and dates. The finish reason shows that an item was cut off. */
    {&pl_format_openai_responses, "/created_at"},
    {&pl_format_openai_responses, "/completed_at"},
    {&pl_format_openai_responses, "/output/*/id"},
    {&pl_format_openai_responses, "/output/*/status"},
    {&pl_format_openai_chat, "/created"},
    {&pl_format_gemini, "/createTime"},
};

/* Removes and returns the next segment with its slash. */
static struct pl_str take(struct pl_str *rest)
{
    const char *slash = rest->len > 1 ? memchr(rest->ptr + 1, '/', rest->len - 1) : NULL;
    size_t n = slash ? (size_t)(slash - rest->ptr) : rest->len;
    struct pl_str segment = pl_str_slice(*rest, 0, n);
    *rest = pl_str_slice(*rest, n, rest->len);
    return segment;
}

static bool covers(struct pl_str pattern, struct pl_str pointer)
{
    while (pattern.len) {
        struct pl_str wanted = take(&pattern), segment = take(&pointer);
        if (!segment.len || (!pl_str_eq(wanted, PL_STR("/*")) && !pl_str_eq(wanted, segment)))
            return false;
    }
    return true;
}

bool pl_answer_is_bookkeeping(const struct pl_format *format, struct pl_str pointer)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].format == format && covers(pl_str_of(lines[i].pointer), pointer))
            return true;
    return false;
}
