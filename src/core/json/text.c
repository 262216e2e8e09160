/* Decodes and encodes JSON strings, with vector instructions if the processor has them
 * (text_avx2.c, text_avx512.c). */
#include "json/text_int.h"

#include "base/text/utf8.h"
#include "json/key_hash.h"
#include "json/scan16.h"

static const char simple_escapes[128] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

static inline size_t decode_escape(const char **at, const char *end, char *to)
{
    const char *p = *at;
    if (p[1] != 'u') {
        *at = p + 2;
        to[0] = simple_escapes[(unsigned char)p[1] & 127];
        return 1;
    }
    uint32_t c = pl_json_unit(p + 2);
    *at = p + 6;
    if ((c & 0xF800) == 0xD800) {
        bool has_partner = c < 0xDC00 && end - p >= 12 && p[6] == '\\' && p[7] == 'u' &&
                           (pl_json_unit(p + 8) & 0xFC00) == 0xDC00;
        if (has_partner)
            *at = p + 12;
        c = has_partner ? 0x10000 + ((c & 0x3FF) << 10 | (pl_json_unit(p + 8) & 0x3FF)) : 0xFFFD;
    }
    return pl_utf8_put(to, c);
}

size_t pl_json_decode_escape(const char **at, const char *end, char *to)
{
    return decode_escape(at, end, to);
}

/* Decodes the sixteen bytes at p and returns the number of bytes read. An escape may extend past
 * the sixteen. The positions of all backslashes are known at once, so no step waits for the one
 * before it. */
static inline size_t decode_block(char **to, const char *p, const char *end)
{
    uint32_t escapes = pl_scan16_backslashes(p), from = 0;
    while (escapes) {
        uint32_t k = (uint32_t)__builtin_ctz(escapes);
        memcpy(*to, p + from, PL_SCAN16);
        *to += k - from;
        if (p[k + 1] == 'u') {
            const char *at = p + k;
            *to += decode_escape(&at, end, *to);
            return (size_t)(at - p);
        }
        *(*to)++ = simple_escapes[(unsigned char)p[k + 1] & 127];
        from = k + 2;
        escapes &= ~(3u << k);
    }
    memcpy(*to, p + from, PL_SCAN16);
    if (from > PL_SCAN16)
        return from;
    *to += PL_SCAN16 - from;
    return PL_SCAN16;
}

size_t pl_json_decode(char *to, struct pl_str raw)
{
    return pl_json_decode_with(pl_cpu_best(), to, raw);
}

size_t pl_json_decode_with(enum pl_cpu cpu, char *to, struct pl_str raw)
{
    if (cpu == PL_CPU_AVX512)
        return pl_json_decode_avx512(to, raw);
    char *start = to;
    if (cpu == PL_CPU_AVX2)
        to += pl_json_decode_avx2(to, &raw);
    const char *p = raw.ptr, *end = p + raw.len;
    /* The room left is never less than the text left: both have a full block after an escape that
     * begins with the last byte of a block. */
    while (end - p >= 2 * PL_SCAN16 + 2)
        p += decode_block(&to, p, end);
    while (p < end) {
        if (*p == '\\')
            to += decode_escape(&p, end, to);
        else
            *to++ = *p++;
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
    /* Every escape stands for one code point, whatever its length. */
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
    if (pl_json_kind(string) != PL_JSON_STRING)
        return false;
    if (!(string->tag & PL_JSON_ESCAPED))
        return pl_str_eq(pl_json_raw(doc, string), text);
    struct pl_json_walk walk = pl_json_walk(doc, string);
    for (size_t i = 0; i < text.len; i++)
        if (pl_json_walk_next(&walk) != (unsigned char)text.ptr[i])
            return false;
    return pl_json_walk_next(&walk) < 0;
}

struct pl_str pl_json_member_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                                  const struct pl_json_node *object, const char *key)
{
    const struct pl_json_node *node = pl_json_member(doc, object, key, PL_JSON_STRING);
    struct pl_str text = {0};
    return node && pl_json_text(arena, doc, node, &text) == PL_OK ? text : (struct pl_str){0};
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
    if (pl_json_kind(a) != PL_JSON_STRING || pl_json_kind(b) != PL_JSON_STRING)
        return false;
    if (pl_str_eq(pl_json_raw(a_doc, a), pl_json_raw(b_doc, b)))
        return true;
    return (a->tag | b->tag) & PL_JSON_ESCAPED && pl_json_text_cmp(a_doc, a, b_doc, b) == 0;
}

