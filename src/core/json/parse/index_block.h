/* The mask arithmetic of one block, the same for every instruction set. The including file defines
 * prefix_xor() (bit i of the result is the parity of bits 0…i) and put_offsets() (appends off + i
 * for every set bit i), and calls index_block() with its masks. */
#ifndef PL_JSON_INDEX_BLOCK_H
#define PL_JSON_INDEX_BLOCK_H

#include "json/escaped.h"
#include "json/parse/index.h"

struct block_classes {
    uint64_t quote, backslash, op, space, control, not_ascii;
    uint64_t letter; /* a simple escape letter after a backslash: one of "\\bfnrt */
};

/* Turns the classes of the last 64 bytes of the text into those of a block that begins with the
 * last n_bytes; the rest of the block counts as white space. */
static inline __attribute__((always_inline)) void keep_last(struct block_classes *c, size_t n_bytes)
{
    unsigned shift = (unsigned)(PL_JSON_BLOCK - n_bytes);
    c->quote >>= shift;
    c->backslash >>= shift;
    c->op >>= shift;
    c->space = c->space >> shift | ~0ull << n_bytes;
    c->control >>= shift;
    c->not_ascii >>= shift;
    c->letter >>= shift;
}

/* Selects the backslashes that stage two must see: the first of each string, which marks the string
 * as escaped, and those whose letter needs a check or is in the next block. A one added to the
 * opening quote of a string carries through all bytes up to the first escape. */
static inline __attribute__((always_inline)) uint64_t find_escapes(struct pl_json_masks *m,
                                                                   uint64_t escape, uint64_t letter,
                                                                   uint64_t inside,
                                                                   uint64_t opening)
{
    uint64_t sum;
    uint64_t carry = __builtin_add_overflow(inside & ~escape, opening | m->is_plain, &sum);
    m->is_plain = carry;
    return escape & (sum | ~(letter >> 1));
}

/* The block is only string content, without the closing quote: only escapes can be tokens. */
static inline __attribute__((always_inline)) bool
is_words(const struct pl_json_masks *m, uint64_t quote, uint64_t control, uint64_t escaped)
{
    return m->in_string && !((quote & ~escaped) | control);
}

static inline __attribute__((always_inline)) void
index_words(struct pl_json_masks *m, uint64_t escape, uint64_t letter, uint32_t off)
{
    m->in_scalar = 0;
    escape = find_escapes(m, escape, letter, ~0ull, 0);
    if (escape)
        m->tokens = put_offsets(m->tokens, escape, off);
}

static inline __attribute__((always_inline)) void index_grammar(struct pl_json_masks *m,
                                                                const struct block_classes *c,
                                                                uint64_t escaped, uint32_t off)
{
    uint64_t quote = c->quote & ~escaped;
    /* `inside` includes opening quotes but not closing ones. */
    uint64_t inside = prefix_xor(quote) ^ m->in_string;
    m->in_string = UINT64_C(0) - (inside >> 63);

    uint64_t bad = c->control & inside;
    if (__builtin_expect(bad != 0 && m->bad_control == UINT32_MAX, 0))
        m->bad_control = off + (uint32_t)__builtin_ctzll(bad);

    uint64_t scalar = ~(c->op | c->space | quote | inside);
    uint64_t scalar_start = scalar & ~(scalar << 1 | m->in_scalar);
    m->in_scalar = scalar >> 63;
    m->n_space += (uint64_t)__builtin_popcountll(c->space & ~inside);

    uint64_t escape =
        find_escapes(m, c->backslash & ~escaped & inside, c->letter, inside, quote & inside);
    m->tokens = put_offsets(m->tokens, (c->op & ~inside) | quote | scalar_start | escape, off);
}

/* Indexes a block with known classes. */
static inline __attribute__((always_inline)) void
index_block(struct pl_json_masks *m, const struct block_classes *c, uint32_t off)
{
    m->not_ascii |= c->not_ascii;
    if (!(c->quote | c->backslash | c->control) && m->in_string) {
        m->is_escaped = m->in_scalar = 0;
        return;
    }
    uint64_t escaped = pl_json_find_escaped(c->backslash, &m->is_escaped);
    if (is_words(m, c->quote, c->control, escaped))
        index_words(m, c->backslash & ~escaped, c->letter, off);
    else
        index_grammar(m, c, escaped, off);
}

#endif
