/* The vocabulary of HTTP: names of methods, reason phrases, and lookup of headers (RFC 9110). */
#include "wire/http1/http1.h"

const char *pl_method_text(enum pl_method method)
{
    static const char *const texts[] = {
#define X(name, text) text,
        PL_METHOD_TABLE(X)
#undef X
    };
    return method < PL_METHOD_OTHER ? texts[method] : "";
}

struct pl_str pl_http_header_get(const struct pl_http_head *head, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < head->n_headers; i++) {
        const struct pl_http_header *header = &head->headers[i];
        if (header->name.len == n && strncasecmp(header->name.ptr, name, n) == 0)
            return header->value;
    }
    return (struct pl_str){0};
}

size_t pl_http_header_count(const struct pl_http_head *head, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < head->n_headers; i++)
        n += pl_http_name_is(head->headers[i].name, name);
    return n;
}

/* The end of the element at `at`: a comma outside quotes, or the end of the list. */
static size_t element_end(struct pl_str list, size_t at, bool *ret_has_quote)
{
    bool is_quoted = false;
    *ret_has_quote = false;
    for (; at < list.len && (is_quoted || list.ptr[at] != ','); at++)
        if (list.ptr[at] == '"') {
            is_quoted = !is_quoted;
            *ret_has_quote = true;
        }
    return at;
}

bool pl_http_list_has(struct pl_str list, const char *token)
{
    struct pl_str wanted = pl_str_of(token);
    for (size_t at = 0, end; at < list.len; at = end + 1) {
        bool has_quote;
        end = element_end(list, at, &has_quote);
        size_t from = at, to = end;
        while (from < to && (list.ptr[from] == ' ' || list.ptr[from] == '\t'))
            from++;
        while (from < to && (list.ptr[to - 1] == ' ' || list.ptr[to - 1] == '\t'))
            to--;
        if (from == to || to - from != wanted.len)
            continue;
        const char *element = list.ptr + from;
        if ((has_quote ? memcmp(element, token, wanted.len)
                       : strncasecmp(element, token, wanted.len)) == 0)
            return true;
    }
    return false;
}

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {424, "Failed Dependency"},
    {425, "Too Early"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *pl_http_reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "";
}
