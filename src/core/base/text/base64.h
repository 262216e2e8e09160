/* Base64 (RFC 4648, with padding): strict on reading, one spelling on writing. */
#ifndef PL_BASE_BASE64_H
#define PL_BASE_BASE64_H

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

/* Value of a character of the standard alphabet, or -1. Arithmetic instead of a table: it is short
 * and inlines. */
static inline int pl_base64_digit(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Size of the decoded bytes; false if `text` is not canonical base64 (stray character, wrong
 * padding, non-zero unused bits). Does not decode. */
bool pl_base64_size(struct pl_str text, size_t *ret_size);

/* Appends the decoded bytes; PL_SYNTAX if text is not base64 (then nothing is appended). */
enum pl_status pl_base64_decode(struct pl_buf *to, struct pl_str text);

/* Decodes the first n bytes at most and returns how many, for callers that need only the beginning:
 * the rest is not checked. */
size_t pl_base64_decode_head(struct pl_str text, char *to, size_t n);

void pl_base64_encode(struct pl_buf *to, struct pl_str bytes);

#endif
