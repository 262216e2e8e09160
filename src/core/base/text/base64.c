/* Checks first, then decodes: text that is not canonical base64 appends nothing. */
#include "base/text/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool pl_base64_size(struct pl_str text, size_t *ret_size)
{
    if (text.len % 4 != 0)
        return false;
    size_t n_pad = 0;
    while (n_pad < 2 && n_pad < text.len && text.ptr[text.len - 1 - n_pad] == '=')
        n_pad++;
    size_t n_chars = text.len - n_pad;
    for (size_t i = 0; i < n_chars; i++)
        if (pl_base64_digit((unsigned char)text.ptr[i]) < 0)
            return false;
    if (n_pad) {
        int last = pl_base64_digit((unsigned char)text.ptr[n_chars - 1]);
        if (last & (n_pad == 2 ? 0x0F : 0x03))
            return false;
    }
    *ret_size = text.len / 4 * 3 - n_pad;
    return true;
}

enum pl_status pl_base64_decode(struct pl_buf *to, struct pl_str text)
{
    size_t size;
    if (!pl_base64_size(text, &size))
        return PL_SYNTAX;
    char *out = size ? pl_buf_reserve(to, size) : NULL;
    if (!out)
        return to->status;
    uint32_t bits = 0;
    size_t n = 0;
    for (size_t i = 0; n < size; i++) {
        bits = bits << 6 | (uint32_t)pl_base64_digit((unsigned char)text.ptr[i]);
        if (i % 4 == 0)
            continue;
        out[n++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    to->len += size;
    return PL_OK;
}

size_t pl_base64_decode_head(struct pl_str text, char *to, size_t n)
{
    uint32_t bits = 0;
    size_t n_done = 0;
    for (size_t i = 0; i < text.len && n_done < n; i++) {
        int value = pl_base64_digit((unsigned char)text.ptr[i]);
        if (value < 0)
            break;
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0)
            to[n_done++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    return n_done;
}

void pl_base64_encode(struct pl_buf *to, struct pl_str bytes)
{
    size_t size;
    if (bytes.len == 0)
        return;
    if (__builtin_mul_overflow((bytes.len - 1) / 3 + 1, (size_t)4, &size)) {
        to->status = to->status == PL_OK ? PL_LIMIT : to->status;
        return;
    }
    char *out = pl_buf_reserve(to, size);
    if (!out)
        return;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        const unsigned char *in = (const unsigned char *)bytes.ptr + i;
        uint32_t bits =
            (uint32_t)in[0] << 16 | (left > 1 ? (uint32_t)in[1] << 8 : 0) | (left > 2 ? in[2] : 0u);
        *out++ = alphabet[bits >> 18];
        *out++ = alphabet[bits >> 12 & 63];
        *out++ = left > 1 ? alphabet[bits >> 6 & 63] : '=';
        *out++ = left > 2 ? alphabet[bits & 63] : '=';
    }
    to->len += size;
}
