/* Reading whole files. The calls block; used by the command line and by worker jobs. */
#include "io/file/file.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAP_FROM_BYTES = 4 << 20, /* below this size, copying is cheaper than a mapping */
    CHUNK_BYTES = 64 << 10,
    PROBE_AT_BYTES = 16 << 20,
};

static void close_fd(const int *fd)
{
    if (*fd > STDERR_FILENO)
        close(*fd);
}

static enum pl_status fail_open(int error, struct pl_error *err)
{
    switch (error) {
    case ENOENT:
        return pl_fail(err, PL_UNREADABLE, "there is no such file");
    case EACCES:
        return pl_fail(err, PL_UNREADABLE, "no permission to read it");
    case EMFILE:
    case ENFILE:
        return pl_fail(err, PL_IO, "too many open files");
    default:
        return pl_fail(err, PL_UNREADABLE, "it cannot be opened: %s", strerror(error));
    }
}

static enum pl_status fail_large(size_t max_bytes, struct pl_error *err)
{
    return pl_fail(err, PL_LIMIT, "the file is larger than the limit of %zu bytes", max_bytes);
}

static enum pl_status map_file(int fd, size_t size, struct pl_file *ret_file)
{
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return PL_NOMEM;
    *ret_file = (struct pl_file){.bytes = {map, size}, .map = map};
    return PL_OK;
}

/* One read, appended to `buf`. *ret_n 0 means the end. */
static enum pl_status read_some(int fd, struct pl_buf *buf, size_t *ret_n, struct pl_error *err)
{
    char *to = pl_buf_reserve(buf, CHUNK_BYTES);
    if (!to)
        return pl_fail(err, PL_NOMEM, "out of memory while reading");
    ssize_t n;
    do
        n = read(fd, to, CHUNK_BYTES);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return pl_fail(err, errno == EISDIR ? PL_UNREADABLE : PL_IO, "reading failed: %s",
                       strerror(errno));
    buf->len += (size_t)n;
    *ret_n = (size_t)n;
    return PL_OK;
}

/* Does not ask for the size first: a pipe has none, and a file's may change. */
static enum pl_status read_stream(int fd, size_t max_bytes, pl_file_probe_fn *probe,
                                  struct pl_file *ret_file, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    for (size_t n = 1; n > 0;) {
        enum pl_status status = read_some(fd, &buf, &n, err);
        if (status == PL_OK && buf.len > max_bytes)
            status = fail_large(max_bytes, err);
        if (status == PL_OK && probe && buf.len >= PROBE_AT_BYTES) {
            status = probe(pl_buf_str(&buf), err);
            probe = NULL;
        }
        if (status != PL_OK)
            return status;
    }
    ret_file->bytes = pl_buf_str(&buf);
    ret_file->heap = PL_TAKE(buf.ptr);
    ret_file->map = NULL;
    return PL_OK;
}

/* Only from its first byte is a file the same as its mapping: standard input may be in the middle
 * of one. */
static bool is_mappable(int fd, const struct stat *st)
{
    return S_ISREG(st->st_mode) && st->st_size >= MAP_FROM_BYTES && lseek(fd, 0, SEEK_CUR) == 0;
}

enum pl_status pl_file_read(const char *path, size_t max_bytes, pl_file_probe_fn *probe,
                            struct pl_file *ret_file, struct pl_error *err)
{
    __attribute__((cleanup(close_fd))) int fd =
        strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail_open(errno, err);
    if (max_bytes == 0)
        max_bytes = SIZE_MAX;
    struct stat st;
    if (fstat(fd, &st) < 0)
        return pl_fail(err, PL_IO, "it cannot be checked: %s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return pl_fail(err, PL_UNREADABLE, "this is a directory; name the files in it");
    if (is_mappable(fd, &st)) {
        if ((uintmax_t)st.st_size > max_bytes)
            return fail_large(max_bytes, err);
        if (map_file(fd, (size_t)st.st_size, ret_file) == PL_OK)
            return PL_OK;
    }
    return read_stream(fd, max_bytes, probe, ret_file, err);
}

void pl_file_close(struct pl_file *file)
{
    pl_mem_free(file->heap);
    if (file->map)
        munmap(file->map, file->bytes.len);
    *file = (struct pl_file){0};
}

enum pl_status pl_fd_write(int fd, struct pl_str bytes, struct pl_error *err)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE)
            return pl_fail(err, PL_IO, "the reader closed the pipe early");
        if (n < 0)
            return pl_fail(err, PL_IO, "%s", strerror(errno));
        bytes = pl_str_slice(bytes, (size_t)n, bytes.len);
    }
    return PL_OK;
}

bool pl_fd_is_unread(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLOUT};
    return poll(&one, 1, 0) == 1 && (one.revents & POLLERR);
}

enum pl_status pl_fd_open(const char *path, int *ret_fd, struct pl_error *err)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fail_open(errno, err);
    *ret_fd = fd;
    return PL_OK;
}

enum pl_status pl_fd_read(int fd, char *to, size_t size, struct pl_str *ret_bytes,
                          struct pl_error *err)
{
    for (;;) {
        ssize_t n = read(fd, to, size);
        if (n >= 0) {
            *ret_bytes = (struct pl_str){to, (size_t)n};
            return PL_OK;
        }
        if (errno == EISDIR)
            return pl_fail(err, PL_UNREADABLE, "this is a directory; name the files in it");
        if (errno != EINTR)
            return pl_fail(err, PL_IO, "reading failed: %s", strerror(errno));
    }
}

void pl_fd_close(int fd)
{
    close_fd(&fd);
}

void pl_fd_guard_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            /* open returns the lowest free number, which is fd. Standard input and output are
             * opened read-only, so that writing to the output fails. */
            (void)!open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
}
