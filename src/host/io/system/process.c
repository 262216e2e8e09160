/* Starts a program with pipes, collects its output, and waits for its end. Also temporary
 * directories, which such programs need. */
#include "io/system/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SAID = 16 << 10 };

/* A pipe from the program; end 0 is ours. */
struct said {
    int ends[2];
    struct pl_buf *to; /* NULL: discard the output */
};

/* Reads available output; keeps only the beginning. False at the end. */
static bool take(struct said *said)
{
    char chunk[4096];
    ssize_t n = read(said->ends[0], chunk, sizeof chunk);
    if (n < 0 && errno == EINTR)
        return true;
    if (n <= 0)
        return false;
    if (said->to && said->to->len < MAX_SAID)
        pl_buf_add(said->to, (struct pl_str){chunk, (size_t)n});
    return true;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads both pipes to their ends, so that the program never blocks on us. False: timeout. */
static bool drain(struct said said[2], int64_t limit_ms)
{
    int64_t until_ms = limit_ms ? now_ms() + limit_ms : 0;
    struct pollfd fds[2] = {{said[0].ends[0], POLLIN, 0}, {said[1].ends[0], POLLIN, 0}};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        int64_t left_ms = until_ms ? until_ms - now_ms() : -1;
        if (until_ms && left_ms <= 0)
            return false;
        int n = poll(fds, 2, left_ms > INT_MAX ? INT_MAX : (int)left_ms);
        for (int i = 0; i < 2 && n > 0; i++)
            if (fds[i].revents && !take(&said[i]))
                fds[i].fd = -1;
        if (n < 0 && errno != EINTR)
            return true;
    }
    return true;
}

/* An empty standard input; output and errors go to our pipes. */
static int shut_off(posix_spawn_file_actions_t *actions, const struct said *said)
{
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    for (int i = 0; i < 2 && !error; i++)
        error = posix_spawn_file_actions_adddup2(actions, said[i].ends[1], i + 1);
    return error;
}

/* `said` is for standard output and error. NULL: the program shares our three descriptors, or reads
 * from `input` if that is not -1. */
