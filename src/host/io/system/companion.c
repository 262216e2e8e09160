/* Starts the program with pipes for its output. Its first line on standard output means that it is
 * ready. */
#include "io/system/companion.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ERRORS = 16 << 10 };

/* Our environment, preceded by `more`: the first entry of a name wins. The caller frees the array.
 * NULL when out of memory. */
static const char **environment(const char *const *more)
{
    size_t n = 0, n_more = 0;
    while (environ[n])
        n++;
    while (more[n_more])
        n_more++;
    const char **all = pl_mem_alloc(n + n_more + 1, sizeof *all);
    if (!all)
        return NULL;
    for (size_t i = 0; i < n_more; i++)
        all[i] = more[i];
    for (size_t i = 0; i <= n; i++)
        all[n_more + i] = environ[i];
    return all;
}

/* An empty standard input, output to our pipes, its own session, and default signal handling. */
static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, const int said[2])
{
    static const int ignored[] = {SIGPIPE, SIGINT, SIGQUIT, SIGHUP};
    sigset_t defaults;
    sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        sigaddset(&defaults, ignored[i]);
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < 2 && !error; i++)
        error = posix_spawn_file_actions_adddup2(actions, said[i], STDOUT_FILENO + i);
    if (!error)
        error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    if (!error)
        error = posix_spawnattr_setsigdefault(attr, &defaults);
    if (!error)
        error = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    return error;
}

static int spawn(const char *const *argv, const char *const *env, const int said[2], pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attr);
    if (!error) {
        error = prepare(&actions, &attr, said);
        /* posix_spawn does not change the arguments; its type lacks const for historical
         * reasons. */
        if (!error)
            error = posix_spawn(ret_pid, argv[0], &actions, &attr, (char *const *)(uintptr_t)argv,
                                (char *const *)(uintptr_t)env);
        posix_spawnattr_destroy(&attr);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads from one pipe: looks for a line on standard output, or collects errors. False at the
 * end. */
static bool take(int fd, struct pl_buf *errors, bool *is_ready)
{
    char chunk[1024];
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0)
        return false;
    if (!errors)
        *is_ready |= memchr(chunk, '\n', (size_t)n) != NULL;
    else if (errors->len < MAX_ERRORS)
        pl_buf_add(errors, (struct pl_str){chunk, (size_t)n});
    return true;
}

/* False: the program ended before it was ready. */
static bool wait_ready(const struct pl_companion *companion, struct pl_buf *errors)
{
    bool is_ready = false;
    struct pollfd fds[2] = {{companion->ends[0], POLLIN, 0}, {companion->ends[1], POLLIN, 0}};
    while (!is_ready && (fds[0].fd >= 0 || fds[1].fd >= 0)) {
        int n = poll(fds, 2, -1);
        for (int i = 0; i < 2 && n > 0; i++)
            if (fds[i].revents && !take(fds[i].fd, i ? errors : NULL, &is_ready))
                fds[i].fd = -1;
        if (n < 0 && errno != EINTR)
            break;
    }
    return is_ready;
}

static void close_both(const int fds[2])
{
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Opens two pipes; our ends and the program's. */
static bool open_pipes(int ours[2], int its[2])
{
    for (int i = 0; i < 2; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            return false;
        ours[i] = ends[0];
        its[i] = ends[1];
    }
    return true;
}

enum pl_status pl_companion_start(struct pl_companion *companion, const char *const *argv,
                                  const char *const *env, struct pl_buf *errors,
                                  struct pl_error *err)
{
    int its[2] = {-1, -1};
    *companion = (struct pl_companion)PL_COMPANION_NONE;
    const char **all = environment(env);
    if (!all)
        return pl_fail(err, PL_NOMEM, "out of memory");
    int failure = open_pipes(companion->ends, its) ? 0 : errno;
    if (!failure)
        failure = spawn(argv, all, its, &companion->pid);
    close_both(its);
    pl_mem_free(all);
    if (failure) {
        companion->pid = 0;
        pl_companion_leave(companion);
        return pl_fail(err, failure == ENOMEM ? PL_NOMEM : PL_IO, "%s cannot be started: %s",
                       argv[0], strerror(failure));
    }
    if (wait_ready(companion, errors))
        return PL_OK;
    pl_companion_end(companion);
    return pl_fail(err, PL_NOT_FOUND, "%s ended before it was ready", argv[0]);
}

void pl_companion_end(struct pl_companion *companion)
{
    if (companion->pid > 0) {
        kill(companion->pid, SIGTERM);
        while (waitpid(companion->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    pl_companion_leave(companion);
}

void pl_companion_leave(struct pl_companion *companion)
{
    close_both(companion->ends);
    *companion = (struct pl_companion)PL_COMPANION_NONE;
}
