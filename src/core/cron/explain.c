/* Builds sentences from the words of a language and the sets of the expression: one part for the
 * time, one for the days and one for the months. English puts the time first, Chinese last. */
#include "cron/explain.h"

enum {
    MAX_TIMES = 6, /* more times of day than this are described as minutes and hours */
    MIN_STEPS = 4, /* fewer values than this are listed one by one */
};

/* Words around a list: a noun, which takes the plural ending if there are several values, and the
 * words directly before and after the list. */
struct around {
    const char *noun, *before, *after;
};

struct words {
    const char *months[12], *weekdays[7], *nth[PL_CRON_MAX_NTH];
    const char *comma, *and, *through, *step[2], *plural; /* "0 to 30 (in steps of 10)" */
    const char *pause, *either; /* between parts, and between kinds of days */
    const char *times, *every_minute, *on_the_hour, *every_hour, *every_day;
    struct around n_minutes, minutes, n_hours, hours;
    const char *of_each_month; /* before days, unless there are months */
    struct around days, weekday, nth_weekday, last_weekday;
    const char *last_day, *in_months;
    bool is_time_first; /* and minutes before hours */
};

static const struct words english = {
    .months = {"January", "February", "March", "April", "May", "June", "July", "August",
               "September", "October", "November", "December"},
    .weekdays = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
    .nth = {"on the first", "on the second", "on the third", "on the fourth", "on the fifth"},
    .comma = ", ",
    .and = " and ",
    .through = " to ",
    .step = {" (in steps of ", ")"},
    .plural = "s",
    .pause = ", ",
    .either = ", or ",
    .times = "at ",
    .every_minute = "every minute",
    .on_the_hour = "every hour, on the hour",
    .every_hour = " of every hour",
    .every_day = "every day",
    .n_minutes = {"", "every ", " minutes"},
    .minutes = {"at minute", " ", ""},
    .n_hours = {"", ", every ", " hours"},
    .hours = {" in hour", " ", ""},
    .of_each_month = "",
    .days = {"on day", " ", " of the month"},
    .weekday = {"", "on ", ""},
    .nth_weekday = {"", " ", " of the month"},
    .last_weekday = {"", "on the last ", " of the month"},
    .last_day = "on the last day of the month",
    .in_months = "in ",
    .is_time_first = true,
};

static const struct words chinese = {
    .months = {"1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月",
               "12月"},
    .weekdays = {"周日", "周一", "周二", "周三", "周四", "周五", "周六"},
    .nth = {"第一个", "第二个", "第三个", "第四个", "第五个"},
    .comma = "、",
    .and = "和",
    .through = "至",
    .step = {"（步长", "）"},
    .plural = "",
    .pause = "，",
    .either = "，或",
    .times = "",
    .every_minute = "每分钟",
    .on_the_hour = "每小时整点",
    .every_hour = "每小时",
    .every_day = "每天",
    .n_minutes = {"", "每", "分钟"},
    .minutes = {"", "第", "分"},
    .n_hours = {"", "每", "小时"},
    .hours = {"", "", "点"},
    .of_each_month = "每月",
    .days = {"", "", "日"},
    .weekday = {"", "每", ""},
    .nth_weekday = {"", "", ""},
    .last_weekday = {"", "最后一个", ""},
    .last_day = "最后一天",
    .in_months = "",
    .is_time_first = false,
};

static const struct words *const all_words[PL_CRON_N_LANGS] = {&english, &chinese};

struct writer {
    struct pl_buf *to;
    const struct words *words;
};

typedef void value_fn(struct writer *w, unsigned value);

static void put_number(struct writer *w, unsigned value)
{
    pl_buf_addf(w->to, "%u", value);
}

static void put_month(struct writer *w, unsigned value)
{
    pl_buf_adds(w->to, w->words->months[value - 1]);
}

static void put_weekday(struct writer *w, unsigned value)
{
    pl_buf_adds(w->to, w->words->weekdays[value % 7]);
}

