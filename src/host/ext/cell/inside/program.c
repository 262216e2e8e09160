/* The last steps before a program runs: limits, no capabilities, Landlock, the system call
 * filter, three descriptors. Each must succeed. A failure that the caller can correct (no such
 * program) has its own status. */
#include "ext/cell/inside/build_int.h"
#include "ext/cell/inside/landlock.h"
#include "ext/cell/inside/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct last {
    struct pl_cell_build *build;
    int say_fd;
};

_Noreturn static void stop(struct last *last, enum pl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn static void stop(struct last *last, enum pl_status status, const char *format, ...)
{
    struct pl_cell_message message = {.kind = PL_CELL_SAYS_FAILED, .value = (int32_t)status};
    va_list args;
    va_start(args, format);
    vsnprintf(message.text, sizeof message.text, format, args);
    va_end(args);
    ssize_t n = write(last->say_fd, &message, sizeof message);
    (void)n;
    _exit(127);
}

/* --- limits ------------------------------------------------------------------------------------ */

static void set_limits(struct last *last)
{
    const struct pl_cell_limits *limits = &last->build->plan.limits;
    const struct {
        int what;
        rlim_t value;
        const char *name;
    } table[] = {
        /* First, because counting a user's tasks takes memory. */
        {RLIMIT_NPROC, limits->n_processes, "processes"},
        {RLIMIT_DATA, limits->n_memory, "memory"},
        {RLIMIT_NOFILE, limits->n_fds, "descriptors"},
        {RLIMIT_FSIZE, limits->n_file, "files"},
        {RLIMIT_CORE, 0, "core dumps"},
        {RLIMIT_MEMLOCK, 0, "locked memory"},
        {RLIMIT_MSGQUEUE, 0, "message queues"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        rlim_t value = table[i].value;
        /* Without a user namespace the kernel counts all tasks of the user, including those of
         * the server. The program itself is one of its own. If other tasks end later, process 1
         * counts too (census.c). */
        if (table[i].what == RLIMIT_NPROC && !last->build->is_tree)
            value += pl_cell_other_tasks_of_user(last->build);
        struct rlimit limit = {value, value};
        if (setrlimit(table[i].what, &limit) != 0)
            stop(last, PL_IO, "the limit of %s cannot be set: %s", table[i].name, strerror(errno));
    }
}

/* --- capabilities ------------------------------------------------------------------------------ */

static void drop_capabilities(struct last *last)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2] = {0};
    /* The bounding set, which exec could use. Only a process with CAP_SETPCAP can empty it. A
     * process without CAP_SETPCAP cannot use it either, since no_new_privs is set. */
    for (int cap = 0; cap < 64; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0)
            break;
    (void)prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                       SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                       SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 ||
        syscall(SYS_capset, &head, none) != 0)
        stop(last, PL_IO, "capabilities cannot be given up: %s", strerror(errno));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        stop(last, PL_IO, "no_new_privs cannot be set: %s", strerror(errno));
}

/* --- Landlock ---------------------------------------------------------------------------------- */

static void allow_path(struct last *last, int ruleset, const char *path,
                       enum pl_landlock_rights rights)
{
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return; /* a missing path needs no rule */
    if (!pl_landlock_allow(ruleset, last->build->abi, fd, rights))
        stop(last, PL_IO, "Landlock takes no rule for %s: %s", path, strerror(errno));
    close(fd);
}

static void allow_mounts(struct last *last, int ruleset)
{
    const struct pl_cell_plan *plan = &last->build->plan;
    for (size_t i = 0; i < plan->n_mounts; i++) {
        const struct pl_cell_plan_mount *mount = &plan->mounts[i];
        enum pl_landlock_rights rights = mount->is_writable ? PL_LANDLOCK_WRITE : PL_LANDLOCK_READ;
        if (last->build->has_root)
            allow_path(last, ruleset, mount->to, rights);
        else if (!pl_landlock_allow(ruleset, last->build->abi, mount->fd, rights))
            stop(last, PL_IO, "Landlock takes no rule for %s: %s", mount->from, strerror(errno));
    }
}

