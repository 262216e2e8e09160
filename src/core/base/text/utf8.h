/* UTF-8 (RFC 3629): shortest forms only, no surrogates, nothing above U+10FFFF. */
#ifndef PL_BASE_UTF8_H
#define PL_BASE_UTF8_H

#include "base/cpu.h"
#include "base/str.h"

#include <stdint.h>

/* Length of the longest valid prefix; s.len if all of it is valid. A sequence cut off at the end is
 * not valid: the prefix ends before it. */
size_t pl_utf8_valid_prefix(struct pl_str s);
static inline bool pl_utf8_is_valid(struct pl_str s)
{
    return pl_utf8_valid_prefix(s) == s.len;
}

/* The same for a given instruction set, for tests. */
size_t pl_utf8_valid_prefix_with(enum pl_cpu cpu, struct pl_str s);

/* Whether `tail` is the beginning of one sequence that only lacks bytes: the possible rest of valid
 * text that was cut anywhere. */
bool pl_utf8_is_cut(struct pl_str tail);

/* Code points in valid UTF-8 (bytes that are not continuation bytes). */
size_t pl_utf8_count(struct pl_str s);

/* Decodes the code point at s[*at] and moves *at past it; -1 (moving one byte) when invalid. */
int32_t pl_utf8_next(struct pl_str s, size_t *at);

/* Writes 1 to 4 bytes and returns how many. A surrogate is written in three bytes: callers that
 * must not do that check first. */
size_t pl_utf8_put(char to[4], uint32_t code_point);

#endif
