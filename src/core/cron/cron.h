/* A cron expression as sets: which minutes, hours, days, months and weekdays it names.
 *
 *     minute hour day-of-month month day-of-week        0-59 0-23 1-31 1-12 0-7 (0 and 7: Sunday)
 *
 * A field is a list of values, ranges (9-17), steps (0-30/10; 5/10 is from 5 to the end) and
 * `*`; months and weekdays have names (JAN, MON; upper or lower case). `?` is `*` in the two day
 * fields. Day of month: `L` is the last day. Day of week: `5L` is the last Friday of the month,
 * `MON#2` the second Monday. A range of weekdays may end in Sunday (FRI-SUN). A day must be in both
 * day fields, except when both are restricted (not `*`): then one of them is enough.
 * `@yearly`, `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight` and `@hourly` stand for five
 * fields. */
#ifndef PL_CRON_CRON_H
#define PL_CRON_CRON_H

#include "base/status.h"
#include "base/str.h"
#include "base/text/utc.h"

enum {
    PL_CRON_MAX_BYTES = 128,
    PL_CRON_MAX_NTH = 5, /* no weekday comes a sixth time in a month */
};

/* Plain data of fixed size: may be copied, needs no deinit. */
struct pl_cron {
    uint64_t minutes; /* bit m is minute m; the other sets alike */
    uint32_t hours;
    uint32_t days;                         /* bits 1 to 31 */
    uint16_t months;                       /* bits 1 to 12 */
    uint8_t weekdays;                      /* bit 0 is Sunday */
    uint8_t last_weekdays;                 /* 5L */
    uint8_t nth_weekdays[PL_CRON_MAX_NTH]; /* MON#2 is bit 1 of the second */
    bool has_last_day;                     /* L */
    bool is_day_restricted;                /* day of month is not `*` */
    bool is_weekday_restricted;
    /* A `*` or a step in minute or hour: it counts real time, so it neither makes up for what a
     * change of the clock skips nor leaves out what it repeats. */
    bool follows_real_time;
};

/* PL_SYNTAX with the offset of what was wrong and what to do, or PL_LIMIT when it is too long. */
enum pl_status pl_cron_parse(struct pl_str text, struct pl_cron *ret_cron, struct pl_error *err);

/* Whether it names this day and month; the time of day is not looked at, the weekday is. */
bool pl_cron_has_day(const struct pl_cron *cron, const struct pl_civil *civil);
/* Whether it names this minute. */
bool pl_cron_has_minute(const struct pl_cron *cron, const struct pl_civil *civil);

#endif
