/* parley task next and explain: the meaning of a cron expression, and when it is due. They need no
 * server: the time zone comes from this machine's files. */
#include "app/library/task_due.h"

#include "base/text/utc.h"
#include "cron/explain.h"
#include "cron/next.h"
#include "io/clock.h"
#include "service/tasks/zones.h"

#include <stdio.h>

enum { DEFAULT_COUNT = 10, MAX_COUNT = 1000, TIME_SIZE = 48 };

struct job {
    struct pl_console *console;
    bool is_json, is_chinese;
    bool is_both; /* explain: both languages */
    const char *expression, *zone_name;
    struct pl_zones *zones;     /* owned */
    const struct pl_tzif *zone; /* NULL: UTC */
    struct pl_cron cron;
    int64_t from_s;
    uint64_t count;
};

/* One occurrence, formatted. */
struct due {
    char utc[TIME_SIZE], local[TIME_SIZE];
    struct pl_str name;
    bool is_moved; /* moved: the clock skips its set time */
};

static enum pl_exit read_options(struct job *job, const struct pl_args *args)
{
    const struct pl_option_use *from = pl_args_find(args, PL_OPT_FROM);
    const struct pl_option_use *count = pl_args_find(args, PL_OPT_COUNT);
    const struct pl_option_use *zone = pl_args_find(args, PL_OPT_ZONE);
    int64_t from_us;
    job->zone_name = zone ? zone->values[0] : "UTC";
    job->count = DEFAULT_COUNT;
    job->from_s = pl_clock_unix_s();
    if (count && !pl_option_read_count(count->values[0], MAX_COUNT, &job->count))
        return pl_usage_fail(job->console, "task", "--count must be a number from 1 to %d",
                             MAX_COUNT);
    if (from && !pl_utc_read(pl_str_of(from->values[0]), &from_us))
        return pl_usage_fail(job->console, "task",
                             "--from must be an instant such as 2026-03-29T00:00:00Z or "
                             "2026-03-29T01:00:00+01:00, not \"%s\"",
                             from->values[0]);
    /* Rounds down: times before 1970 are negative. */
    if (from)
        job->from_s = from_us / 1000000 - (from_us % 1000000 < 0);
    return PL_EXIT_OK;
}

enum pl_exit pl_task_zone_open(struct pl_console *console, const char *name,
                               struct pl_zones **zones, const struct pl_tzif **ret_zone)
{
    struct pl_error err = {0};
    *zones = pl_zones_create(NULL);
    enum pl_status status =
        *zones ? pl_zones_find(*zones, pl_str_of(name ? name : "UTC"), ret_zone, &err) : PL_NOMEM;
    if (status == PL_USAGE)
        return pl_usage_fail(console, "task", "%s", err.message);
    err.status = status;
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail(console, NULL, &err);
}

/* Writes RFC 3339 without fractions. Offsets that are not whole minutes, from before time zones,
 * are written with their seconds. */
static void write_time(char to[TIME_SIZE], int64_t unix_s, int32_t offset_s, bool is_utc)
{
    struct pl_civil civil = pl_civil_of(unix_s + offset_s);
    unsigned away = (unsigned)(offset_s < 0 ? -offset_s : offset_s);
    int n = snprintf(to, TIME_SIZE, "%04d-%02u-%02uT%02u:%02u:%02u", (int)civil.year, civil.month,
                     civil.day, civil.hour, civil.minute, civil.second);
    size_t at = (size_t)n;
    if (is_utc)
        snprintf(to + at, TIME_SIZE - at, "Z");
    else if (away % 60)
        snprintf(to + at, TIME_SIZE - at, "%c%02u:%02u:%02u", offset_s < 0 ? '-' : '+', away / 3600,
                 away / 60 % 60, away % 60);
    else
        snprintf(to + at, TIME_SIZE - at, "%c%02u:%02u", offset_s < 0 ? '-' : '+', away / 3600,
                 away / 60 % 60);
}

static void describe(const struct job *job, int64_t unix_s, struct due *ret_due)
{
    struct pl_tz_era era = pl_tzif_era(job->zone, unix_s);
    struct pl_civil local = pl_civil_of(unix_s + era.offset_s);
    write_time(ret_due->utc, unix_s, 0, true);
    write_time(ret_due->local, unix_s, era.offset_s, !job->zone);
    ret_due->name = era.name;
    ret_due->is_moved = local.second || !pl_cron_has_minute(&job->cron, &local);
}

