/* Dates, times and durations: RFC 3339, section 5.6 and appendix A. */
#include "schema/format/format_int.h"

#include "base/text/utc.h"

enum { DATE_LEN = 10, MINUTES_PER_DAY = 24 * 60 };

/* Two digits at `at`, or -1. */
static int two_digits(struct pl_str text, size_t at)
{
    if (text.len < at + 2 || !pl_ascii_is_digit(text.ptr[at]) ||
        !pl_ascii_is_digit(text.ptr[at + 1]))
        return -1;
    return (text.ptr[at] - '0') * 10 + (text.ptr[at + 1] - '0');
}

static bool is_char(struct pl_str text, size_t at, char c)
{
    return at < text.len && text.ptr[at] == c;
}

bool pl_format_is_date(struct pl_str text)
{
    int century = two_digits(text, 0), year = two_digits(text, 2);
    int month = two_digits(text, 5), day = two_digits(text, 8);

    return text.len == DATE_LEN && century >= 0 && year >= 0 && is_char(text, 4, '-') &&
           is_char(text, 7, '-') && month >= 1 && month <= 12 && day >= 1 &&
           day <= pl_civil_month_days(century * 100 + year, month);
}

/* Reads Z or +hh:mm up to the end of `text`, as minutes east of Greenwich. */
static bool read_offset(struct pl_str text, size_t at, int *ret_minutes)
{
    int hours, minutes;

    if (text.len == at + 1 && (text.ptr[at] | 0x20) == 'z') {
        *ret_minutes = 0;
        return true;
    }
    if (text.len != at + 6 || (text.ptr[at] != '+' && text.ptr[at] != '-') ||
        text.ptr[at + 3] != ':')
        return false;
    hours = two_digits(text, at + 1);
    minutes = two_digits(text, at + 4);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *ret_minutes = (hours * 60 + minutes) * (text.ptr[at] == '-' ? -1 : 1);
    return true;
}

bool pl_format_is_time(struct pl_str text)
{
    int hour = two_digits(text, 0), minute = two_digits(text, 3), second = two_digits(text, 6);
    size_t at = 8;
    int offset, utc;

    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60 ||
        text.ptr[2] != ':' || text.ptr[5] != ':')
        return false;
    if (is_char(text, at, '.')) {
        size_t start = ++at;
        while (at < text.len && pl_ascii_is_digit(text.ptr[at]))
            at++;
        if (at == start)
            return false;
    }
    if (!read_offset(text, at, &offset))
        return false;
    /* A leap second is the last second of a UTC day, whatever the local time. */
    utc = (hour * 60 + minute - offset + MINUTES_PER_DAY) % MINUTES_PER_DAY;
    return second < 60 || utc == MINUTES_PER_DAY - 1;
}

bool pl_format_is_date_time(struct pl_str text)
{
    return text.len > DATE_LEN && (text.ptr[DATE_LEN] | 0x20) == 't' &&
           pl_format_is_date(pl_str_slice(text, 0, DATE_LEN)) &&
           pl_format_is_time(pl_str_slice(text, DATE_LEN + 1, text.len));
}

/* Reads numbers followed by consecutive units of `units`: after Y only M may follow, and so on.
 * Returns how many there were; -1 if one is out of order. */
static int read_units(struct pl_str text, size_t *at, const char *units)
{
    int n = 0;

    while (*at < text.len && pl_ascii_is_digit(text.ptr[*at])) {
        while (*at < text.len && pl_ascii_is_digit(text.ptr[*at]))
            ++*at;
        if (*at == text.len)
            return -1;
        while (n == 0 && *units && *units != text.ptr[*at])
            units++;
        if (!*units || *units != text.ptr[*at])
            return -1;
        units++;
        n++;
        ++*at;
    }
    return n;
}

bool pl_format_is_duration(struct pl_str text)
{
    size_t at = 1;
    int n_date, n_time = 0;

    if (!is_char(text, 0, 'P'))
        return false;
    if (text.len > 1 && text.ptr[text.len - 1] == 'W')
        return read_units(text, &at, "W") == 1 && at == text.len;
    n_date = read_units(text, &at, "YMD");
    if (is_char(text, at, 'T')) {
        at++;
        n_time = read_units(text, &at, "HMS");
        if (n_time == 0)
            return false;
    }
    return n_date >= 0 && n_time >= 0 && n_date + n_time > 0 && at == text.len;
}
