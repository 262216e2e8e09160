/* Backups in a directory: "parley-20260131T040000Z.db". The name is the instant of the backup in
 * UTC, so names sort by time. Other files in the directory are ignored. */
#ifndef PL_SERVICE_ADMIN_BACKUP_FILES_H
#define PL_SERVICE_ADMIN_BACKUP_FILES_H

#include "base/arena.h"
#include "base/status.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct pl_backup_file {
    const char *path; /* arena */
    int64_t unix_ms;
    int64_t n_bytes;
};

struct pl_backup_files {
    struct pl_backup_file *files; /* arena; oldest first */
    size_t n;
};

/* PL_IO: the directory cannot be read. */
enum pl_status pl_backup_files_list(struct pl_arena *arena, const char *dir,
                                    struct pl_backup_files *ret_files, struct pl_error *err);
/* Writes the name of a backup of this instant. PL_INVALID: it is too long. */
enum pl_status pl_backup_file_name(const char *dir, int64_t unix_ms, char ret_path[PATH_MAX],
                                   struct pl_error *err);

#endif
