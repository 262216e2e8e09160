/* The words of a carry: one byte for a word that nearly every document has.
 *
 * Outside its strings, JSON is brackets, commas, colons, white space, numbers and three literals.
 * Every other ASCII character is free there, and stands for one word: a key with its quotes and its
 * colon, or a value of `type` or `role` with its quotes.
 *
 * The table belongs to the version of the carry (carry.h). Adding, removing or moving a word makes
 * a new version. */
#ifndef PL_CARRY_WORDS_H
#define PL_CARRY_WORDS_H

#include "base/str.h"
#include "json/scan16.h"

#include <stdint.h>
#include <string.h>

/* Marks a character outside strings that is not a word but part of a comment. */
#define PL_CARRY_ITSELF '^'

/* The keys whose values may be words. */
#define PL_CARRY_TYPE 'Y'
#define PL_CARRY_ROLE 'R'

/* Each word with its quotes, by its character: `"role":` or `"user"`. */
enum { PL_CARRY_MOST_WORD = 28 };
struct pl_carry_known {
    char text[PL_CARRY_MOST_WORD];
    uint16_t within; /* a bit for each of its first sixteen bytes */
    uint8_t len;     /* 0: not a word */
};
extern const struct pl_carry_known pl_carry_words[128];

static inline struct pl_str pl_carry_word(char c)
{
    unsigned char at = (unsigned char)c;
    return at < 128 ? (struct pl_str){pl_carry_words[at].text, pl_carry_words[at].len}
                    : (struct pl_str){0};
}

/* The only word that a string may be is found by the hash that a key has in its node
 * (json/key_hash.h). */
enum { PL_CARRY_SLOTS = 128, PL_CARRY_SPREAD = 63937 };
extern const char pl_carry_keys[PL_CARRY_SLOTS], pl_carry_values[PL_CARRY_SLOTS];

/* The character of the word that the text of `len` bytes is, with its quotes and, for a key, its
 * colon; 0: none. `slots` are those of keys or of values of `type` and `role`; `hash` is that of the
 * string. Sixteen bytes must be readable: they are compared at once. */
static inline char pl_carry_find(const char slots[static PL_CARRY_SLOTS], const char *text,
                                 size_t len, uint32_t hash)
{
    char c = slots[hash * PL_CARRY_SPREAD >> 25];
    const struct pl_carry_known *known = &pl_carry_words[(unsigned char)c];
    if (~pl_scan16_same(text, known->text) & known->within)
        return '\0';
    if (known->len > PL_SCAN16 &&
        (len != known->len ||
         memcmp(text + PL_SCAN16, known->text + PL_SCAN16, len - PL_SCAN16) != 0))
        return '\0';
    return c;
}

#endif
