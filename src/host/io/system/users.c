/* The locks are on two bytes of an empty file: the first for checking, the second for using. */
#include "io/system/users.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LOOKING = 0, USING = 1 };

static bool lock(int fd, int command, short type, off_t byte)
{
    struct flock range = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int result;
    do
        result = fcntl(fd, command, &range);
    while (result < 0 && errno == EINTR);
    return result == 0;
}

static enum pl_status open_file(const char *path, int *ret_fd, struct pl_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return pl_fail(err, PL_IO, "%s cannot be opened: %s", path, strerror(errno));
    *ret_fd = fd;
    return PL_OK;
}

static enum pl_status fail_lock(int fd, const char *path, struct pl_error *err)
{
    int failure = errno;
    close(fd);
    return pl_fail(err, PL_IO, "%s cannot be locked: %s", path, strerror(failure));
}

enum pl_status pl_users_join(struct pl_users *users, const char *path, struct pl_error *err)
{
    int fd = -1;
    users->fd = -1;
    enum pl_status status = open_file(path, &fd, err);
    if (status != PL_OK)
        return status;
    if (!lock(fd, F_OFD_SETLKW, F_WRLCK, LOOKING) || !lock(fd, F_OFD_SETLKW, F_RDLCK, USING))
        return fail_lock(fd, path, err);
    users->fd = fd;
    return PL_OK;
}

void pl_users_begun(struct pl_users *users)
{
    if (users->fd >= 0)
        (void)lock(users->fd, F_OFD_SETLK, F_UNLCK, LOOKING); /* unlocking cannot fail */
}

bool pl_users_are_gone(struct pl_users *users)
{
    return users->fd >= 0 && lock(users->fd, F_OFD_SETLK, F_WRLCK, USING);
}

void pl_users_leave(struct pl_users *users)
{
    if (users->fd >= 0)
        close(users->fd);
    users->fd = -1;
}

enum pl_status pl_users_wait_gone(const char *path, struct pl_error *err)
{
    int fd = -1;
    enum pl_status status = open_file(path, &fd, err);
    if (status == PL_OK && !lock(fd, F_OFD_SETLKW, F_WRLCK, USING))
        status = fail_lock(fd, path, err);
    return status; /* the descriptor stays open and keeps the lock */
}
