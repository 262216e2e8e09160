/* Functions for handlers. For the answer: headers, versions, pages, bodies of bytes; and for
 * reading the request. RFC 9110: conditional requests (13), ranges (14). */
#include "base/text/decimal.h"
#include "base/text/utf8.h"
#include "http/exchange_int.h"
#include "wire/language.h"
#include "words/words.h"

#include "http/reply/base64url.h"
#include "json/text.h"
#include "json/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

bool pl_exchange_wants_chinese(const struct pl_exchange *x)
{
    return x->head && pl_language_wants_chinese(pl_http_header_get(x->head, "accept-language"));
}

const char *pl_exchange_words(struct pl_exchange *x, const char *english)
{
    PL_CLEANUP_BUF struct pl_buf chinese;
    pl_buf_init(&chinese, 0);
    if (!pl_exchange_wants_chinese(x))
        return english;
    bool is_known = pl_words_add(&chinese, pl_str_of(english));
    pl_buf_addc(&chinese, '\0');
    struct pl_str kept = {0};
    if (is_known && chinese.status == PL_OK)
        kept = pl_arena_dup(&x->arena, pl_buf_str(&chinese));
    return kept.ptr ? kept.ptr : english;
}

void pl_exchange_header(struct pl_exchange *x, const char *name, const char *format, ...)
{
    char value[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    pl_exchange_header_text(x, name, pl_str_of(value));
}

void pl_exchange_header_text(struct pl_exchange *x, const char *name, struct pl_str value)
{
    pl_buf_adds(&x->headers, name);
    pl_buf_add(&x->headers, PL_STR(": "));
    pl_buf_add(&x->headers, value);
    pl_buf_add(&x->headers, PL_STR("\r\n"));
}

/* --- versions -------------------------------------------------------------------------------- */

/* Whether a list of entity tags has this one. Weak comparison reads W/"1" as "1". */
static bool has_tag(struct pl_str list, const char *tag, bool is_weak)
{
    char weak[80];
    snprintf(weak, sizeof weak, "W/%s", tag);
    return pl_http_list_has(list, "*") || pl_http_list_has(list, tag) ||
           (is_weak && pl_http_list_has(list, weak));
}

bool pl_exchange_tag(struct pl_exchange *x, const char *tag)
{
    pl_exchange_header(x, "ETag", "%s", tag);
    struct pl_str held = pl_http_header_get(x->head, "if-none-match");
    bool is_read = x->method == PL_METHOD_GET || x->method == PL_METHOD_HEAD;
    if (!is_read || !held.len || !has_tag(held, tag, true))
        return true;
    x->status = 304;
    return false;
}

bool pl_exchange_etag(struct pl_exchange *x, int64_t version)
{
    char tag[32];
    snprintf(tag, sizeof tag, "\"%lld\"", (long long)version);
    return pl_exchange_tag(x, tag);
}

bool pl_exchange_if_match(struct pl_exchange *x, int64_t version)
{
    char tag[32];
    snprintf(tag, sizeof tag, "\"%lld\"", (long long)version);
    return pl_exchange_if_match_tag(x, tag);
}

bool pl_exchange_if_match_tag(struct pl_exchange *x, const char *tag)
{
    struct pl_str wanted = pl_http_header_get(x->head, "if-match");
    if (!wanted.len || has_tag(wanted, tag, false))
        return true;
    pl_exchange_header(x, "ETag", "%s", tag);
    pl_exchange_problem(x, PL_PROBLEM_PRECONDITION_FAILED, NULL,
                        "If-Match does not match the current version %s; read it again.", tag);
    return false;
}

int64_t pl_exchange_if_match_version(struct pl_exchange *x)
{
    struct pl_str wanted = pl_http_header_get(x->head, "if-match");
    int64_t version = -1;
    if (!wanted.len || pl_str_eq(wanted, PL_STR("*")))
        return -1;
    bool is_quoted = wanted.len > 2 && wanted.ptr[0] == '"' && wanted.ptr[wanted.len - 1] == '"';
    bool is_ours = is_quoted && pl_decimal_read(pl_str_slice(wanted, 1, wanted.len - 1), &version);
    return is_ours ? version : INT64_MAX;
}

/* --- bodies of bytes ------------------------------------------------------------------------- */

static void be_rangeable(struct pl_exchange_own *own, const char *etag)
{
    own->is_rangeable = true;
    own->etag = etag;
    struct pl_str lines = pl_buf_str(&own->x.headers);
    if (!lines.len || !memmem(lines.ptr, lines.len, "Cache-Control:", strlen("Cache-Control:")))
        pl_exchange_header(&own->x, "Cache-Control", "no-cache");
    pl_exchange_header(&own->x, "Accept-Ranges", "bytes");
    pl_exchange_tag(&own->x, etag);
}

void pl_exchange_static(struct pl_exchange *x, struct pl_str text, const char *etag)
{
    struct pl_exchange_own *own = pl_exchange_own(x);
    own->static_body = text;
    be_rangeable(own, etag);
}

static enum pl_status read_file(struct pl_exchange *x, int64_t at, char *to, size_t n,
                                size_t *ret_n)
{
    ssize_t got = pread(pl_exchange_own(x)->sending.fd, to, n, at);
    if (got <= 0)
        return PL_IO;
    *ret_n = (size_t)got;
    return PL_OK;
}

void pl_exchange_file(struct pl_exchange *x, int fd, int64_t n_bytes)
{
    struct pl_sending *sending = &pl_exchange_own(x)->sending;
    sending->fd = fd;
    sending->read = read_file;
    sending->n_left = n_bytes;
}

void pl_exchange_bytes(struct pl_exchange *x, pl_body_read_fn *read, int64_t n_bytes,
                       const char *etag)
{
    struct pl_exchange_own *own = pl_exchange_own(x);
    own->sending.read = read;
    own->sending.n_left = n_bytes;
    be_rangeable(own, etag);
}

/* Reads digits as a number; false if there are none, or too many. */
static bool take_number(struct pl_str *text, uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t n = 0;
    while (n < text->len && n < 19 && text->ptr[n] >= '0' && text->ptr[n] <= '9')
        value = value * 10 + (uint64_t)(text->ptr[n++] - '0');
    *text = pl_str_slice(*text, n, text->len);
    *ret_value = value;
    return n > 0;
}

enum range { RANGE_NONE, RANGE_PART, RANGE_OUTSIDE };

/* "bytes=a-b", "bytes=a-", "bytes=-n". Several ranges, and malformed ones, are ignored: the whole
 * body is always a correct answer. */
static enum range read_range(struct pl_str text, uint64_t size, uint64_t *ret_from,
                             uint64_t *ret_to)
{
    uint64_t from = 0, to = 0;
    struct pl_str unit = PL_STR("bytes=");
    if (!pl_str_starts(text, unit))
        return RANGE_NONE;
    text = pl_str_slice(text, unit.len, text.len);
    bool has_from = take_number(&text, &from);
    if (!text.len || text.ptr[0] != '-')
        return RANGE_NONE;
    text = pl_str_slice(text, 1, text.len);
    bool has_to = take_number(&text, &to);
    if (text.len || (!has_from && !has_to) || (has_from && has_to && to < from))
        return RANGE_NONE;
    if (!has_from) {
        if (to == 0 || size == 0)
            return RANGE_OUTSIDE;
        from = to < size ? size - to : 0;
        to = size - 1;
    } else if (from >= size) {
        return RANGE_OUTSIDE;
    } else if (!has_to || to >= size) {
        to = size - 1;
    }
    *ret_from = from;
    *ret_to = to + 1;
    return RANGE_PART;
}

static void cut_body(struct pl_sending *sending, uint64_t from, uint64_t to)
{
    if (sending->read) {
        sending->at = (int64_t)from;
        sending->n_left = (int64_t)(to - from);
    } else {
        sending->body = pl_str_slice(sending->body, (size_t)from, (size_t)to);
    }
}

void pl_reply_apply_range(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    if (!own->is_rangeable || x->status != 200 || x->method != PL_METHOD_GET)
        return;
    struct pl_str text = pl_http_header_get(x->head, "range");
    struct pl_str only_if = pl_http_header_get(x->head, "if-range");
    if (!text.len || (only_if.len && !(own->etag && pl_str_eq(only_if, pl_str_of(own->etag)))))
        return;
    struct pl_sending *sending = &own->sending;
    uint64_t from, to, size = sending->read ? (uint64_t)sending->n_left : sending->body.len;
    switch (read_range(text, size, &from, &to)) {
    case RANGE_NONE:
        break;
    case RANGE_PART:
        x->status = 206;
        pl_exchange_header(x, "Content-Range", "bytes %llu-%llu/%llu", (unsigned long long)from,
                           (unsigned long long)to - 1, (unsigned long long)size);
        cut_body(sending, from, to);
        break;
    case RANGE_OUTSIDE:
        pl_exchange_header(x, "Content-Range", "bytes */%llu", (unsigned long long)size);
        pl_exchange_problem(x, PL_PROBLEM_RANGE, NULL, "There are %llu bytes.",
                            (unsigned long long)size);
        sending->body = pl_buf_str(&x->reply);
        break;
    }
}

/* --- pages ----------------------------------------------------------------------------------- */

static bool read_number(struct pl_exchange *x, const char *name, uint64_t least, uint64_t most,
                        uint64_t otherwise, uint64_t *ret_value)
{
    struct pl_str text = pl_target_param(&x->target, name);
    struct pl_str rest = text;
    uint64_t value = otherwise;
    if (text.ptr && (!take_number(&rest, &value) || rest.len || value < least || value > most)) {
        struct pl_error err = {0};
        pl_error_point(&err, "/%s", name);
        snprintf(err.message, sizeof err.message, "must be a whole number from %llu to %llu",
                 (unsigned long long)least, (unsigned long long)most);
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err,
                            "The parameter %s must be a whole number from %llu to %llu.", name,
                            (unsigned long long)least, (unsigned long long)most);
        return false;
    }
    *ret_value = value;
    return true;
}

