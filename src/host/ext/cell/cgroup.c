/* Finds our own control group, and creates one below it. /proc/self/cgroup has our group in each
 * hierarchy, /proc/self/mountinfo the mounts of the hierarchies. */
#include "ext/cell/cgroup.h"

#include "io/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Process 1 and the kernel's data for the cell. */
#define OVERHEAD ((uint64_t)8 << 20)

static bool write_value(const char *dir, const char *file, const char *value)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = (ssize_t)strlen(value);
    bool is_done = fd >= 0 && write(fd, value, (size_t)n) == n;
    if (fd >= 0)
        close(fd);
    return is_done;
}

static bool read_text(const char *path, char *to, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    for (ssize_t got; fd >= 0 && n < size - 1 && (got = read(fd, to + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    if (fd >= 0)
        close(fd);
    to[n] = 0;
    return n > 0;
}

/* The group of a line "4:memory:/a/b" or "0::/a/b". */
static bool find_group(const char *text, const char *controller, char *to, size_t size)
{
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        const char *names = memchr(line, ':', n);
        const char *group = names ? memchr(names + 1, ':', n - (size_t)(names + 1 - line)) : NULL;
        if (group && (size_t)(group - names - 1) == strlen(controller) &&
            memcmp(names + 1, controller, strlen(controller)) == 0) {
            snprintf(to, size, "%.*s", (int)(n - (size_t)(group + 1 - line)), group + 1);
            return true;
        }
        line += n + (line[n] == '\n');
    }
    return false;
}

/* The mount of a hierarchy: " - cgroup2 " or " - cgroup … memory". The 4th word is the group at
 * its root, the 5th the mount point. */
static bool find_mount(const char *text, bool is_v2, char *root, char *at, size_t size)
{
    for (const char *line = text; *line;) {
        char whole[1024], kind[32], options[256];
        size_t n = strcspn(line, "\n");
        snprintf(whole, sizeof whole, "%.*s", (int)n, line);
        const char *tail = strstr(whole, " - ");
        char from[512], to[512];
        if (tail && sscanf(tail, " - %31s %*s %255s", kind, options) == 2 &&
            sscanf(whole, "%*d %*d %*s %511s %511s", from, to) == 2 &&
            strcmp(kind, is_v2 ? "cgroup2" : "cgroup") == 0 &&
            (is_v2 || strstr(options, "memory"))) {
            snprintf(root, size, "%s", from);
            snprintf(at, size, "%s", to);
            return true;
        }
        line += n + (line[n] == '\n');
    }
    return false;
}

/* The directory of our own group. */
static bool find_own(bool is_v2, char *to, size_t size)
{
    static const size_t max = (size_t)64 << 10;
    PL_CLEANUP_BUF struct pl_buf text;
    char group[512], root[512], at[512];
    pl_buf_init(&text, max);
    if (!pl_buf_reserve(&text, max) || !read_text("/proc/self/cgroup", text.ptr, max) ||
        !find_group(text.ptr, is_v2 ? "" : "memory", group, sizeof group) ||
        !read_text("/proc/self/mountinfo", text.ptr, max) ||
        !find_mount(text.ptr, is_v2, root, at, sizeof root))
        return false;
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(group, root, n) != 0)
        return false;
    snprintf(to, size, "%s%s", at, strcmp(group, "/") == 0 ? "" : group + n);
    return true;
}

/* In version 2, memory is limited only in groups whose parent enables the controller for them. */
static bool passes_memory_on(const char *dir)
{
    char path[4200], text[1024];
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", dir);
    return read_text(path, text, sizeof text) && strstr(text, "memory");
}

static bool limit(const char *dir, bool is_v2, uint64_t n_memory)
{
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)(n_memory + OVERHEAD));
    if (!write_value(dir, is_v2 ? "memory.max" : "memory.limit_in_bytes", bytes))
        return false;
    /* Swap would be additional memory. Not every kernel counts it. */
    (void)write_value(dir, is_v2 ? "memory.swap.max" : "memory.memsw.limit_in_bytes",
                      is_v2 ? "0" : bytes);
    (void)(is_v2 && write_value(dir, "memory.oom.group", "1"));
    return true;
}

static bool make_below(const char *parent, bool is_v2, uint64_t n_memory, struct pl_buf *to)
{
    static atomic_uint counter;
    pl_buf_clear(to);
    pl_buf_addf(to, "%s/parley-cell-%d-%u", parent, (int)getpid(), atomic_fetch_add(&counter, 1));
    pl_buf_addc(to, 0);
    if (to->status == PL_OK && mkdir(to->ptr, 0755) == 0) {
        if (limit(to->ptr, is_v2, n_memory))
            return true;
        rmdir(to->ptr);
    }
    pl_buf_clear(to);
    return false;
}

void pl_cell_cgroup_make(uint64_t n_memory, struct pl_buf *to, const char **why)
{
    char own[1100];
    *why = "this machine has no control groups for memory";
    if (find_own(true, own, sizeof own)) {
        /* Our own group has processes, so its children have limits only if it is the root. Its
         * siblings have limits if systemd has delegated the parent group. */
        if (passes_memory_on(own) && make_below(own, true, n_memory, to))
            return;
        char *slash = strrchr(own, '/');
        if (slash)
            *slash = 0;
        if (passes_memory_on(own) && make_below(own, true, n_memory, to))
            return;
        *why = "no control group for memory is delegated to the server";
    }
    if (!find_own(false, own, sizeof own))
        return;
    if (!make_below(own, false, n_memory, to))
        *why = "the server may not make control groups for memory";
}

void pl_cell_cgroup_remove(const char *path, bool *ret_is_full)
{
    char file[4200], text[1024];
    *ret_is_full = false;
    if (!path || !path[0])
        return;
    static const char *const files[] = {"memory.events", "memory.oom_control"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i]);
        unsigned long n = 0;
        const char *line = read_text(file, text, sizeof text) ? strstr(text, "oom_kill ") : NULL;
        *ret_is_full = *ret_is_full || (line && sscanf(line, "oom_kill %lu", &n) == 1 && n > 0);
    }
    rmdir(path);
}
