/* Which bytes of a block of 64 are escaped. */
#ifndef PL_JSON_ESCAPED_H
#define PL_JSON_ESCAPED_H

#include <stdint.h>

/* Those after an odd run of backslashes. Adding the runs that start on an odd bit to all
 * backslashes carries through each run; where it comes out says its parity. *is_escaped is 1 if the
 * first byte is escaped by the block before, and then whether that of the next block is. */
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
