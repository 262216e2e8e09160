#include "service/admin/backup/backup_place.h"

#include <stdio.h>
#include <sys/stat.h>

/* SQLite adds these suffixes to the name of the store; the lock is ours. */
static const char *const store_suffixes[] = {"", "-wal", "-shm", "-journal", "-lock"};

static bool is_of_store(const char *url, const struct pl_outfile_place *place)
{
    static const char scheme[] = "sqlite:";
    if (!url || strncmp(url, scheme, sizeof scheme - 1) != 0)
        return false;
    for (size_t i = 0; i < sizeof store_suffixes / sizeof *store_suffixes; i++) {
        char path[PATH_MAX];
        struct pl_outfile_place own;
        int n = snprintf(path, sizeof path, "%s%s", url + sizeof scheme - 1, store_suffixes[i]);
        if (n > 0 && (size_t)n < sizeof path && pl_outfile_find(path, &own, NULL) == PL_OK &&
            pl_outfile_is_same(&own, place))
            return true;
    }
    return false;
}

/* Only a data directory contains these: the control socket, or the lock, which remains after a
 * stop. */
static bool has_signs_of_data(const struct pl_outfile_place *place)
{
    static const char *const signs[] = {"parley.sock", "parley.db-lock"};
    char above[PATH_MAX];
    snprintf(above, sizeof above, "%s", place->path);
    for (char *slash; (slash = strrchr(above, '/'));) {
        *slash = '\0';
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
            char path[PATH_MAX + 32];
            struct stat st;
            snprintf(path, sizeof path, "%s/%s", above, signs[i]);
            if (lstat(path, &st) == 0)
                return true;
        }
    }
    return false;
}

enum pl_status pl_backup_check_place(const struct pl_server_config *config,
                                     const struct pl_outfile_place *place, struct pl_error *err)
{
    if (config && pl_outfile_is_inside(place, config->data_dir))
        return pl_fail(err, PL_INVALID,
                       "this is in the data directory %.300s, or a file of it by another name; a "
                       "copy there would overwrite the original: choose another place",
                       config->data_dir);
    if (config && is_of_store(config->store_url, place))
        return pl_fail(err, PL_INVALID, "this is the store itself; choose another place");
    if (has_signs_of_data(place))
        return pl_fail(err, PL_INVALID,
                       "a server has its data in this directory; choose another place");
    return PL_OK;
}
