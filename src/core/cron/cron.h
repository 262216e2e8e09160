/* A cron expression as sets of minutes, hours, days, months and weekdays.
 *
 *     minute hour day-of-month month day-of-week        0-59 0-23 1-31 1-12 0-7 (0 and 7: Sunday)
 *
 * A field is a list of values, ranges (9-17), steps (0-30/10; 5/10 is from 5 to the end) and `*`.
 * Months and weekdays have names (JAN, MON; upper or lower case). `?` means `*` in the two day
 * fields. Day of month: `L` is the last day. Day of week: `5L` is the last Friday of the month,
 * `MON#2` the second Monday. A range of weekdays may end in Sunday (FRI-SUN). A day must match both
 * day fields, unless both are restricted (not `*`): then one of them is enough. `@yearly`,
 * `@annually`, `@monthly`, `@weekly`, `@daily`, `@midnight` and `@hourly` replace the five
 * fields. */
#ifndef PL_CRON_CRON_H
#define PL_CRON_CRON_H

#include "base/status.h"
#include "base/str.h"
#include "base/text/utc.h"

enum {
    PL_CRON_MAX_BYTES = 128,
    PL_CRON_MAX_NTH = 5, /* a weekday occurs at most five times in a month */
};

/* Plain data of fixed size: may be copied, needs no deinit. */
struct pl_cron {
    uint64_t minutes; /* bit m is minute m; the other sets are alike */
    uint32_t hours;
    uint32_t days;                         /* bits 1 to 31 */
    uint16_t months;                       /* bits 1 to 12 */
    uint8_t weekdays;                      /* bit 0 is Sunday */
    uint8_t last_weekdays;                 /* 5L */
    uint8_t nth_weekdays[PL_CRON_MAX_NTH]; /* MON#2 is bit 1 of nth_weekdays[1] */
    bool has_last_day;                     /* L */
    bool is_day_restricted;                /* day of month is not `*` */
    bool is_weekday_restricted;
    /* The minute or hour field has a `*` or a step, so the expression follows real time: it does
     * not make up for times that a clock change skips, and it does not leave out times that it
     * repeats. */
    bool follows_real_time;
};

/* PL_SYNTAX with the offset of the error and advice, or PL_LIMIT if the text is too long. */
enum pl_status pl_cron_parse(struct pl_str text, struct pl_cron *ret_cron, struct pl_error *err);

/* True if the expression includes this day, month and weekday. The time of day is ignored. */
bool pl_cron_has_day(const struct pl_cron *cron, const struct pl_civil *civil);
/* True if the expression includes this minute. */
bool pl_cron_has_minute(const struct pl_cron *cron, const struct pl_civil *civil);

#endif