static unsigned count(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

static unsigned lowest(uint64_t set)
{
    return (unsigned)__builtin_ctzll(set);
}

/* The common distance between all neighbours in a set of two or more; 0 if they differ. */
static unsigned step_of(uint64_t set)
{
    unsigned before = lowest(set), step = 0;
    for (uint64_t rest = set & (set - 1); rest; rest &= rest - 1) {
        unsigned distance = lowest(rest) - before;
        if (step && distance != step)
            return 0;
        step = distance;
        before = lowest(rest);
    }
    return step;
}

/* Writes "1, 5 to 9 and 12". The bits of a set are values; a set is never empty here. */
static void put_list(struct writer *w, uint64_t set, value_fn *put)
{
    const struct words *words = w->words;
    unsigned step = count(set) >= MIN_STEPS ? step_of(set) : 0;
    if (step > 1) {
        put(w, lowest(set));
        pl_buf_adds(w->to, words->through);
        put(w, 63 - (unsigned)__builtin_clzll(set));
        pl_buf_adds(w->to, words->step[0]);
        put_number(w, step);
        pl_buf_adds(w->to, words->step[1]);
        return;
    }
    for (bool is_first = true; set; is_first = false) {
        unsigned first = lowest(set), last = first;
        while (set >> (last + 1) & 1)
            last++;
        if (last < first + 2)
            last = first;
        set &= ~((UINT64_C(2) << last) - 1);
        if (!is_first)
            pl_buf_adds(w->to, set ? words->comma : words->and);
        put(w, first);
        if (last > first) {
            pl_buf_adds(w->to, words->through);
            put(w, last);
        }
    }
}

static void put_around(struct writer *w, const struct around *around, uint64_t set, value_fn *put)
{
    pl_buf_adds(w->to, around->noun);
    if (*around->noun && count(set) > 1)
        pl_buf_adds(w->to, w->words->plural);
    pl_buf_adds(w->to, around->before);
    put_list(w, set, put);
    pl_buf_adds(w->to, around->after);
}

/* The step with which the set divides n_values evenly ("every 15 minutes"); 0 if none. */
static unsigned even_step(uint64_t set, unsigned n_values)
{
    unsigned n = count(set), step = n > 1 && set & 1 ? step_of(set) : 0;
    return step * n == n_values ? step : 0;
}

static void put_every(struct writer *w, const struct around *around, unsigned step)
{
    pl_buf_adds(w->to, around->before);
    put_number(w, step);
    pl_buf_adds(w->to, around->after);
}

static void put_times(struct writer *w, const struct pl_cron *cron)
{
    unsigned i = 0, n = count(cron->minutes) * count(cron->hours);
    pl_buf_adds(w->to, w->words->times);
    for (uint64_t hours = cron->hours; hours; hours &= hours - 1)
        for (uint64_t minutes = cron->minutes; minutes; minutes &= minutes - 1, i++) {
            if (i)
                pl_buf_adds(w->to, i + 1 < n ? w->words->comma : w->words->and);
            pl_buf_addf(w->to, "%02u:%02u", lowest(hours), lowest(minutes));
        }
}

static void put_minutes(struct writer *w, uint64_t minutes)
{
    unsigned step = even_step(minutes, 60);
    if (step == 1)
        pl_buf_adds(w->to, w->words->every_minute);
    else if (step)
        put_every(w, &w->words->n_minutes, step);
    else
        put_around(w, &w->words->minutes, minutes, put_number);
}

/* "every 15 minutes" needs no "every hour" after it, and "every 2 hours" would not fit there. */
static void put_hours(struct writer *w, const struct pl_cron *cron)
{
    bool is_even = even_step(cron->minutes, 60) > 0;
    unsigned step = even_step(cron->hours, 24);
    if (step == 1 && !is_even)
        pl_buf_adds(w->to, w->words->every_hour);
    else if (step > 1 && !is_even)
        put_every(w, &w->words->n_hours, step);
    else if (step != 1)
        put_around(w, &w->words->hours, cron->hours, put_number);
}

static bool is_told_by_times(const struct pl_cron *cron)
{
    return count(cron->minutes) * count(cron->hours) <= MAX_TIMES;
}

static void put_time(struct writer *w, const struct pl_cron *cron)
{
    if (is_told_by_times(cron)) {
        put_times(w, cron);
    } else if (cron->minutes == 1 && count(cron->hours) == 24) {
        pl_buf_adds(w->to, w->words->on_the_hour);
    } else if (w->words->is_time_first) {
        put_minutes(w, cron->minutes);
        put_hours(w, cron);
    } else {
        put_hours(w, cron);
        put_minutes(w, cron->minutes);
    }
}

static bool names_months(const struct pl_cron *cron)
{
    return count(cron->months) < 12;
}

/* Writes the conjunction before the next kind of days. */
static void put_either(struct writer *w, const struct pl_cron *cron, bool is_monthly, bool *is_more)
{
    if (*is_more)
        pl_buf_adds(w->to, w->words->either);
    if (is_monthly && !names_months(cron))
        pl_buf_adds(w->to, w->words->of_each_month);
    *is_more = true;
}

static void put_weekdays(struct writer *w, const struct pl_cron *cron, bool *is_more)
{
    const struct words *words = w->words;
    /* The week ends with Sunday: FRI-SUN is three days in a row. */
    uint64_t weekdays = cron->weekdays;
    if (weekdays & 1 && weekdays >> 6 & 1 && weekdays != 0x7F)
        weekdays = (weekdays & ~UINT64_C(1)) | 1 << 7;
    if (weekdays) {
        put_either(w, cron, false, is_more);
        put_around(w, &words->weekday, weekdays, put_weekday);
    }
    for (size_t i = 0; i < PL_CRON_MAX_NTH; i++) {
        if (!cron->nth_weekdays[i])
            continue;
        put_either(w, cron, true, is_more);
        pl_buf_adds(w->to, words->nth[i]);
        put_around(w, &words->nth_weekday, cron->nth_weekdays[i], put_weekday);
    }
    if (cron->last_weekdays) {
        put_either(w, cron, true, is_more);
        put_around(w, &words->last_weekday, cron->last_weekdays, put_weekday);
    }
}

static void put_days(struct writer *w, const struct pl_cron *cron)
{
    bool is_more = false;
    if (cron->is_day_restricted && cron->days) {
        put_either(w, cron, true, &is_more);
        put_around(w, &w->words->days, cron->days, put_number);
    }
    if (cron->is_day_restricted && cron->has_last_day) {
        put_either(w, cron, true, &is_more);
        pl_buf_adds(w->to, w->words->last_day);
    }
    if (cron->is_weekday_restricted)
        put_weekdays(w, cron, &is_more);
    if (!is_more)
        pl_buf_adds(w->to, w->words->every_day);
}

static void put_months(struct writer *w, const struct pl_cron *cron)
{
    pl_buf_adds(w->to, w->words->in_months);
    put_list(w, cron->months, put_month);
}

void pl_cron_explain(struct pl_buf *to, const struct pl_cron *cron, enum pl_cron_lang lang)
{
    struct writer w = {to, all_words[lang]};
    size_t start = to->len;
    bool has_days = cron->is_day_restricted || cron->is_weekday_restricted;
    bool has_months = names_months(cron);
    /* "every minute" needs no "every day" after it. */
    bool says_days = has_days || is_told_by_times(cron);
    if (w.words->is_time_first) {
        put_time(&w, cron);
        if (says_days) {
            pl_buf_adds(to, has_days ? w.words->pause : " ");
            put_days(&w, cron);
        }
        if (has_months) {
            pl_buf_adds(to, w.words->pause);
            put_months(&w, cron);
        }
    } else {
        if (has_months) {
            put_months(&w, cron);
            pl_buf_adds(to, w.words->pause);
        }
        if (says_days) {
            put_days(&w, cron);
            pl_buf_adds(to, has_days ? w.words->pause : " ");
        }
        put_time(&w, cron);
    }
    if (to->status == PL_OK && to->len > start && to->ptr[start] >= 'a' && to->ptr[start] <= 'z')
        to->ptr[start] = (char)(to->ptr[start] - 'a' + 'A');
}
