/* Opens an output and puts the result in place in one step: writes a temporary file in the same
 * directory and renames it, or writes to the device itself. */
#include "io/file/outfile.h"

#include "io/entropy.h"
#include "io/file/file.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_START ".parley-"
#define PART_END   ".part"
enum { PART_DIGITS = 16 };

static enum pl_status fail_write(int error, struct pl_error *err)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return pl_fail(err, PL_IO, "no permission to write it");
    case EROFS:
        return pl_fail(err, PL_IO, "the file cannot be written: the file system is read-only");
    default:
        return pl_fail(err, PL_IO, "the file cannot be written: %s", strerror(error));
    }
}

/* --- opening --------------------------------------------------------------------------------- */

/* A new file in the directory `dir` (n bytes, without a trailing slash). */
static enum pl_status open_part(struct pl_outfile *out, const char *dir, size_t n, mode_t mode,
                                struct pl_error *err)
{
    uint64_t number = 0;
    if (!pl_entropy_fill(&number, sizeof number))
        return pl_fail(err, PL_IO, "the system provides no random bytes");
    int made = snprintf(out->part, sizeof out->part, "%.*s/" PART_START "%0*llx" PART_END, (int)n,
                        dir, PART_DIGITS, (unsigned long long)number);
    if (made >= (int)sizeof out->part) {
        out->part[0] = '\0';
        return pl_fail(err, PL_IO, "the name is too long");
    }
    out->fd = open(out->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (out->fd >= 0)
        return PL_OK;
    out->part[0] = '\0';
    return fail_write(errno, err);
}

static enum pl_status open_beside(struct pl_outfile *out, struct pl_error *err)
{
    const char *path = out->place.path;
    size_t n_dir = (size_t)(strrchr(path, '/') - path);
    struct stat st;
    if (out->place.kind == PL_OUTFILE_NEW)
        return open_part(out, path, n_dir, out->rules.is_private ? 0600 : 0666, err);
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 || stat(path, &st) != 0)
        return fail_write(errno, err);
    out->mode = st.st_mode & 07777;
    out->uid = st.st_uid;
    out->gid = st.st_gid;
    return open_part(out, path, n_dir, 0600, err);
}

