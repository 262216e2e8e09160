/* Files around the database: its lock, its permissions, and the durability of its name. */
#include "store/sqlite/sqlite_int.h"
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

/* The kernel releases the lock when the process ends, in whatever way; the number in the file is
 * for people. */
static enum pl_status refuse_held(int fd, const char *path, struct pl_error *err)
{
    char pid[16] = "";
    ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
    close(fd);
    if (n > 0)
        pid[strcspn(pid, "\n")] = '\0';
    return pl_fail(err, PL_CONFLICT,
                   "another process%s%s has the store \"%.300s\" open: stop it first, or use its "
                   "address",
                   *pid ? " with the id " : "", pid, path);
}

static void write_pid(int fd)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%d\n", (int)getpid());
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) != n)
        (void)!ftruncate(fd, 0);
}

enum pl_status sqlite_lock(const char *path, int *ret_fd, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf name;
    pl_buf_init(&name, 0);
    pl_buf_addf(&name, "%s-lock", path);
    pl_buf_addc(&name, '\0');
    if (name.status != PL_OK)
        return pl_fail(err, name.status, "out of memory while opening the store");
    int fd = open(name.ptr, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return pl_fail(err, PL_IO, "the store's lock file \"%.300s\" cannot be opened: %s",
                       name.ptr, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int code = errno;
        if (code == EWOULDBLOCK)
            return refuse_held(fd, path, err);
        close(fd);
        return pl_fail(err, PL_IO, "the store's lock file \"%.300s\" cannot be locked: %s",
                       name.ptr, strerror(code));
    }
    write_pid(fd);
    *ret_fd = fd;
    return PL_OK;
}

enum pl_status sqlite_sync_dir_of(const char *path, struct pl_error *err)
{
    const char *slash = strrchr(path, '/');
    struct pl_str dir = slash ? (struct pl_str){path, (size_t)(slash - path) + 1} : PL_STR(".");
    PL_CLEANUP_BUF struct pl_buf name;
    pl_buf_init(&name, 0);
    pl_buf_add(&name, dir);
    pl_buf_addc(&name, '\0');
    if (name.status != PL_OK)
        return pl_fail(err, name.status, "out of memory while making a file durable");
    int fd = open(name.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;
    int code = errno;
    if (fd >= 0)
        close(fd);
    return is_synced ? PL_OK
                     : pl_fail(err, PL_IO, "the directory \"%.300s\" cannot be made durable: %s",
                               name.ptr, strerror(code));
}

enum pl_status sqlite_make_file(const char *path, struct pl_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return pl_fail(err, PL_IO, "the store \"%.300s\" cannot be opened: %s", path,
                       strerror(errno));
    close(fd);
    return sqlite_sync_dir_of(path, err);
}
