/* The one door to the heap. Everything in Parley allocates here, so that a test can fail the Nth
 * allocation and an embedder can bring its own allocator. The hook and the hash key (hash.h) are
 * the only process-wide variables of core; both are set before the first thread starts. */
#ifndef PL_BASE_MEM_H
#define PL_BASE_MEM_H

#include <stddef.h>

/* realloc-like: size 0 frees and returns NULL; ptr NULL allocates. NULL means out of memory. */
typedef void *pl_mem_fn(void *ctx, void *ptr, size_t size);

/* Passing NULL restores the C library's allocator. */
void pl_mem_set_hook(pl_mem_fn *fn, void *ctx);

/* NULL on failure, also for n * size that overflows. Memory is not zeroed. */
void *pl_mem_alloc(size_t n, size_t size);
void *pl_mem_grow(void *ptr, size_t n, size_t size);
void pl_mem_free(void *ptr);

/* Returns freed memory to the system, as far as whole pages are free. Takes milliseconds: not on a
 * thread that serves. */
void pl_mem_trim(void);

/* For a process that lives long: what is freed of large blocks goes back to the system at once, but
 * for eight of them, of at most 9 MiB each, which are used again. By itself the C library raises its
 * idea of "large" to 32 MiB with the first such block that is freed, and from then on keeps the
 * holes that documents leave in the heap of each thread. */
void pl_mem_return_large(void);

/* memset to zero where the compiler would make a slow loop of a size it knows. */
void pl_mem_clear(void *ptr, size_t n_bytes);

/* For the cleanup attribute on a pointer variable: frees its target. */
void pl_mem_free_var(void *pointer_to_pointer);
#define PL_CLEANUP_FREE __attribute__((cleanup(pl_mem_free_var)))

/* Hands an owning local on: reads the variable and sets it to NULL. */
#define PL_TAKE(var)                                                                               \
    ({                                                                                             \
        __typeof__(var) taken_ = (var);                                                            \
        (var) = NULL;                                                                              \
        taken_;                                                                                    \
    })

#endif
