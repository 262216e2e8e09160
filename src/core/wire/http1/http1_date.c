/* Dates in headers (RFC 9110, 5.6.7): one form is written, three are read. A form is a picture:
 *
 *     d day, y year, h hour, m minute, s second, a letter for each digit; _ a digit or a space
 *     w a weekday's short name, l a long one, n a month's name; anything else stands for itself
 */
#include "wire/http1/http1.h"

#include "base/text/utc.h"

static const char weekdays[] = "SunMonTueWedThuFriSat";
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static const char *const long_weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                            "Thursday", "Friday", "Saturday"};

void pl_http_date_write(char ret_text[PL_HTTP_DATE_SIZE], int64_t unix_s)
{
    struct pl_civil civil = pl_civil_of(unix_s);
    const struct pl_str form = PL_STR("Sun, 00 Jan 0000 00:00:00 GMT");
    memcpy(ret_text, form.ptr, form.len);
    memcpy(ret_text, weekdays + 3 * civil.weekday, 3);
    pl_utc_digits(ret_text + 5, civil.day, 2);
    memcpy(ret_text + 8, months + 3 * (civil.month - 1), 3);
    pl_utc_digits(ret_text + 12, civil.year, 4);
    pl_utc_digits(ret_text + 17, civil.hour, 2);
    pl_utc_digits(ret_text + 20, civil.minute, 2);
    pl_utc_digits(ret_text + 23, civil.second, 2);
}

struct reading {
    struct pl_str text;
    size_t at;
    int month;      /* from 0 */
    int number[26]; /* by the letter of the picture */
};

static bool take_text(struct reading *r, struct pl_str wanted)
{
    if (!pl_str_starts(pl_str_slice(r->text, r->at, r->text.len), wanted))
        return false;
    r->at += wanted.len;
    return true;
}

/* The index of the next three letters in `names`, or -1. */
static int take_name(struct reading *r, const char *names)
{
    for (int i = 0; names[3 * i]; i++)
        if (take_text(r, (struct pl_str){names + 3 * i, 3}))
            return i;
    return -1;
}

static bool take_long_weekday(struct reading *r)
{
    for (size_t i = 0; i < sizeof long_weekdays / sizeof *long_weekdays; i++)
        if (take_text(r, pl_str_of(long_weekdays[i])))
            return true;
    return false;
}

static bool take_digit(struct reading *r, char letter)
{
    char c = r->at < r->text.len ? r->text.ptr[r->at] : '\0';
    if (c < '0' || c > '9')
        return false;
    int *number = &r->number[letter - 'a'];
    *number = *number * 10 + (c - '0');
    r->at++;
    return true;
}

static bool take_part(struct reading *r, char letter)
{
    switch (letter) {
    case 'w':
        return take_name(r, weekdays) >= 0;
    case 'l':
        return take_long_weekday(r);
    case 'n':
        r->month = take_name(r, months);
        return r->month >= 0;
    case '_':
        return take_text(r, PL_STR(" ")) || take_digit(r, 'd');
    case 'd':
    case 'y':
    case 'h':
    case 'm':
    case 's':
        return take_digit(r, letter);
    default:
        return take_text(r, (struct pl_str){&letter, 1});
    }
}

static bool is_form(struct reading *r, const char *picture)
{
    for (; *picture; picture++)
        if (!take_part(r, *picture))
            return false;
    return r->at == r->text.len;
}

/* False if a number is out of range. */
static bool read_numbers(const struct reading *r, int64_t *ret_unix_s)
{
    int year = r->number['y' - 'a'], day = r->number['d' - 'a'];
    int hour = r->number['h' - 'a'], minute = r->number['m' - 'a'], second = r->number['s' - 'a'];
    if (day < 1 || day > pl_civil_month_days(year, r->month + 1) || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    struct pl_civil civil = {year,
                             (uint8_t)(r->month + 1),
                             (uint8_t)day,
                             (uint8_t)hour,
                             (uint8_t)minute,
                             (uint8_t)second,
                             0};
    *ret_unix_s = pl_civil_unix_s(&civil);
    return true;
}

bool pl_http_date_read(struct pl_str text, int64_t *ret_unix_s)
{
    static const char *const pictures[] = {
        "w, dd n yyyy hh:mm:ss GMT",
        "l, dd-n-yy hh:mm:ss GMT",
        "w n _d hh:mm:ss yyyy",
    };
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        struct reading r = {.text = text};
        if (!is_form(&r, pictures[i]))
            continue;
        if (i == 1)
            r.number['y' - 'a'] += r.number['y' - 'a'] < 70 ? 2000 : 1900;
        return read_numbers(&r, ret_unix_s);
    }
    return false;
}
