/* Checks every clock change of the corpus: this machine's zone files must contain it, and four
 * expressions must be due around it by the rules for changes: a time in the middle of the skipped
 * or repeated hour, the first time after it, every minute, and every half hour. The expected times
 * come from the corpus alone. If this machine has another version of tzdata, zones that differ are
 * named and not checked. */
#include "base/arena.h"
#include "base/text/utc.h"
#include "conformance/corpora.h"
#include "cron/next.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { WINDOW_S = 3 * 3600 };
static const int64_t full_from_s = 1672531200, full_to_s = 1924992000; /* 2023 to 2030 */

struct change {
    int64_t utc_s, from_s, to_s; /* from and to: local */
    int32_t before_s, after_s;
};

struct suite {
    const char *dir; /* of zone files */
    struct pl_str machine, version;
    bool is_same_version;
};

static struct pl_str text_of(const struct pl_json_doc *doc, const struct pl_json_node *object,
                             const char *name)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(name));
    return n && pl_json_kind(n) == PL_JSON_STRING ? pl_json_raw(doc, n) : (struct pl_str){0};
}

static int64_t time_of(const struct pl_json_doc *doc, const struct pl_json_node *object,
                       const char *name)
{
    struct pl_str text = text_of(doc, object, name);
    char with_zone[40] = {0};
    int64_t us = 0;
    bool has_zone = text.len && text.ptr[text.len - 1] == 'Z';
    snprintf(with_zone, sizeof with_zone, "%.*s%s", PL_STR_ARG(text), has_zone ? "" : "Z");
    if (!pl_utc_read(pl_str_of(with_zone), &us)) {
        printf("Bail out! %s is no time\n", with_zone);
        exit(1);
    }
    return us / 1000000;
}

static int32_t seconds_of(const struct pl_json_doc *doc, const struct pl_json_node *object,
                          const char *name)
{
    const struct pl_json_node *n = pl_json_get(doc, object, pl_str_of(name));
    int value = 0;
    char text[16] = {0};
    struct pl_str span = n ? pl_json_span(doc, n) : (struct pl_str){0};
    snprintf(text, sizeof text, "%.*s", PL_STR_ARG(span));
    sscanf(text, "%d", &value);
    return value;
}

static struct change change_of(const struct pl_json_doc *doc, const struct pl_json_node *object)
{
    return (struct change){
        time_of(doc, object, "utc"),
        time_of(doc, object, "local_from"),
        time_of(doc, object, "local_to"),
        seconds_of(doc, object, "offset_before_s"),
        seconds_of(doc, object, "offset_after_s"),
    };
}

static struct pl_cron parse(const char *text)
{
    struct pl_cron cron;
    if (pl_cron_parse(pl_str_of(text), &cron, NULL) != PL_OK) {
        printf("Bail out! %s\n", text);
        exit(1);
    }
    return cron;
}

static struct pl_cron daily_at(int64_t local_s)
{
    char text[64];
    struct pl_civil civil = pl_civil_of(local_s);
    snprintf(text, sizeof text, "%u %u * * *", civil.minute, civil.hour);
    return parse(text);
}

static bool expect(const char *what, const struct change *c, int64_t got_s, int64_t wanted_s)
{
    if (got_s == wanted_s)
        return true;
    tap_note("%s at the change %lld: %lld, not %lld", what, (long long)c->utc_s, (long long)got_s,
             (long long)wanted_s);
    return false;
}

static int64_t next(const struct pl_cron *cron, const struct pl_tzif *zone, int64_t after_s)
{
    int64_t found_s;
    return pl_cron_next(cron, zone, after_s, &found_s) ? found_s : INT64_MAX;
}

static bool check_fixed(const struct pl_tzif *zone, const struct change *c)
{
    bool is_gap = c->after_s > c->before_s;
    int64_t middle_s = (c->from_s + c->to_s) / 2 / 60 * 60;
    /* In a gap: due at the change. In an overlap: due the first time. */
    struct pl_cron cron = daily_at(middle_s);
    int64_t wanted_s = is_gap ? c->utc_s : middle_s - c->before_s;
    bool is_ok = expect("inside", c, next(&cron, zone, wanted_s - 1), wanted_s);
    int64_t second_s = next(&cron, zone, wanted_s);
    if (second_s < wanted_s + WINDOW_S) {
        tap_note("inside at the change %lld: twice", (long long)c->utc_s);
        is_ok = false;
    }
    /* The first minute after the change occurs once. */
    int64_t behind_s = (c->to_s + 59) / 60 * 60;
    cron = daily_at(behind_s);
    wanted_s = behind_s - c->after_s;
    return expect("behind", c, next(&cron, zone, wanted_s - 1), wanted_s) && is_ok;
}

static bool check_real(const struct pl_tzif *zone, const struct change *c, const char *expression)
{
    struct pl_cron cron = parse(expression);
    int64_t at_s = c->utc_s - WINDOW_S - 1;
    for (int64_t s = at_s + 1; s < c->utc_s + WINDOW_S; s++) {
        int64_t local_s = s + (s < c->utc_s ? c->before_s : c->after_s);
        if (local_s % 60)
            continue;
        struct pl_civil civil = pl_civil_of(local_s);
        if (!pl_cron_has_minute(&cron, &civil))
            continue;
        at_s = next(&cron, zone, at_s);
        if (!expect(expression, c, at_s, s))
            return false;
    }
    return true;
}

