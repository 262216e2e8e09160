/* Reads lines from a descriptor; handles signals on a thread that waits for them. */
#include "io/system/terminal.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { PIECE = 16384 };

/* --- lines ----------------------------------------------------------------------------------- */

void pl_lines_init(struct pl_lines *lines, int fd, size_t max_line)
{
    *lines = (struct pl_lines){.fd = fd};
    lines->max_line = max_line;
    pl_buf_init(&lines->bytes, max_line + PIECE + 1);
}

void pl_lines_deinit(struct pl_lines *lines)
{
    pl_buf_deinit(&lines->bytes);
}

static void forget_taken(struct pl_lines *lines)
{
    size_t n_left = lines->bytes.len - lines->n_taken;
    if (n_left)
        memmove(lines->bytes.ptr, lines->bytes.ptr + lines->n_taken, n_left);
    lines->bytes.len = n_left;
    lines->n_taken = 0;
}

static enum pl_status fail_long(const struct pl_lines *lines, struct pl_error *err)
{
    return pl_fail(err, PL_LIMIT, "a line has more than %zu bytes", lines->max_line);
}

static enum pl_status read_more(struct pl_lines *lines, struct pl_error *err)
{
    char bytes[PIECE];
    ssize_t n;
    do
        n = read(lines->fd, bytes, sizeof bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return pl_fail(err, PL_IO, "standard input cannot be read: %s", strerror(errno));
    lines->is_at_end = n == 0;
    pl_buf_add(&lines->bytes, (struct pl_str){bytes, (size_t)n});
    return lines->bytes.status;
}

enum pl_status pl_lines_next(struct pl_lines *lines, struct pl_str *ret_line, struct pl_error *err)
{
    forget_taken(lines);
    const char *end = NULL;
    for (size_t n_seen = 0;;) {
        size_t n = lines->bytes.len - n_seen;
        end = n ? memchr(lines->bytes.ptr + n_seen, '\n', n) : NULL;
        if (end || lines->is_at_end)
            break;
        n_seen = lines->bytes.len;
        enum pl_status status = n_seen > lines->max_line ? PL_LIMIT : read_more(lines, err);
        if (status != PL_OK)
            return status == PL_LIMIT ? fail_long(lines, err) : status;
    }
    if (!end && !lines->bytes.len)
        return PL_NOT_FOUND;
    size_t n = end ? (size_t)(end - lines->bytes.ptr) : lines->bytes.len;
    if (n > lines->max_line)
        return fail_long(lines, err);
    lines->n_taken = end ? n + 1 : n;
    *ret_line = (struct pl_str){lines->bytes.ptr, n};
    if (n && ret_line->ptr[n - 1] == '\r')
        ret_line->len--;
    return PL_OK;
}

bool pl_is_terminal(int fd)
{
    return isatty(fd);
}

/* --- Ctrl-C ---------------------------------------------------------------------------------- */

struct taking {
    void (*fn)(void *ctx);
    void *ctx;
    sigset_t set;
};

static void *wait_for_signals(void *arg)
{
    struct taking taking = *(struct taking *)arg;
    int signal;
    pl_mem_free(arg);
    while (sigwait(&taking.set, &signal) == 0)
        taking.fn(taking.ctx);
    return NULL;
}

static enum pl_status take(const int *signals, size_t n_signals, void (*fn)(void *ctx), void *ctx,
                           struct pl_error *err)
{
    struct taking *taking = pl_mem_alloc(1, sizeof *taking);
    pthread_t thread;
    sigset_t set;
    if (!taking)
        return PL_NOMEM;
    sigemptyset(&set);
    for (size_t i = 0; i < n_signals; i++)
        sigaddset(&set, signals[i]);
    *taking = (struct taking){fn, ctx, set};
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int error = pthread_create(&thread, NULL, wait_for_signals, taking);
    if (error) {
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
        pl_mem_free(taking);
        return pl_fail(err, PL_IO, "no thread can be started: %s", strerror(error));
    }
    pthread_detach(thread);
    return PL_OK;
}

enum pl_status pl_interrupts_take(void (*fn)(void *ctx), void *ctx, struct pl_error *err)
{
    static const int signals[] = {SIGINT};
    return take(signals, sizeof signals / sizeof *signals, fn, ctx, err);
}

enum pl_status pl_endings_take(void (*fn)(void *ctx), void *ctx, struct pl_error *err)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    return take(signals, sizeof signals / sizeof *signals, fn, ctx, err);
}
