/* The arithmetic of one block, the same for every instruction set. The including file defines
 * prefix_xor() (bit i of the result is the parity of bits 0…i); quotes(), backslashes() and
 * brackets(), which make masks of the 64 bytes at p; and opens(), which selects the opening
 * brackets of a mask. */
#ifndef PL_JSON_SKIP_BLOCK_H
#define PL_JSON_SKIP_BLOCK_H

#include "json/escaped.h"
#include "json/parse/skip.h"

enum { SKIP_BLOCK = 64, SKIP_OPEN = SKIP_BLOCK + 1 };

/* A string that covers whole blocks has ended. */
static inline void end_run(struct pl_json_skip *s)
{
    size_t n_bytes = s->n_run * SKIP_BLOCK;
    bool is_long = n_bytes + 2 * SKIP_BLOCK > PL_JSON_SKIP_LONG;
    s->n_long += is_long;
    s->n_text += is_long ? 0 : n_bytes;
    s->n_run = 0;
}

/* The position after the bracket that closes the value, or SKIP_OPEN. */
static inline unsigned find_close(struct pl_json_skip *s, uint64_t open, uint64_t close)
{
    for (uint64_t left = open | close; left; left &= left - 1) {
        uint64_t bit = left & -left;
        s->depth += bit & open ? 1 : (size_t)-1;
        if (!s->depth)
            return (unsigned)__builtin_ctzll(bit) + 1;
    }
    return SKIP_OPEN;
}

/* `inside` includes opening quotes but not closing ones. */
static inline __attribute__((always_inline)) unsigned
skip_grammar(struct pl_json_skip *s, uint64_t inside, uint64_t open, uint64_t close)
{
    unsigned at = SKIP_OPEN;
    uint64_t before = UINT64_MAX;
    size_t n_open = (size_t)__builtin_popcountll(open);
    size_t n_close = (size_t)__builtin_popcountll(close);
    /* Most blocks have too few closing brackets to end the value. */
    if (__builtin_expect(n_close < s->depth, 1)) {
        s->depth += n_open - n_close;
    } else {
        at = find_close(s, open, close);
        if (at < SKIP_BLOCK)
            before = (UINT64_C(1) << at) - 1;
    }
    s->n_text += (size_t)__builtin_popcountll(inside & before);
    return at;
}

/* A partial block, filled up with spaces. */
static inline const char *fill_block(char block[SKIP_BLOCK], const char *p, size_t n_bytes)
{
    for (size_t i = 0; i < SKIP_BLOCK; i++)
        block[i] = i < n_bytes ? p[i] : ' ';
    return block;
}

/* The position after the value's end in the block, or SKIP_OPEN. */
#define SKIP_BLOCK_AT(s, block, ret_at)                                                            \
    do {                                                                                           \
        uint64_t quote = quotes(block), backslash = backslashes(block);                            \
        uint64_t escaped = pl_json_find_escaped(backslash, &(s)->is_escaped);                      \
        quote &= ~escaped;                                                                         \
        if ((s)->in_string && !quote) {                                                            \
            (s)->n_run++;                                                                          \
            (ret_at) = SKIP_OPEN;                                                                  \
            break;                                                                                 \
        }                                                                                          \
        if ((s)->n_run)                                                                            \
            end_run(s);                                                                            \
        uint64_t inside = prefix_xor(quote) ^ (s)->in_string;                                      \
        (s)->in_string = UINT64_C(0) - (inside >> 63);                                             \
        uint64_t bracket = brackets(block) & ~inside, open = bracket & opens(block);               \
        (ret_at) = skip_grammar(s, inside, open, bracket & ~open);                                 \
    } while (0)

/* The first bracket is the value's own. */
#define SKIP_BLOCKS                                                                                \
    struct pl_json_skip s = *skip; /* a private copy stays in registers */                         \
    char last[SKIP_BLOCK];                                                                         \
    size_t n_skipped = n_bytes;                                                                    \
    for (size_t off = 0; off < n_bytes; off += SKIP_BLOCK) {                                       \
        const char *block = p + off;                                                               \
        if (__builtin_expect(n_bytes - off < SKIP_BLOCK, 0))                                       \
            block = fill_block(last, block, n_bytes - off);                                        \
        unsigned at;                                                                               \
        SKIP_BLOCK_AT(&s, block, at);                                                              \
        if (__builtin_expect(at != SKIP_OPEN, 0)) {                                                \
            n_skipped = off + at;                                                                  \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    *skip = s;                                                                                     \
    return n_skipped

#endif
