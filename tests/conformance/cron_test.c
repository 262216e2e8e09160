/* Checks fields and next times with the tables of robfig/cron. A leading field of seconds is
 * removed from specs, and seconds of expected times are cut off. That library treats a change of
 * the clock differently: it does not run skipped times and runs repeated times twice. For these
 * cases `ours` has the expected time. */
#include "base/arena.h"
#include "base/text/utc.h"
#include "conformance/corpora.h"
#include "cron/next.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *from, *fields, *next;
} ours[] = {
    /* Skipped: due at the change. */
    {"2012-03-11T00:00:00-0500", "30 2 11 Mar ?", "2012-03-11T03:00:00-0400"},
    {"2012-03-11T00:00:00-0500", "0 2 * * ?", "2012-03-11T03:00:00-0400"},
    /* Repeated: due the first time only. */
    {"2012-11-04T01:45:00-0400", "30 1 04 Nov ?", "2013-11-04T01:30:00-0500"},
    {"2012-11-04T01:00:00-0400", "0 1 * * ?", "2012-11-05T01:00:00-0500"},
};

struct zone_file {
    char name[64];
    char *bytes; /* owned */
    struct pl_tzif zone;
};

static void die(const char *what, const char *text)
{
    printf("Bail out! %s: %s\n", what, text);
    exit(1);
}

/* Reads "Mon Jul 9 14:45:59 2012" or "2012-03-11T00:00:00-0500"; *ret_offset_s is for the latter.
 * */
static int64_t read_time(const char *text, int64_t *ret_offset_s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    char month[4], sign;
    int day, hour, minute, second = 0, year, number, zone;
    *ret_offset_s = 0;
    if (sscanf(text, "%d-%d-%dT%d:%d:%d%c%4d", &year, &number, &day, &hour, &minute, &second, &sign,
               &zone) == 8) {
        *ret_offset_s = (zone / 100 * 60 + zone % 100) * 60 * (sign == '-' ? -1 : 1);
    } else {
        if (sscanf(text, "%*3s %3s %d %d:%d:%d %d", month, &day, &hour, &minute, &second, &year) !=
            6) {
            second = 0;
            if (sscanf(text, "%*3s %3s %d %d:%d %d", month, &day, &hour, &minute, &year) != 5)
                die("no time", text);
        }
        const char *found = strstr(months, month);
        number = found ? (int)(found - months) / 3 + 1 : 0;
    }
    struct pl_civil civil = {.year = year,
                             .month = (uint8_t)number,
                             .day = (uint8_t)day,
                             .hour = (uint8_t)hour,
                             .minute = (uint8_t)minute,
                             .second = (uint8_t)second};
    return pl_civil_unix_s(&civil) - *ret_offset_s;
}

/* Removes a leading "TZ=America/New_York "; true if there was one. */
static bool take_zone(const char **text, struct zone_file *file)
{
    const char *equals = strstr(*text, "TZ=");
    if (!equals)
        return false;
    size_t n = strcspn(equals + 3, " ");
    snprintf(file->name, sizeof file->name, "%.*s", (int)n, equals + 3);
    *text = equals + 3 + n + 1;
    return true;
}

static void open_zone(struct zone_file *file)
{
    const char *own = getenv("PARLEY_TZDIR");
    char *path = corpora_join(own && *own ? own : "/usr/share/zoneinfo", file->name);
    size_t len;
    file->bytes = corpora_read(path, &len);
    if (pl_tzif_open((struct pl_str){file->bytes, len}, &file->zone, NULL) != PL_OK)
        die("no zone", path);
    free(path);
}

/* The five fields, without the field of seconds. */
static const char *five_fields(const char *spec)
{
    int n = 1;
    for (const char *at = spec; *at; at++)
        n += *at == ' ';
    return n == 6 ? strchr(spec, ' ') + 1 : spec;
}

static struct pl_cron parse(const char *fields)
{
    struct pl_cron cron;
    struct pl_error err = {0};
    if (pl_cron_parse(pl_str_of(fields), &cron, &err) != PL_OK)
        die(fields, err.message);
    return cron;
}

static void copy_text(const struct pl_json_doc *doc, const struct pl_json_node *object,
                      const char *name, char to[static 128])
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(name));
    snprintf(to, 128, "%.*s", PL_STR_ARG(pl_json_raw(doc, n)));
}

static void check_activation(const struct pl_json_doc *doc, const struct pl_json_node *one)
{
    char local[128], spec[128];
    int64_t offset_s;
    copy_text(doc, one, "local", local);
    copy_text(doc, one, "spec", spec);
    const struct pl_json_node *match = pl_json_get(doc, one, PL_STR("match"));
    struct pl_cron cron = parse(five_fields(spec));
    struct pl_civil civil = pl_civil_of(read_time(local, &offset_s));
    bool is_wanted = pl_json_span(doc, match).ptr[0] == 't';
    tap_point(pl_cron_has_minute(&cron, &civil) == is_wanted, "%s %s %s", spec,
              is_wanted ? "is" : "is not", local);
}

static void check_next(const struct pl_json_doc *doc, const struct pl_json_node *one)
{
    char from[128], spec[128], next[128];
    struct zone_file file = {0};
    int64_t offset_s, unused, got_s = 0, wanted_s = 0;
    copy_text(doc, one, "from", from);
    copy_text(doc, one, "spec", spec);
    copy_text(doc, one, "next", next);
    const char *start = from, *fields = spec, *wanted = next, *why = "";
    /* Both prefixes are removed, even if the first has named the zone. */
    bool is_in_fields = take_zone(&fields, &file), is_in_start = take_zone(&start, &file);
    bool has_zone = is_in_fields || is_in_start;
    if (has_zone)
        open_zone(&file);
    fields = five_fields(fields);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (has_zone && strcmp(ours[i].from, start) == 0 && strcmp(ours[i].fields, fields) == 0) {
            wanted = ours[i].next;
            why = " (our rule for changes of the clock)";
        }
    struct pl_cron cron = parse(fields);
    /* Without a zone the local time counts as UTC. */
    int64_t from_s = read_time(start, &offset_s) + (has_zone ? 0 : offset_s);
    bool is_due = pl_cron_next(&cron, has_zone ? &file.zone : NULL, from_s, &got_s);
    if (*wanted) {
        wanted_s = read_time(wanted, &unused);
        wanted_s += has_zone ? 0 : unused;
    }
    tap_point(is_due == (*wanted != '\0') && (!is_due || got_s == wanted_s / 60 * 60),
              "%s after %s: %s%s", fields, start, *wanted ? wanted : "never", why);
    free(file.bytes);
}

int main(void)
{
    char *path = corpora_find("cron/robfig_cron_vectors.json");
    if (!path)
        return tap_skip_all("the corpus cron is not here");
    size_t len;
    struct pl_arena arena;
    struct pl_json_doc doc;
    char *text = corpora_read(path, &len);
    pl_arena_init(&arena, 0);
    if (pl_json_parse(&arena, (struct pl_str){text, len}, NULL, &doc, NULL) != PL_OK)
        die("not JSON", path);
    const struct pl_json_node *list = pl_json_get(&doc, doc.root, PL_STR("activation"));
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        check_activation(&doc, n);
    list = pl_json_get(&doc, doc.root, PL_STR("next"));
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n))
        check_next(&doc, n);
    pl_arena_deinit(&arena);
    free(text);
    free(path);
    return tap_end();
}
