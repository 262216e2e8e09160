/* Protected paths in a directory that a program may write to. Existing ones are mounted read-only
 * (prepare.c). The program can create new ones; these are found afterwards and removed, before
 * anything in the server reads them, as far as that can be promised.
 *
 * A hard link is another name of the same file. If an existing file has names that were not found
 * here, it is mounted read-only as well: its other names are unknown. */
#include "ext/cell/cell.h"

#include "ext/cell/guard_int.h"
#include "extproto/path_scope.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_ENTRIES 1000000

int pl_cell_open_beneath(int dir_fd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof how);
}

/* --- the walk ---------------------------------------------------------------------------------- */

/* One name of a file with several names. */
struct linked {
    struct pl_cell_guarded name;
    nlink_t n_names;
};

struct walk {
    struct pl_arena *arena;            /* borrowed */
    int root;                          /* borrowed */
    PL_VEC(const char *) dirs;         /* directories to visit; arena */
    struct pl_cell_guarded_list *list; /* borrowed */
    bool is_everything;                /* not only protected paths */
    bool finds_linked;
    PL_VEC(struct linked) linked; /* files with several names */
    size_t n_entries;
};

static const char *join(struct walk *walk, const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = pl_arena_alloc(walk->arena, size, 1);
    if (path)
        snprintf(path, size, "%s%s%s", strcmp(dir, ".") == 0 ? "" : dir,
                 strcmp(dir, ".") == 0 ? "" : "/", name);
    return path;
}

static bool add_found(struct walk *walk, const char *path, const struct stat *info)
{
    return pl_vec_push(&walk->list->items,
                       (struct pl_cell_guarded){path, info->st_dev, info->st_ino, info->st_mode});
}

static bool add_linked(struct walk *walk, const char *path, const struct stat *info)
{
    struct linked linked = {{path, info->st_dev, info->st_ino, info->st_mode, .is_linked = true},
                            info->st_nlink};
    return pl_vec_push(&walk->linked, linked);
}

static int compare_files(const void *a, const void *b)
{
    const struct pl_cell_guarded *x = &((const struct linked *)a)->name;
    const struct pl_cell_guarded *y = &((const struct linked *)b)->name;
    if (x->dev != y->dev)
        return x->dev < y->dev ? -1 : 1;
    return x->ino < y->ino ? -1 : x->ino > y->ino;
}

/* Adds the files for which not every name was found. */
static enum pl_status take_linked(struct walk *walk)
{
    struct linked *all = walk->linked.ptr;
    size_t n = walk->linked.len;
    if (n > 1)
        qsort(all, n, sizeof *all, compare_files);
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && compare_files(&all[from], &all[to]) == 0;)
            to++;
        for (size_t i = from; i < to && to - from < all[from].n_names; i++)
            if (!pl_vec_push(&walk->list->items, all[i].name))
                return PL_NOMEM;
    }
    return PL_OK;
}

