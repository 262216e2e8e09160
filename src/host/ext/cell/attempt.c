/* Starts `parley cell` with posix_spawn, which does not copy the server's memory. It gets a
 * sealed plan, the control socket, three pipes, the descriptors of the mounts, and no variables.
 * Then its messages are read until it has started its program or given up. */
#include "ext/cell/attempt_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_MS 20000 /* even for a very busy machine; then it is ended */

struct starting {
    const struct pl_cell_plan *plan; /* borrowed */
    struct pl_cell_attempt *attempt; /* borrowed */
    int plan_fd, control, pipes[3];  /* the cell's ends; owned */
    struct pl_error *err;            /* borrowed */
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Moves fd above all numbers of the cell's descriptors, so that none is overwritten later. */
static int lift(const struct starting *s, int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, PL_CELL_FD_MOUNTS + (int)s->plan->n_mounts + 1);
    close(fd);
    return high;
}

static enum pl_status seal_plan(struct starting *s)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, PL_CELL_MAX_PLAN);
    enum pl_status status = pl_cell_plan_write(s->plan, &json);
    if (status != PL_OK)
        return pl_fail(s->err, status, "no memory for the plan of a cell");
    int fd = memfd_create("cell", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    s->plan_fd = fd >= 0 ? lift(s, fd) : -1;
    if (s->plan_fd < 0 || write(s->plan_fd, json.ptr, json.len) != (ssize_t)json.len ||
        fcntl(s->plan_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
            0)
        return pl_fail(s->err, PL_IO, "no descriptor for the plan of a cell: %s", strerror(errno));
    return PL_OK;
}

static bool open_channels(struct starting *s)
{
    int ends[2];
    if (!pl_cell_control_open(ends))
        return false;
    s->attempt->control = ends[0];
    s->control = lift(s, ends[1]);
    for (int i = 0; i < 3; i++) {
        if (pipe2(ends, O_CLOEXEC) != 0)
            return false;
        s->attempt->pipes[i] = ends[i == 0];
        s->pipes[i] = lift(s, ends[i != 0]);
        if (s->pipes[i] < 0 || fcntl(s->attempt->pipes[i], F_SETFL, O_NONBLOCK) != 0)
            return false;
    }
    return s->control >= 0;
}

/* --- the process ------------------------------------------------------------------------------- */

static int add_actions(const struct starting *s, posix_spawn_file_actions_t *actions)
{
    int error = 0;
    for (int i = 0; i < 3 && !error; i++)
        error = posix_spawn_file_actions_adddup2(actions, s->pipes[i], i);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, s->control, PL_CELL_FD_CONTROL);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, s->plan_fd, PL_CELL_FD_PLAN);
    return error;
}

static enum pl_status spawn(struct starting *s, const char *program)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t all, none;
    char *const argv[] = {(char *)"parley", (char *)"cell", NULL};
    char *const env[] = {NULL};
    int lifted[2 * PL_CELL_MAX_MOUNTS];
    size_t n_lifted = 0;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setsigmask(&attr, &none);
    int error = add_actions(s, &actions);
    for (; n_lifted < s->plan->n_mounts && !error; n_lifted++) {
        int fd = fcntl(s->plan->mounts[n_lifted].fd, F_DUPFD_CLOEXEC,
                       PL_CELL_FD_MOUNTS + (int)s->plan->n_mounts + 1);
        lifted[n_lifted] = fd;
        error = fd < 0 ? errno
                       : posix_spawn_file_actions_adddup2(&actions, fd,
                                                          PL_CELL_FD_MOUNTS + (int)n_lifted);
    }
    if (!error)
        error = posix_spawn(&s->attempt->launcher, program, &actions, &attr, argv, env);
    for (size_t i = 0; i < n_lifted; i++)
        close_fd(&lifted[i]);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    if (!error)
        return PL_OK;
    s->attempt->launcher = 0;
    return pl_fail(s->err, error == ENOMEM ? PL_NOMEM : PL_IO, "%s cannot be started: %s", program,
                   strerror(error));
}

/* --- its messages ----------------------------------------------------------------------------- */

