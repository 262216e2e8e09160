/* The time zones of this machine, by name: TZif files (RFC 9636) below a directory. Each file is
 * read once and kept, so frequent use costs one lookup; an update of tzdata takes effect at the
 * next start. Thread-safe. */
#ifndef PL_SERVICE_TASKS_ZONES_H
#define PL_SERVICE_TASKS_ZONES_H

#include "cron/tzif.h"

struct pl_zones; /* owned */

/* Their directory: PARLEY_TZDIR, or /usr/share/zoneinfo. */
const char *pl_zones_dir(void);

/* `dir` is borrowed; NULL: pl_zones_dir(). Returns NULL if out of memory. */
struct pl_zones *pl_zones_create(const char *dir);
/* The zones that were found become invalid. Accepts NULL. */
void pl_zones_destroy(struct pl_zones *zones);

/* *ret_zone is NULL for UTC, which needs no file. PL_USAGE: not a valid name; PL_UNREADABLE:
 * there is no zone with this name here; PL_SYNTAX, PL_LIMIT: its file is damaged; PL_NOMEM. May
 * read a file: not on a loop's thread. */
enum pl_status pl_zones_find(struct pl_zones *zones, struct pl_str name,
                             const struct pl_tzif **ret_zone, struct pl_error *err);

#endif
