/* Finds the file that an output path leads to. Symbolic links are followed here, not by the kernel:
 * a rename needs the last name, and a link of /proc/self/fd leads to no name at all. */
#include "io/file/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40, MAX_DESCRIPTOR = 1 << 20 };

/* Splits off the last name; `dir` becomes the real path of the rest. */
static enum pl_status split(const char *path, char dir[PATH_MAX], char name[NAME_MAX + 1],
                            struct pl_error *err)
{
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (!*path)
        return pl_fail(err, PL_IO, "the file name is empty; give a name, or - for standard output");
    if (!*last || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return pl_fail(err, PL_IO, "this is a directory; name a file in it");
    if (n >= sizeof above || strlen(last) > NAME_MAX)
        return pl_fail(err, PL_IO, "the name is too long");
    snprintf(above, sizeof above, "%.*s", (int)n, path);
    snprintf(name, NAME_MAX + 1, "%s", last);
    if (realpath(!slash ? "." : n ? above : "/", dir))
        return PL_OK;
    if (errno == ENOENT || errno == ENOTDIR)
        return pl_fail(err, PL_IO, "there is no directory %s; create it first", above);
    return pl_fail(err, PL_IO, "the directory %s cannot be reached: %s", above, strerror(errno));
}

/* Recognised by name, whatever file is there: if a program has replaced the link, we must not
 * follow it into that file. -1: not a standard stream. */
static int standard_of(const char *path)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    if (strcmp(path, "-") == 0)
        return STDOUT_FILENO;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(path, names[i]) == 0)
            return i;
    return -1;
}

/* The number of our own descriptor that this name in /proc stands for; -1: not a descriptor. */
static int descriptor_of(const char *dir, const char *name)
{
    char own[64];
    int number = 0;
    snprintf(own, sizeof own, "/proc/%d/fd", (int)getpid());
    if (strcmp(dir, own) != 0 && strcmp(dir, "/dev/fd") != 0)
        return -1;
    for (const char *at = name; *at; at++) {
        if (*at < '0' || *at > '9' || number > MAX_DESCRIPTOR)
            return -1;
        number = number * 10 + (*at - '0');
    }
    return number;
}

static enum pl_status find_descriptor(int fd, struct pl_outfile_place *ret_place,
                                      struct pl_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return pl_fail(err, PL_IO, "descriptor %d is not open", fd);
    *ret_place = (struct pl_outfile_place){
        .kind = PL_OUTFILE_DESCRIPTOR, .fd = fd, .dev = st.st_dev, .ino = st.st_ino};
    return PL_OK;
}

/* For a path whose last name is not a symbolic link. */
static enum pl_status find_here(const char *dir, struct pl_outfile_place *ret_place,
                                struct pl_error *err)
{
    struct stat st;
    ret_place->fd = -1;
    if (lstat(ret_place->path, &st) != 0) {
        if (errno != ENOENT || stat(dir, &st) != 0)
            return pl_fail(err, PL_IO, "the file cannot be written: %s", strerror(errno));
        ret_place->kind = PL_OUTFILE_NEW;
    } else if (S_ISDIR(st.st_mode)) {
        return pl_fail(err, PL_IO, "this is a directory; name a file in it");
    } else if (S_ISSOCK(st.st_mode)) {
        return pl_fail(err, PL_IO, "this is a socket, which cannot be written like a file");
    } else {
        ret_place->kind = S_ISREG(st.st_mode) ? PL_OUTFILE_FILE : PL_OUTFILE_DEVICE;
    }
    ret_place->dev = st.st_dev;
    ret_place->ino = st.st_ino;
    return PL_OK;
}

/* Resolves the target of a link relative to the link's directory. */
static enum pl_status follow(const char *dir, const char *target, size_t n, char ret_path[PATH_MAX],
                             struct pl_error *err)
{
    int made = target[0] == '/' ? snprintf(ret_path, PATH_MAX, "%.*s", (int)n, target)
                                : snprintf(ret_path, PATH_MAX, "%s/%.*s", dir, (int)n, target);
    return made < PATH_MAX ? PL_OK : pl_fail(err, PL_IO, "the name is too long");
}

