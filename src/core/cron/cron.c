/* Parses in one pass from left to right. Every error is reported with its offset. */
#include "cron/cron.h"

#include "base/ascii.h"

enum { NAME_LEN = 3, WEEKDAY_FIELD = 4 };

static const struct field {
    const char *name;
    uint8_t least, most; /* as values; a weekday may also be 7 */
    const char *names;   /* three letters each; the first one is for `least` */
    bool may_be_open;    /* `?` means `*` */
} fields[] = {
    {"minute", 0, 59, "", false},
    {"hour", 0, 23, "", false},
    {"day-of-month", 1, 31, "", true},
    {"month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", false},
    {"day-of-week", 0, 6, "SUNMONTUEWEDTHUFRISAT", true},
};
enum { N_FIELDS = sizeof fields / sizeof *fields };

static const struct {
    struct pl_str name, fields;
} nicknames[] = {
    {PL_STR("@yearly"), PL_STR("0 0 1 1 *")},  {PL_STR("@annually"), PL_STR("0 0 1 1 *")},
    {PL_STR("@monthly"), PL_STR("0 0 1 * *")}, {PL_STR("@weekly"), PL_STR("0 0 * * 0")},
    {PL_STR("@daily"), PL_STR("0 0 * * *")},   {PL_STR("@midnight"), PL_STR("0 0 * * *")},
    {PL_STR("@hourly"), PL_STR("0 * * * *")},
};

struct parser {
    struct pl_str text;
    size_t at, end; /* `end` is the end of the current field */
    const struct field *field;
    struct pl_cron cron;
    uint64_t set; /* of the current field */
    bool is_wild; /* the field has a `*` or a step */
    bool is_open; /* the field has a `*` without a step, so it restricts nothing */
    struct pl_error *err;
};

#define FAIL_AT(p, offset, ...) located(p, offset, pl_fail((p)->err, PL_SYNTAX, __VA_ARGS__))

static enum pl_status located(struct parser *p, size_t offset, enum pl_status status)
{
    pl_error_locate(p->err, p->text, offset);
    return status;
}

static bool is_weekday(const struct parser *p)
{
    return p->field == &fields[WEEKDAY_FIELD];
}

static bool take(struct parser *p, char c)
{
    if (p->at >= p->end || pl_ascii_upper(p->text.ptr[p->at]) != c)
        return false;
    p->at++;
    return true;
}

static enum pl_status read_number(struct parser *p, unsigned *ret_number)
{
    unsigned number = 0;
    size_t start = p->at;
    for (; p->at < p->end && pl_ascii_is_digit(p->text.ptr[p->at]) && number < 1000; p->at++)
        number = number * 10 + (unsigned)(p->text.ptr[p->at] - '0');
    if (p->at == start)
        return FAIL_AT(p, start, "a number is missing in the %s field", p->field->name);
    *ret_number = number;
    return PL_OK;
}

static bool read_name(struct parser *p, unsigned *ret_value)
{
    const char *name = p->field->names;
    for (unsigned i = 0; *name && p->end - p->at >= NAME_LEN; i++, name += NAME_LEN) {
        const char *at = p->text.ptr + p->at;
        if (pl_ascii_upper(at[0]) == name[0] && pl_ascii_upper(at[1]) == name[1] &&
            pl_ascii_upper(at[2]) == name[2]) {
            p->at += NAME_LEN;
            *ret_value = p->field->least + i;
            return true;
        }
    }
    return false;
}

static enum pl_status fail_value(struct parser *p)
{
    const struct field *field = p->field;
    size_t from = p->at, to = from;
    while (to < p->end && !strchr(",-/#", p->text.ptr[to]))
        to++;
    if (to == from)
        return FAIL_AT(p, from, "a value is missing in the %s field; give %u to %u, or *",
                       field->name, field->least, field->most);
    return FAIL_AT(p, from, "\"%.*s\" is not a value of the %s field; give %u to %u%s, or *",
                   (int)(to - from), p->text.ptr + from, field->name, field->least, field->most,
                   !*field->names         ? ""
                   : *field->names == 'J' ? " or JAN to DEC"
                                          : " or SUN to SAT");
}

static enum pl_status read_value(struct parser *p, unsigned *ret_value)
{
    size_t start = p->at;
    if (start < p->end && !pl_ascii_is_digit(p->text.ptr[start]))
        return read_name(p, ret_value) ? PL_OK : fail_value(p);
    unsigned value = 0;
    if (start >= p->end)
        return fail_value(p);
    enum pl_status status = read_number(p, &value);
    if (status != PL_OK)
        return status;
    if (value < p->field->least || value > p->field->most + (unsigned)is_weekday(p))
        return FAIL_AT(p, start, "the %s field has values from %u to %u, not %u", p->field->name,
                       p->field->least, p->field->most + (unsigned)is_weekday(p), value);
    *ret_value = value;
    return PL_OK;
}

