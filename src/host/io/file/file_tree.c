/* Directories wait in a list, not on the stack, because their depth has no limit. */
#include "io/file/file_tree.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct walk {
    struct pl_file_tree *tree;
    struct pl_arena *arena;
    pl_file_tree_wants_fn *wants;
    size_t n_root; /* length of the listed directory's name, with its slash */
    PL_VEC(const char *) waiting;
};

static bool add_file(struct walk *walk, const char *path)
{
    size_t len = strlen(path);
    struct pl_file_tree_entry file = {path, path + (walk->n_root < len ? walk->n_root : len)};
    return pl_vec_push(&walk->tree->files, file);
}

/* dir/name, in the arena. */
static const char *join(struct pl_arena *arena, const char *dir, const char *name)
{
    size_t n_dir = strlen(dir), n_name = strlen(name);
    bool needs_slash = n_dir > 0 && dir[n_dir - 1] != '/';
    char *path = pl_arena_alloc(arena, n_dir + needs_slash + n_name + 1, 1);
    if (!path)
        return NULL;
    memcpy(path, dir, n_dir + 1);
    if (needs_slash)
        path[n_dir] = '/';
    memcpy(path + n_dir + needs_slash, name, n_name + 1);
    return path;
}

static bool add_entry(struct walk *walk, const char *dir, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return true;
    const char *path = join(walk->arena, dir, name);
    struct stat st;
    if (!path)
        return false;
    if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return pl_vec_push(&walk->waiting, path);
    if (!walk->wants(pl_str_of(name)) || pl_path_is_directory(path))
        return true;
    return add_file(walk, path);
}

static bool read_directory(struct walk *walk, const char *dir)
{
    DIR *stream = opendir(dir);
    if (!stream)
        return add_file(walk, dir);
    bool is_ok = true;
    for (struct dirent *entry; is_ok && (entry = readdir(stream));)
        is_ok = add_entry(walk, dir, entry->d_name);
    closedir(stream);
    return is_ok;
}

static int compare(const void *a, const void *b)
{
    const struct pl_file_tree_entry *left = a, *right = b;
    return strcmp(left->name, right->name);
}

enum pl_status pl_file_tree_list(struct pl_file_tree *tree, struct pl_arena *arena, const char *dir,
                                 pl_file_tree_wants_fn *wants, struct pl_error *err)
{
    struct walk walk = {.tree = tree, .arena = arena, .wants = wants};
    size_t first = tree->files.len;
    const char *root = join(arena, dir, "");
    bool is_ok = root && pl_vec_push(&walk.waiting, root);
    walk.n_root = root ? strlen(root) : 0;
    while (is_ok && walk.waiting.len > 0)
        is_ok = read_directory(&walk, walk.waiting.ptr[--walk.waiting.len]);
    pl_vec_deinit(&walk.waiting);
    if (!is_ok)
        return pl_fail(err, PL_NOMEM, "out of memory while listing the directory");
    if (tree->files.len > first)
        qsort(tree->files.ptr + first, tree->files.len - first, sizeof *tree->files.ptr, compare);
    return PL_OK;
}

void pl_file_tree_deinit(struct pl_file_tree *tree)
{
    pl_vec_deinit(&tree->files);
}

bool pl_path_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

bool pl_path_is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool pl_path_is_same(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

enum pl_status pl_path_make_parents(const char *path, struct pl_error *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);
    if (len >= sizeof part)
        return pl_fail(err, PL_IO, "its name is too long");
    for (size_t i = 0; i < len; i++) {
        part[i] = path[i];
        part[i + 1] = '\0';
        if (i == 0 || path[i] != '/')
            continue;
        part[i] = '\0';
        if (mkdir(part, 0777) < 0 && !pl_path_is_directory(part))
            return pl_fail(err, PL_IO, "the directory %s cannot be created: %s", part,
                           strerror(errno));
        part[i] = '/';
    }
    return PL_OK;
}