static bool is_known(const struct pl_tzif *zone, const struct change *c)
{
    return pl_tzif_era(zone, c->utc_s - 1).offset_s == c->before_s &&
           pl_tzif_era(zone, c->utc_s).offset_s == c->after_s &&
           pl_tzif_era(zone, c->utc_s).start_s == c->utc_s;
}

/* The number of offset changes on this machine in the years that the corpus has in full. */
static size_t count_changes(const struct pl_tzif *zone)
{
    size_t n = 0;
    struct pl_tz_era era = pl_tzif_era(zone, full_from_s);
    while (era.end_s < full_to_s) {
        struct pl_tz_era later = pl_tzif_era(zone, era.end_s);
        n += later.offset_s != era.offset_s;
        era = later;
    }
    return n;
}

/* Checks all changes of the zone that begins at `first`; returns the start of the next zone. */
static const struct pl_json_node *check_zone(const struct suite *suite,
                                             const struct pl_json_doc *doc,
                                             const struct pl_json_node *first,
                                             const struct pl_json_node *end)
{
    char name[64];
    struct pl_tzif zone;
    size_t len, n_known = 0, n_other = 0, n_full = 0, n_extra = 0;
    bool is_ok = true;
    struct pl_str zone_name = text_of(doc, first, "zone");
    snprintf(name, sizeof name, "%.*s", PL_STR_ARG(zone_name));
    char *path = corpora_join(suite->dir, name), *bytes = corpora_read(path, &len);
    struct pl_error err = {0};
    bool is_open = pl_tzif_open((struct pl_str){bytes, len}, &zone, &err) == PL_OK;
    const struct pl_json_node *n = first;
    for (; n < end && pl_str_eq(text_of(doc, n, "zone"), zone_name); n = pl_json_next(n)) {
        struct change c = change_of(doc, n);
        if (!is_open || !is_known(&zone, &c)) {
            n_other++;
            continue;
        }
        n_known++;
        n_full += c.utc_s >= full_from_s && c.utc_s < full_to_s;
        is_ok &= check_fixed(&zone, &c);
        is_ok &= check_real(&zone, &c, "* * * * *") && check_real(&zone, &c, "*/30 * * * *");
    }
    /* The corpus may have a zone a second time, with changes of older years only. */
    if (is_open && n_full && count_changes(&zone) > n_full)
        n_extra = count_changes(&zone) - n_full;
    if (n_extra)
        tap_note("%s differs: tzdata %.*s has %zu changes that are not in %.*s", name,
                 PL_STR_ARG(suite->machine), n_extra, PL_STR_ARG(suite->version));
    if (n_other)
        tap_note("%s differs: %zu of %zu changes of %.*s are not in tzdata %.*s %s", name, n_other,
                 n_other + n_known, PL_STR_ARG(suite->version), PL_STR_ARG(suite->machine),
                 err.message);
    tap_point(is_open && is_ok && (n_other + n_extra == 0 || !suite->is_same_version),
              "%.*s %s: %zu changes, four expressions each", PL_STR_ARG(suite->version), name,
              n_known);
    free(bytes);
    free(path);
    return n;
}

static void check_corpus(struct suite *suite, const char *path)
{
    size_t len;
    struct pl_arena arena;
    struct pl_json_doc doc;
    char *text = corpora_read(path, &len);
    pl_arena_init(&arena, 0);
    if (pl_json_parse(&arena, (struct pl_str){text, len}, NULL, &doc, NULL) != PL_OK) {
        printf("Bail out! %s is not JSON\n", path);
        exit(1);
    }
    struct pl_str tzdata = text_of(&doc, doc.root, "tzdata");
    const char *space = memchr(tzdata.ptr, ' ', tzdata.len);
    suite->version = pl_str_slice(tzdata, 0, space ? (size_t)(space - tzdata.ptr) : tzdata.len);
    suite->is_same_version = pl_str_eq(suite->version, suite->machine);
    const struct pl_json_node *list = pl_json_get(&doc, doc.root, PL_STR("transitions"));
    const struct pl_json_node *n = pl_json_first(list), *end = pl_json_end(list);
    while (n < end)
        n = check_zone(suite, &doc, n, end);
    pl_arena_deinit(&arena);
    free(text);
}

int main(void)
{
    static const char mark[] = "# version ";
    const char *own = getenv("PARLEY_TZDIR");
    struct suite suite = {.dir = own && *own ? own : "/usr/share/zoneinfo"};
    char *corpus = corpora_find("tz"), *list = corpora_join(suite.dir, "tzdata.zi");
    FILE *file = fopen(list, "rb");
    char line[64] = "";
    if (!corpus || !file)
        return tap_skip_all(corpus ? "there is no tzdata here" : "the corpus tz is not here");
    if (fgets(line, sizeof line, file) && strncmp(line, mark, sizeof mark - 1) == 0)
        suite.machine =
            (struct pl_str){line + sizeof mark - 1, strcspn(line + sizeof mark - 1, " \n")};
    fclose(file);
    tap_note("tzdata of this machine: %.*s", PL_STR_ARG(suite.machine));
    char **names = corpora_list(corpus);
    for (char **name = names; *name; name++) {
        char *path = corpora_join(corpus, *name);
        check_corpus(&suite, path);
        free(path);
        free(*name);
    }
    free(names);
    free(list);
    free(corpus);
    return tap_end();
}