static void add_value(struct parser *p, unsigned value)
{
    p->set |= UINT64_C(1) << (is_weekday(p) ? value % 7 : value);
}

/* Reads "/N" after a range, if present. */
static enum pl_status read_step(struct parser *p, unsigned *ret_step)
{
    *ret_step = 1;
    if (!take(p, '/'))
        return PL_OK;
    size_t start = p->at;
    unsigned step, most = p->field->most - p->field->least + 1u;
    enum pl_status status = read_number(p, &step);
    if (status != PL_OK)
        return status;
    if (step < 1 || step > most)
        return FAIL_AT(p, start, "a step of the %s field must be 1 to %u", p->field->name, most);
    p->is_wild = true;
    *ret_step = step;
    return PL_OK;
}

/* Reads the two suffixes that only a weekday may have: 5L and MON#2. */
static enum pl_status read_weekday_of_month(struct parser *p, unsigned value, bool *ret_is_one)
{
    unsigned nth = 0;
    *ret_is_one = true;
    if (take(p, 'L')) {
        p->cron.last_weekdays |= (uint8_t)(1u << value % 7);
        return PL_OK;
    }
    if (!take(p, '#')) {
        *ret_is_one = false;
        return PL_OK;
    }
    size_t start = p->at;
    enum pl_status status = read_number(p, &nth);
    if (status != PL_OK)
        return status;
    if (nth < 1 || nth > PL_CRON_MAX_NTH)
        return FAIL_AT(p, start,
                       "after # give the week of the month, 1 to 5; for the last Friday write 5L");
    p->cron.nth_weekdays[nth - 1] |= (uint8_t)(1u << value % 7);
    return PL_OK;
}

static enum pl_status read_range(struct parser *p)
{
    unsigned first, last, step;
    bool is_one = false;
    size_t start = p->at;
    enum pl_status status = read_value(p, &first);
    if (status == PL_OK && is_weekday(p))
        status = read_weekday_of_month(p, first, &is_one);
    if (status != PL_OK || is_one)
        return status;
    last = first;
    bool is_range = take(p, '-');
    if (is_range)
        status = read_value(p, &last);
    if (status != PL_OK)
        return status;
    if (is_range && is_weekday(p) && last == 0 && first > 0)
        last = 7; /* FRI-SUN */
    if (last < first)
        return FAIL_AT(p, start,
                       "the range in the %s field runs backwards; write two ranges, like "
                       "%u-%u,%u-%u",
                       p->field->name, first, p->field->most, p->field->least, last);
    size_t before_step = p->at;
    status = read_step(p, &step);
    if (status != PL_OK)
        return status;
    if (!is_range && p->at > before_step)
        last = p->field->most > first ? p->field->most : first;
    for (unsigned value = first; value <= last; value += step)
        add_value(p, value);
    return PL_OK;
}

static enum pl_status read_item(struct parser *p)
{
    size_t start = p->at;
    bool is_any = take(p, '*');
    if (!is_any && p->field->may_be_open)
        is_any = take(p, '?');
    if (is_any) {
        unsigned step;
        enum pl_status status = read_step(p, &step);
        if (status != PL_OK)
            return status;
        for (unsigned value = p->field->least; value <= p->field->most; value += step)
            add_value(p, value);
        p->is_wild = true;
        p->is_open |= step == 1;
        return PL_OK;
    }
    if (p->field->may_be_open && take(p, 'L')) {
        if (is_weekday(p))
            return FAIL_AT(p, start, "L needs a weekday, such as 5L for the last Friday");
        p->cron.has_last_day = true;
        return PL_OK;
    }
    return read_range(p);
}

static enum pl_status read_field(struct parser *p, uint64_t *ret_set)
{
    p->set = 0;
    p->is_wild = p->is_open = false;
    do {
        enum pl_status status = read_item(p);
        if (status != PL_OK)
            return status;
    } while (take(p, ','));
    if (p->at < p->end)
        return FAIL_AT(p, p->at,
                       "unexpected \"%.*s\" in the %s field; separate values, ranges (1-5) and "
                       "steps (*/10) by commas",
                       (int)(p->end - p->at), p->text.ptr + p->at, p->field->name);
    *ret_set = p->set;
    return PL_OK;
}

