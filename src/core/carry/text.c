/* Spells the source of a carry. Every conversion with a carry does this, so it takes one pass over
 * the strings: it reserves room for the worst case of a string and the bytes before it, then writes
 * without checks. */
#include "carry/text.h"

#include "carry/pieces.h"
#include "carry/words.h"
#include "json/key_hash.h"
#include "json/scan16.h"
#include "json/text.h"

struct speller {
    struct pl_buf *to;
    char *at, *limit; /* write position, and the end of the reserved room */
    struct pl_str source;
    size_t from;                                 /* the bytes of the source before it are written */
    char key;                                    /* the word of the last key; 0: not a word */
    const struct pl_carry_reference *next, *end; /* the references from the next one on */
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

char *pl_carry_put_hash(char *to, uint64_t hash)
{
    return put_hash(to, hash);
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

/* What is between the strings of a source. */
enum between {
    BETWEEN_TIGHT,  /* JSON without white space */
    BETWEEN_STRICT, /* JSON */
    BETWEEN_ANY,    /* … with comments */
};

/* Writes bytes outside strings, which may be a comment. */
static __attribute__((noinline)) char *put_each(char *at, const char *from, const char *end)
{
    while (from < end)
        at = put_any(at, *from++);
    return at;
}

/* Copies JSON outside strings, except line ends and tabs. */
static inline __attribute__((always_inline)) char *
put_between(const struct speller *s, enum between between, char *at, size_t from, size_t end)
{
    enum { BLOCK = sizeof(uint64_t) };
    uint64_t block;
    size_t n = end - from;
    if (between != BETWEEN_ANY && n < BLOCK && from + BLOCK <= s->source.len) {
        memcpy(&block, s->source.ptr + from, BLOCK);
        memcpy(at, &block, BLOCK);
        bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
        uint64_t others = is_little ? ~(uint64_t)0 << 8 * n : ~(uint64_t)0 >> 8 * n;
        if (between == BETWEEN_TIGHT || !find_controls(block | others))
            return at + n;
    }
    return put_each(at, s->source.ptr + from, s->source.ptr + end);
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

/* Writes a string that is no word, of any length, into reserved room. */
static __attribute__((noinline)) char *put_string(const struct speller *s, char *at,
                                                  const struct pl_json_node *n)
{
    struct pl_str text = {s->source.ptr + n->off + 1, n->len - (size_t)2};
    if (has_mark(text))
        return put_verbatim(s, at, text);
    *at++ = '\'';
    if (n->tag & PL_JSON_ESCAPED)
        at = put_inside(s, at, text);
    else if (text.len)
        at = (char *)memcpy(at, text.ptr, text.len) + text.len;
    *at++ = '\'';
    return at;
}

/* Writes a string of at most a block without escapes and marks; NULL if it is another one. */
static inline char *put_short(char *at, const char *text, const struct pl_json_node *n)
{
    size_t len = n->len - (size_t)2;
    if (len > PL_SCAN16 || n->tag & PL_JSON_ESCAPED ||
        pl_scan16_either(text + 1, '\'', '~') & ~((uint32_t)-1 << len))
        return NULL;
    at[0] = '\'';
    memcpy(at + 1, text + 1, PL_SCAN16);
    at[1 + len] = '\'';
    return at + 2 + len;
}

/* The character of the word that a string is; 0: not a word. Sixteen bytes must be readable at
 * `text`, and at its content. */
static inline __attribute__((always_inline)) char find_word(const char *text,
                                                            const struct pl_json_node *n, char key)
{
    if (n->tag & PL_JSON_KEY)
        return pl_carry_find(pl_carry_keys, text, n->len + (size_t)1, pl_json_key_hash_of(n));
    if (key != PL_CARRY_TYPE && key != PL_CARRY_ROLE)
        return '\0';
    return pl_carry_find(pl_carry_values, text, n->len,
                         pl_json_key_hash_padded(text + 1, n->len - (size_t)2));
}

/* --- strings with references ----------------------------------------------------------------- */

/* The offset of the next reference; SIZE_MAX: there is none. */
static inline size_t next_reference(const struct speller *s)
{
    return s->next < s->end ? s->next->off : SIZE_MAX;
}

static char *put_referring(struct speller *s, char *at, const struct pl_json_node *n)
{
    size_t from = n->off + (size_t)1, end = n->off + (size_t)n->len - 1;
    *at++ = '\'';
    for (; next_reference(s) < end; s->next++) {
        const struct pl_carry_reference *reference = s->next;
        if (reference->off < from)
            continue; /* overlaps the one before */
        at = put_marked(at, pl_str_slice(s->source, from, reference->off));
        *at++ = '~';
        at = put_hash(at, reference->hash); /* shorter than the text it replaces */
        from = (size_t)reference->off + reference->len;
    }
    at = put_marked(at, pl_str_slice(s->source, from, end));
    *at++ = '\'';
    return at;
}

/* The room for a string with references: the text they replace is not written. */
static size_t most_referring(const struct speller *s, const struct pl_json_node *n)
{
    size_t most = MOST_INSIDE * (size_t)n->len + MOST_QUOTES, at = n->off;
    for (const struct pl_carry_reference *reference = s->next;
         reference < s->end && reference->off < (uint64_t)n->off + n->len; reference++) {
        if (reference->off < at)
            continue;
        at = (size_t)reference->off + reference->len;
        most -= MOST_INSIDE * (size_t)reference->len - (1 + PL_CARRY_HASH_CHARS);
    }
    return most;
}

/* Writes what is before a string with references, and the string. False: there is no room. */
static __attribute__((noinline)) bool put_references(struct speller *s, enum between between,
                                                     const struct pl_json_node *n)
{
    const struct pl_carry_reference *first = s->next;
    bool is_whole = first->off == n->off + 1 && first->len == n->len - 2;
    size_t most = is_whole ? PL_CARRY_HASH_CHARS + MOST_QUOTES : most_referring(s, n);
    if (!make_room(s, MOST_BETWEEN * (n->off - s->from) + most))
        return false;
    char *at = put_between(s, between, s->at, s->from, n->off);
    if (is_whole) {
        memcpy(at, "'~", 2);
        at = put_hash(at + 2, first->hash);
        *at++ = '\'';
        while (next_reference(s) < (size_t)n->off + n->len)
            s->next++;
    } else {
        at = put_referring(s, at, n);
    }
    s->at = at;
    s->from = (size_t)n->off + n->len;
    s->key = '\0';
    return true;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* The bytes that are read from the begin of a string, whatever its length. */
enum { READ_AT_ONCE = 1 + PL_SCAN16 };

/* Writes what is before a string, and the string, which needs more room or is near the end of the
 * source. False: there is no room. */
static __attribute__((noinline)) bool put_slowly(struct speller *s, enum between between,
                                                 const struct pl_json_node *n)
{
    char near[READ_AT_ONCE] = {0};
    struct pl_str left = pl_str_slice(s->source, n->off, s->source.len);
    if (!make_room(s,
                   MOST_BETWEEN * (n->off - s->from) + MOST_INSIDE * (size_t)n->len + MOST_QUOTES))
        return false;
    s->at = put_between(s, between, s->at, s->from, n->off);
    memcpy(near, left.ptr, left.len < sizeof near ? left.len : sizeof near);
    char word = find_word(left.len < sizeof near ? near : left.ptr, n, s->key);
    if (word)
        *s->at++ = word;
    else
        s->at = put_string(s, s->at, n);
    bool is_key = n->tag & PL_JSON_KEY;
    s->key = is_key ? word : '\0';
    s->from = (size_t)n->off + n->len + (word && is_key);
    return true;
}

/* `between` is a constant: each kind has a loop of its own. The state of the loop is in variables,
 * since a byte that is written might be any field of a struct. */
static inline __attribute__((always_inline)) bool put_all(struct speller *s, enum between between,
                                                          const struct pl_json_doc *doc)
{
    const char *source = s->source.ptr;
    size_t readable = s->source.len < READ_AT_ONCE ? 0 : s->source.len - READ_AT_ONCE;
    size_t from = s->from, most_between = between == BETWEEN_TIGHT ? 1 : MOST_BETWEEN;
    size_t next = next_reference(s);
    char *at = s->at, *limit = s->limit, key = '\0';
    for (const struct pl_json_node *n = doc->root, *last = n + doc->n_nodes; n < last; n++) {
        if (pl_json_kind(n) != PL_JSON_STRING)
            continue;
        size_t off = n->off, end = off + n->len;
        size_t most = most_between * (off - from) + MOST_INSIDE * (end - off) + MOST_QUOTES;
        if (end > next || off > readable || (size_t)(limit - at) < most) {
            s->at = at;
            s->from = from;
            s->key = key;
            if (!(end > next ? put_references(s, between, n) : put_slowly(s, between, n)))
                return false;
            at = s->at;
            limit = s->limit;
            from = s->from;
            key = s->key;
            next = next_reference(s);
            continue;
        }
        at = put_between(s, between, at, from, off);
        char word = find_word(source + off, n, key);
        bool is_key = n->tag & PL_JSON_KEY;
        key = is_key ? word : '\0';
        from = end;
        if (word) {
            *at++ = word;
            from += is_key;
            continue;
        }
        char *after = put_short(at, source + off, n);
        at = after ? after : put_string(s, at, n);
    }
    s->at = at;
    s->from = from;
    return true;
}

/* Room for all of a short source without white space: then none of its strings needs more. */
static void make_room_for_all(struct speller *s)
{
    enum { SHORT = 16 << 10 };
    if (s->source.len < SHORT)
        (void)make_room(s, MOST_INSIDE * s->source.len + MOST_QUOTES);
}

void pl_carry_put_source(struct pl_buf *to, struct pl_str source, const struct pl_json_doc *doc,
                         const struct pl_carry_reference *references, size_t n_references)
{
    struct speller s = {
        .to = to, .source = source, .next = references, .end = references + n_references};
    s.at = s.limit = to->ptr + to->len;
    make_room_for_all(&s);
    enum between between = doc->text.ptr != source.ptr ? BETWEEN_ANY : BETWEEN_STRICT;
    bool is_put = between == BETWEEN_ANY ? put_all(&s, BETWEEN_ANY, doc)
                  : doc->n_space         ? put_all(&s, BETWEEN_STRICT, doc)
                                         : put_all(&s, BETWEEN_TIGHT, doc);
    size_t left = source.len - s.from;
    if (!is_put || !make_room(&s, MOST_BETWEEN * left + MOST_QUOTES))
        return;
    s.at = put_between(&s, between, s.at, s.from, source.len);
    finish(&s);
}