static void wait_for(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* True: there was a message. */
static bool take_message(struct pl_cell_attempt *a, bool is_waiting, bool *ret_is_closed)
{
    struct pl_cell_message message = {0};
    int fds[PL_CELL_MAX_SENT_FDS];
    size_t n_fds = 0;
    int got = pl_cell_control_receive(a->control, is_waiting, &message, fds, &n_fds);
    *ret_is_closed = got < 0;
    if (got <= 0)
        return false;
    size_t n_used = 0;
    if (message.kind == PL_CELL_SAYS_BORN && n_fds == 1 && a->first < 0) {
        a->first = fds[0];
        a->first_pid = message.value;
        n_used = 1;
    } else if (message.kind == PL_CELL_SAYS_STARTED && !a->n_listeners) {
        memcpy(a->listeners, fds, n_fds * sizeof *fds);
        a->n_listeners = n_used = n_fds;
        a->last = message;
    } else if (message.kind == PL_CELL_SAYS_ENDED) {
        a->end = message;
    } else if (message.kind != PL_CELL_SAYS_BORN) {
        a->last = message;
    }
    for (size_t i = n_used; i < n_fds; i++)
        close(fds[i]);
    return true;
}

static bool is_started(const struct pl_cell_attempt *a)
{
    return a->last.kind == PL_CELL_SAYS_STARTED && a->first >= 0;
}

/* It ended without a message: bubblewrap writes the reason to standard error. */
static void hear_last_words(struct pl_cell_attempt *a, bool is_late)
{
    char text[300];
    ssize_t n = read(a->pipes[2], text, sizeof text - 1);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    bool is_bwrap = strncmp(text, "bwrap: ", 7) == 0;
    a->last.kind = is_bwrap ? PL_CELL_SAYS_UNABLE : PL_CELL_SAYS_FAILED;
    a->last.value = is_bwrap ? (int)PL_CELL_PART_BWRAP : (int)PL_IO;
    snprintf(a->last.text, sizeof a->last.text, "%s%s%s",
             is_late    ? "the cell took too long to start"
             : is_bwrap ? ""
                        : "the cell ended before it started",
             n > 0 && !is_bwrap ? ": " : "", text);
}

/* After a failure: kills process 1 if necessary; nothing is left. */
static void clear_away(struct pl_cell_attempt *a)
{
    bool is_closed;
    if (a->first >= 0)
        syscall(SYS_pidfd_send_signal, a->first, SIGKILL, NULL, 0);
    close_fd(&a->pipes[0]);
    if (a->launcher)
        wait_for(a->launcher);
    a->launcher = 0;
    while (take_message(a, false, &is_closed))
        ;
    if (a->first >= 0 && a->first_pid) {
        syscall(SYS_pidfd_send_signal, a->first, SIGKILL, NULL, 0);
        wait_for(a->first_pid);
    }
}

static void hear(struct pl_cell_attempt *a)
{
    bool is_closed = false, is_late = false;
    while (!is_started(a) && !is_closed && !is_late &&
           (!a->last.kind || a->last.kind == PL_CELL_SAYS_STARTED)) {
        struct pollfd fd = {.fd = a->control, .events = POLLIN};
        int n = poll(&fd, 1, LIMIT_MS);
        is_late = n == 0;
        if (n > 0)
            (void)take_message(a, false, &is_closed);
    }
    if (is_started(a))
        return;
    if (is_late)
        kill(a->launcher, SIGKILL);
    if (a->last.kind == PL_CELL_SAYS_STARTED)
        a->last.kind = 0;
    clear_away(a);
    if (!a->last.kind || a->last.kind == PL_CELL_SAYS_STARTED)
        hear_last_words(a, is_late);
}

/* --- the whole --------------------------------------------------------------------------------- */

enum pl_status pl_cell_attempt_make(const char *program, const struct pl_cell_plan *plan,
                                    struct pl_cell_attempt *ret_attempt, struct pl_error *err)
{
    *ret_attempt = (struct pl_cell_attempt){.control = -1, .first = -1, .pipes = {-1, -1, -1}};
    struct starting s = {plan, ret_attempt, -1, -1, {-1, -1, -1}, err};
    enum pl_status status = seal_plan(&s);
    if (status == PL_OK && !open_channels(&s))
        status = pl_fail(err, PL_IO, "no descriptors for a cell: %s", strerror(errno));
    if (status == PL_OK)
        status = spawn(&s, program);
    close_fd(&s.plan_fd);
    close_fd(&s.control);
    for (int i = 0; i < 3; i++)
        close_fd(&s.pipes[i]);
    if (status == PL_OK)
        hear(ret_attempt);
    else
        pl_cell_attempt_close(ret_attempt);
    return status;
}

void pl_cell_attempt_close(struct pl_cell_attempt *attempt)
{
    close_fd(&attempt->control);
    close_fd(&attempt->first);
    for (int i = 0; i < 3; i++)
        close_fd(&attempt->pipes[i]);
    for (size_t i = 0; i < attempt->n_listeners; i++)
        close(attempt->listeners[i]);
    attempt->n_listeners = 0;
}

void pl_cell_attempt_end(struct pl_cell_attempt *attempt)
{
    if (attempt->last.kind == PL_CELL_SAYS_STARTED)
        clear_away(attempt);
    pl_cell_attempt_close(attempt);
}