static enum pl_status look_at(struct walk *walk, int fd, const char *dir, const char *name)
{
    struct stat info;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        fstatat(fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return PL_OK;
    if (++walk->n_entries > MAX_ENTRIES)
        return PL_LIMIT;
    const char *path = join(walk, dir, name);
    if (!path)
        return PL_NOMEM;
    bool is_found = walk->is_everything || pl_ext_path_is_protected(pl_str_of(path));
    if (is_found && !add_found(walk, path, &info))
        return PL_NOMEM;
    bool is_linked = walk->finds_linked && !is_found && S_ISREG(info.st_mode) && info.st_nlink > 1;
    if (is_linked && !add_linked(walk, path, &info))
        return PL_NOMEM;
    if (S_ISDIR(info.st_mode) && (walk->is_everything || !is_found))
        return pl_vec_push(&walk->dirs, path) ? PL_OK : PL_NOMEM;
    return PL_OK;
}

static enum pl_status look_into(struct walk *walk, const char *path)
{
    int fd = pl_cell_open_beneath(walk->root, path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) { /* it is gone, or is not accessible, and so not for the program either */
        if (fd >= 0)
            close(fd);
        return PL_OK;
    }
    enum pl_status status = PL_OK;
    for (struct dirent *entry; status == PL_OK && (entry = readdir(dir));)
        status = look_at(walk, fd, path, entry->d_name);
    closedir(dir);
    return status;
}

static enum pl_status walk_from(struct walk *walk, const char *path, struct pl_error *err)
{
    enum pl_status status = pl_vec_push(&walk->dirs, path) ? PL_OK : PL_NOMEM;
    while (status == PL_OK && walk->dirs.len)
        status = look_into(walk, walk->dirs.ptr[--walk->dirs.len]);
    if (status == PL_OK)
        status = take_linked(walk);
    pl_vec_deinit(&walk->dirs);
    pl_vec_deinit(&walk->linked);
    if (status == PL_LIMIT)
        return pl_fail(
            err, PL_LIMIT,
            "the directory has more than %d files, too many to look for protected paths; "
            "make a smaller one writable",
            MAX_ENTRIES);
    return status == PL_OK ? PL_OK : pl_fail(err, status, "out of memory");
}

enum pl_status pl_cell_guarded_find(struct pl_arena *arena, int dir_fd, bool finds_linked,
                                    struct pl_cell_guarded_list *list, struct pl_error *err)
{
    struct walk walk = {.arena = arena, .root = dir_fd, .list = list, .finds_linked = finds_linked};
    return walk_from(&walk, ".", err);
}

/* --- before and after -------------------------------------------------------------------------- */

struct pl_cell_guard {
    int root;
    struct pl_arena arena;
    struct pl_cell_guarded_list before;
};

static void destroy(struct pl_cell_guard *guard)
{
    pl_vec_deinit(&guard->before.items);
    pl_arena_deinit(&guard->arena);
    close(guard->root);
    pl_mem_free(guard);
}

enum pl_status pl_cell_guard_begin(int dir_fd, struct pl_cell_guard **ret_guard,
                                   struct pl_error *err)
{
    struct pl_cell_guard *guard = pl_mem_alloc(1, sizeof *guard);
    if (!guard)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *guard = (struct pl_cell_guard){.root = fcntl(dir_fd, F_DUPFD_CLOEXEC, 3)};
    pl_arena_init(&guard->arena, 0);
    if (guard->root < 0) {
        pl_mem_free(guard);
        return pl_fail(err, PL_IO, "no descriptor for the directory: %s", strerror(errno));
    }
    enum pl_status status =
        pl_cell_guarded_find(&guard->arena, guard->root, false, &guard->before, err);
    if (status == PL_OK)
        *ret_guard = guard;
    else
        destroy(guard);
    return status;
}

/* Opens the directory of a path; *ret_name is its last part. */
static int open_parent(int root, const char *path, const char **ret_name)
{
    char dir[4096];
    const char *slash = strrchr(path, '/');
    *ret_name = slash ? slash + 1 : path;
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    return pl_cell_open_beneath(root, dir, O_PATH | O_DIRECTORY);
}

static void remove_one(int root, const char *path, bool is_directory)
{
    const char *name;
    int parent = open_parent(root, path, &name);
    if (parent < 0)
        return;
    unlinkat(parent, name, is_directory ? AT_REMOVEDIR : 0);
    close(parent);
}

/* Removes its contents first: the walk finds a directory before its contents. */
static enum pl_status remove_tree(struct pl_cell_guard *guard, const struct pl_cell_guarded *top,
                                  struct pl_error *err)
{
    struct pl_cell_guarded_list list = {0};
    struct walk walk = {
        .arena = &guard->arena, .root = guard->root, .list = &list, .is_everything = true};
    enum pl_status status = S_ISDIR(top->mode) ? walk_from(&walk, top->path, err) : PL_OK;
    for (size_t i = list.items.len; i-- > 0;)
        remove_one(guard->root, list.items.ptr[i].path, S_ISDIR(list.items.ptr[i].mode));
    remove_one(guard->root, top->path, S_ISDIR(top->mode));
    pl_vec_deinit(&list.items);
    return status;
}

static bool was_there(const struct pl_cell_guard *guard, const struct pl_cell_guarded *now)
{
    for (size_t i = 0; i < guard->before.items.len; i++) {
        const struct pl_cell_guarded *then = &guard->before.items.ptr[i];
        if (then->dev == now->dev && then->ino == now->ino && strcmp(then->path, now->path) == 0)
            return true;
    }
    return false;
}

enum pl_status pl_cell_guard_end(struct pl_cell_guard *guard, struct pl_buf *removed,
                                 struct pl_error *err)
{
    struct pl_cell_guarded_list now = {0};
    enum pl_status walked = pl_cell_guarded_find(&guard->arena, guard->root, false, &now, err);
    /* Removes what was found even if the directory has too many files. */
    enum pl_status status = walked == PL_LIMIT ? PL_OK : walked;
    for (size_t i = 0; i < now.items.len && status == PL_OK; i++) {
        if (was_there(guard, &now.items.ptr[i]))
            continue;
        status = remove_tree(guard, &now.items.ptr[i], err);
        pl_buf_addf(removed, "%s\n", now.items.ptr[i].path);
    }
    pl_vec_deinit(&now.items);
    destroy(guard);
    if (status == PL_OK && walked != PL_OK)
        return walked;
    return status == PL_OK && removed->status != PL_OK ? pl_fail(err, PL_NOMEM, "out of memory")
                                                       : status;
}
