#include "base/sort.h"

#include <string.h>

void pl_sort(const void **items, const void **scratch, size_t n, pl_order_fn *order,
             const void *ctx)
{
    const void **from = items, **to = scratch;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t start = 0; start < n; start += 2 * width) {
            size_t left = start, middle = n - start < width ? n : start + width;
            size_t right = middle, end = n - middle < width ? n : middle + width;
            if (middle == end || order(ctx, from[middle - 1], from[middle]) <= 0) {
                memcpy(to + start, from + start, (end - start) * sizeof *to);
                continue;
            }
            for (size_t i = start; i < end; i++)
                to[i] = right == end || (left < middle && order(ctx, from[left], from[right]) <= 0)
                            ? from[left++]
                            : from[right++];
        }
        const void **swap = from;
        from = to;
        to = swap;
    }
    if (from != items && n)
        memcpy(items, from, n * sizeof *items);
}
