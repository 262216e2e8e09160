/* Makes a cell, from the start of `parley cell` to process 1. There are three ways:
 *
 *     namespaces   clone3; the child is process 1 and a child of the server's, we end
 *     bubblewrap   we become bwrap, which starts us again inside, as process 1
 *     neither      we stay, and are called process 1
 *
 * plan.missing tells the ways not to try. If a way turns out to be impossible, PL_CELL_SAYS_UNABLE
 * reports it, and the server tries again without it: a half-made cell is never used. */
#include "ext/cell/inside/cell_main.h"

#include "ext/cell/inside/build_int.h"
#include "ext/cell/inside/landlock.h"
#include "ext/cell/inside/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool pl_cell_main_is_called(void)
{
    int kind = 0;
    socklen_t n = sizeof kind;
    struct stat info;
    return getsockopt(PL_CELL_FD_CONTROL, SOL_SOCKET, SO_TYPE, &kind, &n) == 0 &&
           kind == SOCK_SEQPACKET && fstat(PL_CELL_FD_PLAN, &info) == 0 && S_ISREG(info.st_mode);
}

/* --- the plan ---------------------------------------------------------------------------------- */

static void read_plan(struct pl_cell_build *build)
{
    struct stat info;
    struct pl_error err = {0};
    int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
    if (fstat(PL_CELL_FD_PLAN, &info) != 0 || info.st_size > (off_t)PL_CELL_MAX_PLAN)
        pl_cell_fail(PL_USAGE, "the plan of the cell cannot be read");
    if ((fcntl(PL_CELL_FD_PLAN, F_GET_SEALS) & seals) != seals)
        pl_cell_fail(PL_USAGE, "the plan of the cell is not sealed");
    char *text = pl_arena_alloc(build->arena, (size_t)info.st_size + 1, 1);
    if (!text)
        pl_cell_fail(PL_NOMEM, "out of memory");
    if (pread(PL_CELL_FD_PLAN, text, (size_t)info.st_size, 0) != info.st_size)
        pl_cell_fail_errno("the plan of the cell cannot be read");
    enum pl_status status = pl_cell_plan_read(
        build->arena, (struct pl_str){text, (size_t)info.st_size}, &build->plan, &err);
    if (status != PL_OK)
        pl_cell_fail(status, "%s", err.message);
}

static void keep_fds(const struct pl_cell_build *build)
{
    unsigned first = PL_CELL_FD_MOUNTS + (unsigned)build->plan.n_mounts;
    if (syscall(SYS_close_range, first, ~0u, 0u) != 0 ||
        syscall(SYS_close_range, (unsigned)PL_CELL_FD_CONTROL, ~0u, 4u /* cloexec */) != 0)
        pl_cell_fail_errno("descriptors cannot be closed");
}

/* --- parts and level -------------------------------------------------------------------------- */

static void look_around(struct pl_cell_build *build)
{
    struct sock_filter filter[PL_SECCOMP_MAX];
    size_t n;
    unsigned missing = build->plan.missing;
    build->abi = missing & PL_CELL_HAS(LANDLOCK) ? 0 : pl_landlock_abi();
    build->parts = PL_CELL_HAS(UID) | (build->abi ? PL_CELL_HAS(LANDLOCK) : 0);
    if (!(missing & PL_CELL_HAS(SECCOMP)) && pl_seccomp_make(false, filter, PL_SECCOMP_MAX, &n) &&
        prctl(PR_GET_SECCOMP) >= 0)
        build->parts |= PL_CELL_HAS(SECCOMP);
    if (build->plan.cgroup)
        build->parts |= PL_CELL_HAS(CGROUP);
}

/* Before anything is made: checks whether this way would reach the least level. */
static void check_level(struct pl_cell_build *build, unsigned way)
{
    enum pl_cell_level level = pl_cell_level_of(build->parts | way, build->abi);
    if (level >= build->plan.least)
        return;
    struct pl_cell_message message = {.kind = PL_CELL_SAYS_LOW, .value = (int32_t)level};
    (void)pl_cell_control_send(PL_CELL_FD_CONTROL, &message, NULL, 0);
    _exit(1);
}

/* --- control group and user ------------------------------------------------------------------- */

static int open_in_cgroup(const struct pl_cell_build *build, const char *file, int flags)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", build->plan.cgroup, file);
    return open(path, flags | O_CLOEXEC);
}

