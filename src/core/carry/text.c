/* Spells the source of a carry. Every conversion with a carry does this, so it takes one pass over
 * the strings: it reserves room for the worst case of a string and the bytes before it, then writes
 * without checks. */
#include "carry/text.h"

#include "carry/pieces.h"
#include "carry/words.h"
#include "json/scan16.h"
#include "json/text.h"

struct speller {
    struct pl_buf *to;
    char *at, *limit; /* write position, and the end of the reserved room */
    struct pl_str source;
    bool is_strict; /* outside strings there is only JSON, no comments */
    const struct pl_carry_reference *const *references;
    size_t n_references, next; /* … and the index of the next one */
    char key;                  /* the word of the last key; 0: not a word */
};

static void finish(struct speller *s)
{
    s->to->len = (size_t)(s->at - s->to->ptr);
}

/* Reserves room for n more bytes. */
static bool make_room(struct speller *s, size_t n)
{
    if (__builtin_expect((size_t)(s->limit - s->at) >= n, 1))
        return true;
    finish(s);
    char *at = pl_buf_reserve(s->to, n);
    if (!at)
        return false;
    s->at = at;
    s->limit = s->to->ptr + s->to->cap;
    return true;
}

static char *put_hash(char *at, uint64_t hash)
{
    for (size_t i = 0; i < PL_CARRY_HASH_CHARS; i++, hash >>= 6)
        *at++ = PL_CARRY_DIGITS[hash & 63];
    return at;
}

void pl_carry_put_hash(struct pl_buf *to, uint64_t hash)
{
    char *at = pl_buf_reserve(to, PL_CARRY_HASH_CHARS);
    if (at)
        to->len += (size_t)(put_hash(at, hash) - at);
}

/* --- between strings ------------------------------------------------------------------------- */

/* A byte of a comment may need a mark and an escape. */
enum { MOST_BETWEEN = 1 + PL_JSON_MOST_ESCAPE };

static char *put_any(char *at, char c)
{
    if (c == '"' || c == '\'' || c == PL_CARRY_ITSELF || pl_carry_word(c).len)
        *at++ = PL_CARRY_ITSELF;
    if ((unsigned char)c < ' ' || c == '"' || c == '\\')
        return at + pl_json_escape(at, c);
    *at++ = c;
    return at;
}

/* Finds bytes below a space among eight; it may report others too. */
static inline uint64_t find_controls(uint64_t bytes)
{
    return (bytes - 0x2020202020202020) & ~bytes & 0x8080808080808080;
}

/* Copies JSON outside strings, except line ends and tabs. Copies comments byte by byte. */
static inline char *put_between(const struct speller *s, char *at, size_t from, size_t end)
{
    enum { BLOCK = sizeof(uint64_t) };
    uint64_t block;
    size_t n = end - from;
    if (s->is_strict && n < BLOCK && from + BLOCK <= s->source.len) {
        memcpy(&block, s->source.ptr + from, BLOCK);
        memcpy(at, &block, BLOCK);
        bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
        uint64_t others = is_little ? ~(uint64_t)0 << 8 * n : ~(uint64_t)0 >> 8 * n;
        if (!find_controls(block | others))
            return at + n;
    }
    for (; from < end; from++)
        at = put_any(at, s->source.ptr[from]);
    return at;
}

/* --- inside strings -------------------------------------------------------------------------- */

/* A quote and a backslash take two bytes, and a mark doubles its byte; quotes may take two bytes
 * each. A write of a whole block may exceed the text. */
enum { MOST_INSIDE = 2, MOST_QUOTES = 4 + PL_JSON_SLACK };

/* Escapes a backslash and the character after it once more. */
static inline char *put_escape(char *at, char c)
{
    at[0] = at[1] = at[2] = '\\';
    at += c == '"' || c == '\\' ? 3 : 2;
    *at++ = c;
    return at;
}

/* Writes the bytes of a string as text: its escapes are escaped once more. */
static char *put_inside(const struct speller *s, char *at, struct pl_str text)
{
    return pl_json_escape_text(at, text, s->source.ptr + s->source.len);
}

/* Writes the string unchanged, in quotes. */
static char *put_verbatim(const struct speller *s, char *at, struct pl_str text)
{
    *at++ = '\\';
    *at++ = '"';
    at = put_inside(s, at, text);
    *at++ = '\\';
    *at++ = '"';
    return at;
}

/* Writes text with a mark before apostrophes and tildes. */
static char *put_marked(char *at, struct pl_str text)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    while (p < end)
        if (*p == '\\') {
            at = put_escape(at, p[1]);
            p += 2;
        } else {
            if (*p == '\'' || *p == '~')
                *at++ = '~';
            *at++ = *p++;
        }
    return at;
}

static bool has_mark(struct pl_str text)
{
    const char *p = text.ptr, *end = text.ptr + text.len;
    for (; end - p >= PL_SCAN16; p += PL_SCAN16)
        if (pl_scan16_either(p, '\'', '~'))
            return true;
    for (; p < end; p++)
        if (*p == '\'' || *p == '~')
            return true;
    return false;
}

