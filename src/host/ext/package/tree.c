/* Trees of files: their allowed contents, reading them from a directory, their hash. */
#include "ext/package/tree.h"

#include "base/sha/sha256.h"
#include "base/sort.h"
#include "extproto/path_scope.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static enum pl_status too_many(struct pl_error *err)
{
    return pl_fail(err, PL_LIMIT,
                   "the package has more than 20,000 files or 64 MiB; leave out what it does not "
                   "need to run");
}

enum pl_status pl_ext_tree_add(struct pl_arena *arena, struct pl_ext_tree *tree,
                               const struct pl_ext_file *file, struct pl_error *err)
{
    struct pl_str clean;
    enum pl_status status = pl_ext_path_clean(arena, file->path, &clean);
    if (status == PL_NOMEM)
        return pl_fail(err, status, "out of memory");
    if (status != PL_OK || !clean.len || !pl_str_eq(clean, file->path) ||
        file->path.len > PL_EXT_TREE_PATH_MAX || memchr(file->path.ptr, '\n', file->path.len))
        return pl_fail(err, PL_INVALID,
                       "\"%.*s\" is no path of a file in a package: relative, without \"..\" and "
                       "\".\", at most 400 bytes",
                       PL_STR_ARG(pl_str_slice(file->path, 0, 200)));
    if (tree->n >= PL_EXT_TREE_FILES_MAX || file->bytes.len > PL_EXT_TREE_BYTES_MAX - tree->n_bytes)
        return too_many(err);
    if (tree->n == tree->cap) {
        size_t cap = tree->cap ? 2 * tree->cap : 64;
        struct pl_ext_file *files =
            pl_arena_grow(arena, tree->files, tree->n * sizeof *files, cap * sizeof *files);
        if (!files)
            return pl_fail(err, PL_NOMEM, "out of memory");
        tree->files = files;
        tree->cap = cap;
    }
    tree->files[tree->n] = *file;
    tree->files[tree->n++].path = clean;
    tree->n_bytes += file->bytes.len;
    return PL_OK;
}

/* --- from a directory ------------------------------------------------------------------------- */

/* A directory to be read, by its path from the root. */
struct waiting {
    struct waiting *next;
    struct pl_str path; /* arena; NUL-terminated; empty: the root */
};

struct loading {
    struct pl_arena *arena; /* borrowed */
    int root;               /* owned by pl_ext_tree_load */
    struct waiting *first;
    struct pl_ext_tree tree;
    struct pl_error *err; /* borrowed; may be NULL */
};

static enum pl_status fail_on(struct loading *l, struct pl_str path, const char *what)
{
    enum pl_status status = errno == ENOMEM ? PL_NOMEM : PL_IO;
    return pl_fail(l->err, status, "\"%.*s\" cannot be %s: %s",
                   PL_STR_ARG(pl_str_slice(path, 0, 200)), what, strerror(errno));
}

static struct pl_str join(struct loading *l, struct pl_str dir, const char *name)
{
    size_t n_name = strlen(name), n = dir.len + (dir.len > 0) + n_name;
    char *path = pl_arena_alloc(l->arena, n + 1, 1);
    if (!path)
        return (struct pl_str){0};
    if (dir.len)
        memcpy(path, dir.ptr, dir.len);
    if (dir.len)
        path[dir.len] = '/';
    memcpy(path + n - n_name, name, n_name + 1);
    return (struct pl_str){path, n};
}

/* Reads an open file up to its reported size. A file that grows meanwhile is cut, and has
 * another hash the next time. */
