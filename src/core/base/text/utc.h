/* Timestamps as RFC 3339 text in UTC ("2026-01-01T00:00:00.000Z"), and back; and the calendar for
 * both (proleptic Gregorian, no leap seconds). */
#ifndef PL_BASE_UTC_H
#define PL_BASE_UTC_H

#include "base/str.h"

#include <stdint.h>

#define PL_UTC_SIZE 24

/* Milliseconds and a Z; years 0 to 9999, other times are clamped. */
void pl_utc_write(char ret_text[PL_UTC_SIZE], int64_t unix_ms);
/* Any RFC 3339 date-time (offset, any number of fraction digits, lower case t and z, a space for
 * the T), in microseconds; further digits are ignored. A leap second reads as the second after
 * it. */
bool pl_utc_read(struct pl_str text, int64_t *ret_unix_us);

/* The last n_digits of a non-negative value, with leading zeros. */
static inline void pl_utc_digits(char *to, int value, int n_digits)
{
    for (int i = n_digits - 1; i >= 0; i--, value /= 10)
        to[i] = (char)('0' + value % 10);
}

struct pl_civil {
    int32_t year;
    uint8_t month, day; /* from 1 */
    uint8_t hour, minute, second;
    uint8_t weekday; /* 0 is Sunday */
};
struct pl_civil pl_civil_of(int64_t unix_s);
/* The weekday is ignored. */
int64_t pl_civil_unix_s(const struct pl_civil *civil);

/* month is 1 to 12. */
static inline int pl_civil_month_days(int year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && is_leap_year ? 29 : days[month - 1];
}

#endif
