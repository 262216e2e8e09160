/* parley task next: what a cron expression means, and when it is due. Needs no server: the zone
 * comes from this machine's files. */
#include "app/commands.h"

#include "base/utc.h"
#include "cron/explain.h"
#include "cron/next.h"
#include "io/clock.h"
#include "io/file.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_COUNT = 10, MAX_COUNT = 1000, TIME_SIZE = 48 };

struct job {
    struct pl_console *console;
    bool is_json, is_chinese;
    const char *expression, *zone_name;
    struct pl_file zone_file; /* owned */
    struct pl_tzif zone_data;
    const struct pl_tzif *zone; /* NULL: UTC */
    struct pl_cron cron;
    int64_t from_s;
    unsigned count;
};

/* One occurrence, as it is shown. */
struct due {
    char utc[TIME_SIZE], local[TIME_SIZE];
    struct pl_str name;
    bool is_moved; /* the clock skips the time it is set to */
};

static bool read_count(const char *text, unsigned *ret_count)
{
    unsigned count = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || count > MAX_COUNT)
            return false;
        count = count * 10 + (unsigned)(*at - '0');
    }
    *ret_count = count;
    return count >= 1 && count <= MAX_COUNT;
}

static enum pl_exit read_options(struct job *job, const struct pl_args *args)
{
    const struct pl_option_use *from = pl_args_find(args, PL_OPT_FROM);
    const struct pl_option_use *count = pl_args_find(args, PL_OPT_COUNT);
    const struct pl_option_use *zone = pl_args_find(args, PL_OPT_ZONE);
    int64_t from_us;
    job->zone_name = zone ? zone->values[0] : "UTC";
    job->count = DEFAULT_COUNT;
    job->from_s = pl_clock_unix_s();
    if (count && !read_count(count->values[0], &job->count))
        return pl_usage_fail(job->console, "task", "--count is a number from 1 to %d", MAX_COUNT);
    if (from && !pl_utc_read(pl_str_of(from->values[0]), &from_us))
        return pl_usage_fail(job->console, "task",
                             "--from is an instant like 2026-03-29T00:00:00Z or "
                             "2026-03-29T01:00:00+01:00, not \"%s\"",
                             from->values[0]);
    /* Seconds are cut, not rounded to zero: times before 1970 are negative. */
    if (from)
        job->from_s = from_us / 1000000 - (from_us % 1000000 < 0);
    return PL_EXIT_OK;
}

static enum pl_exit open_zone(struct job *job)
{
    const char *dir = getenv("PARLEY_TZDIR");
    struct pl_str name = pl_str_of(job->zone_name);
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf path;
    if (pl_str_eq(name, PL_STR("UTC")))
        return PL_EXIT_OK;
    if (!pl_tz_name_is_safe(name))
        return pl_usage_fail(job->console, "task",
                             "\"%s\" is no name of a time zone; they look like Europe/Berlin",
                             job->zone_name);
    pl_buf_init(&path, 0);
    pl_buf_adds(&path, dir && *dir ? dir : "/usr/share/zoneinfo");
    pl_buf_addc(&path, '/');
    pl_buf_add(&path, name);
    pl_buf_addc(&path, '\0');
    enum pl_status status = path.status;
    if (status == PL_OK)
        status = pl_file_read(path.ptr, PL_TZIF_MAX_BYTES, NULL, &job->zone_file, &err);
    if (status == PL_OK)
        status = pl_tzif_open(job->zone_file.bytes, &job->zone_data, &err);
    job->zone = &job->zone_data;
    if (status == PL_OK)
        return PL_EXIT_OK;
    err.status = status;
    enum pl_exit code = pl_console_fail(job->console, path.status == PL_OK ? path.ptr : NULL, &err);
    if (status == PL_UNREADABLE)
        pl_console_hint(job->console, "Zones have names like Europe/Berlin; their files come with "
                                      "the package tzdata, or from the directory in PARLEY_TZDIR.");
    return code;
}

/* RFC 3339 without fractions; offsets that are no whole minute, as before there were zones, with
 * their seconds. */
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

static void print_json(struct job *job, struct pl_str words)
{
    struct pl_json_out out = pl_json_out(pl_console_out(job->console));
    struct due due;
    int64_t at_s = job->from_s;
    write_time(due.utc, at_s, 0, true);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "expression");
    pl_json_out_text(&out, pl_str_of(job->expression));
    pl_json_out_key(&out, "words");
    pl_json_out_text(&out, words);
    pl_json_out_key(&out, "zone");
    pl_json_out_text(&out, pl_str_of(job->zone_name));
    pl_json_out_key(&out, "from");
    pl_json_out_text(&out, pl_str_of(due.utc));
    pl_json_out_key(&out, "next");
    pl_json_out_open(&out, '[');
    for (unsigned i = 0; i < job->count && pl_cron_next(&job->cron, job->zone, at_s, &at_s); i++) {
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

static void print_words(struct job *job, struct pl_str words)
{
    static const char *const moved[] = {"  (its time is skipped by the clock)",
                                        "  （时钟跳过了原定时间）"};
    struct due due;
    int64_t at_s = job->from_s;
    pl_console_put(job->console, words);
    pl_console_puts(job->console, "\n\n");
    for (unsigned i = 0; i < job->count && pl_cron_next(&job->cron, job->zone, at_s, &at_s); i++) {
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

static enum pl_exit run_next(struct job *job)
{
    struct pl_error err = {0};
    int64_t first_s;
    PL_CLEANUP_BUF struct pl_buf words;
    pl_buf_init(&words, 0);
    enum pl_status status = pl_cron_parse(pl_str_of(job->expression), &job->cron, &err);
    if (status != PL_OK) {
        /* The expression is what is judged, not a file that could not be read. */
        err.status = PL_INVALID;
        return pl_console_fail(job->console, job->expression, &err);
    }
    enum pl_exit code = open_zone(job);
    if (code != PL_EXIT_OK)
        return code;
    pl_cron_explain(&words, &job->cron, job->is_chinese ? PL_CRON_ZH : PL_CRON_EN);
    if (words.status != PL_OK)
        return pl_console_fail(job->console, NULL, &(struct pl_error){.status = words.status});
    (job->is_json ? print_json : print_words)(job, pl_buf_str(&words));
    if (pl_cron_next(&job->cron, job->zone, job->from_s, &first_s))
        return PL_EXIT_OK;
    pl_console_say(job->console, "never: there is no such time within %d years",
                   PL_CRON_HORIZON_YEARS);
    return PL_EXIT_NO;
}

enum pl_exit pl_cmd_task(struct pl_console *console, const struct pl_args *args)
{
    const char *verb = args->operands.ptr[0];
    if (strcmp(verb, "next") != 0)
        return pl_usage_fail(console, "task", "\"%s\" is not what can be done with tasks: next",
                             verb);
    if (args->operands.len != 2)
        return pl_usage_fail(console, "task",
                             "it is: parley task next EXPRESSION, in quotes: \"0 9 * * MON-FRI\"");
    struct job job = {
        .console = console,
        .is_json = pl_args_has(args, PL_OPT_JSON),
        .is_chinese = pl_args_wants_chinese(args),
        .expression = args->operands.ptr[1],
    };
    enum pl_exit code = read_options(&job, args);
    if (code == PL_EXIT_OK)
        code = run_next(&job);
    pl_file_close(&job.zone_file);
    return code;
}
