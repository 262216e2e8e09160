/* The processes of a cell as seen by process 1: in a pid namespace all that its /proc lists,
 * otherwise all its descendants. */
#include "ext/cell/inside/build_int.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

struct process {
    pid_t pid, parent;
    bool is_ours;
    bool is_ended; /* not waited for yet */
};

struct list {
    PL_VEC(struct process) items;
};

/* Reads a file of a process; empty if the process is gone. */
static void read_file(int proc, pid_t pid, const char *name, char *to, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%d/%s", (int)pid, name);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, to, size - 1) : -1;
    to[n > 0 ? n : 0] = 0;
    if (fd >= 0)
        close(fd);
}

/* "1234 (a name) S 1 …": the name may contain anything, so the last bracket counts. */
static void read_stat(int proc, struct process *p)
{
    char text[512], state = 0;
    int parent = 0;
    read_file(proc, p->pid, "stat", text, sizeof text);
    const char *end = strrchr(text, ')');
    if (!end || sscanf(end + 1, " %c %d", &state, &parent) != 2)
        return;
    p->parent = parent;
    p->is_ended = state == 'Z' || state == 'X';
}

static pid_t number_of(const char *name)
{
    pid_t pid = 0;
    for (; isdigit((unsigned char)*name) && pid < 100000000; name++)
        pid = pid * 10 + (*name - '0');
    return *name ? 0 : pid;
}

static bool list_processes(const struct pl_cell_build *build, struct list *list)
{
    int fd = openat(build->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir)
        return false;
    bool is_fine = true;
    for (struct dirent *entry; is_fine && (entry = readdir(dir));) {
        struct process p = {.pid = number_of(entry->d_name)};
        if (!p.pid || p.pid == getpid())
            continue;
        p.is_ours = build->is_tree;
        if (!build->is_tree)
            read_stat(build->proc, &p);
        is_fine = pl_vec_push(&list->items, p);
    }
    closedir(dir);
    return is_fine;
}

/* Without a namespace: marks every process with a marked parent. */
static void find_descendants(struct list *list)
{
    pid_t self = getpid();
    for (bool is_news = true; is_news;) {
        is_news = false;
        for (size_t i = 0; i < list->items.len; i++) {
            struct process *p = &list->items.ptr[i];
            bool is_child = p->parent == self;
            for (size_t j = 0; !p->is_ours && !is_child && j < list->items.len; j++)
                is_child = list->items.ptr[j].is_ours && list->items.ptr[j].pid == p->parent;
            if (!p->is_ours && is_child)
                p->is_ours = is_news = true;
        }
    }
}

/* The bytes of pages that no file backs. is_exact: a shared page is divided among its users. If the
 * process hides that, or without is_exact, each page counts in full. */
static uint64_t memory_of(int proc, pid_t pid, bool is_exact)
{
    char text[4096];
    unsigned long long resident = 0, shared = 0, kib;
    if (is_exact) {
        read_file(proc, pid, "smaps_rollup", text, sizeof text);
        const char *line = strstr(text, "Pss_Anon:");
        if (line && sscanf(line, "Pss_Anon: %llu", &kib) == 1)
            return kib * 1024;
    }
    read_file(proc, pid, "statm", text, sizeof text);
    if (sscanf(text, "%*u %llu %llu", &resident, &shared) != 2)
        return 0;
    return (resident - (shared < resident ? shared : resident)) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t memory_of_tmp(const struct pl_cell_build *build)
{
    struct statfs info;
    if (!build->has_root || statfs("/tmp", &info) != 0)
        return 0;
    return (uint64_t)(info.f_blocks - info.f_bfree) * (uint64_t)info.f_bsize;
}

static uint64_t sum_memory(const struct pl_cell_build *build, const struct list *list,
                           bool is_exact)
{
    uint64_t sum = memory_of_tmp(build);
    for (size_t i = 0; i < list->items.len; i++)
        if (list->items.ptr[i].is_ours)
            sum += memory_of(build->proc, list->items.ptr[i].pid, is_exact);
    return sum;
}

bool pl_cell_census(const struct pl_cell_build *build, int signal,
                    struct pl_cell_census *ret_census)
{
    struct list list = {0};
    bool is_fine = build->proc >= 0 && list_processes(build, &list);
    *ret_census = (struct pl_cell_census){0};
    if (is_fine && !build->is_tree)
        find_descendants(&list);
    for (size_t i = 0; is_fine && i < list.items.len; i++) {
        if (!list.items.ptr[i].is_ours)
            continue;
        ret_census->n_processes++;
        if (signal)
            kill(list.items.ptr[i].pid, signal);
    }
    if (is_fine && !signal) {
        /* A fork shares all its pages for a moment. The exact sum costs more, and is rarely
         * needed. */
        ret_census->n_memory = sum_memory(build, &list, false);
        if (ret_census->n_memory > build->plan.limits.n_memory)
            ret_census->n_memory = sum_memory(build, &list, true);
    }
    pl_vec_deinit(&list.items);
    return is_fine;
}

/* Skips ended processes: the kernel still counts them, but only until they are waited for. Then
 * their place would be free for one process more than the limit allows. */
uint64_t pl_cell_other_tasks_of_user(const struct pl_cell_build *build)
{
    struct list list = {0};
    uint64_t n = 0;
    if (build->proc >= 0 && list_processes(build, &list))
        for (size_t i = 0; i < list.items.len; i++) {
            char path[64];
            struct stat info;
            snprintf(path, sizeof path, "%d/task", (int)list.items.ptr[i].pid);
            if (!list.items.ptr[i].is_ended && fstatat(build->proc, path, &info, 0) == 0 &&
                info.st_uid == getuid())
                n += info.st_nlink - 2;
        }
    pl_vec_deinit(&list.items);
    return n;
}
