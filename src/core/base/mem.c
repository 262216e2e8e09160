/* The allocator hook for all memory, and a few large blocks that are kept for the next request. */
#include "base/mem.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- large blocks -------------------------------------------------------------------------------
 *
 * A large block is returned to the system when it is freed. Allocating it again costs a fault for
 * each of its pages, which is more than the work of most requests on them. So a few are kept for
 * the next request. Any thread may put and take blocks; none waits for a slot that is empty or
 * full. */

enum { LARGE = 1 << 20, MOST_KEPT = 8 << 20, N_KEPT = 8 };

static bool keeps_large; /* set once, before the first thread starts */
static _Atomic(void *) kept[N_KEPT];

static bool keep(void *ptr)
{
    if (!ptr || malloc_usable_size(ptr) < LARGE || malloc_usable_size(ptr) > MOST_KEPT + LARGE)
        return false;
    for (size_t i = 0; i < N_KEPT; i++) {
        void *empty = NULL;
        if (atomic_compare_exchange_strong(&kept[i], &empty, ptr))
            return true;
    }
    return false;
}

static void *take_kept(size_t size)
{
    for (size_t i = 0; i < N_KEPT && size <= MOST_KEPT + LARGE; i++) {
        void *ptr = atomic_exchange(&kept[i], NULL);
        if (ptr && malloc_usable_size(ptr) >= size)
            return ptr;
        if (ptr && !keep(ptr))
            free(ptr);
    }
    return NULL;
}

static void free_kept(void)
{
    for (size_t i = 0; i < N_KEPT; i++)
        free(atomic_exchange(&kept[i], NULL));
}

/* A block that becomes large moves into a kept block, which may be larger than needed. Buffers grow
 * step by step; shrinking the block at each step would free the pages that the next step needs. */
static void *grow_large(void *ptr, size_t size)
{
    size_t old = ptr ? malloc_usable_size(ptr) : 0;
    if (old >= size && (old < 2 * size || old <= MOST_KEPT + LARGE))
        return ptr;
    void *made = old < LARGE ? take_kept(size) : NULL;
    if (!made)
        return realloc(ptr, size);
    if (old)
        memcpy(made, ptr, old < size ? old : size);
    free(ptr);
    return made;
}

static void *libc_hook(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    if (size == 0) {
        if (!keeps_large || !keep(ptr))
            free(ptr);
        return NULL;
    }
    return keeps_large && size >= LARGE ? grow_large(ptr, size) : realloc(ptr, size);
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
    free_kept();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void pl_mem_return_large(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, LARGE);
    mallopt(M_TRIM_THRESHOLD, LARGE);
    keeps_large = true;
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
