/* JSON strings: decoding and encoding. */
#ifndef PL_JSON_TEXT_H
#define PL_JSON_TEXT_H

#include "base/ascii.h"
#include "base/buf.h"
#include "json/json.h"

/* Every function here takes any node. A node that is not a string has no text: it reads as empty,
 * but is not equal to any text, not even to the empty one. */

/* The decoded text of a string node: a view of the source if nothing is escaped, otherwise arena
 * memory. A lone surrogate becomes U+FFFD. PL_NOMEM is the only failure. */
enum pl_status pl_json_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                            const struct pl_json_node *string, struct pl_str *ret_text);

/* The text of the string member `key` of an object (NULL: none). Empty if there is no such string, or
 * when out of memory. */
struct pl_str pl_json_member_text(struct pl_arena *arena, const struct pl_json_doc *doc,
                                  const struct pl_json_node *object, const char *key);

/* Decodes raw (valid, without the quotes) into `to`, which has room for raw.len bytes and does not
 * overlap it; returns the number of bytes written. Decoding never makes a string longer. */
size_t pl_json_decode(char *to, struct pl_str raw);
size_t pl_json_decode_with(enum pl_cpu cpu, char *to, struct pl_str raw);

/* The code unit of the four digits of an escape: 0x20ac for "20ac". */
static inline uint32_t pl_json_unit(const char *digits)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)pl_ascii_hex(digits[i]);
    return unit;
}

/* Code points of the decoded string (a lone surrogate counts as one). Allocates nothing. */
size_t pl_json_text_count(const struct pl_json_doc *doc, const struct pl_json_node *string);

/* Whether the decoded string equals `text`. Allocates nothing. */
bool pl_json_text_is(const struct pl_json_doc *doc, const struct pl_json_node *string,
                     struct pl_str text);

/* The same for short texts that rarely have an escape: two overlapping words cover any length up to
 * sixteen. */
static inline bool pl_json_key_is(const struct pl_json_doc *doc, const struct pl_json_node *string,
                                  struct pl_str text)
{
    /* Reads stay inside the span of any value. The kind is checked last, since few values get this
     * far. */
    struct pl_str raw = {doc->text.ptr + string->off + 1, string->len - 2u};
    if (__builtin_expect(string->tag & PL_JSON_ESCAPED, 0))
        return pl_json_text_is(doc, string, text);
    if (raw.len != text.len)
        return false;
    bool is_same;
    if (raw.len >= 8 && raw.len <= 16) {
        uint64_t first[2], last[2];
        memcpy(&first[0], raw.ptr, 8);
        memcpy(&first[1], text.ptr, 8);
        memcpy(&last[0], raw.ptr + raw.len - 8, 8);
        memcpy(&last[1], text.ptr + raw.len - 8, 8);
        is_same = first[0] == first[1] && last[0] == last[1];
    } else if (raw.len >= 4 && raw.len < 8) {
        uint32_t first[2], last[2];
        memcpy(&first[0], raw.ptr, 4);
        memcpy(&first[1], text.ptr, 4);
        memcpy(&last[0], raw.ptr + raw.len - 4, 4);
        memcpy(&last[1], text.ptr + raw.len - 4, 4);
        is_same = first[0] == first[1] && last[0] == last[1];
    } else {
        is_same = pl_str_eq(raw, text);
    }
    return is_same && pl_json_kind(string) == PL_JSON_STRING;
}

/* Whether two string nodes (of one document or two) have the same decoded text. Allocates
 * nothing. */
bool pl_json_text_same(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                       const struct pl_json_doc *b_doc, const struct pl_json_node *b);

/* Order of two strings by their decoded UTF-8 bytes, like pl_str_cmp. Allocates nothing. */
int pl_json_text_cmp(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                     const struct pl_json_doc *b_doc, const struct pl_json_node *b);

/* Appends `text` (valid UTF-8) as a JSON string with quotes; escapes only what must be escaped. */
void pl_json_quote(struct pl_buf *to, struct pl_str text);
void pl_json_quote_with(enum pl_cpu cpu, struct pl_buf *to, struct pl_str text);

/* The same for whole[from, end), after the byte `before`. Faster for short pieces, since it may
 * read the bytes after one. */
void pl_json_quote_slice(struct pl_buf *to, char before, struct pl_str whole, size_t from,
                         size_t end);

/* Spells one byte of the text as pl_json_quote() does: writes at most PL_JSON_MOST_ESCAPE bytes,
 * returns how many. */
enum { PL_JSON_MOST_ESCAPE = 6 };
size_t pl_json_escape(char *to, char c);
/* The same for a whole text; returns the end. There must be room for it and PL_JSON_SLACK more, and
 * the bytes up to `readable` may be read. */
enum { PL_JSON_SLACK = 64 };
char *pl_json_escape_text(char *to, struct pl_str text, const char *readable);

/* 24 bits over the decoded bytes of a key. Not keyed: only for finding a key among the few of a
 * schema or object; a match is always confirmed by comparing bytes. */
uint32_t pl_json_key_hash(struct pl_str key);

/* Whether a string has half of a surrogate pair, which no decoded text can have. */
bool pl_json_has_half(const struct pl_json_doc *doc, const struct pl_json_node *string);

/* Decodes a string byte by byte, without allocating. */
struct pl_json_walk {
    const char *at, *end; /* between the quotes, escaped */
    char pending[4];      /* remaining bytes of the current escape */
    uint8_t n_pending, next_pending;
};
struct pl_json_walk pl_json_walk(const struct pl_json_doc *doc, const struct pl_json_node *string);
/* The next decoded byte (0-255) or -1 at the end. */
int pl_json_walk_next(struct pl_json_walk *walk);

#endif
