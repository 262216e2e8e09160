/* getrandom(2): up to 256 bytes it gives all or nothing, and after boot it never blocks. */
#include "io/entropy.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/random.h>
#include <sys/types.h>

bool pl_entropy_fill(void *to, size_t n)
{
    ssize_t got;
    do
        got = getrandom(to, n, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)n;
}
