/* Files for extensions, on a worker. A path is opened below its root without leaving it (openat2
 * BENEATH, no magic links), and the real path of the opened file is matched again: so a link
 * inside the workspace does not lead out of a scope. Protected names are refused in both
 * spellings. */
#include "ext/run/method/method.h"

#include "base/sort.h"
#include "base/text/base64.h"
#include "base/text/utf8.h"
#include "io/file/file_tree.h"
#include "shard/setup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 10000,
    STATE_BYTES = 50 << 20,
    MAX_STATE_FILES = 10000,
};

bool pl_ext_root_find(struct pl_ext_hostcall *call, bool is_state, struct pl_ext_root *ret_root)
{
    const struct pl_server_config *config = &call->exts->shard->setup->config;
    int n = 0;
    *ret_root = (struct pl_ext_root){.is_state = is_state};
    if (is_state)
        n = snprintf(ret_root->path, sizeof ret_root->path, "%s/extension-state/%.*s/%.*s",
                     config->data_dir, PL_STR_ARG(call->extension_id), PL_STR_ARG(call->user_id));
    else if (config->workspace)
        n = snprintf(ret_root->path, sizeof ret_root->path, "%s/%.*s", config->workspace,
                     PL_STR_ARG(call->user_id));
    else
        pl_hostcall_fail(call, "io", NULL,
                         "this server has no workspace (parley serve --workspace DIR)");
    if (n >= (int)sizeof ret_root->path)
        pl_hostcall_fail(call, "io", NULL, "the name of the directory is too long");
    return n > 0 && n < (int)sizeof ret_root->path;
}

int pl_ext_root_open(struct pl_ext_hostcall *call, const struct pl_ext_root *root)
{
    char inside[sizeof root->path + 4];
    int fd = open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    snprintf(inside, sizeof inside, "%s/x", root->path);
    if (pl_path_make_parents(inside, NULL) == PL_OK) {
        (void)chmod(root->path, 0700);
        fd = open(root->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd < 0)
        pl_hostcall_set_error(call, "io", NULL, "the directory cannot be opened: %s",
                              strerror(errno));
    return fd;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_below(int root_fd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_CLOEXEC | (flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY)),
        .mode = 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    for (int tries = 0;; tries++) {
        long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof how);
        /* A concurrent rename while the path was resolved. */
        if (fd >= 0 || errno != EAGAIN || tries == 8)
            return (int)fd;
    }
}

static void set_open_error(struct pl_ext_hostcall *call, int error)
{
    if (error == EXDEV || error == ELOOP)
        pl_hostcall_set_error(call, "denied", pl_ext_reason_text(PL_EXT_REASON_PATH_ESCAPE),
                              "the path leads out of its root");
    else if (error == ENOENT || error == ENOTDIR)
        pl_hostcall_set_error(call, "invalid_request", "not_found", "there is no such file");
    else if (error == EEXIST)
        pl_hostcall_set_error(call, "invalid_request", "exists", "there is such a file already");
    else if (error == EISDIR)
        pl_hostcall_set_error(call, "invalid_request", NULL, "it is a directory");
    else if (error == ENOTEMPTY)
        pl_hostcall_set_error(call, "invalid_request", NULL, "the directory is not empty");
    else
        pl_hostcall_set_error(call, "io", NULL, "%s", strerror(error));
    if (call->error && strcmp(call->error, "io") == 0)
        call->is_retryable = error == EINTR || error == ENOSPC || error == EMFILE;
}

bool pl_ext_path_allowed(const struct pl_ext_hostcall *call, struct pl_str path)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_ext_wish wish = {
        .capability = call->capability, .method = call->method_name, .path = &path};
    pl_arena_init(&arena, 0);
    return pl_hostcall_judge_scope(call, &arena, &wish) == PL_EXT_REASON_COUNT;
}

/* The real path of an open file, relative to the root. False: outside, or unknown. */
static bool real_path(int root_fd, int fd, char *to, size_t size, struct pl_str *ret_path)
{
    char link[40], root[PATH_MAX], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", root_fd);
    ssize_t n_root = readlink(link, root, sizeof root - 1);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n_root < 1 || n < n_root || memcmp(root, path, (size_t)n_root) != 0 ||
        (n > n_root && path[n_root] != '/'))
        return false;
    size_t skip = (size_t)n_root + (n > n_root);
    size_t n_rest = (size_t)n - skip;
    if (n_rest >= size)
        return false;
    memcpy(to, path + skip, n_rest);
    *ret_path = (struct pl_str){to, n_rest};
    return true;
}

