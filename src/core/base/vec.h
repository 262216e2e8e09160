/* A typed vector on the heap: PL_VEC(struct thing) things = {0}; indexes stay valid, pointers do
 * not. */
#ifndef PL_BASE_VEC_H
#define PL_BASE_VEC_H

#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>

#define PL_VEC(type)                                                                               \
    struct {                                                                                       \
        type *ptr; /* owned */                                                                     \
        size_t len, cap;                                                                           \
    }

/* Room for n elements in all; false when out of memory, the vector is unchanged. */
bool pl_vec_grow(void **ptr, size_t *cap, size_t n, size_t size);

/* True when `value` was appended; false when out of memory. */
#define pl_vec_push(vec, ...)                                                                      \
    (((vec)->len < (vec)->cap ||                                                                   \
      pl_vec_grow((void **)&(vec)->ptr, &(vec)->cap, (vec)->len + 1, sizeof *(vec)->ptr)) &&       \
     ((vec)->ptr[(vec)->len++] = (__VA_ARGS__), true))

/* Room for n elements in all; false when out of memory. */
#define pl_vec_reserve(vec, n)                                                                     \
    pl_vec_grow((void **)&(vec)->ptr, &(vec)->cap, (n), sizeof *(vec)->ptr)

/* A pointer to a new element, not yet filled in; NULL when out of memory. */
#define pl_vec_add(vec)                                                                            \
    ((vec)->len < (vec)->cap ||                                                                    \
             pl_vec_grow((void **)&(vec)->ptr, &(vec)->cap, (vec)->len + 1, sizeof *(vec)->ptr)    \
         ? &(vec)->ptr[(vec)->len++]                                                               \
         : NULL)

#define pl_vec_deinit(vec)                                                                         \
    (pl_mem_free((vec)->ptr), (vec)->ptr = NULL, (vec)->len = (vec)->cap = 0, (void)0)

#endif
