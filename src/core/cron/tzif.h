/* A time zone, read from the bytes of a TZif file (RFC 9636, versions 1 to 4): the instants at
 * which the clock changes, and the local time between them.
 *
 * The history of a zone is a chain of eras, each with one offset from UTC. Eras come from the table
 * of the file. After the end of the table they come from its footer, a rule such as
 * "CET-1CEST,M3.5.0,M10.5.0/3". Nothing is copied or allocated: the zone points into the caller's
 * bytes, which must outlive it. */
#ifndef PL_CRON_TZIF_H
#define PL_CRON_TZIF_H

#include "base/status.h"
#include "base/str.h"

enum {
    PL_TZIF_MAX_BYTES = 1 << 20,
    PL_TZIF_MAX_OFFSET = 26 * 3600, /* seconds, in either direction */
};

/* A yearly clock change of a footer rule. */
struct pl_tz_change {
    enum { PL_TZ_JULIAN, PL_TZ_DAY, PL_TZ_WEEKDAY } kind; /* J1-365, 0-365, M.w.d */
    uint16_t day; /* day of the year; 0-6 for PL_TZ_WEEKDAY */
    uint8_t month, week;
    int32_t time_s; /* since local midnight, by the clock before the change */
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

/* True if the name may be looked up below a directory of zone files. "Europe/Berlin" is safe; a
 * name that leads elsewhere is not (no "..", no leading "/"). */
bool pl_tz_name_is_safe(struct pl_str name);

/* Checks the whole file once, so that no later call can fail. PL_SYNTAX if the file is malformed,
 * PL_LIMIT if it is too large or changes its clock too often to be a real zone. */
enum pl_status pl_tzif_open(struct pl_str bytes, struct pl_tzif *ret_zone, struct pl_error *err);

/* A period with one offset: [start_s, end_s). */
struct pl_tz_era {
    int64_t start_s, end_s; /* INT64_MIN and INT64_MAX if there is no change */
    int32_t offset_s;       /* local time is UTC plus this */
    bool is_dst;
    struct pl_str name; /* "CEST"; borrowed from the file */
};

/* zone NULL is UTC. */
struct pl_tz_era pl_tzif_era(const struct pl_tzif *zone, int64_t unix_s);

enum pl_tz_fit {
    PL_TZ_ONCE,
    PL_TZ_GAP,     /* the clock was put forward over it */
    PL_TZ_OVERLAP, /* the clock was put back, so the time occurs twice */
};
struct pl_tz_instant {
    enum pl_tz_fit fit;
    int64_t unix_s;  /* the instant; the first one of an overlap, the change of a gap */
    int64_t again_s; /* the second instant of an overlap; otherwise equal to unix_s */
};

/* Finds the instant of a local time. local_s counts seconds as if the local clock were UTC. */
struct pl_tz_instant pl_tzif_instant(const struct pl_tzif *zone, int64_t local_s);

#endif
