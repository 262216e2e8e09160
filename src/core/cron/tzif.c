/* Reads a TZif file in place. All sizes are checked at open. Later an era is found in the table, or
 * by the rule of the footer. */
#include "cron/tzif.h"

#include "base/ascii.h"
#include "cron/tz_rule.h"

enum {
    HEADER_SIZE = 44,
    TYPE_SIZE = 6,
    MAX_ZONE_NAME = 64,
    /* No real clock changes more often than this within the reach of one local time. The bound
     * keeps every lookup short. */
    MAX_CLOSE = 16,
};
static const int64_t reach_s = 2 * PL_TZIF_MAX_OFFSET;
/* Tables may begin with the Big Bang (-2^59). Beyond this limit a sum could overflow. */
static const int64_t most_s = INT64_C(1) << 60;

/* The six counts of a header, in the order of the file. */
struct counts {
    uint32_t isut, isstd, leap, time, type, name;
};

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t read_time(const struct pl_tzif *zone, uint32_t i)
{
    const uint8_t *at = zone->times + (size_t)i * zone->time_size;
    if (zone->time_size == 4)
        return (int32_t)read_u32(at);
    return (int64_t)((uint64_t)read_u32(at) << 32 | read_u32(at + 4));
}

static enum pl_status read_header(struct pl_str bytes, size_t at, struct counts *ret_counts,
                                  uint8_t *ret_version, struct pl_error *err)
{
    if (bytes.len - at < HEADER_SIZE || memcmp(bytes.ptr + at, "TZif", 4) != 0)
        return pl_fail(err, PL_SYNTAX, "this is not a time zone file (TZif)%s",
                       at ? ": its second part is missing" : "");
    const uint8_t *head = (const uint8_t *)bytes.ptr + at;
    *ret_version = head[4];
    if (head[4] != 0 && (head[4] < '2' || head[4] > '4'))
        return pl_fail(err, PL_SYNTAX, "the time zone file has an unknown version");
    *ret_counts = (struct counts){read_u32(head + 20), read_u32(head + 24), read_u32(head + 28),
                                  read_u32(head + 32), read_u32(head + 36), read_u32(head + 40)};
    return PL_OK;
}

/* Counts have 32 bits and the file has at most a megabyte, so no sum overflows 64 bits. */
static uint64_t body_size(const struct counts *c, uint32_t time_size)
{
    return (uint64_t)c->time * time_size + c->time + (uint64_t)c->type * TYPE_SIZE + c->name +
           (uint64_t)c->leap * (time_size + 4) + c->isstd + c->isut;
}

static enum pl_status check_body(const struct pl_tzif *zone, struct pl_error *err)
{
    for (uint32_t i = 0; i < zone->n_types; i++) {
        const uint8_t *type = zone->types + (size_t)i * TYPE_SIZE;
        int32_t offset = (int32_t)read_u32(type);
        if (offset < -PL_TZIF_MAX_OFFSET || offset > PL_TZIF_MAX_OFFSET || type[4] > 1 ||
            type[5] >= zone->names.len ||
            !memchr(zone->names.ptr + type[5], 0, zone->names.len - type[5]))
            return pl_fail(err, PL_SYNTAX, "the time zone file has an invalid local time type");
    }
    int64_t before = INT64_MIN;
    for (uint32_t i = 0; i < zone->n_times; i++) {
        int64_t time = read_time(zone, i);
        if (time <= before || time < -most_s || time > most_s || zone->type_of[i] >= zone->n_types)
            return pl_fail(err, PL_SYNTAX, "the time zone file has an invalid transition");
        if (i >= MAX_CLOSE && time - read_time(zone, i - MAX_CLOSE) < reach_s)
            return pl_fail(err, PL_LIMIT, "the time zone file has too many transitions");
        before = time;
    }
    return PL_OK;
}

/* Opens the part of the file whose body begins at `at`. The body fits into the file. */
static enum pl_status open_body(struct pl_str bytes, size_t at, const struct counts *c,
                                uint32_t time_size, struct pl_tzif *ret_zone, struct pl_error *err)
{
    if (c->type == 0 || c->type > 256 || c->name == 0)
        return pl_fail(err, PL_SYNTAX, "the time zone file has no local time types");
    const uint8_t *body = (const uint8_t *)bytes.ptr + at;
    size_t n_times = c->time;
    struct pl_tzif zone = {
        .times = body,
        .type_of = body + n_times * time_size,
        .types = body + n_times * (time_size + 1),
        .n_times = c->time,
        .n_types = c->type,
        .time_size = time_size,
    };
    zone.names = (struct pl_str){(const char *)zone.types + (size_t)c->type * TYPE_SIZE, c->name};
    enum pl_status status = check_body(&zone, err);
    if (status == PL_OK)
        *ret_zone = zone;
    return status;
}

