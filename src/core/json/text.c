#include "json/text.h"

#include "base/utf8.h"
#include "json/key_hash.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 0;
}

static uint32_t hex4(const char *p)
{
    return (uint32_t)(hex_value(p[0]) << 12 | hex_value(p[1]) << 8 | hex_value(p[2]) << 4 |
                      hex_value(p[3]));
}

static const char simple_escapes[128] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* Decodes the valid escape at *at (a backslash), moves *at behind it, writes at most 4 bytes. */
static size_t decode_escape(const char **at, const char *end, char to[4])
{
    const char *p = *at;
    if (p[1] != 'u') {
        *at = p + 2;
        to[0] = simple_escapes[(unsigned char)p[1] & 127];
        return 1;
    }
    uint32_t c = hex4(p + 2);
    *at = p + 6;
    if ((c & 0xF800) == 0xD800) {
        bool has_partner = c < 0xDC00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u' &&
                           (hex4(p + 8) & 0xFC00) == 0xDC00;
        if (has_partner)
            *at = p + 12;
        c = has_partner ? 0x10000 + ((c & 0x3FF) << 10 | (hex4(p + 8) & 0x3FF)) : 0xFFFD;
    }
    return pl_utf8_put(to, c);
}

size_t pl_json_decode(char *to, struct pl_str raw)
{
    char *start = to;
    for (const char *p = raw.ptr, *end = p + raw.len; p < end;) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        size_t n = (size_t)((escape ? escape : end) - p);
        memmove(to, p, n);
        to += n;
        p += n;
        if (escape) {
            char bytes[4];
            n = decode_escape(&p, end, bytes);
            memcpy(to, bytes, n);
            to += n;
        }
    }
    return (size_t)(to - start);
}

enum pl_status pl_json_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                            const struct pl_json_node *string, struct pl_str *ret_text)
{
    struct pl_str raw = pl_json_raw(doc, string);
    if (string->tag & PL_JSON_ESCAPED) {
        char *to = pl_arena_alloc(arena, raw.len, 1);
        if (!to)
            return PL_NOMEM;
        size_t len = pl_json_decode(to, raw);
        pl_arena_shrink(arena, to, raw.len, len);
        raw = (struct pl_str){to, len};
    }
    *ret_text = raw;
    return PL_OK;
}

struct pl_json_walk pl_json_walk(const struct pl_json_doc *doc, const struct pl_json_node *string)
{
    struct pl_str raw = pl_json_raw(doc, string);
    return (struct pl_json_walk){.at = raw.ptr, .end = raw.ptr + raw.len};
}

int pl_json_walk_next(struct pl_json_walk *walk)
{
    if (walk->next_pending < walk->n_pending)
        return (unsigned char)walk->pending[walk->next_pending++];
    if (walk->at == walk->end)
        return -1;
    if (*walk->at != '\\')
        return (unsigned char)*walk->at++;
    walk->n_pending = (uint8_t)decode_escape(&walk->at, walk->end, walk->pending);
    walk->next_pending = 1;
    return (unsigned char)walk->pending[0];
}

size_t pl_json_text_count(const struct pl_json_doc *doc, const struct pl_json_node *string)
{
    struct pl_str raw = pl_json_raw(doc, string);
    size_t n = pl_utf8_count(raw);
    if (!(string->tag & PL_JSON_ESCAPED))
        return n;
    /* Every escape stands for one code point, however many characters spell it. */
    for (const char *p = raw.ptr, *end = p + raw.len; (p = memchr(p, '\\', (size_t)(end - p)));) {
        const char *from = p;
        char bytes[4];
        decode_escape(&p, end, bytes);
        n -= (size_t)(p - from) - 1;
    }
    return n;
}

bool pl_json_text_is(const struct pl_json_doc *doc, const struct pl_json_node *string,
                     struct pl_str text)
{
    if (!(string->tag & PL_JSON_ESCAPED))
        return pl_str_eq(pl_json_raw(doc, string), text);
    struct pl_json_walk walk = pl_json_walk(doc, string);
    for (size_t i = 0; i < text.len; i++)
        if (pl_json_walk_next(&walk) != (unsigned char)text.ptr[i])
            return false;
    return pl_json_walk_next(&walk) < 0;
}

int pl_json_text_cmp(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                     const struct pl_json_doc *b_doc, const struct pl_json_node *b)
{
    if (!((a->tag | b->tag) & PL_JSON_ESCAPED))
        return pl_str_cmp(pl_json_raw(a_doc, a), pl_json_raw(b_doc, b));
    struct pl_json_walk a_walk = pl_json_walk(a_doc, a), b_walk = pl_json_walk(b_doc, b);
    for (;;) {
        int x = pl_json_walk_next(&a_walk), y = pl_json_walk_next(&b_walk);
        if (x != y)
            return x < y ? -1 : 1;
        if (x < 0)
            return 0;
    }
}

bool pl_json_text_same(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                       const struct pl_json_doc *b_doc, const struct pl_json_node *b)
{
    if (!((a->tag | b->tag) & PL_JSON_ESCAPED))
        return pl_str_eq(pl_json_raw(a_doc, a), pl_json_raw(b_doc, b));
    return pl_json_text_cmp(a_doc, a, b_doc, b) == 0;
}

/* What stands behind the backslash; 'u' for the control characters without a short form. */
static const char escape_of[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't',      ['\n'] = 'n', [11] = 'u',
    ['\f'] = 'f',    ['\r'] = 'r', [14 ... 31] = 'u', ['"'] = '"',  ['\\'] = '\\',
};

/* Bytes that quoting adds inside the quotes. */
static size_t n_escaping(struct pl_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char escape = escape_of[(unsigned char)text.ptr[i]];
        n += escape ? (escape == 'u' ? 5 : 1) : 0;
    }
    return n;
}

static char *put_escape(char *to, char c)
{
    static const char hex[] = "0123456789abcdef";
    *to++ = '\\';
    *to++ = escape_of[(unsigned char)c];
    if (to[-1] == 'u') {
        *to++ = '0';
        *to++ = '0';
        *to++ = hex[(unsigned char)c >> 4];
        *to++ = hex[c & 15];
    }
    return to;
}

void pl_json_quote(struct pl_buf *to, struct pl_str text)
{
    size_t n = n_escaping(text);
    char *at = pl_buf_reserve(to, text.len + n + 2);
    if (!at)
        return;
    to->len += text.len + n + 2;
    *at++ = '"';
    if (n == 0 && text.len) {
        memcpy(at, text.ptr, text.len);
        at += text.len;
    }
    for (size_t i = 0; n && i < text.len; i++) {
        if (escape_of[(unsigned char)text.ptr[i]])
            at = put_escape(at, text.ptr[i]);
        else
            *at++ = text.ptr[i];
    }
    *at = '"';
}

uint32_t pl_json_key_hash(struct pl_str key)
{
    return pl_json_key_hash_bytes(key.ptr, key.len);
}