bool pl_exchange_refuse_cursor(struct pl_exchange *x)
{
    struct pl_error err = {
        .has_position = true, .pointer = "/cursor", .message = "is not a cursor"};
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err,
                        "The cursor is invalid; start without one.");
    return false;
}

static bool read_cursor(struct pl_exchange *x, struct pl_str *ret_cursor)
{
    struct pl_str text = pl_target_param(&x->target, "cursor");
    *ret_cursor = (struct pl_str){0};
    return !text.len || pl_base64url_decode(&x->arena, text, ret_cursor) ||
           pl_exchange_refuse_cursor(x);
}

bool pl_exchange_page_args(struct pl_exchange *x, struct pl_page_args *ret_args)
{
    uint64_t limit, offset;
    struct pl_str cursor;
    if (!read_number(x, "limit", 1, 100, 20, &limit) ||
        !read_number(x, "offset", 0, INT64_MAX, 0, &offset) || !read_cursor(x, &cursor))
        return false;
    *ret_args = (struct pl_page_args){(size_t)limit, (int64_t)offset, cursor};
    return true;
}

bool pl_exchange_sums_args(struct pl_exchange *x, struct pl_page_args *ret_args)
{
    uint64_t limit;
    struct pl_str cursor;
    if (!read_number(x, "limit", 1, 1000, 1000, &limit) || !read_cursor(x, &cursor))
        return false;
    *ret_args = (struct pl_page_args){(size_t)limit, 0, cursor};
    return true;
}