static int spawn(const char *const *argv, const struct said *said, int input, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t defaults;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attr);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    /* We may ignore these signals; the program must start with their defaults. */
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    error = posix_spawnattr_setsigdefault(&attr, &defaults);
    if (!error)
        error = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    if (!error && said)
        error = shut_off(&actions, said);
    if (!error && input >= 0)
        error = posix_spawn_file_actions_adddup2(&actions, input, 0);
    /* posix_spawn does not change the arguments; its type lacks const for historical reasons. */
    if (!error)
        error = posix_spawnp(ret_pid, argv[0], &actions, &attr, (char *const *)(uintptr_t)argv,
                             environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static enum pl_status check_start(const char *name, int error, struct pl_error *err)
{
    if (error == ENOENT)
        return pl_fail(err, PL_NOT_FOUND, "there is no program %s", name);
    if (error)
        return pl_fail(err, error == ENOMEM ? PL_NOMEM : PL_IO, "%s cannot be started: %s", name,
                       strerror(error));
    return PL_OK;
}

static enum pl_status wait_for(const char *name, pid_t pid, int *ret_code, struct pl_error *err)
{
    int state = 0;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            return pl_fail(err, PL_IO, "waiting for %s failed: %s", name, strerror(errno));
    *ret_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return PL_OK;
}

static bool open_pipe(struct said *said)
{
    return pipe2(said->ends, O_CLOEXEC) == 0;
}

static void close_ends(struct said said[2], int end)
{
    for (int i = 0; i < 2; i++)
        if (said[i].ends[end] >= 0)
            close(said[i].ends[end]);
}

/* Set right after the start, when the program has not used much memory yet. */
static void limit_memory(pid_t pid, uint64_t max_memory)
{
#ifdef __linux__
    struct rlimit limit = {(rlim_t)max_memory, (rlim_t)max_memory};
    (void)prlimit(pid, RLIMIT_AS, &limit, NULL);
#else
    (void)pid, (void)max_memory;
#endif
}

enum pl_status pl_process_run(struct pl_process *process, struct pl_error *err)
{
    const char *name = process->argv[0];
    struct said said[2] = {{{-1, -1}, process->out}, {{-1, -1}, process->errors}};
    pid_t pid = 0;
    if (!open_pipe(&said[0]) || !open_pipe(&said[1])) {
        int error = errno;
        close_ends(said, 0);
        close_ends(said, 1);
        return pl_fail(err, PL_IO, "%s cannot be started: %s", name, strerror(error));
    }
    int error = spawn(process->argv, said, -1, &pid);
    close_ends(said, 1);
    if (!error && process->max_memory)
        limit_memory(pid, process->max_memory);
    bool is_late = !error && !drain(said, process->limit_ms);
    close_ends(said, 0);
    if (is_late)
        kill(pid, SIGKILL);
    enum pl_status status = check_start(name, error, err);
    if (status == PL_OK)
        status = wait_for(name, pid, &process->code, err);
    if (status == PL_OK && is_late)
        return pl_fail(err, PL_IO, "%s took longer than %lld s", name,
                       (long long)(process->limit_ms / 1000));
    return status;
}

/* A closed pipe is not an error: a person may leave the pager early. */
static void feed(int fd, struct pl_str input)
{
    while (input.len) {
        ssize_t n = write(fd, input.ptr, input.len);
        if (n < 0 && errno != EINTR)
            return;
        input = pl_str_slice(input, n > 0 ? (size_t)n : 0, input.len);
    }
}

/* `ends` is a pipe to the program; NULL: it gets our standard input. Meanwhile Ctrl-C reaches only
 * the program. */
static enum pl_status run_at_terminal(const char *const *argv, int ends[2], struct pl_str input,
                                      int *ret_code, struct pl_error *err)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before_int, before_quit;
    pid_t pid = 0;
    sigaction(SIGINT, &ignored, &before_int);
    sigaction(SIGQUIT, &ignored, &before_quit);
    enum pl_status status = check_start(argv[0], spawn(argv, NULL, ends ? ends[0] : -1, &pid), err);
    if (ends) {
        close(ends[0]);
        if (status == PL_OK)
            feed(ends[1], input);
        close(ends[1]);
    }
    if (status == PL_OK)
        status = wait_for(argv[0], pid, ret_code, err);
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGQUIT, &before_quit, NULL);
    return status;
}

enum pl_status pl_process_run_here(const char *const *argv, int *ret_code, struct pl_error *err)
{
    return run_at_terminal(argv, NULL, (struct pl_str){0}, ret_code, err);
}

enum pl_status pl_process_feed_here(const char *const *argv, struct pl_str input, int *ret_code,
                                    struct pl_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return pl_fail(err, PL_IO, "%s cannot be started: %s", argv[0], strerror(errno));
    return run_at_terminal(argv, ends, input, ret_code, err);
}

enum pl_status pl_temp_dir_make(char *ret_path, struct pl_error *err)
{
    const char *above = getenv("TMPDIR");
    if (!above || above[0] != '/')
        above = "/tmp";
    if (snprintf(ret_path, PATH_MAX, "%s/parley-XXXXXX", above) >= PATH_MAX || !mkdtemp(ret_path))
        return pl_fail(err, PL_IO, "no directory for temporary files can be made in %s: %s", above,
                       strerror(errno));
    return PL_OK;
}

void pl_temp_dir_remove(const char *path)
{
    DIR *stream = opendir(path);
    if (stream) {
        for (struct dirent *entry; (entry = readdir(stream));)
            unlinkat(dirfd(stream), entry->d_name, 0);
        closedir(stream);
    }
    rmdir(path);
}
