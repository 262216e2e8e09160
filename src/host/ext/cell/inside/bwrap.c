/* Some machines reserve user namespaces for known programs, and bubblewrap is one of them. It
 * makes the namespaces and the root from its command line, and starts us there as process 1.
 * Landlock does what it cannot (a /tmp without programs). */
#include "ext/cell/inside/build_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BWRAP "/usr/bin/bwrap"
#define SELF  "/.parley"

struct words {
    struct pl_cell_build *build; /* borrowed */
    PL_VEC(char *) list;
};

static void add(struct words *words, const char *word)
{
    struct pl_str text = {word, strlen(word) + 1};
    struct pl_str copy = pl_arena_dup(words->build->arena, text);
    if (!copy.ptr || !pl_vec_push(&words->list, (char *)copy.ptr))
        pl_cell_fail(PL_NOMEM, "out of memory");
}

static void add_all(struct words *words, const char *const *list)
{
    for (; *list; list++)
        add(words, *list);
}

/* A bind mount from a descriptor, which stays open for bubblewrap. */
static void add_bind(struct words *words, const char *how, int fd, const char *to)
{
    char from[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    if (fcntl(fd, F_SETFD, 0) != 0)
        pl_cell_fail_errno("no descriptor for %s", to);
    add_all(words, (const char *const[]){how, from, to, NULL});
}

static void add_runtime(struct words *words, const char *path)
{
    struct stat info;
    char link[4096];
    int fd = open(path, O_PATH | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &info) != 0)
        return;
    if (!S_ISLNK(info.st_mode)) {
        add_bind(words, "--ro-bind", fd, path);
        return;
    }
    ssize_t n = readlinkat(fd, "", link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    close(fd);
    add_all(words, (const char *const[]){"--symlink", link, path, NULL});
}

static void add_file(struct words *words, const struct pl_cell_file *file)
{
    char number[16];
    int fd = memfd_create("file", 0);
    if (fd < 0 || write(fd, file->text.ptr, file->text.len) != (ssize_t)file->text.len ||
        lseek(fd, 0, SEEK_SET) != 0)
        pl_cell_fail_errno("%s of the cell cannot be written", file->path);
    snprintf(number, sizeof number, "%d", fd);
    add_all(words,
            (const char *const[]){"--perms", "0444", "--ro-bind-data", number, file->path, NULL});
}

static void add_root(struct words *words)
{
    struct pl_cell_build *build = words->build;
    char size[32];
    snprintf(size, sizeof size, "%llu", (unsigned long long)build->plan.limits.n_file);
    const struct pl_cell_file *files = pl_cell_files(build);
    for (size_t i = 0; files[i].path; i++)
        add_file(words, &files[i]);
    add_all(words,
            (const char *const[]){"--perms", "1777", "--size", size, "--tmpfs", "/tmp", NULL});
    /* For process 1. Landlock keeps the program out of it; without Landlock there is no /proc. */
    if (build->abi && !(build->plan.missing & PL_CELL_HAS(PROC)))
        add_all(words, (const char *const[]){"--proc", "/proc", NULL});
    for (size_t i = 0; pl_cell_runtime[i].path; i++)
        add_runtime(words, pl_cell_runtime[i].path);
    for (size_t i = 0; pl_cell_devices[i]; i++)
        add_all(words,
                (const char *const[]){"--dev-bind", pl_cell_devices[i], pl_cell_devices[i], NULL});
    for (size_t i = 0; i < build->plan.n_mounts; i++)
        add_bind(words, build->plan.mounts[i].is_writable ? "--bind" : "--ro-bind",
                 build->plan.mounts[i].fd, build->plan.mounts[i].to);
}

_Noreturn void pl_cell_become_bwrap(struct pl_cell_build *build)
{
    struct words words = {.build = build};
    int self = open("/proc/self/exe", O_PATH);
    if (self < 0)
        pl_cell_fail_errno("this program cannot be found");
    if (access(BWRAP, X_OK) != 0)
        pl_cell_unable(PL_CELL_PART_BWRAP, "%s is not installed", BWRAP);
    add_all(&words, (const char *const[]){BWRAP, "--unshare-user", "--unshare-ipc", "--unshare-pid",
                                          "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
                                          "--as-pid-1", "--uid", "1000", "--gid", "1000",
                                          "--hostname", "cell", "--clearenv", NULL});
    if (build->plan.n_hosts) /* 443 is a privileged port */
        add_all(&words, (const char *const[]){"--cap-add", "CAP_NET_BIND_SERVICE", NULL});
    add_root(&words);
    add_bind(&words, "--ro-bind", self, SELF);
    add_all(&words, (const char *const[]){"--remount-ro", "/", "--chdir", "/", "--", SELF, "cell",
                                          "inner", NULL});
    if (!pl_vec_push(&words.list, NULL))
        pl_cell_fail(PL_NOMEM, "out of memory");
    /* If bubblewrap fails, it writes the reason to standard error. */
    int last = build->parts & PL_CELL_HAS(CGROUP) ? PL_CELL_FD_FULL : PL_CELL_FD_PLAN;
    for (int fd = PL_CELL_FD_CONTROL; fd <= last; fd++)
        if (fcntl(fd, F_SETFD, 0) != 0)
            pl_cell_fail_errno("descriptors cannot be handed on");
    char *const none[] = {NULL};
    execve(BWRAP, words.list.ptr, none);
    pl_cell_unable(PL_CELL_PART_BWRAP, "%s cannot be started: %s", BWRAP, strerror(errno));
}
