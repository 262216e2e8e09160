/* Searches day by day for the next matching minute in local time and converts it to an instant. A
 * fixed time is searched by the local clock, an interval by real time, era by era. */
#include "cron/next.h"

enum { MINUTE_S = 60, DAY_S = 86400 };
static const int64_t horizon_s = (int64_t)PL_CRON_HORIZON_YEARS * 366 * DAY_S;
static const int64_t first_s = -62135596800, last_s = 253402300799; /* years 1 to 9999 */

static int first_bit_from(uint64_t set, unsigned from)
{
    set = from < 64 ? set >> from << from : 0;
    return set ? __builtin_ctzll(set) : -1;
}

/* Returns the first matching time of day at or after that of *civil, in seconds; -1 if there is
 * none on that day. */
static int next_time(const struct pl_cron *cron, const struct pl_civil *civil)
{
    unsigned minute = civil->minute;
    int hour = first_bit_from(cron->hours, civil->hour);
    if (hour != civil->hour)
        minute = 0;
    if (hour >= 0 && first_bit_from(cron->minutes, minute) < 0) {
        hour = first_bit_from(cron->hours, (unsigned)hour + 1);
        minute = 0;
    }
    return hour < 0 ? -1 : (hour * 60 + first_bit_from(cron->minutes, minute)) * MINUTE_S;
}

/* Finds the first matching minute in [local_s, end_s) of a clock that never changes. Goes day by
 * day, and skips a month that does not match in one step. */
static bool next_local(const struct pl_cron *cron, int64_t local_s, int64_t end_s, int64_t *ret_s)
{
    struct pl_civil civil = pl_civil_of(local_s);
    if (civil.second) {
        local_s += MINUTE_S - civil.second;
        civil = pl_civil_of(local_s);
    }
    while (local_s < end_s) {
        int64_t midnight_s = local_s - (civil.hour * 60 + civil.minute) * MINUTE_S;
        int time_s = pl_cron_has_day(cron, &civil) ? next_time(cron, &civil) : -1;
        if (time_s >= 0) {
            *ret_s = midnight_s + time_s;
            return *ret_s < end_s;
        }
        int n_days = 1;
        if (!(cron->months >> civil.month & 1))
            n_days += pl_civil_month_days(civil.year, civil.month) - civil.day;
        local_s = midnight_s + (int64_t)n_days * DAY_S;
        civil = pl_civil_of(local_s);
    }
    return false;
}

/* Goes through local times in order and converts each to its instant. Several times may share one
 * instant (those that a change skips), and times of an overlap may already be past. */
static bool next_fixed(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s,
                       int64_t *ret_s)
{
    int64_t local_s = after_s + pl_tzif_era(zone, after_s).offset_s + 1;
    int64_t end_s = local_s + horizon_s;
    for (; next_local(cron, local_s, end_s, &local_s); local_s += MINUTE_S) {
        int64_t unix_s = pl_tzif_instant(zone, local_s).unix_s;
        if (unix_s > after_s) {
            *ret_s = unix_s;
            return true;
        }
    }
    return false;
}

/* Goes era by era; the clock of each era does not change. */
static bool next_real(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s,
                      int64_t *ret_s)
{
    int64_t local_s, from_s = after_s + 1, end_s = from_s + horizon_s;
    while (from_s < end_s) {
        struct pl_tz_era era = pl_tzif_era(zone, from_s);
        int64_t era_end_s = era.end_s < end_s ? era.end_s : end_s;
        if (next_local(cron, from_s + era.offset_s, era_end_s + era.offset_s, &local_s)) {
            *ret_s = local_s - era.offset_s;
            return true;
        }
        from_s = era_end_s;
    }
    return false;
}

bool pl_cron_next(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s,
                  int64_t *ret_s)
{
    int64_t found_s = 0;
    if (after_s < first_s || after_s > last_s ||
        !(cron->follows_real_time ? next_real : next_fixed)(cron, zone, after_s, &found_s) ||
        found_s > last_s)
        return false;
    *ret_s = found_s;
    return true;
}
