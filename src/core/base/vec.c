#include "base/vec.h"

#include <stdint.h>

bool pl_vec_grow(void **ptr, size_t *cap, size_t n, size_t size)
{
    if (n <= *cap)
        return true;
    size_t wanted = *cap < 8 ? 8 : *cap + *cap / 2;
    if (wanted < n)
        wanted = n;
    void *grown = pl_mem_grow(*ptr, wanted, size);
    if (!grown)
        return false;
    *ptr = grown;
    *cap = wanted;
    return true;
}
