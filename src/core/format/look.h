/* What a value looks like: a number that is the same for the same values however they are spelled.
 * The carry knows by it which elements of the target are still there.
 *
 * The look of a string is that of its usual spelling, the one with the fewest escapes: nearly every
 * string is spelled so, and need not be decoded. */
#ifndef PL_FORMAT_LOOK_H
#define PL_FORMAT_LOOK_H

#include "base/hash.h"
#include "json/json.h"

/* One value after another: `own` is of a scalar. */
static inline uint64_t pl_look_add(uint64_t look, uint64_t own)
{
    look = (look ^ own) * 0x9E3779B97F4A7C15;
    return look ^ look >> 29;
}

/* Of a string, by what stands between its quotes; is_odd: it may be spelled in an unusual way. */
uint64_t pl_look_string(struct pl_str raw, bool is_odd);
/* The same of a word in which nothing is escaped; known to the compiler where it is a short
 * literal. */
static inline uint64_t pl_look_word(const char *word, size_t n_bytes)
{
    if (__builtin_constant_p(n_bytes) && n_bytes <= 16)
        return pl_hash_quick_word(word, n_bytes);
    return pl_look_string((struct pl_str){word, n_bytes}, false);
}
uint64_t pl_look_int(int64_t value);
/* Of null, false and true. */
static inline uint64_t pl_look_literal(enum pl_json_kind kind)
{
    return (uint64_t)kind + 1;
}

/* An element, or a part of one: adds its scalars, one after another. Neither its keys nor its
 * brackets count, so that a writer can make the same number while it writes. */
uint64_t pl_look_add_value(uint64_t look, const struct pl_json_doc *doc,
                           const struct pl_json_node *value);

/* A value whose layout is kept: everything counts but its texts, which a layout leaves out. */
uint64_t pl_look_shape(const struct pl_json_doc *doc, const struct pl_json_node *value);

#endif