/* Opening a FIFO blocks until it has a reader, as in a shell. */
static enum pl_status open_device(struct pl_outfile *out, struct pl_error *err)
{
    struct stat st;
    out->fd = open(out->place.path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    if (out->fd < 0)
        return fail_write(errno, err);
    if (fstat(out->fd, &st) == 0 && !S_ISREG(st.st_mode))
        return PL_OK;
    close(out->fd);
    return pl_fail(err, PL_IO, "a new file has just replaced it; try again");
}

enum pl_status pl_outfile_open(struct pl_outfile *out, const char *path,
                               const struct pl_outfile_rules *rules, struct pl_error *err)
{
    *out = (struct pl_outfile){.fd = -1};
    struct pl_outfile made = {.fd = -1};
    if (rules)
        made.rules = *rules;
    enum pl_status status = pl_outfile_find(path, &made.place, err);
    if (status != PL_OK)
        return status;
    bool is_file = made.place.kind == PL_OUTFILE_FILE || made.place.kind == PL_OUTFILE_NEW;
    if (made.rules.is_file && !is_file)
        return pl_fail(err, PL_IO, "this is not a regular file; name one");
    if (made.rules.is_new && made.place.kind == PL_OUTFILE_FILE)
        return pl_fail(err, PL_CONFLICT, "the file exists");
    if (made.place.kind == PL_OUTFILE_DESCRIPTOR)
        made.fd = made.place.fd;
    else
        status = is_file ? open_beside(&made, err) : open_device(&made, err);
    if (status == PL_OK)
        *out = made;
    return status;
}

enum pl_status pl_outfile_open_scratch(struct pl_outfile *out, const char *dir,
                                       struct pl_error *err)
{
    *out = (struct pl_outfile){.fd = -1};
    struct pl_outfile made = {.fd = -1, .place.kind = PL_OUTFILE_NEW};
    enum pl_status status = open_part(&made, dir, strlen(dir), 0600, err);
    if (status == PL_OK)
        *out = made;
    return status;
}

/* --- writing and ending ---------------------------------------------------------------------- */

enum pl_status pl_outfile_write(struct pl_outfile *out, struct pl_str bytes, struct pl_error *err)
{
    assert(out->place.kind != PL_OUTFILE_CLOSED);
    return pl_fd_write(out->fd, bytes, err);
}

void pl_outfile_drop(struct pl_outfile *out)
{
    if (out->part[0])
        unlink(out->part);
    if (out->place.kind != PL_OUTFILE_CLOSED && out->place.kind != PL_OUTFILE_DESCRIPTOR &&
        out->fd >= 0)
        close(out->fd);
    *out = (struct pl_outfile){.fd = -1};
}

int pl_outfile_take_fd(struct pl_outfile *out)
{
    assert(out->part[0] && !out->place.path[0]);
    int fd = out->fd;
    out->fd = -1;
    pl_outfile_drop(out);
    return fd;
}

/* The owner first: changing it clears the set-uid and set-gid bits. If the owner cannot be kept,
 * these bits must not be kept either. */
static bool keep_rights(const struct pl_outfile *out)
{
    struct stat st;
    if (fstat(out->fd, &st) != 0)
        return false;
    bool is_owner_kept = (st.st_uid == out->uid && st.st_gid == out->gid) ||
                         fchown(out->fd, out->uid, out->gid) == 0;
    return fchmod(out->fd, is_owner_kept ? out->mode : out->mode & 0777) == 0;
}

static bool sync_directory(const char *path)
{
    char dir[PATH_MAX];
    snprintf(dir, sizeof dir, "%.*s/", (int)(strrchr(path, '/') - path), path);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return is_synced;
}

/* Does not replace a file that appeared in the meantime. */
static bool put_new(const struct pl_outfile *out)
{
    if (renameat2(AT_FDCWD, out->part, AT_FDCWD, out->place.path, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    return link(out->part, out->place.path) == 0 && unlink(out->part) == 0;
}

/* Replaces only a regular file: something else may have appeared there in the meantime. */
static bool put_over(const struct pl_outfile *out)
{
    struct stat st;
    if (lstat(out->place.path, &st) == 0 && !S_ISREG(st.st_mode)) {
        errno = EEXIST;
        return false;
    }
    return rename(out->part, out->place.path) == 0;
}

static enum pl_status put_in_place(struct pl_outfile *out, struct pl_error *err)
{
    bool is_over = out->place.kind == PL_OUTFILE_FILE;
    /* A crash must not leave an empty file in place of a complete one. */
    bool is_synced = out->rules.is_durable || is_over;
    if ((is_over && !keep_rights(out)) || (is_synced && fsync(out->fd) != 0))
        return fail_write(errno, err);
    if (out->rules.is_new && !put_new(out))
        return errno == EEXIST ? pl_fail(err, PL_CONFLICT, "the file exists")
                               : fail_write(errno, err);
    if (!out->rules.is_new && !put_over(out))
        return fail_write(errno, err);
    out->part[0] = '\0';
    if (out->rules.is_durable && !sync_directory(out->place.path))
        return pl_fail(err, PL_IO, "its directory cannot be made durable: %s", strerror(errno));
    return PL_OK;
}

enum pl_status pl_outfile_commit(struct pl_outfile *out, struct pl_error *err)
{
    assert(out->place.kind != PL_OUTFILE_CLOSED);
    enum pl_status status = out->part[0] ? put_in_place(out, err) : PL_OK;
    /* Some file systems report only now that the disk is full. */
    if (status == PL_OK && out->place.kind == PL_OUTFILE_DEVICE) {
        int fd = out->fd;
        out->fd = -1;
        if (close(fd) != 0)
            status = fail_write(errno, err);
    }
    pl_outfile_drop(out);
    return status;
}

enum pl_status pl_file_write(const char *path, struct pl_str bytes, struct pl_error *err)
{
    PL_CLEANUP_OUTFILE struct pl_outfile out;
    enum pl_status status = pl_outfile_open(&out, path, NULL, err);
    if (status == PL_OK)
        status = pl_outfile_write(&out, bytes, err);
    return status == PL_OK ? pl_outfile_commit(&out, err) : status;
}

/* --- what was left --------------------------------------------------------------------------- */

/* ".parley-0123456789abcdef.part", and the files of a database with that name. */
static bool is_part(const char *name)
{
    static const char digits[] = "0123456789abcdef";
    size_t n_start = sizeof PART_START - 1;
    if (strncmp(name, PART_START, n_start) != 0 || strspn(name + n_start, digits) != PART_DIGITS)
        return false;
    const char *end = name + n_start + PART_DIGITS;
    return strncmp(end, PART_END, sizeof PART_END - 1) == 0 &&
           (!end[sizeof PART_END - 1] || end[sizeof PART_END - 1] == '-');
}

void pl_outfile_sweep(const char *dir)
{
    DIR *list = opendir(dir);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        if (is_part(entry->d_name))
            unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
}