static void enter_landlock(struct last *last)
{
    struct pl_cell_build *build = last->build;
    if (!build->abi)
        return;
    int ruleset = pl_landlock_create(build->abi);
    if (ruleset < 0)
        stop(last, PL_IO, "Landlock makes no rules: %s", strerror(errno));
    for (size_t i = 0; pl_cell_runtime[i].path; i++)
        allow_path(last, ruleset, pl_cell_runtime[i].path,
                   pl_cell_runtime[i].is_look_only ? PL_LANDLOCK_LOOK : PL_LANDLOCK_READ);
    for (size_t i = 0; pl_cell_devices[i]; i++)
        allow_path(last, ruleset, pl_cell_devices[i], PL_LANDLOCK_DEVICE);
    if (build->has_root) {
        /* Our own root contains only files for the program, so it may be read. The /proc of
         * bubblewrap shows the whole machine, so it is not allowed. */
        bool is_ours = build->parts & PL_CELL_HAS(NAMESPACES);
        allow_path(last, ruleset, is_ours ? "/" : "/etc", PL_LANDLOCK_LOOK);
        allow_path(last, ruleset, "/tmp", PL_LANDLOCK_KEEP);
    }
    allow_mounts(last, ruleset);
    struct pl_cell_place places[PL_CELL_MAX_PLACES];
    size_t n_places = pl_cell_plan_places(&build->plan, places);
    for (size_t i = 0; i < n_places; i++)
        if (!pl_landlock_allow_port(ruleset, build->abi, places[i].port))
            stop(last, PL_IO, "Landlock takes no rule for a port: %s", strerror(errno));
    if (!pl_landlock_enter(ruleset))
        stop(last, PL_IO, "Landlock cannot be entered: %s", strerror(errno));
    close(ruleset);
}

/* --- the filter -------------------------------------------------------------------------------- */

static void enter_filter(struct last *last)
{
    struct sock_filter filter[PL_SECCOMP_MAX];
    size_t n;
    if (!(last->build->parts & PL_CELL_HAS(SECCOMP)))
        return;
    if (!pl_seccomp_make(last->build->plan.n_hosts > 0, filter, PL_SECCOMP_MAX, &n))
        stop(last, PL_IO, "there is no filter of system calls for this machine");
    int error = pl_seccomp_install(filter, n);
    if (error)
        stop(last, PL_IO, "the filter of system calls cannot be set: %s", strerror(error));
}

/* --- the program ------------------------------------------------------------------------------- */

static void reset_signals(void)
{
    sigset_t none;
    for (int i = 1; i < 65; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static const char *find_variable(char *const *env, const char *name)
{
    size_t n = strlen(name);
    for (; *env; env++)
        if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

/* Returns only on failure; errno is that of the most informative attempt. */
static void start(char *const *argv, char *const *env)
{
    if (strchr(argv[0], '/')) {
        execve(argv[0], argv, env);
        return;
    }
    const char *path = find_variable(env, "PATH");
    int telling = ENOENT;
    while (path && *path) {
        char full[4096];
        size_t n = strcspn(path, ":");
        snprintf(full, sizeof full, "%.*s/%s", (int)n, path, argv[0]);
        execve(full, argv, env);
        if (errno != ENOENT && errno != ENOTDIR)
            telling = errno;
        path += n + (path[n] == ':');
    }
    errno = telling;
}

_Noreturn void pl_cell_program_run(struct pl_cell_build *build, int say_fd)
{
    struct last last = {build, say_fd};
    const struct pl_cell_plan *plan = &build->plan;
    setsid();
    umask(022);
    if (chdir(plan->cwd) != 0)
        stop(&last, PL_USAGE, "the directory %s of the cell cannot be entered: %s", plan->cwd,
             strerror(errno));
    set_limits(&last);
    drop_capabilities(&last);
    reset_signals();
    enter_landlock(&last);
    /* All except three close with exec, including forgotten ones. */
    if (syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */) != 0)
        stop(&last, PL_IO, "descriptors cannot be closed: %s", strerror(errno));
    enter_filter(&last);
    if (plan->is_probe)
        _exit(0);
    start(plan->argv, plan->env);
    bool is_missing = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    stop(&last, is_missing ? PL_NOT_FOUND : PL_IO, "%s cannot be started in the cell: %s",
         plan->argv[0], strerror(errno));
}