/* Writes text, and returns whether it contains a mark. A text of usual length is one block. */
static inline char *put_text(const struct speller *s, char *at, struct pl_str text, bool is_escaped,
                             bool *ret_has_mark)
{
    bool is_block = text.len <= PL_SCAN16 && s->source.ptr + s->source.len - text.ptr >= PL_SCAN16;
    if (is_block && !is_escaped) {
        uint32_t within = ((uint32_t)1 << text.len) - 1;
        *ret_has_mark = pl_scan16_either(text.ptr, '\'', '~') & within;
        memcpy(at, text.ptr, PL_SCAN16);
        return at + text.len;
    }
    *ret_has_mark = has_mark(text);
    if (is_escaped)
        return put_inside(s, at, text);
    memcpy(at, text.ptr, text.len);
    return at + text.len;
}

/* The character of a string that is a word; 0: not a word. */
static inline char find_word(struct speller *s, bool is_key, struct pl_str text)
{
    bool is_value = s->key == PL_CARRY_TYPE || s->key == PL_CARRY_ROLE;
    s->key = '\0';
    if (is_key)
        return s->key = pl_carry_find(pl_carry_keys, PL_CARRY_AROUND_KEY, text);
    return is_value ? pl_carry_find(pl_carry_values, PL_CARRY_AROUND_VALUE, text) : '\0';
}

/* Writes a string into reserved room; returns the offset after it in the source. */
static inline size_t put_string(struct speller *s, const struct pl_json_node *n)
{
    size_t end = (size_t)n->off + n->len;
    struct pl_str text = {s->source.ptr + n->off + 1, n->len - (size_t)2};
    bool is_key = n->tag & PL_JSON_KEY, has_mark;
    char word = find_word(s, is_key, text), *at = s->at;
    if (word && (!is_key || s->source.ptr[end] == ':')) {
        *s->at++ = word;
        return end + is_key;
    }
    *at++ = '\'';
    at = put_text(s, at, text, n->tag & PL_JSON_ESCAPED, &has_mark);
    *at++ = '\'';
    s->at = has_mark ? put_verbatim(s, s->at, text) : at;
    return end;
}

/* --- strings with references ----------------------------------------------------------------- */

static inline bool refers(const struct speller *s, const struct pl_json_node *n)
{
    return s->next < s->n_references && s->references[s->next]->off < (uint64_t)n->off + n->len;
}

/* The caller has reserved room for the string and a reference. */
static size_t put_referring(struct speller *s, const struct pl_json_node *n)
{
    size_t from = n->off + (size_t)1, end = n->off + (size_t)n->len - 1;
    char *at = s->at;
    s->key = 0;
    *at++ = '\'';
    for (; refers(s, n); s->next++) {
        const struct pl_carry_reference *reference = s->references[s->next];
        if (reference->off < from)
            continue; /* overlaps the one before */
        at = put_marked(at, pl_str_slice(s->source, from, reference->off));
        *at++ = '~';
        at = put_hash(at, reference->hash); /* shorter than the text it replaces */
        from = (size_t)reference->off + reference->len;
    }
    at = put_marked(at, pl_str_slice(s->source, from, end));
    *at++ = '\'';
    s->at = at;
    return end + 1;
}

/* The room for a string with references: the text they replace is not written. */
static size_t most_referring(const struct speller *s, const struct pl_json_node *n)
{
    size_t most = MOST_INSIDE * (size_t)n->len + MOST_QUOTES;
    for (size_t i = s->next, at = n->off; i < s->n_references; i++) {
        const struct pl_carry_reference *reference = s->references[i];
        if (reference->off >= (uint64_t)n->off + n->len)
            break;
        if (reference->off < at)
            continue;
        at = (size_t)reference->off + reference->len;
        most -= MOST_INSIDE * (size_t)reference->len - (1 + PL_CARRY_HASH_CHARS);
    }
    return most;
}

/* --------------------------------------------------------------------------------------------- */

void pl_carry_put_source(struct pl_buf *to, struct pl_str source, const struct pl_json_doc *doc,
                         const struct pl_carry_reference *const references[], size_t n_references)
{
    struct speller s = {.to = to,
                        .source = source,
                        .is_strict = doc->text.ptr == source.ptr,
                        .references = references,
                        .n_references = n_references};
    size_t from = 0;
    s.at = s.limit = to->ptr + to->len;
    for (const struct pl_json_node *n = doc->root; n < doc->root + doc->n_nodes; n++) {
        if (pl_json_kind(n) != PL_JSON_STRING)
            continue;
        bool is_referring = refers(&s, n);
        size_t most =
            is_referring ? most_referring(&s, n) : MOST_INSIDE * (size_t)n->len + MOST_QUOTES;
        if (!make_room(&s, MOST_BETWEEN * (n->off - from) + most))
            return;
        s.at = put_between(&s, s.at, from, n->off);
        from = is_referring ? put_referring(&s, n) : put_string(&s, n);
    }
    if (!make_room(&s, MOST_BETWEEN * (source.len - from) + MOST_QUOTES))
        return;
    s.at = put_between(&s, s.at, from, source.len);
    finish(&s);
}