/* Reads "\nRULE\n" after the second body. An empty rule means that the rule is unknown. */
static enum pl_status read_footer(struct pl_str footer, struct pl_tzif *zone, struct pl_error *err)
{
    const char *end = footer.len > 1 && footer.ptr[0] == '\n'
                          ? memchr(footer.ptr + 1, '\n', footer.len - 1)
                          : NULL;
    if (!end)
        return pl_fail(err, PL_SYNTAX, "the time zone file is truncated: its last line is missing");
    struct pl_str rule = {footer.ptr + 1, (size_t)(end - footer.ptr) - 1};
    if (!rule.len)
        return PL_OK;
    if (!pl_tz_rule_read(rule, &zone->rule))
        return pl_fail(err, PL_SYNTAX, "the rule \"%.*s\" of the time zone file is malformed",
                       rule.len < 80 ? (int)rule.len : 80, rule.ptr);
    return PL_OK;
}

enum pl_status pl_tzif_open(struct pl_str bytes, struct pl_tzif *ret_zone, struct pl_error *err)
{
    struct counts c;
    struct pl_tzif zone = {0};
    uint8_t version, second_version;
    size_t at = HEADER_SIZE;
    if (bytes.len > PL_TZIF_MAX_BYTES)
        return pl_fail(err, PL_LIMIT, "a time zone file has at most %d bytes", PL_TZIF_MAX_BYTES);
    enum pl_status status = read_header(bytes, 0, &c, &version, err);
    if (status != PL_OK)
        return status;
    uint32_t time_size = 4;
    if (body_size(&c, 4) > bytes.len - at)
        return pl_fail(err, PL_SYNTAX, "the time zone file is truncated");
    if (version != 0) {
        at += body_size(&c, 4);
        status = read_header(bytes, at, &c, &second_version, err);
        if (status != PL_OK)
            return status;
        at += HEADER_SIZE;
        time_size = 8;
        if (body_size(&c, time_size) > bytes.len - at)
            return pl_fail(err, PL_SYNTAX, "the time zone file is truncated");
    }
    if (c.leap)
        return pl_fail(err, PL_SYNTAX,
                       "the time zone file counts leap seconds; use the variant without them");
    status = open_body(bytes, at, &c, time_size, &zone, err);
    at += body_size(&c, time_size);
    if (status == PL_OK && version != 0)
        status = read_footer(pl_str_slice(bytes, at, bytes.len), &zone, err);
    if (status == PL_OK)
        *ret_zone = zone;
    return status;
}

bool pl_tz_name_is_safe(struct pl_str name)
{
    bool is_at_start = true; /* start of a part between slashes */
    if (name.len > MAX_ZONE_NAME)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_inner = pl_ascii_is_digit(c) || c == '_' || c == '-' || c == '+' || c == '/';
        if (!pl_ascii_is_letter(c) && (is_at_start || !is_inner))
            return false;
        is_at_start = c == '/';
    }
    return !is_at_start;
}

/* Number of changes in the table at or before the instant. */
static uint32_t count_until(const struct pl_tzif *zone, int64_t unix_s)
{
    uint32_t low = 0, high = zone->n_times;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (read_time(zone, middle) <= unix_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void set_type(const struct pl_tzif *zone, uint32_t i, struct pl_tz_era *era)
{
    const uint8_t *type = zone->types + (size_t)i * TYPE_SIZE;
    era->offset_s = (int32_t)read_u32(type);
    era->is_dst = type[4];
    era->name = pl_str_of(zone->names.ptr + type[5]);
}

struct pl_tz_era pl_tzif_era(const struct pl_tzif *zone, int64_t unix_s)
{
    struct pl_tz_era era = {.start_s = INT64_MIN, .end_s = INT64_MAX, .name = PL_STR("UTC")};
    if (!zone)
        return era;
    uint32_t n = count_until(zone, unix_s);
    if (n > 0)
        era.start_s = read_time(zone, n - 1);
    if (n < zone->n_times)
        era.end_s = read_time(zone, n);
    set_type(zone, n > 0 ? zone->type_of[n - 1] : 0, &era);
    /* Before the first change the first local time type applies, after the last one the rule. */
    if (n == zone->n_times && zone->rule.is_there)
        pl_tz_rule_era(&zone->rule, unix_s, &era);
    return era;
}

struct pl_tz_instant pl_tzif_instant(const struct pl_tzif *zone, int64_t local_s)
{
    local_s = local_s < -most_s ? -most_s : local_s > most_s ? most_s : local_s;
    struct pl_tz_instant found = {.fit = PL_TZ_GAP};
    struct pl_tz_era era = pl_tzif_era(zone, local_s - PL_TZIF_MAX_OFFSET);
    bool is_found = false, is_in_gap = false;
    for (;;) {
        int64_t unix_s = local_s - era.offset_s;
        if (unix_s >= era.start_s && unix_s < era.end_s) {
            if (is_found)
                return (struct pl_tz_instant){PL_TZ_OVERLAP, found.unix_s, unix_s};
            found = (struct pl_tz_instant){PL_TZ_ONCE, unix_s, unix_s};
            is_found = true;
        }
        if (era.end_s == INT64_MAX || era.end_s > local_s + PL_TZIF_MAX_OFFSET)
            return found;
        struct pl_tz_era next = pl_tzif_era(zone, era.end_s);
        /* Before the change the clock had not reached this time; after it the time is already
         * past. */
        if (!is_found && !is_in_gap && unix_s >= era.end_s && local_s - next.offset_s < era.end_s) {
            found.unix_s = found.again_s = era.end_s;
            is_in_gap = true;
        }
        era = next;
    }
}
