/* Parses a POSIX TZ string and computes the era of an instant from the changes of its year and the
 * neighbouring years. */
#include "cron/tz_rule.h"

#include "base/ascii.h"
#include "base/text/utc.h"

enum {
    STANDARD,
    DAYLIGHT,
    DAY_S = 86400,
    HOUR_S = 3600,
    MIN_NAME = 3,
    MAX_NAME = 16,
};
/* Years 0 to 9999, which the calendar supports. No schedule reaches further. */
static const int64_t first_s = -62167219200, last_s = 253402300799;

struct reader {
    struct pl_str text;
    size_t at;
    bool is_wrong;
};

static char peek(const struct reader *r)
{
    return r->at < r->text.len ? r->text.ptr[r->at] : '\0';
}

static bool take(struct reader *r, char c)
{
    if (r->at >= r->text.len || r->text.ptr[r->at] != c)
        return false;
    r->at++;
    return true;
}

static int number(struct reader *r, int least, int most)
{
    int value = 0;
    size_t start = r->at;
    for (; pl_ascii_is_digit(peek(r)) && value <= most; r->at++)
        value = value * 10 + (peek(r) - '0');
    r->is_wrong |= r->at == start || value < least || value > most;
    return value;
}

/* "CET" or "<+03>". */
static struct pl_str name(struct reader *r)
{
    bool is_quoted = take(r, '<');
    size_t start = r->at;
    while (pl_ascii_is_letter(peek(r)) ||
           (is_quoted && (pl_ascii_is_digit(peek(r)) || peek(r) == '+' || peek(r) == '-')))
        r->at++;
    struct pl_str found = pl_str_slice(r->text, start, r->at);
    r->is_wrong |= found.len < MIN_NAME || found.len > MAX_NAME || (is_quoted && !take(r, '>'));
    return found;
}

/* "-3:30:15" in seconds. */
static int32_t clock_time(struct reader *r, int most_hours)
{
    bool is_negative = take(r, '-');
    if (!is_negative)
        take(r, '+');
    int seconds = number(r, 0, most_hours) * HOUR_S;
    if (take(r, ':')) {
        seconds += number(r, 0, 59) * 60;
        if (take(r, ':'))
            seconds += number(r, 0, 59);
    }
    return is_negative ? -seconds : seconds;
}

/* ",M3.5.0/2" */
static struct pl_tz_change change(struct reader *r)
{
    struct pl_tz_change change = {.time_s = 2 * HOUR_S};
    r->is_wrong |= !take(r, ',');
    if (take(r, 'M')) {
        change.kind = PL_TZ_WEEKDAY;
        change.month = (uint8_t)number(r, 1, 12);
        r->is_wrong |= !take(r, '.');
        change.week = (uint8_t)number(r, 1, 5);
        r->is_wrong |= !take(r, '.');
        change.day = (uint16_t)number(r, 0, 6);
    } else if (take(r, 'J')) {
        change.kind = PL_TZ_JULIAN;
        change.day = (uint16_t)number(r, 1, 365);
    } else {
        change.kind = PL_TZ_DAY;
        change.day = (uint16_t)number(r, 0, 365);
    }
    if (take(r, '/'))
        change.time_s = clock_time(r, 167);
    return change;
}

bool pl_tz_rule_read(struct pl_str text, struct pl_tz_rule *ret_rule)
{
    struct reader r = {.text = text};
    struct pl_tz_rule rule = {.is_there = true};
    rule.name[STANDARD] = name(&r);
    /* POSIX counts west of Greenwich as positive. */
    rule.offset_s[STANDARD] = -clock_time(&r, 24);
    if (!r.is_wrong && r.at < text.len) {
        rule.has_dst = true;
        rule.name[DAYLIGHT] = name(&r);
        rule.offset_s[DAYLIGHT] = rule.offset_s[STANDARD] + HOUR_S;
        if (r.at < text.len && peek(&r) != ',')
            rule.offset_s[DAYLIGHT] = -clock_time(&r, 24);
        rule.change[DAYLIGHT] = change(&r);
        rule.change[STANDARD] = change(&r);
    }
    if (r.is_wrong || r.at != text.len)
        return false;
    *ret_rule = rule;
    return true;
}

/* Number of days from 1 January to the day of a change. */
static int day_of(const struct pl_tz_change *change, int year, uint8_t first_weekday)
{
    if (change->kind == PL_TZ_DAY)
        return change->day;
    /* Julian days never count 29 February. */
    if (change->kind == PL_TZ_JULIAN)
        return change->day - 1 + (change->day >= 60 && pl_civil_month_days(year, 2) == 29);
    int day = 0;
    for (int month = 1; month < change->month; month++)
        day += pl_civil_month_days(year, month);
    int n_days = pl_civil_month_days(year, change->month);
    int of_month = (change->day - (first_weekday + day) % 7 + 7) % 7 + (change->week - 1) * 7;
    return day + (of_month < n_days ? of_month : of_month - 7);
}

static int64_t change_s(const struct pl_tz_rule *rule, int to, int year)
{
    int64_t new_year = pl_civil_unix_s(&(struct pl_civil){.year = year, .month = 1, .day = 1});
    int day = day_of(&rule->change[to], year, pl_civil_of(new_year).weekday);
    return new_year + (int64_t)day * DAY_S + rule->change[to].time_s - rule->offset_s[!to];
}

/* Considers the changes of this year and its neighbours, because a change of 31 December may happen
 * in January. If both changes coincide (daylight-saving time all year), it stays daylight. */
void pl_tz_rule_era(const struct pl_tz_rule *rule, int64_t unix_s, struct pl_tz_era *era)
{
    int64_t latest_s = INT64_MIN;
    int64_t in_calendar_s = unix_s < first_s ? first_s : unix_s > last_s ? last_s : unix_s;
    int current = STANDARD, year = pl_civil_of(in_calendar_s).year;
    for (int i = 0; rule->has_dst && i < 6; i++) {
        int to = i % 2;
        int64_t at = change_s(rule, to, year - 1 + i / 2);
        if (at > unix_s) {
            era->end_s = at < era->end_s ? at : era->end_s;
        } else if (at > latest_s || (at == latest_s && to == DAYLIGHT)) {
            latest_s = at;
            current = to;
        }
    }
    /* Between the last change of the table and the first change of the rule, the last table entry
     * applies. */
    if (era->start_s != INT64_MIN && latest_s <= era->start_s)
        return;
    era->start_s = latest_s;
    era->offset_s = rule->offset_s[current];
    era->is_dst = current == DAYLIGHT;
    era->name = rule->name[current];
}
