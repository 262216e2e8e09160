/* The parts of a buffer that are not inline: growing, formatting and deinit. */
#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>

enum { FIRST_CAP = 256 };

void pl_buf_init(struct pl_buf *buf, size_t max)
{
    *buf = (struct pl_buf){.max = max ? max : SIZE_MAX};
}

void pl_buf_deinit(struct pl_buf *buf)
{
    pl_mem_free(buf->ptr);
    *buf = (struct pl_buf){.max = buf->max};
}

void pl_buf_clear(struct pl_buf *buf)
{
    buf->len = 0;
    buf->status = PL_OK;
}

char *pl_buf_grow(struct pl_buf *buf, size_t n)
{
    size_t need;
    assert(buf->len <= buf->cap && (buf->ptr || !buf->cap));
    if (buf->status != PL_OK)
        return NULL;
    if (__builtin_add_overflow(buf->len, n, &need) || need > buf->max) {
        buf->status = PL_LIMIT;
        return NULL;
    }
    size_t cap = buf->cap ? buf->cap : FIRST_CAP;
    while (cap < need && !__builtin_mul_overflow(cap, (size_t)2, &cap))
        continue;
    if (cap < need)
        cap = need;
    if (cap > buf->max)
        cap = buf->max;
    /* One spare byte after cap: vsnprintf writes a NUL there. */
    char *ptr = cap < SIZE_MAX ? pl_mem_grow(buf->ptr, cap + 1, 1) : NULL;
    if (!ptr) {
        buf->status = PL_NOMEM;
        return NULL;
    }
    buf->ptr = ptr;
    buf->cap = cap;
    return ptr + buf->len;
}

void pl_buf_fill(struct pl_buf *buf, char c, size_t n)
{
    char *to = n ? pl_buf_reserve(buf, n) : NULL;
    if (!to)
        return;
    memset(to, c, n);
    buf->len += n;
}

void pl_buf_addf(struct pl_buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 && buf->status == PL_OK)
        buf->status = PL_LIMIT; /* longer than INT_MAX */
    char *to = n > 0 ? pl_buf_reserve(buf, (size_t)n) : NULL;
    if (to) {
        vsnprintf(to, (size_t)n + 1, format, again);
        buf->len += (size_t)n;
    }
    va_end(again);
}

void pl_buf_addu(struct pl_buf *buf, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    pl_buf_add(buf, (struct pl_str){digits + at, sizeof digits - at});
}