/* The letter after the backslash; 'u' for control characters without a short form. */
static const char escape_of[256] = {
    [0 ... 7] = 'u', ['\b'] = 'b', ['\t'] = 't',      ['\n'] = 'n', [11] = 'u',
    ['\f'] = 'f',    ['\r'] = 'r', [14 ... 31] = 'u', ['"'] = '"',  ['\\'] = '\\',
};

/* Bytes that escaping adds, without the quotes. */
static size_t n_escaping(const char *p, const char *end)
{
    size_t n = 0;
    while (p < end) {
        uint32_t specials = end - p >= PL_SCAN16 ? pl_scan16_specials(p) : 1;
        if (!specials) {
            p += PL_SCAN16;
            continue;
        }
        p += __builtin_ctz(specials);
        char escape = escape_of[(unsigned char)*p++];
        n += escape ? (escape == 'u' ? 5 : 1) : 0;
    }
    return n;
}

/* Returns the end. */
static inline char *put_escape(char *to, char c)
{
    static const char hex[] = "0123456789abcdef";
    char letter = escape_of[(unsigned char)c];
    to[0] = '\\';
    to[1] = letter;
    if (__builtin_expect(letter != 'u', 1))
        return to + 2;
    memcpy(to + 2, "00", 2);
    to[4] = hex[(unsigned char)c >> 4];
    to[5] = hex[c & 15];
    return to + 6;
}

size_t pl_json_escape(char *to, char c)
{
    if (escape_of[(unsigned char)c])
        return (size_t)(put_escape(to, c) - to);
    *to = c;
    return 1;
}

/* Escapes the first n (at most sixteen) bytes at p. Reads up to 32 bytes and writes up to sixteen
 * more than it returns, so that every piece between two escapes is one load and one store that wait
 * for nothing. */
static inline char *put_block(char *at, const char *p, uint32_t n)
{
    uint32_t specials = pl_scan16_specials(p) & ((1u << n) - 1), from = 0;
    for (; specials; specials &= specials - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(specials);
        memcpy(at, p + from, PL_SCAN16);
        at = put_escape(at + k - from, p[k]);
        from = k + 1;
    }
    memcpy(at, p + from, PL_SCAN16);
    return at + n - from;
}

/* Escapes [p, end); there is room for all of it and PL_JSON_SLACK more. */
static char *put_escaped(enum pl_cpu cpu, char *at, const char *p, const char *end,
                         const char *readable)
{
    if (cpu == PL_CPU_AVX512)
        return pl_json_escape_avx512(at, p, end);
    for (; end - p >= PL_SCAN16 && readable - p >= 2 * PL_SCAN16; p += PL_SCAN16)
        at = put_block(at, p, PL_SCAN16);
    if (end - p < PL_SCAN16 && readable - p >= 2 * PL_SCAN16)
        return put_block(at, p, (uint32_t)(end - p));
    for (; p < end; p++) {
        if (escape_of[(unsigned char)*p])
            at = put_escape(at, *p);
        else
            *at++ = *p;
    }
    return at;
}

char *pl_json_escape_text(char *to, struct pl_str text, const char *readable)
{
    return put_escaped(pl_cpu_best(), to, text.ptr, text.ptr + text.len, readable);
}

/* Room for the quoted text, and a byte and PL_JSON_SLACK more, at to->ptr + to->len. Escapes are
 * counted only if the text is long or the room short. */
