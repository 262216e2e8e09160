#include "base/overlap.h"

/* A block that memcmp() compares with the widest instructions. */
enum { BLOCK = 4096, WORD = sizeof(uint64_t) };

static inline bool is_same_word(const char *a, const char *b)
{
    uint64_t x, y;
    memcpy(&x, a, WORD);
    memcpy(&y, b, WORD);
    return x == y;
}

size_t pl_overlap_head(struct pl_str a, struct pl_str b)
{
    size_t n = 0, most = a.len < b.len ? a.len : b.len;
    while (most - n >= BLOCK && !memcmp(a.ptr + n, b.ptr + n, BLOCK))
        n += BLOCK;
    while (most - n >= WORD && is_same_word(a.ptr + n, b.ptr + n))
        n += WORD;
    while (n < most && a.ptr[n] == b.ptr[n])
        n++;
    return n;
}

size_t pl_overlap_tail(struct pl_str a, struct pl_str b)
{
    size_t n = 0, most = a.len < b.len ? a.len : b.len;
    if (!most)
        return 0;
    const char *x = a.ptr + a.len, *y = b.ptr + b.len; /* the ends of what is left */
    while (most - n >= BLOCK && !memcmp(x - n - BLOCK, y - n - BLOCK, BLOCK))
        n += BLOCK;
    while (most - n >= WORD && is_same_word(x - n - WORD, y - n - WORD))
        n += WORD;
    while (n < most && x[-1 - (ptrdiff_t)n] == y[-1 - (ptrdiff_t)n])
        n++;
    return n;
}
