/* A growing byte buffer with a cap and a sticky failure: append as much as you like and check once,
 * at the end. After a failure every call does nothing; the bytes written before stay readable. */
#ifndef PL_BASE_BUF_H
#define PL_BASE_BUF_H

#include "base/status.h"
#include "base/str.h"

struct pl_buf {
    char *ptr; /* owned */
    size_t len, cap;
    size_t max;            /* len never exceeds it */
    enum pl_status status; /* PL_OK, PL_NOMEM or PL_LIMIT; sticky */
};

/* Takes no memory yet. max 0 means no cap. */
void pl_buf_init(struct pl_buf *buf, size_t max);
void pl_buf_deinit(struct pl_buf *buf);
#define PL_CLEANUP_BUF __attribute__((cleanup(pl_buf_deinit)))

/* Empties the buffer and clears its failure; keeps the memory. */
void pl_buf_clear(struct pl_buf *buf);

/* Room for n more bytes at ptr + len, or NULL. The caller writes them and adds to len. */
char *pl_buf_grow(struct pl_buf *buf, size_t n); /* the slow path: allocates */
static inline char *pl_buf_reserve(struct pl_buf *buf, size_t n)
{
    if (__builtin_expect(buf->status == PL_OK && buf->cap - buf->len >= n && buf->ptr, 1))
        return buf->ptr + buf->len;
    return pl_buf_grow(buf, n);
}

static inline void pl_buf_add(struct pl_buf *buf, struct pl_str s)
{
    char *to = s.len ? pl_buf_reserve(buf, s.len) : NULL;
    if (!to)
        return;
    memcpy(to, s.ptr, s.len);
    buf->len += s.len;
}

static inline void pl_buf_addc(struct pl_buf *buf, char c)
{
    char *to = pl_buf_reserve(buf, 1);
    if (!to)
        return;
    *to = c;
    buf->len++;
}

void pl_buf_fill(struct pl_buf *buf, char c, size_t n);
void pl_buf_addf(struct pl_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends the digits of a number, without printf. */
void pl_buf_addu(struct pl_buf *buf, uint64_t number);

static inline void pl_buf_adds(struct pl_buf *buf, const char *cstr)
{
    pl_buf_add(buf, pl_str_of(cstr));
}

static inline struct pl_str pl_buf_str(const struct pl_buf *buf)
{
    return (struct pl_str){buf->ptr, buf->len};
}

#endif
