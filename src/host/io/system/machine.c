/* Asks the kernel about paths, disks, limits, ports (through /proc/net and /proc/PID/fd), programs
 * and libraries. */
#include "io/system/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct pl_path_info pl_path_look(const char *path)
{
    struct stat found;
    if (stat(path, &found) != 0)
        return (struct pl_path_info){0};
    return (struct pl_path_info){
        .is_there = true,
        .is_directory = S_ISDIR(found.st_mode),
        .is_socket = S_ISSOCK(found.st_mode),
        .is_ours = found.st_uid == geteuid(),
        .is_private = !(found.st_mode & (found.st_uid == 0 ? 037 : 077)),
        .is_writable = access(path, W_OK) == 0,
        .mode = found.st_mode & 0777,
        .n_bytes = found.st_size,
        .changed_unix_s = found.st_mtim.tv_sec,
    };
}

bool pl_disk_look(const char *path, int64_t *ret_free_bytes, int64_t *ret_n_bytes)
{
    struct statvfs disk;
    if (statvfs(path, &disk) != 0)
        return false;
    *ret_free_bytes = (int64_t)(disk.f_bavail * disk.f_frsize);
    *ret_n_bytes = (int64_t)(disk.f_blocks * disk.f_frsize);
    return true;
}

int64_t pl_fd_limit_most(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    return limit.rlim_max > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_max;
}

/* --- who has a port -------------------------------------------------------------------------- */

/* The inode of the listening socket, from the local address, state and inode columns of proc(5). */
static bool find_inode(const char *table, uint16_t port, unsigned long long *ret_inode)
{
    enum { LISTENING = 0x0A };
    char line[512];
    FILE *file = fopen(table, "re");
    bool is_found = false;
    while (file && !is_found && fgets(line, sizeof line, file)) {
        unsigned local_port = 0, state = 0;
        is_found =
            sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %llu",
                   &local_port, &state, ret_inode) == 3 &&
            local_port == port && state == LISTENING;
    }
    if (file)
        fclose(file);
    return is_found;
}

static bool holds_inode(const char *pid, unsigned long long inode)
{
    char dir_name[64], wanted[64];
    snprintf(dir_name, sizeof dir_name, "/proc/%.20s/fd", pid);
    snprintf(wanted, sizeof wanted, "socket:[%llu]", inode);
    DIR *dir = opendir(dir_name);
    bool is_found = false;
    for (const struct dirent *entry; dir && !is_found && (entry = readdir(dir));) {
        char target[64];
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        is_found = strcmp(target, wanted) == 0;
    }
    if (dir)
        closedir(dir);
    return is_found;
}

static void read_name(const char *pid, char *to, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%.20s/comm", pid);
    FILE *file = fopen(path, "re");
    to[0] = '\0';
    if (file && fgets(to, (int)size, file))
        to[strcspn(to, "\n")] = '\0';
    if (file)
        fclose(file);
}

static int64_t number_of(const char *digits)
{
    int64_t number = 0;
    for (; isdigit((unsigned char)*digits) && number < INT32_MAX; digits++)
        number = number * 10 + (*digits - '0');
    return number;
}

bool pl_port_find_holder(uint16_t port, struct pl_port_holder *ret_holder)
{
    unsigned long long inode = 0;
    if (!find_inode("/proc/net/tcp", port, &inode) && !find_inode("/proc/net/tcp6", port, &inode))
        return false;
    DIR *dir = opendir("/proc");
    bool is_found = false;
    for (const struct dirent *entry; dir && !is_found && (entry = readdir(dir));) {
        is_found = isdigit((unsigned char)entry->d_name[0]) && holds_inode(entry->d_name, inode);
        if (!is_found)
            continue;
        ret_holder->pid = number_of(entry->d_name);
        read_name(entry->d_name, ret_holder->name, sizeof ret_holder->name);
    }
    if (dir)
        closedir(dir);
    return is_found;
}

/* --- what is installed ----------------------------------------------------------------------- */

bool pl_program_is_there(const char *name)
{
    const char *at = getenv("PATH");
    while (at && *at) {
        char path[PATH_MAX];
        size_t n = strcspn(at, ":");
        int n_path = snprintf(path, sizeof path, "%.*s/%s", (int)n, at, name);
        if (n_path > 0 && (size_t)n_path < sizeof path && access(path, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

bool pl_library_is_there(const char *soname)
{
    void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);
    if (library)
        dlclose(library);
    return library != NULL;
}
