#include "base/mem.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static void *libc_hook(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, size);
}

static pl_mem_fn *hook = libc_hook;
static void *hook_ctx;

void pl_mem_set_hook(pl_mem_fn *fn, void *ctx)
{
    hook = fn ? fn : libc_hook;
    hook_ctx = fn ? ctx : NULL;
}

void *pl_mem_grow(void *ptr, size_t n, size_t size)
{
    size_t n_bytes;
    if (__builtin_mul_overflow(n, size, &n_bytes) || n_bytes == 0)
        return NULL;
    return hook(hook_ctx, ptr, n_bytes);
}

void *pl_mem_alloc(size_t n, size_t size)
{
    return pl_mem_grow(NULL, n, size);
}

void pl_mem_free(void *ptr)
{
    if (ptr)
        hook(hook_ctx, ptr, 0);
}

void pl_mem_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* A block of its own costs two system calls and its pages once: little beside the work on a
 * document of this size. */
void pl_mem_return_large(void)
{
#ifdef __GLIBC__
    enum { LARGE = 1 << 20, FREE_AT_THE_END = 1 << 20 };
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, FREE_AT_THE_END);
#endif
}

void pl_mem_clear(void *ptr, size_t n_bytes)
{
    memset(ptr, 0, n_bytes);
}

void pl_mem_free_var(void *pointer_to_pointer)
{
    pl_mem_free(*(void **)pointer_to_pointer);
}
