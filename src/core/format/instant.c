/* Instants as microseconds since 1970, between two spellings. Days are counted in the proleptic
 * Gregorian calendar from 1 March, so that a leap day is the last of its year. */
#include "format/instant.h"

#include "json/number.h"

static const int64_t us_per_second = 1000000;
enum { SECONDS_PER_DAY = 86400, DAYS_PER_ERA = 146097, DAYS_TO_1970 = 719468 };

static int64_t days_of_date(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * DAYS_PER_ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970;
}

static void date_of_days(int64_t days, int *ret_year, int *ret_month, int *ret_day)
{
    days += DAYS_TO_1970;
    int64_t era = days / DAYS_PER_ERA, of_era = days - era * DAYS_PER_ERA;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    *ret_day = (int)(of_year - (153 * month + 2) / 5 + 1);
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
    *ret_year = (int)(year + era * 400 + (*ret_month <= 2));
}

/* The number in `n` digits at *at, which moves behind them; -1 when they are not all digits. */
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

/* ".5" as 500000; digits beyond the sixth are read and left out. */
static int64_t fraction(struct pl_str text, size_t *at)
{
    int64_t value = 0, unit = us_per_second;
    while (*at < text.len && text.ptr[*at] >= '0' && text.ptr[*at] <= '9') {
        unit /= 10;
        value += (text.ptr[(*at)++] - '0') * unit;
    }
    return value;
}

static bool read_offset(struct pl_str text, size_t *at, int *ret_seconds)
{
    if (take(text, at, "Zz")) {
        *ret_seconds = 0;
        return true;
    }
    bool is_west = *at < text.len && text.ptr[*at] == '-';
    if (!take(text, at, "+-"))
        return false;
    int hours = digits(text, at, 2);
    if (hours < 0 || !take(text, at, ":"))
        return false;
    int minutes = digits(text, at, 2);
    *ret_seconds = (hours * 60 + minutes) * (is_west ? -60 : 60);
    return minutes >= 0;
}

bool pl_instant_parse(struct pl_str text, int64_t *ret_us)
{
    size_t at = 0;
    int year = digits(text, &at, 4);
    bool is_date = year >= 0 && take(text, &at, "-");
    int month = is_date ? digits(text, &at, 2) : -1;
    is_date = month >= 1 && month <= 12 && take(text, &at, "-");
    int day = is_date ? digits(text, &at, 2) : -1;
    if (day < 1 || day > 31 || !take(text, &at, "Tt "))
        return false;
    int hour = digits(text, &at, 2);
    bool is_time = hour >= 0 && hour < 24 && take(text, &at, ":");
    int minute = is_time ? digits(text, &at, 2) : -1;
    is_time = minute >= 0 && minute < 60 && take(text, &at, ":");
    int second = is_time ? digits(text, &at, 2) : -1;
    int offset;
    if (second < 0 || second > 60)
        return false;
    int64_t us = take(text, &at, ".") ? fraction(text, &at) : 0;
    if (!read_offset(text, &at, &offset) || at != text.len)
        return false;
    int64_t seconds = days_of_date(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 +
                      second - offset;
    *ret_us = seconds * us_per_second + us;
    return true;
}

static bool read_instant(struct pl_conv *conv, const struct pl_json_node *node,
                         enum pl_instant_unit unit, int64_t *ret_us)
{
    if (pl_json_kind(node) == PL_JSON_STRING)
        return pl_instant_parse(pl_conv_text(conv, pl_val_node(node)), ret_us);
    if (pl_json_kind(node) != PL_JSON_NUMBER)
        return false;
    double us = pl_json_number_double(pl_json_span(conv->doc, node)) *
                (unit == PL_INSTANT_MILLISECONDS ? 1e3 : 1e6);
    /* From 1970 to the year 9999; within that, a double is exact to the microsecond or nearly so.
     */
    if (!(us >= 0 && us < 253402300800e6))
        return false;
    *ret_us = (int64_t)(us + 0.5);
    return true;
}

/* us / 10^n_digits with as many decimals as it takes. */
static void write_decimal(struct pl_writer *w, int64_t us, int n_digits)
{
    int64_t unit = 1;
    for (int i = 0; i < n_digits; i++)
        unit *= 10;
    int64_t rest = us % unit;
    if (!rest) {
        pl_w_int(w, us / unit);
        return;
    }
    for (; rest % 10 == 0; rest /= 10)
        n_digits--;
    pl_w_value(w, pl_val_json(pl_conv_printf(w->conv, "%lld.%0*lld", (long long)(us / unit),
                                             n_digits, (long long)rest)));
}

static void write_rfc3339(struct pl_writer *w, int64_t us)
{
    int year, month, day;
    int64_t seconds = us / us_per_second, rest = us % us_per_second;
    int of_day = (int)(seconds % SECONDS_PER_DAY), n_digits = 6;
    date_of_days(seconds / SECONDS_PER_DAY, &year, &month, &day);
    struct pl_str decimals = {0};
    if (rest) {
        for (; rest % 10 == 0; rest /= 10)
            n_digits--;
        decimals = pl_conv_printf(w->conv, ".%0*lld", n_digits, (long long)rest);
    }
    struct pl_str text = pl_conv_printf(w->conv, "%04d-%02d-%02dT%02d:%02d:%02d%.*sZ", year, month,
                                        day, of_day / 3600, of_day / 60 % 60, of_day % 60,
                                        (int)decimals.len, decimals.len ? decimals.ptr : "");
    pl_w_string(w, pl_val_text(text));
}

bool pl_instant_write(struct pl_writer *w, const char *key, struct pl_val when,
                      const struct pl_format_task *task, enum pl_instant_unit unit)
{
    if (when.kind != PL_VAL_NODE)
        return false;
    enum pl_instant_unit source = PL_INSTANT_SECONDS;
    if (pl_json_kind(when.node) == PL_JSON_STRING)
        source = PL_INSTANT_RFC3339;
    else if (task->from == &pl_format_envelope)
        source = PL_INSTANT_MILLISECONDS;
    int64_t us;
    if (!read_instant(w->conv, when.node, source, &us) || us < 0)
        return false;
    pl_w_key(w, key);
    if (source == unit) {
        pl_w_value(w, when);
        return true;
    }
    if (unit == PL_INSTANT_RFC3339)
        write_rfc3339(w, us);
    else
        write_decimal(w, us, unit == PL_INSTANT_SECONDS ? 6 : 3);
    pl_w_mapped(w, when);
    return true;
}