enum pl_status pl_outfile_find(const char *path, struct pl_outfile_place *ret_place,
                               struct pl_error *err)
{
    char at[PATH_MAX], dir[PATH_MAX], name[NAME_MAX + 1], target[PATH_MAX];
    struct pl_outfile_place place = {0};
    int standard = standard_of(path);
    if (standard >= 0)
        return find_descriptor(standard, ret_place, err);
    if (strlen(path) >= sizeof at)
        return pl_fail(err, PL_IO, "the name is too long");
    snprintf(at, sizeof at, "%s", path);
    for (int i = 0; i < MAX_LINKS; i++) {
        enum pl_status status = split(at, dir, name, err);
        if (status != PL_OK)
            return status;
        int fd = descriptor_of(dir, name);
        if (fd >= 0)
            return find_descriptor(fd, ret_place, err);
        int n = snprintf(place.path, sizeof place.path, "%s/%s", dir[1] ? dir : "", name);
        if (n >= (int)sizeof place.path)
            return pl_fail(err, PL_IO, "the name is too long");
        ssize_t n_target = readlink(place.path, target, sizeof target);
        if (n_target < 0) {
            status = find_here(dir, &place, err);
            if (status == PL_OK)
                *ret_place = place;
            return status;
        }
        status = follow(dir, target, (size_t)n_target, at, err);
        if (status != PL_OK)
            return status;
    }
    return pl_fail(err, PL_IO, "it leads through more than %d symbolic links", MAX_LINKS);
}

/* --- comparing ------------------------------------------------------------------------------- */

static bool is_character_device(const struct pl_outfile_place *place)
{
    struct stat st;
    int failure =
        place->kind == PL_OUTFILE_DESCRIPTOR ? fstat(place->fd, &st) : lstat(place->path, &st);
    return failure == 0 && S_ISCHR(st.st_mode);
}

bool pl_outfile_is_same(const struct pl_outfile_place *a, const struct pl_outfile_place *b)
{
    /* Two descriptors of one file share its position, so their output is appended, not
     * overwritten. */
    if (a->kind == PL_OUTFILE_DESCRIPTOR && b->kind == PL_OUTFILE_DESCRIPTOR)
        return a->fd == b->fd;
    if ((a->kind == PL_OUTFILE_NEW) != (b->kind == PL_OUTFILE_NEW))
        return false;
    if (a->kind == PL_OUTFILE_NEW)
        return strcmp(a->path, b->path) == 0;
    return a->dev == b->dev && a->ino == b->ino && !is_character_device(a);
}

/* Whether a file directly in the directory has this inode. */
static bool has_file(const char *dir, dev_t dev, ino_t ino)
{
    DIR *list = opendir(dir);
    bool is_found = false;
    for (const struct dirent *entry; list && !is_found && (entry = readdir(list));) {
        struct stat st;
        is_found = fstatat(dirfd(list), entry->d_name, &st, 0) == 0 && !S_ISDIR(st.st_mode) &&
                   st.st_dev == dev && st.st_ino == ino;
    }
    if (list)
        closedir(list);
    return is_found;
}

bool pl_outfile_is_inside(const struct pl_outfile_place *place, const char *dir)
{
    struct stat wanted, st;
    char above[PATH_MAX];
    if (stat(dir, &wanted) != 0)
        return false;
    if (place->kind != PL_OUTFILE_NEW && has_file(dir, place->dev, place->ino))
        return true;
    snprintf(above, sizeof above, "%s", place->path);
    for (char *slash; (slash = strrchr(above, '/'));) {
        *slash = '\0';
        if (stat(slash == above ? "/" : above, &st) == 0 && st.st_dev == wanted.st_dev &&
            st.st_ino == wanted.st_ino)
            return true;
    }
    return false;
}

enum pl_status pl_outfile_check_all(const struct pl_outfile_name *names, size_t n,
                                    struct pl_error *err)
{
    struct pl_outfile_place a, b;
    for (size_t i = 0; i < n; i++) {
        if (!names[i].path || pl_outfile_find(names[i].path, &a, NULL) != PL_OK)
            continue;
        for (size_t k = i + 1; k < n; k++)
            if (names[k].path && pl_outfile_find(names[k].path, &b, NULL) == PL_OK &&
                pl_outfile_is_same(&a, &b))
                return pl_fail(
                    err, PL_USAGE, "%s and %s would both be written to %s; give each its own file",
                    names[i].option, names[k].option,
                    a.kind == PL_OUTFILE_DESCRIPTOR && a.fd == STDOUT_FILENO ? "standard output"
                                                                             : names[k].path);
    }
    return PL_OK;
}
