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

#include <stdint.h>
#include <string.h>

/* Marks a character outside strings that is not a word but part of a comment. */
#define PL_CARRY_ITSELF '^'

/* The keys whose values may be words. */
#define PL_CARRY_TYPE 'Y'
#define PL_CARRY_ROLE 'R'

/* Each word with its quotes, by its character: `"role":` or `"user"`. Empty: not a word. */
extern const struct pl_str pl_carry_words[128];

/* A word is looked up in the slot that pl_carry_slot() gives it. */
enum { PL_CARRY_SLOTS = 128 };
extern const char pl_carry_keys[PL_CARRY_SLOTS], pl_carry_values[PL_CARRY_SLOTS];

static inline struct pl_str pl_carry_word(char c)
{
    unsigned char at = (unsigned char)c;
    return at < 128 ? pl_carry_words[at] : (struct pl_str){0};
}

static inline size_t pl_carry_slot(struct pl_str word)
{
    const unsigned char *p = (const unsigned char *)word.ptr;
    return (p[0] * 45u + p[word.len - 1] * 54u + word.len * 62u + p[word.len / 2] * 40u) %
           PL_CARRY_SLOTS;
}

/* Every string of every source is looked up, so up to sixteen bytes are compared as two overlapping
 * numbers. */
static inline bool pl_carry_is_same(const char *a, const char *b, size_t n)
{
    uint64_t first[2] = {0}, last[2] = {0};
    if (n < 4 || n > 16)
        return !memcmp(a, b, n);
    if (n < 8) {
        memcpy(&first[0], a, 4);
        memcpy(&first[1], b, 4);
        memcpy(&last[0], a + n - 4, 4);
        memcpy(&last[1], b + n - 4, 4);
    } else {
        memcpy(&first[0], a, 8);
        memcpy(&first[1], b, 8);
        memcpy(&last[0], a + n - 8, 8);
        memcpy(&last[1], b + n - 8, 8);
    }
    return first[0] == first[1] && last[0] == last[1];
}

/* The character of a word, given without quotes; 0: not a word. `slots` are those of keys or of
 * values of `type` and `role`, and n_around is the number of other bytes in their words. */
enum { PL_CARRY_AROUND_KEY = 3, PL_CARRY_AROUND_VALUE = 2 };
static inline char pl_carry_find(const char slots[static PL_CARRY_SLOTS], size_t n_around,
                                 struct pl_str word)
{
    char c = word.len ? slots[pl_carry_slot(word)] : '\0';
    const struct pl_str *known = &pl_carry_words[(unsigned char)c];
    bool is_it =
        known->len == word.len + n_around && pl_carry_is_same(known->ptr + 1, word.ptr, word.len);
    return is_it ? c : '\0';
}

#endif
