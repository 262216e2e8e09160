/* The parts of a JSON number, as views of its text: shared by number.c and canonical.c.
 *
 *     -0012.3400e+5      digits 1234, point 7:  0.1234 × 10^7
 *
 * `digits` runs from the first to the last digit that is not zero, so that one value has one form.
 * The exponent may be larger than any machine word: it stays text, and `point` is clamped. */
#ifndef PL_JSON_NUMBER_INT_H
#define PL_JSON_NUMBER_INT_H

#include "base/str.h"

#include <stdint.h>

/* |point| is exact up to here; beyond it is only known to be larger. */
#define PL_JSON_POINT_EXACT ((int64_t)1 << 49)

struct pl_json_decimal {
    bool is_negative;
    bool is_exponent_negative;
    const char *first;      /* first significant digit; a '.' may follow between digits */
    size_t n_digits;        /* significant digits; 0 means the value is zero */
    struct pl_str exponent; /* digits only, no sign, no leading zeros */
    int64_t shift;          /* point without the exponent */
    int64_t point;          /* the value is 0.digits × 10^point */
};

/* `number` obeys the JSON grammar. */
struct pl_json_decimal pl_json_decimal(struct pl_str number);

/* The next digit of a walk that starts at decimal.first; steps over the point. */
static inline unsigned pl_json_decimal_digit(const char **at)
{
    if (**at == '.')
        ++*at;
    return (unsigned)(*(*at)++ - '0');
}

#endif
