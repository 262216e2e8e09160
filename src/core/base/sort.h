/* A stable merge sort of pointers: the C library's qsort may allocate on its own and is not stable.
 */
#ifndef PL_BASE_SORT_H
#define PL_BASE_SORT_H

#include <stddef.h>

/* Less than, equal to or greater than zero, like strcmp. */
typedef int pl_order_fn(const void *ctx, const void *a, const void *b);

/* Sorts items[0 … n); scratch has room for n. At most n log n comparisons, n when sorted already.
 */
void pl_sort(const void **items, const void **scratch, size_t n, pl_order_fn *order,
             const void *ctx);

#endif