static enum pl_status read_bytes(struct loading *l, int fd, struct pl_str path, size_t n,
                                 struct pl_str *ret_bytes)
{
    if (n > PL_EXT_TREE_BYTES_MAX - l->tree.n_bytes)
        return too_many(l->err);
    char *bytes = pl_arena_alloc(l->arena, n + 1, 1);
    if (!bytes)
        return pl_fail(l->err, PL_NOMEM, "out of memory");
    size_t at = 0;
    while (at < n) {
        ssize_t got = read(fd, bytes + at, n - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_on(l, path, "read");
        if (got == 0)
            break;
        at += (size_t)got;
    }
    *ret_bytes = (struct pl_str){bytes, at};
    return PL_OK;
}

static enum pl_status add_file(struct loading *l, struct pl_str path)
{
    int fd = openat(l->root, path.ptr, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    struct pl_ext_file file = {.path = path};
    if (fd < 0)
        return fail_on(l, path, "opened");
    enum pl_status status = PL_OK;
    if (fstat(fd, &info) != 0)
        status = fail_on(l, path, "read");
    else if (!S_ISREG(info.st_mode))
        status = pl_fail(l->err, PL_INVALID, "\"%.*s\" is no regular file", PL_STR_ARG(path));
    else
        status = read_bytes(l, fd, path, (size_t)info.st_size, &file.bytes);
    close(fd);
    if (status != PL_OK)
        return status;
    file.is_executable = info.st_mode & S_IXUSR;
    return pl_ext_tree_add(l->arena, &l->tree, &file, l->err);
}

static enum pl_status add_directory(struct loading *l, struct pl_str path)
{
    struct waiting *waiting = pl_arena_alloc(l->arena, 1, sizeof *waiting);
    if (!waiting)
        return pl_fail(l->err, PL_NOMEM, "out of memory");
    *waiting = (struct waiting){l->first, path};
    l->first = waiting;
    return PL_OK;
}

static enum pl_status add_entry(struct loading *l, struct pl_str dir, const char *name)
{
    struct stat info;
    struct pl_str path = join(l, dir, name);
    if (!path.ptr)
        return pl_fail(l->err, PL_NOMEM, "out of memory");
    if (path.len > PL_EXT_TREE_PATH_MAX)
        return pl_fail(l->err, PL_LIMIT, "\"%.*s…\": a path has at most 400 bytes",
                       PL_STR_ARG(pl_str_slice(path, 0, 100)));
    if (fstatat(l->root, path.ptr, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return fail_on(l, path, "read");
    if (S_ISDIR(info.st_mode))
        return add_directory(l, path);
    if (S_ISREG(info.st_mode))
        return add_file(l, path);
    return pl_fail(l->err, PL_INVALID,
                   "\"%.*s\" is %s; a package has only regular files and directories",
                   PL_STR_ARG(pl_str_slice(path, 0, 200)),
                   S_ISLNK(info.st_mode) ? "a symbolic link" : "a device, a FIFO or a socket");
}

static enum pl_status read_directory(struct loading *l, struct pl_str dir)
{
    int fd =
        openat(l->root, dir.len ? dir.ptr : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        enum pl_status status = fail_on(l, dir, "opened");
        if (fd >= 0)
            close(fd);
        return status;
    }
    enum pl_status status = PL_OK;
    for (struct dirent *entry; status == PL_OK && (entry = readdir(stream));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = add_entry(l, dir, entry->d_name);
    closedir(stream);
    return status;
}

enum pl_status pl_ext_tree_load(struct pl_arena *arena, const char *dir,
                                struct pl_ext_tree *ret_tree, struct pl_error *err)
{
    struct loading l = {.arena = arena, .err = err};
    l.root = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (l.root < 0)
        return pl_fail(err, errno == ENOENT || errno == ENOTDIR ? PL_NOT_FOUND : PL_IO,
                       "\"%.200s\" is no directory that can be read: %s", dir, strerror(errno));
    enum pl_status status = add_directory(&l, PL_STR(""));
    while (status == PL_OK && l.first) {
        struct pl_str path = l.first->path;
        l.first = l.first->next;
        status = read_directory(&l, path);
    }
    close(l.root);
    if (status == PL_OK)
        *ret_tree = l.tree;
    return status;
}

/* --- the hash --------------------------------------------------------------------------------- */

static int by_path(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    return pl_str_cmp(((const struct pl_ext_file *)a)->path, ((const struct pl_ext_file *)b)->path);
}

static enum pl_status sort_files(struct pl_arena *arena, struct pl_ext_tree *tree)
{
    const void **order = pl_arena_alloc(arena, 2 * tree->n + 1, sizeof *order);
    struct pl_ext_file *sorted = pl_arena_alloc(arena, tree->n + 1, sizeof *sorted);
    if (!order || !sorted)
        return PL_NOMEM;
    for (size_t i = 0; i < tree->n; i++)
        order[i] = &tree->files[i];
    pl_sort(order, order + tree->n, tree->n, by_path, NULL);
    for (size_t i = 0; i < tree->n; i++)
        sorted[i] = *(const struct pl_ext_file *)order[i];
    tree->files = sorted;
    tree->cap = tree->n;
    return PL_OK;
}

/* Whether no path is duplicate or a directory of another. */
static bool is_clear(const struct pl_ext_tree *tree)
{
    for (size_t i = 1; i < tree->n; i++)
        if (pl_str_eq(tree->files[i - 1].path, tree->files[i].path))
            return false;
    for (size_t i = 0; i < tree->n; i++) {
        struct pl_str path = tree->files[i].path;
        for (size_t k = 0; k < path.len; k++)
            if (path.ptr[k] == '/' && pl_ext_tree_find(tree, pl_str_slice(path, 0, k)))
                return false;
    }
    return true;
}

enum pl_status pl_ext_tree_hash(struct pl_arena *arena, struct pl_ext_tree *tree,
                                char ret_hash[PL_EXT_HASH_SIZE])
{
    enum pl_status status = sort_files(arena, tree);
    if (status != PL_OK)
        return status;
    if (!is_clear(tree))
        return PL_INVALID;
    struct pl_sha256_run run;
    unsigned char digest[PL_SHA256_BYTES];
    pl_sha256_begin(&run);
    for (size_t i = 0; i < tree->n; i++) {
        char hex[PL_SHA256_HEX + 1];
        const struct pl_ext_file *file = &tree->files[i];
        pl_sha256_hex(file->bytes, hex);
        pl_sha256_add(&run, file->is_executable ? PL_STR("x ") : PL_STR("- "));
        pl_sha256_add(&run, (struct pl_str){hex, PL_SHA256_HEX});
        pl_sha256_add(&run, PL_STR(" "));
        pl_sha256_add(&run, file->path);
        pl_sha256_add(&run, PL_STR("\n"));
    }
    pl_sha256_end(&run, digest);
    pl_sha256_spell(digest, ret_hash);
    return PL_OK;
}

const struct pl_ext_file *pl_ext_tree_find(const struct pl_ext_tree *tree, struct pl_str path)
{
    size_t low = 0, high = tree->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = pl_str_cmp(tree->files[middle].path, path);
        if (order == 0)
            return &tree->files[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