static bool judge_real(struct pl_ext_hostcall *call, const struct pl_ext_root *root,
                       struct pl_str path)
{
    if (root->is_state)
        return true;
    if (call->capability == PL_EXT_CAP_WRITE && pl_ext_path_is_protected(path)) {
        pl_hostcall_set_error(call, "denied", pl_ext_reason_text(PL_EXT_REASON_PROTECTED_PATH),
                              "no extension writes there");
        return false;
    }
    if (pl_ext_path_allowed(call, path))
        return true;
    pl_hostcall_set_error(call, "denied", pl_ext_reason_text(PL_EXT_REASON_SCOPE),
                          "the path is outside of the scope");
    return false;
}

static bool check_opened(struct pl_ext_hostcall *call, const struct pl_ext_root *root, int root_fd,
                         int fd)
{
    char room[PATH_MAX];
    struct pl_str path;
    if (real_path(root_fd, fd, room, sizeof room, &path))
        return judge_real(call, root, path);
    pl_hostcall_set_error(call, "denied", pl_ext_reason_text(PL_EXT_REASON_PATH_ESCAPE),
                          "the path leads out of its root");
    return false;
}

int pl_ext_file_open(struct pl_ext_hostcall *call, const struct pl_ext_root *root, int root_fd,
                     struct pl_str path, int flags)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%.*s", (int)(path.len < PATH_MAX ? path.len : PATH_MAX - 1),
             path.len ? path.ptr : ".");
    int fd = open_below(root_fd, path.len ? name : ".", flags);
    if (fd < 0) {
        set_open_error(call, errno);
        return -1;
    }
    if (check_opened(call, root, root_fd, fd))
        return fd;
    close(fd);
    return -1;
}

/* Creates the directories of a path, one after the other. */
static int make_way(struct pl_ext_hostcall *call, const struct pl_ext_root *root, int root_fd,
                    struct pl_str dir)
{
    char so_far[PATH_MAX];
    for (size_t i = 0; i < dir.len && i < sizeof so_far - 1; i++) {
        bool is_end = dir.ptr[i] == '/' || i + 1 == dir.len;
        size_t n = dir.ptr[i] == '/' ? i : i + 1;
        if (!is_end)
            continue;
        struct pl_str one = pl_str_slice(dir, 0, n), name;
        memcpy(so_far, one.ptr, n);
        so_far[n] = '\0';
        int there = open_below(root_fd, so_far, O_PATH | O_DIRECTORY);
        if (there >= 0) {
            close(there);
            continue;
        }
        if (errno != ENOENT) {
            set_open_error(call, errno);
            return -1;
        }
        int parent = pl_ext_file_open_parent(call, root, root_fd, one, false, &name);
        if (parent < 0)
            return -1;
        char last[NAME_MAX + 1];
        snprintf(last, sizeof last, "%.*s", PL_STR_ARG(name));
        int failed = mkdirat(parent, last, 0777) != 0 && errno != EEXIST ? errno : 0;
        close(parent);
        if (failed) {
            set_open_error(call, failed);
            return -1;
        }
    }
    return 0;
}

int pl_ext_file_open_parent(struct pl_ext_hostcall *call, const struct pl_ext_root *root,
                            int root_fd, struct pl_str path, bool makes, struct pl_str *ret_name)
{
    const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
    struct pl_str dir = slash ? pl_str_slice(path, 0, (size_t)(slash - path.ptr)) : PL_STR("");
    struct pl_str name = slash ? pl_str_slice(path, dir.len + 1, path.len) : path;
    char text[PATH_MAX], room[PATH_MAX];
    struct pl_str real;
    if (!name.len || name.len > NAME_MAX || dir.len >= PATH_MAX) {
        pl_hostcall_set_error(call, "invalid_request", NULL, "this is no path of a file");
        return -1;
    }
    if (makes && make_way(call, root, root_fd, dir) != 0)
        return -1;
    snprintf(text, sizeof text, "%.*s", PL_STR_ARG(dir));
    int fd = open_below(root_fd, dir.len ? text : ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0) {
        set_open_error(call, errno);
        return -1;
    }
    bool is_inside = real_path(root_fd, fd, room, sizeof room, &real);
    if (is_inside && real.len + name.len + 2 < sizeof text) {
        int n = snprintf(text, sizeof text, "%.*s%s%.*s", PL_STR_ARG(real), real.len ? "/" : "",
                         PL_STR_ARG(name));
        if (judge_real(call, root, (struct pl_str){text, (size_t)n})) {
            *ret_name = name;
            return fd;
        }
    } else {
        set_open_error(call, EXDEV);
    }
    close(fd);
    return -1;
}