static void print_json(struct job *job, const struct pl_buf *words)
{
    struct pl_json_out out = pl_json_out(pl_console_out(job->console));
    struct due due;
    int64_t at_s = job->from_s;
    write_time(due.utc, at_s, 0, true);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "expression");
    pl_json_out_text(&out, pl_str_of(job->expression));
    if (job->is_both) {
        pl_json_out_key(&out, "en");
        pl_json_out_text(&out, pl_buf_str(&words[PL_CRON_EN]));
        pl_json_out_key(&out, "zh");
        pl_json_out_text(&out, pl_buf_str(&words[PL_CRON_ZH]));
    } else {
        pl_json_out_key(&out, "words");
        pl_json_out_text(&out, pl_buf_str(&words[job->is_chinese ? PL_CRON_ZH : PL_CRON_EN]));
    }
    pl_json_out_key(&out, "zone");
    pl_json_out_text(&out, pl_str_of(job->zone_name));
    pl_json_out_key(&out, "from");
    pl_json_out_text(&out, pl_str_of(due.utc));
    pl_json_out_key(&out, "next");
    pl_json_out_open(&out, '[');
    for (uint64_t i = 0; i < job->count && pl_cron_next(&job->cron, job->zone, at_s, &at_s); i++) {
        describe(job, at_s, &due);
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "utc");
        pl_json_out_text(&out, pl_str_of(due.utc));
        pl_json_out_key(&out, "local");
        pl_json_out_text(&out, pl_str_of(due.local));
        pl_json_out_key(&out, "name");
        pl_json_out_text(&out, due.name);
        pl_json_out_key(&out, "moved");
        pl_json_out_bool(&out, due.is_moved);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_console_puts(job->console, "\n");
}

static void print_words(struct job *job, const struct pl_buf *words)
{
    static const char *const moved[] = {"  (the scheduled time is skipped by daylight saving)",
                                        "  （时钟跳过了原定时间）"};
    struct due due;
    int64_t at_s = job->from_s;
    for (size_t lang = 0; lang < PL_CRON_N_LANGS; lang++) {
        bool is_wanted = job->is_both || job->is_chinese == (lang == PL_CRON_ZH);
        if (is_wanted) {
            pl_console_put(job->console, pl_buf_str(&words[lang]));
            pl_console_puts(job->console, "\n");
        }
    }
    pl_console_puts(job->console, "\n");
    for (uint64_t i = 0; i < job->count && pl_cron_next(&job->cron, job->zone, at_s, &at_s); i++) {
        describe(job, at_s, &due);
        pl_console_puts(job->console, due.utc);
        if (job->zone) {
            pl_console_putf(job->console, "  %s ", due.local);
            pl_console_put_safe(job->console, due.name);
        }
        pl_console_puts(job->console, due.is_moved ? moved[job->is_chinese] : "");
        pl_console_puts(job->console, "\n");
    }
}

static enum pl_exit tell(struct job *job)
{
    struct pl_error err = {0};
    int64_t first_s;
    enum pl_status status = pl_cron_parse(pl_str_of(job->expression), &job->cron, &err);
    if (status != PL_OK) {
        /* The fault is in the expression, not in a file that could not be read. */
        err.status = PL_INVALID;
        return pl_console_fail(job->console, job->expression, &err);
    }
    enum pl_exit code = pl_task_zone_open(job->console, job->zone_name, &job->zones, &job->zone);
    if (code != PL_EXIT_OK)
        return code;
    struct pl_buf words[PL_CRON_N_LANGS];
    for (size_t lang = 0; lang < PL_CRON_N_LANGS; lang++) {
        pl_buf_init(&words[lang], 0);
        pl_cron_explain(&words[lang], &job->cron, (enum pl_cron_lang)lang);
    }
    (job->is_json ? print_json : print_words)(job, words);
    bool is_whole = true;
    for (size_t lang = 0; lang < PL_CRON_N_LANGS; lang++) {
        is_whole = is_whole && words[lang].status == PL_OK;
        pl_buf_deinit(&words[lang]);
    }
    if (!is_whole)
        return pl_console_fail(job->console, NULL, &(struct pl_error){.status = PL_NOMEM});
    if (pl_cron_next(&job->cron, job->zone, job->from_s, &first_s))
        return PL_EXIT_OK;
    pl_console_say(job->console, "never: there is no such time within %d years",
                   PL_CRON_HORIZON_YEARS);
    return PL_EXIT_NO;
}

static enum pl_exit run(struct pl_deed *deed, bool is_both)
{
    struct job job = {
        .console = deed->console,
        .is_json = pl_args_has(deed->args, PL_OPT_JSON),
        .is_chinese = deed->console->is_chinese,
        .is_both = is_both,
        .expression = deed->words[0],
    };
    enum pl_exit code = read_options(&job, deed->args);
    if (code == PL_EXIT_OK)
        code = tell(&job);
    pl_zones_destroy(job.zones);
    return code;
}

enum pl_exit pl_verb_task_next(struct pl_deed *deed)
{
    return run(deed, false);
}

enum pl_exit pl_verb_task_explain(struct pl_deed *deed)
{
    return run(deed, true);
}
