/* Whole numbers as digits, without printf: written, and read from untrusted text. */
#ifndef PL_BASE_DECIMAL_H
#define PL_BASE_DECIMAL_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { PL_DECIMAL_MOST = 10 }; /* digits of a uint32_t */

/* Writes the digits and returns how many. */
static inline size_t pl_decimal_put(char *to, uint32_t number)
{
    size_t n = 1;
    for (uint32_t rest = number; rest >= 10; rest /= 10)
        n++;
    for (size_t i = n; i-- > 0; number /= 10)
        to[i] = (char)('0' + number % 10);
    return n;
}

/* The value of a text of digits; false if it has other characters or does not fit an int64. */
static inline bool pl_decimal_read(struct pl_str text, int64_t *ret_number)
{
    int64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        int64_t digit = text.ptr[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    if (text.len)
        *ret_number = number;
    return text.len > 0;
}

#endif