static enum pl_status fail_count(struct parser *p, size_t n)
{
    if (n >= N_FIELDS)
        return FAIL_AT(p, p->at,
                       "there are more than five fields; they are minute, hour, day-of-month, "
                       "month and day-of-week, without seconds");
    return FAIL_AT(p, p->text.len,
                   "the %s field is missing; the five are minute, hour, "
                   "day-of-month, month and day-of-week",
                   fields[n].name);
}

static void skip_space(struct parser *p)
{
    while (p->at < p->text.len && pl_ascii_is_blank(p->text.ptr[p->at]))
        p->at++;
}

static enum pl_status read_fields(struct parser *p)
{
    uint64_t sets[N_FIELDS];
    bool is_open[N_FIELDS];
    for (size_t i = 0; i < N_FIELDS; i++) {
        skip_space(p);
        if (p->at == p->text.len)
            return fail_count(p, i);
        for (p->end = p->at; p->end < p->text.len && !pl_ascii_is_blank(p->text.ptr[p->end]);
             p->end++)
            continue;
        p->field = &fields[i];
        enum pl_status status = read_field(p, &sets[i]);
        if (status != PL_OK)
            return status;
        is_open[i] = p->is_open;
        p->cron.follows_real_time |= i < 2 && p->is_wild;
    }
    skip_space(p);
    if (p->at < p->text.len)
        return fail_count(p, N_FIELDS + 1);
    p->cron.minutes = sets[0];
    p->cron.hours = (uint32_t)sets[1];
    p->cron.days = (uint32_t)sets[2];
    p->cron.months = (uint16_t)sets[3];
    p->cron.weekdays = (uint8_t)sets[4];
    p->cron.is_day_restricted = !is_open[2];
    p->cron.is_weekday_restricted = !is_open[4];
    return PL_OK;
}

static bool is_same_word(struct pl_str a, struct pl_str lower)
{
    bool is_same = a.len == lower.len;
    for (size_t i = 0; is_same && i < a.len; i++)
        is_same = pl_ascii_upper(a.ptr[i]) == pl_ascii_upper(lower.ptr[i]);
    return is_same;
}

/* Replaces a nickname that begins with @ by its five fields. */
static enum pl_status read_nickname(struct parser *p)
{
    struct pl_str name = pl_str_slice(p->text, p->at, p->text.len);
    while (pl_ascii_is_blank(name.ptr[name.len - 1]))
        name.len--;
    for (size_t i = 0; i < sizeof nicknames / sizeof *nicknames; i++)
        if (is_same_word(name, nicknames[i].name)) {
            p->text = nicknames[i].fields;
            p->at = 0;
            return read_fields(p);
        }
    return FAIL_AT(p, p->at,
                   "\"%.*s\" is unknown; use @yearly, @annually, @monthly, @weekly, @daily, "
                   "@midnight or @hourly",
                   PL_STR_ARG(name));
}

enum pl_status pl_cron_parse(struct pl_str text, struct pl_cron *ret_cron, struct pl_error *err)
{
    struct parser p = {.text = text, .err = err};
    if (text.len > PL_CRON_MAX_BYTES)
        return pl_fail(err, PL_LIMIT, "a cron expression has at most %d bytes, this one has %zu",
                       PL_CRON_MAX_BYTES, text.len);
    skip_space(&p);
    if (p.at == text.len)
        return FAIL_AT(&p, 0, "the cron expression is empty; \"0 9 * * *\" is every day at 09:00");
    enum pl_status status = text.ptr[p.at] == '@' ? read_nickname(&p) : read_fields(&p);
    if (status == PL_OK)
        *ret_cron = p.cron;
    return status;
}

static bool has_bit(uint64_t set, unsigned bit)
{
    return set >> bit & 1;
}

bool pl_cron_has_day(const struct pl_cron *cron, const struct pl_civil *civil)
{
    if (!has_bit(cron->months, civil->month))
        return false;
    int n_days = pl_civil_month_days(civil->year, civil->month);
    bool is_day = has_bit(cron->days, civil->day) || (cron->has_last_day && civil->day == n_days);
    bool is_weekday = has_bit(cron->weekdays, civil->weekday) ||
                      has_bit(cron->nth_weekdays[(civil->day - 1) / 7], civil->weekday) ||
                      (civil->day + 7 > n_days && has_bit(cron->last_weekdays, civil->weekday));
    return cron->is_day_restricted && cron->is_weekday_restricted ? is_day || is_weekday
                                                                  : is_day && is_weekday;
}

bool pl_cron_has_minute(const struct pl_cron *cron, const struct pl_civil *civil)
{
    return has_bit(cron->minutes, civil->minute) && has_bit(cron->hours, civil->hour) &&
           pl_cron_has_day(cron, civil);
}
