/* A time zone read from the bytes of a TZif file (RFC 9636, versions 1 to 4): at which instants the
 * clock was or will be changed, and what local time is in between.
 *
 * The history of a zone is a chain of eras, each with one offset from UTC. Eras come from the
 * file's table, and after the table without end from its footer, a rule like
 * "CET-1CEST,M3.5.0,M10.5.0/3". Nothing is copied and nothing is allocated: the zone looks into the
 * caller's bytes, which outlive it. */
#ifndef PL_CRON_TZIF_H
#define PL_CRON_TZIF_H

#include "base/status.h"
#include "base/str.h"

enum {
    PL_TZIF_MAX_BYTES = 1 << 20,
    PL_TZIF_MAX_OFFSET = 26 * 3600, /* seconds either way */
};

/* When the rule of a footer changes the clock, in a year. */
struct pl_tz_change {
    enum { PL_TZ_JULIAN, PL_TZ_DAY, PL_TZ_WEEKDAY } kind; /* J1-365, 0-365, M.w.d */
    uint16_t day;                                         /* of the year, or 0-6 */
    uint8_t month, week;
    int32_t time_s; /* from local midnight, by the clock before the change */
};

struct pl_tz_rule {
    bool is_there, has_dst;
    int32_t offset_s[2];           /* standard and daylight-saving */
    struct pl_tz_change change[2]; /* to standard and to daylight-saving */
    struct pl_str name[2];         /* borrowed from the file */
};

struct pl_tzif {
    const uint8_t *times; /* all borrowed from the file */
    const uint8_t *type_of;
    const uint8_t *types;
    struct pl_str names;
    uint32_t n_times, n_types;
    uint32_t time_size; /* 4 in version 1, 8 later */
    struct pl_tz_rule rule;
};

/* Whether a zone's name may be looked up below a directory of zone files: "Europe/Berlin", and
 * nothing that leads elsewhere (no "..", no leading "/"). */
bool pl_tz_name_is_safe(struct pl_str name);

/* Checks everything once, so that nothing else can fail. PL_SYNTAX says what is wrong with the
 * file, PL_LIMIT that it is too large or changes its clock too often to be a zone. */
enum pl_status pl_tzif_open(struct pl_str bytes, struct pl_tzif *ret_zone, struct pl_error *err);

/* The time in which one offset holds: [start_s, end_s). */
struct pl_tz_era {
    int64_t start_s, end_s; /* INT64_MIN and INT64_MAX where there is no change */
    int32_t offset_s;       /* local time is UTC plus this */
    bool is_dst;
    struct pl_str name; /* "CEST"; borrowed from the file */
};

/* zone NULL is UTC. */
struct pl_tz_era pl_tzif_era(const struct pl_tzif *zone, int64_t unix_s);

enum pl_tz_fit {
    PL_TZ_ONCE,
    PL_TZ_GAP,     /* the clock was put forward over it */
    PL_TZ_OVERLAP, /* the clock was put back: it comes twice */
};
struct pl_tz_instant {
    enum pl_tz_fit fit;
    int64_t unix_s;  /* the instant; of an overlap the first, of a gap that of the change */
    int64_t again_s; /* of an overlap the second; otherwise the same */
};

/* Which instant is this local time? local_s counts seconds as if the local clock were UTC. */
struct pl_tz_instant pl_tzif_instant(const struct pl_tzif *zone, int64_t local_s);

#endif
