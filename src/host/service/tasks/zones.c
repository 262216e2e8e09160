/* A table of the time zones read so far, under a lock. A zone is never removed, so callers may
 * keep the pointer. */
#include "service/tasks/zones.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "io/file/file.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_SHOWN = 100 }; /* shown bytes of an invalid name */

struct zone {
    struct pl_table_link link; /* key: the name, after this struct */
    struct pl_file file;       /* owned */
    struct pl_tzif tzif;       /* points into the file */
};

struct pl_zones {
    const char *dir; /* borrowed */
    pthread_mutex_t lock;
    struct pl_table by_name; /* under the lock; entries are never removed before the end */
};

const char *pl_zones_dir(void)
{
    const char *named = getenv("PARLEY_TZDIR");
    return named && *named ? named : "/usr/share/zoneinfo";
}

struct pl_zones *pl_zones_create(const char *dir)
{
    struct pl_zones *zones = pl_mem_alloc(1, sizeof *zones);
    if (!zones)
        return NULL;
    *zones = (struct pl_zones){.dir = dir && *dir ? dir : pl_zones_dir()};
    pthread_mutex_init(&zones->lock, NULL);
    return zones;
}

static void destroy(struct zone *zone)
{
    pl_file_close(&zone->file);
    pl_mem_free(zone);
}

void pl_zones_destroy(struct pl_zones *zones)
{
    if (!zones)
        return;
    struct pl_table_link *link;
    while ((link = pl_table_next(&zones->by_name, NULL))) {
        pl_table_remove(&zones->by_name, link);
        destroy(PL_CONTAINER_OF(link, struct zone, link));
    }
    pl_table_deinit(&zones->by_name);
    pthread_mutex_destroy(&zones->lock);
    pl_mem_free(zones);
}

static enum pl_status read_zone(const struct pl_zones *zones, struct pl_str name, struct zone *zone,
                                struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/%.*s", zones->dir, PL_STR_ARG(name));
    pl_buf_addc(&path, '\0');
    if (path.status != PL_OK)
        return pl_fail(err, path.status, "out of memory while reading a time zone");
    enum pl_status status = pl_file_read(path.ptr, PL_TZIF_MAX_BYTES, NULL, &zone->file, err);
    if (status == PL_UNREADABLE)
        return pl_fail(err, status,
                       "there is no time zone \"%.*s\"; zones have names like Europe/Berlin, and "
                       "their files come with the package tzdata, or from the directory in "
                       "PARLEY_TZDIR",
                       PL_STR_ARG(name));
    return status == PL_OK ? pl_tzif_open(zone->file.bytes, &zone->tzif, err) : status;
}

/* Under the lock. */
static enum pl_status add_zone(struct pl_zones *zones, struct pl_str name, struct zone **ret_zone,
                               struct pl_error *err)
{
    struct zone *zone = pl_mem_alloc(1, sizeof *zone + name.len);
    if (!zone)
        return pl_fail(err, PL_NOMEM, "out of memory while reading a time zone");
    *zone = (struct zone){0};
    memcpy(zone + 1, name.ptr, name.len);
    zone->link.key = (struct pl_str){(const char *)(zone + 1), name.len};
    enum pl_status status = read_zone(zones, name, zone, err);
    if (status == PL_OK && !pl_table_put(&zones->by_name, &zone->link))
        status = pl_fail(err, PL_NOMEM, "out of memory while reading a time zone");
    if (status != PL_OK) {
        destroy(zone);
        return status;
    }
    *ret_zone = zone;
    return PL_OK;
}

enum pl_status pl_zones_find(struct pl_zones *zones, struct pl_str name,
                             const struct pl_tzif **ret_zone, struct pl_error *err)
{
    if (pl_str_eq(name, PL_STR("UTC"))) {
        *ret_zone = NULL;
        return PL_OK;
    }
    if (!pl_tz_name_is_safe(name))
        return pl_fail(err, PL_USAGE,
                       "\"%.*s\" is not the name of a time zone, such as Europe/Berlin",
                       (int)(name.len < MAX_SHOWN ? name.len : MAX_SHOWN), name.ptr);
    enum pl_status status = PL_OK;
    pthread_mutex_lock(&zones->lock);
    struct pl_table_link *link = pl_table_get(&zones->by_name, name);
    struct zone *zone = link ? PL_CONTAINER_OF(link, struct zone, link) : NULL;
    if (!zone)
        status = add_zone(zones, name, &zone, err);
    pthread_mutex_unlock(&zones->lock);
    if (status == PL_OK)
        *ret_zone = &zone->tzif;
    return status;
}
