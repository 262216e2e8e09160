/* A view of bytes that something else owns. It must not outlive its source and is not
 * NUL-terminated. */
#ifndef PL_BASE_STR_H
#define PL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pl_str {
    const char *ptr; /* borrowed; may be NULL only when len is 0 */
    size_t len;
};

#define PL_STR(literal) ((struct pl_str){(literal), sizeof(literal) - 1})

/* For printf: printf("%.*s", PL_STR_ARG(s)). */
#define PL_STR_ARG(s) (int)(s).len, (s).ptr

static inline struct pl_str pl_str_of(const char *cstr)
{
    return (struct pl_str){cstr, cstr ? strlen(cstr) : 0};
}

/* memcpy of a few bytes without a call: two overlapping loads cover any length up to sixteen. */
__attribute__((always_inline)) static inline void pl_bytes_copy(char *to, const char *from,
                                                                size_t n)
{
    if (n >= 8 && n <= 16) {
        uint64_t first, last;
        memcpy(&first, from, 8);
        memcpy(&last, from + (n - 8), 8);
        memcpy(to, &first, 8);
        memcpy(to + (n - 8), &last, 8);
    } else if (n >= 4 && n < 8) {
        uint32_t first, last;
        memcpy(&first, from, 4);
        memcpy(&last, from + (n - 4), 4);
        memcpy(to, &first, 4);
        memcpy(to + (n - 4), &last, 4);
    } else if (n) {
        memcpy(to, from, n);
    }
}

static inline bool pl_str_eq(struct pl_str a, struct pl_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool pl_str_starts(struct pl_str s, struct pl_str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

/* The same for a word of a table. Most words differ in the first byte, so their length is not
 * computed. */
static inline bool pl_str_begins(struct pl_str s, const char *word)
{
    size_t i = 0;
    while (i < s.len && word[i] && s.ptr[i] == word[i])
        i++;
    return !word[i];
}

/* Byte order; a prefix comes first: the order of canonical JSON keys. */
static inline int pl_str_cmp(struct pl_str a, struct pl_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* The first occurrence of `part` (not empty) in s; SIZE_MAX if not found. */
static inline size_t pl_str_find(struct pl_str s, struct pl_str part)
{
    const char *at = s.ptr, *end = s.ptr + s.len;
    while (at && (size_t)(end - at) >= part.len) {
        at = memchr(at, part.ptr[0], (size_t)(end - at) - part.len + 1);
        if (at && memcmp(at, part.ptr, part.len) == 0)
            return (size_t)(at - s.ptr);
        at = at ? at + 1 : NULL;
    }
    return SIZE_MAX;
}

/* The bytes from `from` up to `to`, both clamped. */
static inline struct pl_str pl_str_slice(struct pl_str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    return (struct pl_str){s.ptr ? s.ptr + from : NULL, to - from};
}

#endif