static bool write_to_cgroup(const struct pl_cell_build *build, const char *file, const char *text)
{
    int fd = open_in_cgroup(build, file, O_WRONLY);
    bool is_done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return is_done;
}

/* A full cgroup of version 2 is killed as a whole. In version 1, processes are killed one by one
 * until the rest fit, and the program may survive: process 1 must be notified. */
static bool watch_cgroup(const struct pl_cell_build *build)
{
    char line[32];
    int event = eventfd(0, EFD_CLOEXEC);
    int counter = open_in_cgroup(build, "memory.oom_control", O_RDONLY);
    bool is_done = event == PL_CELL_FD_FULL || dup3(event, PL_CELL_FD_FULL, O_CLOEXEC) >= 0;
    if (is_done && counter >= 0) {
        snprintf(line, sizeof line, "%d %d", PL_CELL_FD_FULL, counter);
        is_done = write_to_cgroup(build, "cgroup.event_control", line);
    }
    if (event >= 0 && event != PL_CELL_FD_FULL)
        close(event);
    if (counter >= 0)
        close(counter);
    return is_done;
}

static void join_cgroup(struct pl_cell_build *build)
{
    if (!build->plan.cgroup)
        return;
    if (!watch_cgroup(build) || !write_to_cgroup(build, "cgroup.procs", "0"))
        pl_cell_unable(PL_CELL_PART_CGROUP, "the control group cannot be used: %s",
                       strerror(errno));
}

static void become_user(struct pl_cell_build *build)
{
    uid_t uid = build->plan.uid;
    if (geteuid() != 0 && getuid() != 0)
        return;
    if (!uid)
        pl_cell_unable(PL_CELL_PART_UID,
                       "the server runs as root, and no user ids are set for cells");
    if (build->plan.missing & PL_CELL_HAS(UID))
        pl_cell_unable(PL_CELL_PART_UID, "no user id");
    if (!(build->plan.missing & PL_CELL_HAS(NAMESPACES)))
        pl_cell_mounts_detach(build);
    if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0)
        pl_cell_fail_errno("the cell cannot become user %u", (unsigned)uid);
    if (getuid() == 0 || geteuid() == 0 || setresuid(0, 0, 0) == 0)
        pl_cell_fail(PL_INTERNAL, "the cell is still root");
    /* Otherwise our own files in /proc would be root's, and the maps below could not be written. */
    if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0)
        pl_cell_fail_errno("the cell cannot see itself");
}

/* --- namespaces -------------------------------------------------------------------------------- */

static void write_line(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = (ssize_t)strlen(line);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        pl_cell_unable(PL_CELL_PART_NAMESPACES, "%s cannot be written: %s", path, strerror(errno));
    close(fd);
}

static void map_user(uid_t uid, gid_t gid)
{
    char line[64];
    write_line("/proc/self/setgroups", "deny");
    snprintf(line, sizeof line, "1000 %u 1", (unsigned)uid);
    write_line("/proc/self/uid_map", line);
    snprintf(line, sizeof line, "1000 %u 1", (unsigned)gid);
    write_line("/proc/self/gid_map", line);
}

_Noreturn static void be_first(struct pl_cell_build *build, uid_t uid, gid_t gid)
{
    build->is_tree = true;
    map_user(uid, gid);
    /* The mounts are locked, and the host name reveals nothing. */
    if (sethostname("cell", 4) != 0)
        pl_cell_fail_errno("the cell cannot get a name");
    pl_cell_root_make(build);
    pl_cell_listen(build, false);
    pl_cell_init_run(build);
}

/* pidfd -1: this process. */
static void say_born(pid_t pid, int pidfd)
{
    if (pidfd < 0)
        pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (pidfd < 0)
        pl_cell_fail_errno("no descriptor for process 1");
    struct pl_cell_message message = {.kind = PL_CELL_SAYS_BORN, .value = pid};
    if (!pl_cell_control_send(PL_CELL_FD_CONTROL, &message, &pidfd, 1))
        _exit(1);
    close(pidfd);
}

_Noreturn static void go_by_namespaces(struct pl_cell_build *build)
{
    int pidfd = -1;
    uid_t uid = geteuid();
    gid_t gid = getegid();
    check_level(build, PL_CELL_HAS(NAMESPACES));
    build->parts |= PL_CELL_HAS(NAMESPACES);
    struct clone_args args = {
        .flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                 CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_PIDFD | CLONE_PARENT,
        .pidfd = (uint64_t)(uintptr_t)&pidfd,
    };
    pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (pid < 0)
        pl_cell_unable(PL_CELL_PART_NAMESPACES, "clone3 with new namespaces: %s", strerror(errno));
    if (pid == 0)
        be_first(build, uid, gid);
    say_born(pid, pidfd);
    _exit(0);
}

