/* The only access to the heap. All of Parley allocates here, so that a test can fail the Nth
 * allocation and an embedder can use its own allocator. The hook and the hash key (hash.h) are the
 * only process-wide variables of core; both are set before the first thread starts. */
#ifndef PL_BASE_MEM_H
#define PL_BASE_MEM_H

#include <stddef.h>

/* realloc-like: size 0 frees and returns NULL; ptr NULL allocates. NULL means out of memory. */
typedef void *pl_mem_fn(void *ctx, void *ptr, size_t size);

/* Passing NULL restores the C library's allocator. */
void pl_mem_set_hook(pl_mem_fn *fn, void *ctx);

/* NULL on failure, also if n * size overflows. Memory is not zeroed. */
void *pl_mem_alloc(size_t n, size_t size);
void *pl_mem_grow(void *ptr, size_t n, size_t size);
void pl_mem_free(void *ptr);

/* Returns freed memory to the system, as far as whole pages are free. Takes milliseconds: do not
 * call it on a thread that serves requests. */
void pl_mem_trim(void);

/* For a long-running process: a freed large block is returned to the system at once, except for
 * eight blocks of at most 9 MiB each, which are reused. Otherwise the C library raises its
 * threshold for "large" up to 32 MiB when the first such block is freed, and from then on keeps the
 * holes that documents leave in each thread's heap. */
void pl_mem_return_large(void);

/* memset to zero, where the compiler would turn a known size into a slow loop. */
void pl_mem_clear(void *ptr, size_t n_bytes);

/* For the cleanup attribute on a pointer variable: frees its target. */
void pl_mem_free_var(void *pointer_to_pointer);
#define PL_CLEANUP_FREE __attribute__((cleanup(pl_mem_free_var)))

/* Transfers ownership from a local: reads the variable and sets it to NULL. */
#define PL_TAKE(var)                                                                               \
    ({                                                                                             \
        __typeof__(var) taken_ = (var);                                                            \
        (var) = NULL;                                                                              \
        taken_;                                                                                    \
    })

#endif
