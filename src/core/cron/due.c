#include "cron/due.h"

/* Older occurrences are ignored: the search for the next occurrence reaches no further either. */
static const int64_t look_back_s = (int64_t)PL_CRON_HORIZON_YEARS * 366 * 86400;

/* Finds the first occurrence in (after_s, to_s]. */
static bool first_within(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s,
                         int64_t to_s, int64_t *ret_s)
{
    int64_t found_s;
    if (after_s >= to_s || !pl_cron_next(cron, zone, after_s, &found_s) || found_s > to_s)
        return false;
    *ret_s = found_s;
    return true;
}

/* Finds the last occurrence in (after_s, to_s]. Bisects the period, so that a schedule of every
 * minute costs no more than one of every year. */
static bool last_within(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s,
                        int64_t to_s, int64_t *ret_s)
{
    int64_t found_s, low_s = after_s, high_s = to_s;
    if (!first_within(cron, zone, low_s, to_s, &found_s))
        return false;
    /* There is an occurrence after low_s, and none after high_s. */
    low_s = found_s - 1;
    while (high_s - low_s > 1) {
        int64_t middle_s = low_s + (high_s - low_s) / 2;
        if (first_within(cron, zone, middle_s, to_s, &found_s))
            low_s = middle_s;
        else
            high_s = middle_s;
    }
    *ret_s = high_s;
    return true;
}

static int64_t count_within(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s,
                            int64_t to_s)
{
    int64_t n = 0;
    while (n < PL_CRON_MAX_COUNTED && first_within(cron, zone, after_s, to_s, &after_s))
        n++;
    return n;
}

struct pl_cron_due pl_cron_due(const struct pl_cron *cron, const struct pl_tzif *zone,
                               int64_t after_s, int64_t now_s)
{
    struct pl_cron_due due = {.last_s = after_s};
    int64_t from_s = after_s < now_s - look_back_s ? now_s - look_back_s : after_s;
    int64_t missed_to_s = now_s - PL_CRON_CATCH_UP_S - 1;
    int64_t recent_s = from_s > missed_to_s ? from_s : missed_to_s;
    if (first_within(cron, zone, from_s, missed_to_s, &due.first_missed_s)) {
        last_within(cron, zone, from_s, missed_to_s, &due.last_missed_s);
        due.n_missed = count_within(cron, zone, from_s, missed_to_s);
        due.last_s = due.last_missed_s;
    }
    due.has_run = last_within(cron, zone, recent_s, now_s, &due.run_s);
    if (due.has_run) {
        due.n_collapsed = count_within(cron, zone, recent_s, now_s) - 1;
        due.last_s = due.run_s;
    }
    due.has_next = pl_cron_next(cron, zone, after_s > now_s ? after_s : now_s, &due.next_s);
    return due;
}