/* --- the other ways ---------------------------------------------------------------------------- */

_Noreturn static void go_by_bwrap(struct pl_cell_build *build)
{
    check_level(build, PL_CELL_HAS(BWRAP));
    pl_cell_become_bwrap(build);
}

/* Bubblewrap mounts by name: checks that the mounts are the opened files. */
static void check_mounts(const struct pl_cell_build *build)
{
    for (size_t i = 0; i < build->plan.n_mounts; i++) {
        const struct pl_cell_plan_mount *mount = &build->plan.mounts[i];
        struct stat here, there;
        if (lstat(mount->to, &here) != 0 || fstat(mount->fd, &there) != 0 ||
            here.st_dev != there.st_dev || here.st_ino != there.st_ino)
            pl_cell_fail(PL_CONFLICT, "%s was replaced by another file meanwhile", mount->from);
    }
}

_Noreturn static void be_inside_bwrap(struct pl_cell_build *build)
{
    build->parts |= PL_CELL_HAS(BWRAP);
    build->has_root = true;
    build->is_tree = true;
    if (getpid() != 1)
        pl_cell_fail(PL_IO, "bubblewrap has not made a pid namespace");
    say_born(0, -1);
    check_mounts(build);
    build->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (build->proc >= 0 && access("/proc/self/stat", R_OK) == 0)
        build->parts |= PL_CELL_HAS(PROC);
    pl_cell_listen(build, true);
    pl_cell_init_run(build);
}

/* At a level without mounts, converts a path in the cell to the one outside. */
static const char *path_outside(struct pl_cell_build *build, const char *path)
{
    for (size_t i = build->plan.n_mounts; i-- > 0;) {
        const struct pl_cell_plan_mount *mount = &build->plan.mounts[i];
        size_t n = strlen(mount->to);
        if (strncmp(path, mount->to, n) != 0 || (path[n] != '/' && path[n]))
            continue;
        size_t size = strlen(mount->from) + strlen(path + n) + 1;
        char *text = pl_arena_alloc(build->arena, size, 1);
        if (!text)
            pl_cell_fail(PL_NOMEM, "out of memory");
        snprintf(text, size, "%s%s", mount->from, path + n);
        return text;
    }
    return path;
}

static void change_paths(struct pl_cell_build *build)
{
    for (size_t i = 0; build->plan.argv[i]; i++)
        build->plan.argv[i] = (char *)path_outside(build, build->plan.argv[i]);
    build->plan.cwd = path_outside(build, build->plan.cwd);
}

_Noreturn static void stay(struct pl_cell_build *build)
{
    check_level(build, 0);
    if (build->plan.n_hosts)
        pl_cell_fail(PL_USAGE, "hosts can be granted only where there is a network namespace, and "
                               "this machine makes none");
    if (build->plan.has_guarded)
        pl_cell_fail(PL_USAGE,
                     "a directory with protected paths can be writable only where there is "
                     "a mount namespace, and this machine makes none");
    change_paths(build);
    say_born(0, -1);
    build->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (build->proc < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        pl_cell_fail_errno("the processes of the cell cannot be kept together");
    pl_cell_init_run(build);
}

_Noreturn void pl_cell_main(bool is_inner)
{
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_cell_build build = {.arena = &arena, .proc = -1};
    signal(SIGPIPE, SIG_IGN);
    read_plan(&build);
    keep_fds(&build);
    look_around(&build);
    if (is_inner)
        be_inside_bwrap(&build);
    /* If process 1 must outlive the others to end them, it is not limited together with them. */
    if (~build.plan.missing & (PL_CELL_HAS(NAMESPACES) | PL_CELL_HAS(BWRAP)))
        join_cgroup(&build);
    else
        build.parts &= ~PL_CELL_HAS(CGROUP);
    become_user(&build);
    if (!(build.plan.missing & PL_CELL_HAS(NAMESPACES)))
        go_by_namespaces(&build);
    if (!(build.plan.missing & PL_CELL_HAS(BWRAP)))
        go_by_bwrap(&build);
    stay(&build);
}
