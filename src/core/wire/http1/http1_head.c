/* The meaning of a head, after llhttp has read it: RFC 9112, 3 (request line) and 6 (body). */
#include "wire/http1/http1_int.h"

static struct pl_str trim(struct pl_str text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == '\t'))
        text = pl_str_slice(text, 1, text.len);
    while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static enum pl_method method_of(uint8_t method)
{
    switch (method) {
#define X(name, text)                                                                              \
    case HTTP_##name:                                                                              \
        return PL_METHOD_##name;
        PL_METHOD_TABLE(X)
#undef X
    default:
        return PL_METHOD_OTHER;
    }
}

static bool is_printable(struct pl_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < 0x21 || text.ptr[i] > 0x7E)
            return false;
    return true;
}

/* "GET /target HTTP/1.1" with exactly one space between the parts; only HTTP/1.0 and 1.1. */
static bool is_request_line(const struct pl_http1 *http, bool *ret_is_http10)
{
    const struct pl_http1_room *room = http->room;
    struct pl_str line = pl_buf_str(&room->bytes);
    struct pl_str rest = pl_str_slice(line, (size_t)room->target_at + room->n_target, line.len);
    *ret_is_http10 = pl_str_starts(rest, PL_STR(" HTTP/1.0\r\n"));
    return room->target_at == strlen(llhttp_method_name(http->parser.method)) + 1 &&
           (*ret_is_http10 || pl_str_starts(rest, PL_STR(" HTTP/1.1\r\n")));
}

/* Connection and body according to the fields. llhttp has read them too, but it keeps a connection
 * open if a tab follows "close", and ignores an encoding without a name. */
struct framing {
    bool is_close, is_keep_alive, is_upgrade, has_upgrade;
    size_t n_chunked, n_encodings;
};

static void read_framing(const struct pl_http_header *header, struct framing *framing)
{
    struct pl_str name = header->name, value = header->value;
    if (pl_http_name_is(name, "connection") && pl_http_name_is(value, "keep-alive")) {
        framing->is_keep_alive = true; /* the usual value */
    } else if (pl_http_name_is(name, "connection")) {
        framing->is_close |= pl_http_list_has(value, "close");
        framing->is_keep_alive |= pl_http_list_has(value, "keep-alive");
        framing->is_upgrade |= pl_http_list_has(value, "upgrade");
    } else if (pl_http_name_is(name, "upgrade")) {
        framing->has_upgrade = true;
    } else if (pl_http_name_is(name, "transfer-encoding")) {
        framing->n_encodings++;
        framing->n_chunked += pl_http_name_is(value, "chunked");
    }
}

/* A body in an encoding other than `chunked` would be passed on without being decoded. HTTP/1.0 has
 * no encodings, so an intermediary may have framed the message differently (RFC 9112, 6.1). */
static bool is_encoding_known(const struct framing *framing, const struct pl_http_head *head)
{
    return framing->n_encodings == 1 && framing->n_chunked == 1 && !head->is_http10 &&
           !head->has_length && head->is_chunked;
}

static enum pl_status check_head(struct pl_http1 *http, const struct framing *framing,
                                 struct pl_error *err)
{
    struct pl_http_head *head = &http->room->head;
    if (!is_request_line(http, &head->is_http10))
        return pl_http1_fail(
            http, pl_fail(err, PL_SYNTAX,
                          "the request line must be a method, an address and HTTP/1.1 (or "
                          "HTTP/1.0), separated by one space"));
    if (!is_printable(head->target))
        return pl_http1_fail(http, pl_fail(err, PL_SYNTAX,
                                           "the address contains a character that must be "
                                           "percent-encoded"));
    if ((framing->n_encodings || head->is_chunked) && !is_encoding_known(framing, head))
        return pl_http1_fail(
            http, pl_fail(err, PL_SYNTAX,
                          "the only accepted transfer encoding is \"chunked\", once, in HTTP/1.1 "
                          "and without a Content-Length"));
    return PL_OK;
}

enum pl_status pl_http1_head_finish(struct pl_http1 *http, struct pl_error *err)
{
    struct pl_http1_room *room = http->room;
    struct framing framing = {0};
    const char *bytes = room->bytes.ptr;
    for (size_t i = 0; i < room->n_fields; i++) {
        const struct pl_http1_field *field = &room->fields[i];
        room->headers[i] = (struct pl_http_header){
            {bytes + field->name_at, field->n_name},
            trim((struct pl_str){bytes + field->value_at, field->n_value}),
        };
        read_framing(&room->headers[i], &framing);
    }
    struct pl_http_head *head = &room->head;
    *head = (struct pl_http_head){
        .method = method_of(http->parser.method),
        .target = {bytes + room->target_at, room->n_target},
        .headers = room->headers,
        .n_headers = room->n_fields,
        .has_length = http->parser.flags & F_CONTENT_LENGTH,
        .is_chunked = http->parser.flags & F_CHUNKED,
        .is_upgrade = framing.is_upgrade && framing.has_upgrade,
    };
    enum pl_status status = check_head(http, &framing, err);
    if (status != PL_OK)
        return status;
    head->content_length = head->has_length ? http->parser.content_length : 0;
    head->is_keep_alive = !framing.is_close && (!head->is_http10 || framing.is_keep_alive);
    head->expects_continue =
        !head->is_http10 && pl_http_name_is(pl_http_header_get(head, "expect"), "100-continue");
    return PL_OK;
}