bool pl_exchange_cursor_number(struct pl_exchange *x, const struct pl_page_args *args,
                               int64_t *ret_number)
{
    return pl_decimal_read(args->cursor, ret_number) || pl_exchange_refuse_cursor(x);
}

bool pl_exchange_cursor_text(struct pl_exchange *x, const struct pl_page_args *args,
                             const char *prefix, struct pl_str *ret_text)
{
    struct pl_str cursor = args->cursor, start = pl_str_of(prefix);
    if (!pl_str_starts(cursor, start) || !pl_utf8_is_valid(cursor) ||
        memchr(cursor.ptr, 0, cursor.len))
        return pl_exchange_refuse_cursor(x);
    *ret_text = pl_str_slice(cursor, start.len, cursor.len);
    return true;
}

bool pl_exchange_counted_args(struct pl_exchange *x, struct pl_page_args *ret_args)
{
    return pl_exchange_page_args(x, ret_args) &&
           (!ret_args->cursor.len || pl_exchange_cursor_number(x, ret_args, &ret_args->offset));
}

bool pl_list_walk_next(struct pl_list_walk *walk, const struct pl_exchange *x)
{
    if (walk->n == walk->n_rows)
        return false;
    if (walk->n && x->reply.len >= PL_PAGE_BYTES) {
        walk->has_more = true;
        return false;
    }
    walk->n++;
    return true;
}