/* --- reading and writing ---------------------------------------------------------------------- */

bool pl_ext_file_read(struct pl_ext_hostcall *call, int fd, int64_t offset, size_t max,
                      struct pl_buf *to)
{
    enum { PIECE = 256 << 10 };
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        pl_hostcall_set_error(call, "invalid_request", NULL, "it is no file");
        return false;
    }
    size_t left = max;
    while (left) {
        size_t want = left < PIECE ? left : PIECE;
        char *room = pl_buf_reserve(to, want);
        ssize_t n = room ? pread(fd, room, want, offset) : -1;
        if (n < 0 && room && errno == EINTR)
            continue;
        if (n < 0) {
            pl_hostcall_set_error(call, room ? "io" : "internal", NULL, "%s",
                                  room ? strerror(errno) : "out of memory");
            return false;
        }
        if (n == 0)
            return true;
        to->len += (size_t)n;
        left -= (size_t)n;
        offset += n;
    }
    return true;
}

static bool write_all(struct pl_ext_hostcall *call, int fd, struct pl_str content)
{
    while (content.len) {
        ssize_t n = write(fd, content.ptr, content.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            set_open_error(call, errno);
            return false;
        }
        content = pl_str_slice(content, (size_t)n, content.len);
    }
    return true;
}

/* The size of the directory in bytes; above the limit if it has too many files. */
static int64_t sum_of(int dir_fd, unsigned depth, size_t *n_files)
{
    enum { MAX_DEPTH = 16 };
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int64_t sum = 0;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    for (struct dirent *e; (e = readdir(dir)) && *n_files < MAX_STATE_FILES;) {
        struct stat info;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(fd, e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        ++*n_files;
        sum += info.st_size;
        int below = S_ISDIR(info.st_mode) && depth < MAX_DEPTH
                        ? openat(fd, e->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : -1;
        if (below >= 0) {
            sum += sum_of(below, depth + 1, n_files);
            close(below);
        }
    }
    closedir(dir);
    return *n_files >= MAX_STATE_FILES ? STATE_BYTES : sum;
}

static bool has_room(struct pl_ext_hostcall *call, const struct pl_ext_root *root, int root_fd,
                     size_t n)
{
    size_t n_files = 0;
    if (!root->is_state || sum_of(root_fd, 0, &n_files) + (int64_t)n <= STATE_BYTES)
        return true;
    pl_hostcall_set_error(call, "io", "quota", "the state of an extension has at most 50 MiB");
    call->is_retryable = false;
    return false;
}

/* A file with several names may also be one that must not be written. */
static bool is_alone(struct pl_ext_hostcall *call, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        pl_hostcall_set_error(call, "invalid_request", NULL, "it is no file");
        return false;
    }
    if (info.st_nlink <= 1)
        return true;
    pl_hostcall_set_error(call, "denied", pl_ext_reason_text(PL_EXT_REASON_PATH_ESCAPE),
                          "the file has other names (hard links)");
    return false;
}

static int open_new(struct pl_ext_hostcall *call, const struct pl_ext_root *root, int root_fd,
                    struct pl_str path, bool makes_parents)
{
    struct pl_str name;
    char text[NAME_MAX + 1];
    int parent = pl_ext_file_open_parent(call, root, root_fd, path, makes_parents, &name);
    if (parent < 0)
        return -1;
    snprintf(text, sizeof text, "%.*s", PL_STR_ARG(name));
    int fd = openat(parent, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        set_open_error(call, errno);
    close(parent);
    return fd;
}

bool pl_ext_file_write(struct pl_ext_hostcall *call, const struct pl_ext_root *root, int root_fd,
                       struct pl_str path, enum pl_ext_write_mode mode, bool makes_parents,
                       struct pl_str content)
{
    int fd = -1;
    if (!has_room(call, root, root_fd, content.len))
        return false;
    if (mode != PL_EXT_WRITE_CREATE) {
        fd = pl_ext_file_open(call, root, root_fd, path,
                              O_WRONLY | (mode == PL_EXT_WRITE_APPEND ? O_APPEND : 0));
        bool is_missing = fd < 0 && call->error_reason && !strcmp(call->error_reason, "not_found");
        if (fd < 0 && !is_missing)
            return false;
        call->error = call->error_reason = NULL;
    }
    bool is_new = fd < 0;
    if (is_new)
        fd = open_new(call, root, root_fd, path, makes_parents);
    if (fd < 0)
        return false;
    bool is_good = is_alone(call, fd);
    if (is_good && !is_new && mode == PL_EXT_WRITE_REPLACE && ftruncate(fd, 0) != 0) {
        set_open_error(call, errno);
        is_good = false;
    }
    is_good = is_good && write_all(call, fd, content);
    close(fd);
    return is_good;
}

/* --- directories ------------------------------------------------------------------------------ */

static const char *type_of(mode_t mode)
{
    return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "link" : "other";
}

static int by_name(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    return pl_str_cmp(((const struct pl_ext_entry_seen *)a)->name,
                      ((const struct pl_ext_entry_seen *)b)->name);
}

/* Sorts pointers, then copies the entries in their order. */
static struct pl_ext_entry_seen *sorted(struct pl_arena *arena,
                                        const struct pl_ext_entry_seen *entries, size_t n)
{
    const void **items = pl_arena_alloc(arena, 2 * n + 1, sizeof *items);
    struct pl_ext_entry_seen *copy = pl_arena_alloc(arena, n + 1, sizeof *copy);
    if (!items || !copy)
        return NULL;
    for (size_t i = 0; i < n; i++)
        items[i] = &entries[i];
    pl_sort(items, items + n, n, by_name, NULL);
    for (size_t i = 0; i < n; i++)
        copy[i] = *(const struct pl_ext_entry_seen *)items[i];
    return copy;
}

bool pl_ext_dir_list(struct pl_ext_hostcall *call, int fd, struct pl_ext_entry_seen **ret_entries,
                     size_t *ret_n)
{
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = again >= 0 ? fdopendir(again) : NULL;
    struct pl_ext_entry_seen *entries = pl_arena_alloc(&call->arena, MAX_ENTRIES, sizeof *entries);
    size_t n = 0;
    if (!dir || !entries) {
        pl_hostcall_set_error(call, "io", NULL, "%s", dir ? "out of memory" : strerror(errno));
        if (dir)
            closedir(dir);
        else if (again >= 0)
            close(again);
        return false;
    }
    for (struct dirent *e; (e = readdir(dir)) && n < MAX_ENTRIES;) {
        struct stat info;
        struct pl_str name = pl_str_of(e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            !pl_utf8_is_valid(name) || fstatat(again, e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        entries[n] = (struct pl_ext_entry_seen){
            .name = pl_arena_dup(&call->arena, name),
            .type = type_of(info.st_mode),
            .size = info.st_size,
            .mtime_ms = info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000,
        };
        n += entries[n].name.ptr != NULL;
    }
    closedir(dir);
    *ret_entries = sorted(&call->arena, entries, n);
    *ret_n = n;
    if (!*ret_entries)
        pl_hostcall_set_error(call, "internal", NULL, "out of memory");
    return *ret_entries;
}

/* --- content ---------------------------------------------------------------------------------- */

void pl_ext_put_content(struct pl_json_out *out, const char *text_key, const char *bytes_key,
                        struct pl_str content)
{
    if (pl_utf8_is_valid(content)) {
        pl_json_out_key(out, text_key);
        pl_json_out_text(out, content);
        return;
    }
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_base64_encode(&text, content);
    pl_json_out_key(out, bytes_key);
    pl_json_out_text(out, pl_buf_str(&text));
    if (text.status != PL_OK)
        out->buf->status = text.status;
}

bool pl_ext_get_content(struct pl_ext_hostcall *call, const struct pl_json_node *object,
                        const char *text_key, const char *bytes_key, struct pl_str *ret_content)
{
    struct pl_str text, bytes;
    if (!pl_hostcall_text(call, object, text_key, &text) ||
        !pl_hostcall_text(call, object, bytes_key, &bytes))
        return false;
    if (text.ptr && bytes.ptr) {
        pl_hostcall_fail(call, "invalid_request", NULL, "%s and %s exclude each other", text_key,
                         bytes_key);
        return false;
    }
    *ret_content = text;
    if (!bytes.ptr)
        return true;
    PL_CLEANUP_BUF struct pl_buf decoded;
    pl_buf_init(&decoded, 0);
    if (pl_base64_decode(&decoded, bytes) != PL_OK) {
        pl_hostcall_fail(call, "invalid_request", NULL, "%s is not base64", bytes_key);
        return false;
    }
    *ret_content = pl_arena_dup(&call->arena, pl_buf_str(&decoded));
    if (!ret_content->ptr)
        *ret_content = PL_STR("");
    return true;
}
