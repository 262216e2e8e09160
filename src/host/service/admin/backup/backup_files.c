/* The time of a backup is only in its name: copying a directory changes the times of its files. */
#include "service/admin/backup/backup_files.h"

#include "base/text/utc.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char prefix[] = "parley-", suffix[] = "Z.db";
enum { N_STAMP = 15 /* "20260131T040000" */, N_NAME = sizeof "parley-20260131T040000Z.db" - 1 };

static bool read_name(const char *name, int64_t *ret_unix_ms)
{
    char text[24];
    int64_t unix_us;
    const char *stamp = name + sizeof prefix - 1;
    if (strlen(name) != N_NAME || strncmp(name, prefix, sizeof prefix - 1) != 0 ||
        strcmp(stamp + N_STAMP, suffix) != 0)
        return false;
    snprintf(text, sizeof text, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", stamp, stamp + 4, stamp + 6,
             stamp + 9, stamp + 11, stamp + 13);
    if (stamp[8] != 'T' || !pl_utc_read(pl_str_of(text), &unix_us))
        return false;
    *ret_unix_ms = unix_us / 1000;
    return true;
}

static int by_time(const void *a, const void *b)
{
    const struct pl_backup_file *x = a, *y = b;
    return (x->unix_ms > y->unix_ms) - (x->unix_ms < y->unix_ms);
}

/* Adds the file if it is a backup; PL_OK if it is not. */
static enum pl_status take(struct pl_arena *arena, const char *dir, const char *name,
                           struct pl_backup_files *found, size_t *n_room)
{
    char path[PATH_MAX];
    struct stat info;
    int64_t unix_ms;
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    if (!read_name(name, &unix_ms) || n < 0 || (size_t)n >= sizeof path ||
        lstat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return PL_OK;
    if (found->n == *n_room) {
        size_t n_more = *n_room ? 2 * *n_room : 16;
        struct pl_backup_file *more = pl_arena_zalloc(arena, n_more, sizeof *more);
        if (!more)
            return PL_NOMEM;
        if (found->n)
            memcpy(more, found->files, found->n * sizeof *more);
        found->files = more;
        *n_room = n_more;
    }
    struct pl_str kept = pl_arena_dup(arena, (struct pl_str){path, (size_t)n + 1});
    if (!kept.ptr)
        return PL_NOMEM;
    found->files[found->n++] = (struct pl_backup_file){kept.ptr, unix_ms, info.st_size};
    return PL_OK;
}

enum pl_status pl_backup_files_list(struct pl_arena *arena, const char *dir,
                                    struct pl_backup_files *ret_files, struct pl_error *err)
{
    struct pl_backup_files found = {0};
    size_t n_room = 0;
    enum pl_status status = PL_OK;
    DIR *stream = opendir(dir);
    if (!stream)
        return pl_fail(err, PL_IO, "the directory %.300s of the backups cannot be read: %s", dir,
                       strerror(errno));
    for (struct dirent *entry; status == PL_OK && (entry = readdir(stream));)
        status = take(arena, dir, entry->d_name, &found, &n_room);
    closedir(stream);
    if (status != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (found.n)
        qsort(found.files, found.n, sizeof *found.files, by_time);
    *ret_files = found;
    return PL_OK;
}

enum pl_status pl_backup_file_name(const char *dir, int64_t unix_ms, char ret_path[PATH_MAX],
                                   struct pl_error *err)
{
    char now[PL_UTC_SIZE];
    pl_utc_write(now, unix_ms);
    int n = snprintf(ret_path, PATH_MAX, "%s/%s%.4s%.2s%.2sT%.2s%.2s%.2s%s", dir, prefix, now,
                     now + 5, now + 8, now + 11, now + 14, now + 17, suffix);
    return n > 0 && n < PATH_MAX ? PL_OK
                                 : pl_fail(err, PL_INVALID, "the name of backup_dir is too long");
}