void pl_exchange_counted_end(struct pl_exchange *x, const struct pl_page_args *args, int64_t total,
                             const struct pl_list_walk *walk)
{
    char cursor[24] = "";
    if (walk->has_more)
        snprintf(cursor, sizeof cursor, "%lld", (long long)args->offset + (long long)walk->n);
    pl_exchange_list_end(x, args, total, pl_str_of(cursor));
}

struct pl_json_out pl_exchange_list_begin(struct pl_exchange *x)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "items");
    pl_json_out_open(&out, '[');
    return out;
}

static void add_next_cursor(struct pl_exchange *x, struct pl_str next_cursor)
{
    pl_buf_add(&x->reply, PL_STR(",\"next_cursor\":"));
    if (next_cursor.len) {
        pl_buf_addc(&x->reply, '"');
        pl_base64url_encode(&x->reply, next_cursor);
        pl_buf_addc(&x->reply, '"');
    } else {
        pl_buf_add(&x->reply, PL_STR("null"));
    }
    pl_buf_addc(&x->reply, '}');
}

void pl_exchange_list_end(struct pl_exchange *x, const struct pl_page_args *args, int64_t total,
                          struct pl_str next_cursor)
{
    pl_buf_addf(&x->reply, "],\"total\":%lld,\"limit\":%zu,\"offset\":%lld", (long long)total,
                args->limit, (long long)args->offset);
    add_next_cursor(x, next_cursor);
}

void pl_exchange_sums_end(struct pl_exchange *x, struct pl_str next_cursor)
{
    pl_buf_addc(&x->reply, ']');
    add_next_cursor(x, next_cursor);
}

/* --- members of the body --------------------------------------------------------------------- */

static const struct pl_json_node *member(struct pl_exchange *x, const char *name)
{
    return x->body.root ? pl_json_get(&x->body, x->body.root, pl_str_of(name)) : NULL;
}

struct pl_str pl_body_text(struct pl_exchange *x, const char *name)
{
    const struct pl_json_node *node = member(x, name);
    struct pl_str text = {0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING)
        return text;
    if (pl_json_text(&x->arena, &x->body, node, &text) != PL_OK)
        return (struct pl_str){0};
    return text.ptr ? text : PL_STR("");
}

struct pl_str pl_body_raw(struct pl_exchange *x, const char *name)
{
    const struct pl_json_node *node = member(x, name);
    return node ? pl_json_span(&x->body, node) : (struct pl_str){0};
}

bool pl_body_bool(struct pl_exchange *x, const char *name, bool otherwise)
{
    const struct pl_json_node *node = member(x, name);
    if (!node || (pl_json_kind(node) != PL_JSON_TRUE && pl_json_kind(node) != PL_JSON_FALSE))
        return otherwise;
    return pl_json_kind(node) == PL_JSON_TRUE;
}

bool pl_body_has(struct pl_exchange *x, const char *name)
{
    return member(x, name) != NULL;
}
