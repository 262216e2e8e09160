/* A file is rotated by its own writer, so that no line is lost or split between two files. For
 * journald, one datagram is one line. Everything here may block: it runs on the thread of a
 * sink. */
#include "io/system/log_place.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_DATAGRAM = 64 << 10 };

struct pl_log_place {
    int fd; /* -1: reopening failed; the next line tries again */
    bool is_journal;
    int64_t n_bytes, max_bytes; /* of the file */
    size_t keep;
    _Atomic(bool) must_reopen;
    char path[PATH_MAX - 16]; /* room for ".10000" */
    char datagram[MAX_DATAGRAM];
};

/* --- a file ---------------------------------------------------------------------------------- */

static enum pl_status open_file(struct pl_log_place *place, struct pl_error *err)
{
    struct stat info;
    /* Opening a FIFO must not wait for its reader; the check below refuses it. */
    int fd =
        open(place->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0)
        return pl_fail(err, PL_IO, "the log %.200s cannot be opened: %s", place->path,
                       strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return pl_fail(err, PL_INVALID, "the log %.200s is not a regular file", place->path);
    }
    place->fd = fd;
    place->n_bytes = info.st_size;
    return PL_OK;
}

static void close_file(struct pl_log_place *place)
{
    if (place->fd >= 0)
        close(place->fd);
    place->fd = -1;
}

/* PATH.NUMBER; 0 is the file itself. */
static void write_name(const struct pl_log_place *place, size_t number, char to[PATH_MAX])
{
    int n = snprintf(to, PATH_MAX, "%s", place->path);
    if (number && n > 0 && n < PATH_MAX - 8)
        snprintf(to + n, PATH_MAX - (size_t)n, ".%u", (unsigned)number);
}

/* PATH.2 becomes PATH.3, and so on; the oldest file is replaced. */
static void rotate(struct pl_log_place *place)
{
    char from[PATH_MAX], to[PATH_MAX];
    close_file(place);
    for (size_t i = place->keep; i > 0; i--) {
        write_name(place, i - 1, from);
        write_name(place, i, to);
        (void)rename(from, to);
    }
    (void)open_file(place, NULL);
}

/* The number of bytes that fit into the current file: whole lines only, but at least one if the
 * file is empty. */
static size_t n_fitting(const struct pl_log_place *place, struct pl_str lines)
{
    int64_t room = place->max_bytes - place->n_bytes;
    size_t n = 0;
    if (!place->max_bytes || (int64_t)lines.len <= room)
        return lines.len;
    for (size_t at = 0; at < lines.len; at++)
        if (lines.ptr[at] == '\n') {
            if ((int64_t)at + 1 > room && (n || place->n_bytes))
                break;
            n = at + 1;
        }
    return n;
}

static struct pl_str write_file(struct pl_log_place *place, struct pl_str lines)
{
    if (atomic_exchange(&place->must_reopen, false))
        close_file(place);
    if (place->fd < 0 && open_file(place, NULL) != PL_OK)
        return lines;
    while (lines.len) {
        size_t n = n_fitting(place, lines);
        if (!n) {
            rotate(place);
            if (place->fd < 0)
                return lines;
            n = n_fitting(place, lines);
            if (!n) /* the file could not be renamed: it grows, and no line is lost */
                n = lines.len;
        }
        ssize_t n_written = write(place->fd, lines.ptr, n);
        if (n_written < 0 && errno == EINTR)
            continue;
        if (n_written <= 0)
            return lines;
        place->n_bytes += n_written;
        lines = pl_str_slice(lines, (size_t)n_written, lines.len);
    }
    return lines;
}

/* --- journald -------------------------------------------------------------------------------- */

static enum pl_status open_journal(struct pl_log_place *place, struct pl_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(place->path) >= sizeof address.sun_path)
        return pl_fail(err, PL_INVALID, "the name of journald's socket is too long");
    memcpy(address.sun_path, place->path, strlen(place->path));
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        return pl_fail(err, PL_IO, "journald cannot be reached at %.200s: %s", place->path,
                       strerror(why));
    }
    place->fd = fd;
    return PL_OK;
}

/* Sends one line, without its line feed. After a restart journald has a new socket, so it tries
 * twice. */
static bool send_line(struct pl_log_place *place, struct pl_str line)
{
    if (line.len + 1 > sizeof place->datagram)
        return false;
    for (size_t i = 0; i < line.len; i++)
        place->datagram[i] = line.ptr[i] == PL_JOURNAL_SEPARATOR ? '\n' : line.ptr[i];
    place->datagram[line.len] = '\n';
    for (int n_tries = 0; n_tries < 2; n_tries++) {
        if (place->fd < 0 && open_journal(place, NULL) != PL_OK)
            return false;
        ssize_t n = send(place->fd, place->datagram, line.len + 1, MSG_NOSIGNAL);
        if (n >= 0)
            return true;
        if (errno != EINTR)
            close_file(place);
    }
    return false;
}

static struct pl_str write_journal(struct pl_log_place *place, struct pl_str lines)
{
    while (lines.len) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        size_t n = end ? (size_t)(end - lines.ptr) : lines.len;
        if (!send_line(place, pl_str_slice(lines, 0, n)))
            return lines;
        lines = pl_str_slice(lines, n + 1, lines.len);
    }
    return lines;
}

/* --- both ------------------------------------------------------------------------------------ */

static enum pl_status make(const char *path, struct pl_log_place **ret_place, struct pl_error *err)
{
    struct pl_log_place *place = pl_mem_alloc(1, sizeof *place);
    if (!place)
        return pl_fail(err, PL_NOMEM, "out of memory");
    memset(place, 0, sizeof *place);
    place->fd = -1;
    *ret_place = place;
    if (strlen(path) >= sizeof place->path)
        return pl_fail(err, PL_INVALID, "the name of the log is too long");
    memcpy(place->path, path, strlen(path) + 1);
    return PL_OK;
}

enum pl_status pl_log_place_file(const char *path, int64_t max_bytes, size_t keep,
                                 struct pl_log_place **ret_place, struct pl_error *err)
{
    struct pl_log_place *place = NULL;
    enum pl_status status = make(path, &place, err);
    if (status == PL_OK) {
        place->max_bytes = max_bytes;
        place->keep = keep;
        status = open_file(place, err);
    }
    if (status == PL_OK)
        *ret_place = place;
    else
        pl_log_place_destroy(place);
    return status;
}

enum pl_status pl_log_place_journal(const char *path, struct pl_log_place **ret_place,
                                    struct pl_error *err)
{
    struct pl_log_place *place = NULL;
    enum pl_status status = make(path, &place, err);
    if (status == PL_OK) {
        place->is_journal = true;
        status = open_journal(place, err);
    }
    if (status == PL_OK)
        *ret_place = place;
    else
        pl_log_place_destroy(place);
    return status;
}

void pl_log_place_destroy(void *place)
{
    if (!place)
        return;
    close_file(place);
    pl_mem_free(place);
}

struct pl_str pl_log_place_write(void *place, struct pl_str lines)
{
    struct pl_log_place *to = place;
    return to->is_journal ? write_journal(to, lines) : write_file(to, lines);
}

void pl_log_place_reopen(struct pl_log_place *place)
{
    if (!place->is_journal)
        atomic_store(&place->must_reopen, true);
}
