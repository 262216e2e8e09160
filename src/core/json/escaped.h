/* Finds the escaped bytes in a block of 64. */
#ifndef PL_JSON_ESCAPED_H
#define PL_JSON_ESCAPED_H

#include <stdint.h>

/* The bytes after an odd run of backslashes. Adding the runs that start on an odd bit to all
 * backslashes carries through each run; the position of the carry gives its parity. *is_escaped is
 * 1 if the block before escapes the first byte; set to the same for the next block. */
static inline __attribute__((always_inline)) uint64_t pl_json_find_escaped(uint64_t backslash,
                                                                           uint64_t *is_escaped)
{
    const uint64_t even_bits = 0x5555555555555555;
    uint64_t first = *is_escaped;
    if (!backslash) {
        *is_escaped = 0;
        return first;
    }
    backslash &= ~first;
    uint64_t follows = backslash << 1 | first;
    uint64_t odd_starts = backslash & ~even_bits & ~follows;
    uint64_t runs;
    *is_escaped = __builtin_add_overflow(odd_starts, backslash, &runs);
    return (even_bits ^ runs << 1) & follows;
}

#endif
