/* Small numbers as digits, without printf. */
#ifndef PL_BASE_DECIMAL_H
#define PL_BASE_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum { PL_DECIMAL_MOST = 10 }; /* digits of a uint32_t */

/* Writes the digits, returns how many. */
static inline size_t pl_decimal_put(char *to, uint32_t number)
{
    size_t n = 1;
    for (uint32_t rest = number; rest >= 10; rest /= 10)
        n++;
    for (size_t i = n; i-- > 0; number /= 10)
        to[i] = (char)('0' + number % 10);
    return n;
}

#endif