static inline char *reserve_quoted(struct pl_buf *to, struct pl_str text)
{
    enum { SHORT = 1024, MORE = 3 + PL_JSON_SLACK };
    size_t most = text.len * PL_JSON_MOST_ESCAPE + MORE;
    if (text.len < SHORT && to->status == PL_OK && to->cap - to->len >= most)
        return to->ptr + to->len;
    size_t n = text.len + n_escaping(text.ptr, text.ptr + text.len);
    return n + MORE <= to->max - to->len ? pl_buf_reserve(to, n + MORE) : NULL;
}

/* Byte by byte, when the buffer's cap leaves no spare room. `before` may be 0. */
static void quote_tightly(struct pl_buf *to, char before, struct pl_str text)
{
    size_t n = text.len + n_escaping(text.ptr, text.ptr + text.len) + 2 + (before != 0);
    char *at = pl_buf_reserve(to, n);
    if (!at)
        return;
    if (before)
        *at++ = before;
    *at++ = '"';
    for (size_t i = 0; i < text.len; i++)
        at += pl_json_escape(at, text.ptr[i]);
    *at = '"';
    to->len += n;
}

/* Whether n bytes at p need no escape; sixteen more are readable. */
static bool is_plain(const char *p, size_t n)
{
    size_t i = 0;
    for (; i + PL_SCAN16 <= n; i += PL_SCAN16)
        if (pl_scan16_specials(p + i))
            return false;
    return !(pl_scan16_specials(p + i) & ((1u << (n - i)) - 1));
}

void pl_json_quote(struct pl_buf *to, struct pl_str text)
{
    pl_json_quote_with(pl_cpu_best(), to, text);
}

void pl_json_quote_with(enum pl_cpu cpu, struct pl_buf *to, struct pl_str text)
{
    char *at = reserve_quoted(to, text);
    if (!at) {
        quote_tightly(to, 0, text);
        return;
    }
    *at++ = '"';
    /* Most texts are plain. Checked in the copy, which has readable bytes after it. */
    if (text.len)
        memcpy(at, text.ptr, text.len);
    if (is_plain(at, text.len))
        at += text.len;
    else
        at = put_escaped(cpu, at, text.ptr, text.ptr + text.len, text.ptr + text.len);
    *at++ = '"';
    to->len = (size_t)(at - to->ptr);
}

void pl_json_quote_slice(struct pl_buf *to, char before, struct pl_str whole, size_t from,
                         size_t end)
{
    struct pl_str text = pl_str_slice(whole, from, end);
    char *at = reserve_quoted(to, text);
    if (!at) {
        quote_tightly(to, before, text);
        return;
    }
    at[0] = before;
    at[1] = '"';
    at = put_escaped(pl_cpu_best(), at + 2, text.ptr, text.ptr + text.len, whole.ptr + whole.len);
    *at++ = '"';
    to->len = (size_t)(at - to->ptr);
}

uint32_t pl_json_key_hash(struct pl_str key)
{
    return pl_json_key_hash_bytes(key.ptr, key.len);
}

bool pl_json_has_half(const struct pl_json_doc *doc, const struct pl_json_node *string)
{
    enum { ESCAPE = 6 }; /* \uXXXX */
    struct pl_str raw = pl_json_raw(doc, string);
    size_t len = string->tag & PL_JSON_ESCAPED ? raw.len : 0;
    for (size_t i = 0; i + 1 < len; i++) {
        if (raw.ptr[i] != '\\')
            continue;
        if (raw.ptr[i + 1] != 'u') {
            i++;
            continue;
        }
        uint32_t unit = pl_json_unit(raw.ptr + i + 2);
        const char *next = raw.ptr + i + ESCAPE;
        i += ESCAPE - 1;
        if ((unit & 0xF800) != 0xD800)
            continue;
        if (unit & 0x400 || i + ESCAPE >= len || next[0] != '\\' || next[1] != 'u' ||
            (pl_json_unit(next + 2) & 0xFC00) != 0xDC00)
            return true;
        i += ESCAPE;
    }
    return false;
}
