#include "io/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ERROR_BYTES = 16 << 10 };

/* Reads to the end, so that the program never waits for us; keeps only the beginning. */
static void drain(int fd, struct pl_buf *to)
{
    char chunk[4096];
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        if (to->len < MAX_ERROR_BYTES)
            pl_buf_add(to, (struct pl_str){chunk, (size_t)n});
    }
}

/* Nothing to read, nothing said but complaints. */
static int shut_off(posix_spawn_file_actions_t *actions, const int *ends)
{
    int error = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    return error ? error : posix_spawn_file_actions_adddup2(actions, ends[1], 2);
}

/* `ends` is the pipe for standard error; NULL: the program has our three. */
static int spawn(const char *const *argv, const int *ends, pid_t *ret_pid)
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
    /* We ignore these, some of the time; a program we start need not expect that. */
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    error = posix_spawnattr_setsigdefault(&attr, &defaults);
    if (!error)
        error = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    if (!error && ends)
        error = shut_off(&actions, ends);
    /* The words are not changed: the type is that of a time before const. */
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

enum pl_status pl_process_run(const char *const *argv, struct pl_buf *errors, int *ret_code,
                              struct pl_error *err)
{
    int ends[2];
    pid_t pid = 0;
    if (pipe(ends) < 0)
        return pl_fail(err, PL_IO, "%s cannot be started: %s", argv[0], strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    int error = spawn(argv, ends, &pid);
    close(ends[1]);
    if (!error)
        drain(ends[0], errors);
    close(ends[0]);
    enum pl_status status = check_start(argv[0], error, err);
    return status == PL_OK ? wait_for(argv[0], pid, ret_code, err) : status;
}

enum pl_status pl_process_run_here(const char *const *argv, int *ret_code, struct pl_error *err)
{
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before_int, before_quit;
    pid_t pid = 0;
    sigaction(SIGINT, &ignored, &before_int);
    sigaction(SIGQUIT, &ignored, &before_quit);
    enum pl_status status = check_start(argv[0], spawn(argv, NULL, &pid), err);
    if (status == PL_OK)
        status = wait_for(argv[0], pid, ret_code, err);
    sigaction(SIGINT, &before_int, NULL);
    sigaction(SIGQUIT, &before_quit, NULL);
    return status;
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
