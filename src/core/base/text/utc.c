/* Days are counted from 1 March of the year 0, so that a leap day is the last of its year. An era
 * is 400 years, after which the calendar repeats. */
#include "base/text/utc.h"

enum {
    SECONDS_PER_DAY = 86400,
    MINUTES_PER_DAY = 1440,
    DAYS_PER_ERA = 146097,
    DAYS_TO_1970 = 719468, /* from 1 March of the year 0 */
};

static const int64_t us_per_second = 1000000;
static const int64_t first_ms = -62167219200000; /* 0000-01-01 */
static const int64_t last_ms = 253402300799999;  /* 9999-12-31, the last millisecond */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t days_of_date(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = floor_div(year, 400), of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970;
}

int64_t pl_civil_unix_s(const struct pl_civil *civil)
{
    return days_of_date(civil->year, civil->month, civil->day) * SECONDS_PER_DAY +
           civil->hour * 3600 + civil->minute * 60 + civil->second;
}

struct pl_civil pl_civil_of(int64_t unix_s)
{
    int64_t days = floor_div(unix_s, SECONDS_PER_DAY);
    int of_day = (int)(unix_s - days * SECONDS_PER_DAY);
    int64_t shifted = days + DAYS_TO_1970;
    int64_t era = floor_div(shifted, DAYS_PER_ERA), of_era = shifted - era * DAYS_PER_ERA;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    struct pl_civil civil = {
        .month = (uint8_t)(month < 10 ? month + 3 : month - 9),
        .day = (uint8_t)(of_year - (153 * month + 2) / 5 + 1),
        .hour = (uint8_t)(of_day / 3600),
        .minute = (uint8_t)(of_day / 60 % 60),
        .second = (uint8_t)(of_day % 60),
        /* 1970 began on a Thursday. */
        .weekday = (uint8_t)(days + 4 - floor_div(days + 4, 7) * 7),
    };
    civil.year = (int32_t)(year + era * 400 + (civil.month <= 2));
    return civil;
}

void pl_utc_write(char ret_text[PL_UTC_SIZE], int64_t unix_ms)
{
    unix_ms = unix_ms < first_ms ? first_ms : unix_ms > last_ms ? last_ms : unix_ms;
    int64_t seconds = floor_div(unix_ms, 1000);
    struct pl_civil civil = pl_civil_of(seconds);
    const struct pl_str form = PL_STR("0000-00-00T00:00:00.000Z");
    memcpy(ret_text, form.ptr, form.len);
    pl_utc_digits(ret_text, civil.year, 4);
    pl_utc_digits(ret_text + 5, civil.month, 2);
    pl_utc_digits(ret_text + 8, civil.day, 2);
    pl_utc_digits(ret_text + 11, civil.hour, 2);
    pl_utc_digits(ret_text + 14, civil.minute, 2);
    pl_utc_digits(ret_text + 17, civil.second, 2);
    pl_utc_digits(ret_text + 20, (int)(unix_ms - seconds * 1000), 3);
}

/* The number of `n` digits at *at; moves *at past them. -1 if they are not all digits. */
static int digits(struct pl_str text, size_t *at, size_t n)
{
    int value = 0;
    for (size_t end = *at + n; *at < end; ++*at) {
        if (*at >= text.len || text.ptr[*at] < '0' || text.ptr[*at] > '9')
            return -1;
        value = value * 10 + (text.ptr[*at] - '0');
    }
    return value;
}

static bool take(struct pl_str text, size_t *at, const char *one_of)
{
    if (*at >= text.len || !text.ptr[*at] || !strchr(one_of, text.ptr[*at]))
        return false;
    ++*at;
    return true;
}

/* Reads "2026-01-31T23:59:60" into *civil and checks the range of each field. */
static bool read_fields(struct pl_str text, size_t *at, struct pl_civil *civil)
{
    static const struct {
        int least, most;
        const char *after;
    } fields[] = {{1, 12, "-"}, {1, 31, "Tt "}, {0, 23, ":"}, {0, 59, ":"}, {0, 60, NULL}};
    int value[5];
    civil->year = digits(text, at, 4);
    if (civil->year < 0 || !take(text, at, "-"))
        return false;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        value[i] = digits(text, at, 2);
        if (value[i] < fields[i].least || value[i] > fields[i].most ||
            (fields[i].after && !take(text, at, fields[i].after)))
            return false;
    }
    civil->month = (uint8_t)value[0];
    civil->day = (uint8_t)value[1];
    civil->hour = (uint8_t)value[2];
    civil->minute = (uint8_t)value[3];
    civil->second = (uint8_t)value[4];
    return value[1] <= pl_civil_month_days(civil->year, value[0]);
}

/* Reads ".5" as 500000; true also if there is no fraction. */
static bool read_fraction(struct pl_str text, size_t *at, int64_t *ret_us)
{
    *ret_us = 0;
    if (!take(text, at, "."))
        return true;
    int64_t unit = us_per_second;
    size_t start = *at;
    for (; *at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9'; ++*at) {
        unit /= 10;
        *ret_us += (text.ptr[*at] - '0') * unit;
    }
    return *at > start;
}

/* Reads Z or +hh:mm as minutes east of Greenwich. */
static bool read_offset(struct pl_str text, size_t *at, int *ret_minutes)
{
    *ret_minutes = 0;
    if (take(text, at, "Zz"))
        return true;
    bool is_west = *at < text.len && text.ptr[*at] == '-';
    if (!take(text, at, "+-"))
        return false;
    int hours = digits(text, at, 2);
    if (hours < 0 || hours > 23 || !take(text, at, ":"))
        return false;
    int minutes = digits(text, at, 2);
    *ret_minutes = (hours * 60 + minutes) * (is_west ? -1 : 1);
    return minutes >= 0 && minutes < 60;
}

bool pl_utc_read(struct pl_str text, int64_t *ret_unix_us)
{
    struct pl_civil civil = {0};
    size_t at = 0;
    int64_t us;
    int offset;
    if (!read_fields(text, &at, &civil) || !read_fraction(text, &at, &us) ||
        !read_offset(text, &at, &offset) || at != text.len)
        return false;
    /* A leap second is the last second of a UTC day, whatever the local time. */
    int utc_minute = civil.hour * 60 + civil.minute - offset + MINUTES_PER_DAY;
    if (civil.second == 60 && utc_minute % MINUTES_PER_DAY != MINUTES_PER_DAY - 1)
        return false;
    *ret_unix_us = (pl_civil_unix_s(&civil) - offset * 60) * us_per_second + us;
    return true;
}
