/* Copies of packages in DATA/extensions: written under another name, renamed when complete,
 * removed. */
#include "ext/package/tree.h"

#include "base/buf.h"
#include "io/file/file_tree.h"
#include "io/file/outfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_DIRS_MAX = 16 };

static enum pl_status fail_io(struct pl_error *err, const char *what, const char *path)
{
    enum pl_status status = errno == ENOSPC || errno == EDQUOT ? PL_LIMIT : PL_IO;
    return pl_fail(err, status, "%s \"%.200s\": %s", what, path, strerror(errno));
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    (void)remove(path); /* what stays is removed the next time */
    return 0;
}

static void remove_tree(const char *path)
{
    (void)nftw(path, remove_one, OPEN_DIRS_MAX, FTW_DEPTH | FTW_PHYS);
}

/* Writes one file below `path`, which ends with a slash; `path` is restored. */
static enum pl_status write_file(struct pl_buf *path, const struct pl_ext_file *file,
                                 struct pl_error *err)
{
    static const struct pl_outfile_rules rules = {
        .is_new = true, .is_durable = true, .is_file = true};
    PL_CLEANUP_OUTFILE struct pl_outfile out = {0};
    size_t n_root = path->len;
    pl_buf_add(path, file->path);
    pl_buf_addc(path, '\0');
    enum pl_status status =
        path->status == PL_OK ? PL_OK : pl_fail(err, path->status, "out of memory");
    if (status == PL_OK)
        status = pl_path_make_parents(path->ptr, err);
    if (status == PL_OK)
        status = pl_outfile_open(&out, path->ptr, &rules, err);
    if (status == PL_OK)
        status = pl_outfile_write(&out, file->bytes, err);
    if (status == PL_OK)
        status = pl_outfile_commit(&out, err);
    if (status == PL_OK && chmod(path->ptr, file->is_executable ? 0555 : 0444) != 0)
        status = fail_io(err, "cannot make read-only", path->ptr);
    path->len = n_root;
    return status;
}

static enum pl_status write_files(const char *dir, const struct pl_ext_tree *tree,
                                  struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/", dir);
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < tree->n && status == PL_OK; i++)
        status = write_file(&path, &tree->files[i], err);
    return status;
}

static enum pl_status sync_directory(const char *path, struct pl_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0) {
        enum pl_status status = fail_io(err, "cannot write", path);
        if (fd >= 0)
            close(fd);
        return status;
    }
    close(fd);
    return PL_OK;
}

/* DATA/extensions/ID, NUL-terminated. */
static enum pl_status spell_home(struct pl_buf *to, const char *data_dir, struct pl_str id)
{
    pl_buf_addf(to, "%s/extensions/%.*s", data_dir, PL_STR_ARG(id));
    pl_buf_addc(to, '\0');
    return to->status;
}

static enum pl_status put_in_place(const char *part, const char *final, const char *home,
                                   struct pl_error *err)
{
    if (rename(part, final) == 0)
        return sync_directory(home, err);
    /* Another writer was first, with the same bytes. */
    if (errno == EEXIST || errno == ENOTEMPTY)
        return PL_OK;
    return fail_io(err, "cannot write", final);
}

enum pl_status pl_ext_tree_store(const char *data_dir, struct pl_str id,
                                 const struct pl_ext_tree *tree, const char *hash,
                                 struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf home, final, part;
    pl_buf_init(&home, 0);
    pl_buf_init(&final, 0);
    pl_buf_init(&part, 0);
    if (spell_home(&home, data_dir, id) != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    pl_buf_addf(&final, "%s/%s", home.ptr, hash);
    pl_buf_addc(&final, '\0');
    pl_buf_addf(&part, "%s/.part-XXXXXX", home.ptr);
    pl_buf_addc(&part, '\0');
    if (final.status != PL_OK || part.status != PL_OK)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (pl_path_is_directory(final.ptr))
        return PL_OK;
    enum pl_status status = pl_path_make_parents(part.ptr, err);
    if (status == PL_OK && !mkdtemp(part.ptr))
        return fail_io(err, "cannot write", home.ptr);
    if (status != PL_OK)
        return status;
    status = write_files(part.ptr, tree, err);
    if (status == PL_OK && chmod(part.ptr, 0755) != 0)
        status = fail_io(err, "cannot open to readers", part.ptr);
    if (status == PL_OK)
        status = put_in_place(part.ptr, final.ptr, home.ptr, err);
    remove_tree(part.ptr);
    return status;
}

void pl_ext_tree_sweep(const char *data_dir, struct pl_str id, const char *keep_hash)
{
    PL_CLEANUP_BUF struct pl_buf home, path;
    pl_buf_init(&home, 0);
    pl_buf_init(&path, 0);
    if (spell_home(&home, data_dir, id) != PL_OK)
        return;
    if (!keep_hash) {
        remove_tree(home.ptr);
        return;
    }
    DIR *stream = opendir(home.ptr);
    if (!stream)
        return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, keep_hash) == 0)
            continue;
        pl_buf_clear(&path);
        pl_buf_addf(&path, "%s/%s", home.ptr, name);
        pl_buf_addc(&path, '\0');
        if (path.status == PL_OK)
            remove_tree(path.ptr);
    }
    closedir(stream);
}
