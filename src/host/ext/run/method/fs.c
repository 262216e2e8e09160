/* The method fs: files of the workspace and of the extension's own state. Everything happens on
 * a worker; a stream reads a piece there when the last one was sent. */
#include "ext/run/method/method.h"

#include "json/text.h"

#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ANSWER = 4 << 20, PIECE = 512 << 10 };

struct fs {
    const struct op *op;
    struct pl_ext_root root;
    struct pl_str path;    /* clean */
    struct pl_str content; /* of a write */
    int64_t offset, limit; /* of a read; limit -1: to the end */
    enum pl_ext_write_mode mode;
    /* For a stream: */
    int fd; /* -1: not open */
    struct pl_buf piece;
    size_t n_sent;
    int64_t size;
    bool is_at_end;
};

/* --- on a worker ------------------------------------------------------------------------------ */

static void do_read(struct pl_ext_hostcall *call, struct fs *fs, int root_fd)
{
    PL_CLEANUP_BUF struct pl_buf bytes;
    struct stat info = {0};
    pl_buf_init(&bytes, 0);
    int fd = pl_ext_file_open(call, &fs->root, root_fd, fs->path, O_RDONLY);
    size_t max = fs->limit >= 0 ? (size_t)fs->limit : (size_t)MAX_ANSWER + 1;
    bool is_good =
        fd >= 0 && fstat(fd, &info) == 0 && pl_ext_file_read(call, fd, fs->offset, max, &bytes);
    if (fd >= 0)
        close(fd);
    if (is_good && bytes.len > MAX_ANSWER) {
        pl_hostcall_set_error(call, "invalid_request", "too_large",
                              "the file has more than 4 MiB: use offset and limit, or stream");
        is_good = false;
    }
    if (!is_good)
        return;
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_ext_put_content(&out, "content", "content_bytes", pl_buf_str(&bytes));
    pl_json_out_key(&out, "size");
    pl_json_out_int(&out, info.st_size);
    pl_json_out_close(&out, '}');
}

static void do_list(struct pl_ext_hostcall *call, struct fs *fs, int root_fd)
{
    struct pl_ext_entry_seen *entries = NULL;
    size_t n = 0;
    int fd = pl_ext_file_open(call, &fs->root, root_fd, fs->path, O_RDONLY | O_DIRECTORY);
    bool is_good = fd >= 0 && pl_ext_dir_list(call, fd, &entries, &n);
    if (fd >= 0)
        close(fd);
    if (!is_good)
        return;
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "entries");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < n; i++) {
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "name");
        pl_json_out_text(&out, entries[i].name);
        pl_json_out_key(&out, "type");
        pl_json_out_text(&out, pl_str_of(entries[i].type));
        pl_json_out_key(&out, "size");
        pl_json_out_int(&out, entries[i].size);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

static void do_stat(struct pl_ext_hostcall *call, struct fs *fs, int root_fd)
{
    struct stat info;
    int fd = pl_ext_file_open(call, &fs->root, root_fd, fs->path, O_PATH);
    if (fd < 0)
        return;
    int failed = fstat(fd, &info) != 0 ? errno : 0;
    close(fd);
    if (failed) {
        pl_hostcall_set_error(call, "io", NULL, "%s", strerror(failed));
        return;
    }
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "type");
    pl_json_out_text(&out, S_ISREG(info.st_mode)   ? PL_STR("file")
                           : S_ISDIR(info.st_mode) ? PL_STR("directory")
                                                   : PL_STR("other"));
    pl_json_out_key(&out, "size");
    pl_json_out_int(&out, info.st_size);
    pl_json_out_key(&out, "mtime");
    pl_json_out_int(&out, info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000);
    pl_json_out_close(&out, '}');
}

static void do_write(struct pl_ext_hostcall *call, struct fs *fs, int root_fd)
{
    if (pl_ext_file_write(call, &fs->root, root_fd, fs->path, fs->mode, false, fs->content))
        pl_buf_adds(&call->output, "{}");
}

/* Makes a directory, or removes a file or an empty directory. The parent directory was checked. */
static void change(struct pl_ext_hostcall *call, struct fs *fs, int root_fd, bool makes)
{
    struct pl_str name;
    char text[256];
    struct stat info;
    int failed = 0;
    int parent = pl_ext_file_open_parent(call, &fs->root, root_fd, fs->path, false, &name);
    if (parent < 0)
        return;
    snprintf(text, sizeof text, "%.*s", PL_STR_ARG(name));
    if (makes)
        failed = mkdirat(parent, text, 0777) != 0 ? errno : 0;
    else if (fstatat(parent, text, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
             unlinkat(parent, text, S_ISDIR(info.st_mode) ? AT_REMOVEDIR : 0) != 0)
        failed = errno;
    close(parent);
    if (failed == ENOENT)
        pl_hostcall_set_error(call, "invalid_request", "not_found", "there is no such file");
    else if (failed == EEXIST || failed == ENOTEMPTY)
        pl_hostcall_set_error(call, "invalid_request", "exists",
                              makes ? "it is there already" : "the directory is not empty");
    else if (failed)
        pl_hostcall_set_error(call, "io", NULL, "%s", strerror(failed));
    else
        pl_buf_adds(&call->output, "{}");
}

static void do_mkdir(struct pl_ext_hostcall *call, struct fs *fs, int root_fd)
{
    change(call, fs, root_fd, true);
}

static void do_delete(struct pl_ext_hostcall *call, struct fs *fs, int root_fd)
{
    change(call, fs, root_fd, false);
}

static const struct op {
    const char *names[3];
    void (*run)(struct pl_ext_hostcall *call, struct fs *fs, int root_fd);
    bool writes;
} ops[] = {
    {{"read"}, do_read, false},  {{"list", "readdir"}, do_list, false},
    {{"stat"}, do_stat, false},  {{"write"}, do_write, true},
    {{"mkdir"}, do_mkdir, true}, {{"delete", "remove", "rm"}, do_delete, true},
};

static void run(struct pl_job *job)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(job, struct pl_ext_hostcall, job);
    struct fs *fs = call->own;
    int root_fd = pl_ext_root_open(call, &fs->root);
    if (root_fd < 0)
        return;
    fs->op->run(call, fs, root_fd);
    close(root_fd);
}

/* --- streams ---------------------------------------------------------------------------------- */

static void send_pieces(struct pl_ext_hostcall *call);

static void read_piece(struct pl_job *job)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(job, struct pl_ext_hostcall, job);
    struct fs *fs = call->own;
    size_t want = fs->limit >= 0 && fs->limit < PIECE ? (size_t)fs->limit : PIECE;
    if (fs->fd < 0) {
        struct stat info;
        int root_fd = pl_ext_root_open(call, &fs->root);
        if (root_fd < 0)
            return;
        fs->fd = pl_ext_file_open(call, &fs->root, root_fd, fs->path, O_RDONLY);
        close(root_fd);
        if (fs->fd < 0)
            return;
        fs->size = fstat(fs->fd, &info) == 0 ? info.st_size : 0;
    }
    size_t before = fs->piece.len;
    if (!pl_ext_file_read(call, fs->fd, fs->offset, want, &fs->piece))
        return;
    size_t n = fs->piece.len - before;
    fs->offset += (int64_t)n;
    if (fs->limit >= 0)
        fs->limit -= (int64_t)n;
    fs->is_at_end = n < want || fs->limit == 0;
}

static void finish_stream(struct pl_ext_hostcall *call)
{
    struct fs *fs = call->own;
    pl_buf_addf(&call->output, "{\"size\":%lld}", (long long)fs->size);
    pl_hostcall_send_chunk(call, true);
}

static void send_pieces(struct pl_ext_hostcall *call)
{
    struct fs *fs = call->own;
    while (pl_hostcall_may_send(call)) {
        bool is_text;
        struct pl_str rest = pl_str_slice(pl_buf_str(&fs->piece), fs->n_sent, fs->piece.len);
        size_t n = rest.len ? pl_ext_chunk_cut(rest, fs->is_at_end, &is_text) : 0;
        if (!n && fs->is_at_end) {
            finish_stream(call);
            return;
        }
        if (!n) { /* keeps the beginning of a character */
            memmove(fs->piece.ptr, rest.ptr, rest.len);
            fs->piece.len = rest.len;
            fs->n_sent = 0;
            pl_hostcall_work(call, read_piece, send_pieces);
            return;
        }
        fs->n_sent += n;
        struct pl_json_out out = pl_json_out(&call->output);
        pl_json_out_open(&out, '{');
        pl_ext_put_content(&out, "content", "content_bytes", pl_str_slice(rest, 0, n));
        pl_json_out_close(&out, '}');
        pl_hostcall_send_chunk(call, false);
        if (!call->instance)
            return;
    }
}

static void clean(struct pl_ext_hostcall *call)
{
    struct fs *fs = call->own;
    if (fs->fd >= 0)
        close(fs->fd);
    pl_buf_deinit(&fs->piece);
}

/* --- params ----------------------------------------------------------------------------------- */

static bool read_mode(struct pl_ext_hostcall *call, struct fs *fs)
{
    static const char *const modes[] = {"replace", "create", "append"};
    struct pl_str mode;
    if (!pl_hostcall_text(call, call->params, "mode", &mode))
        return false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (pl_str_eq(mode, pl_str_of(modes[i])) || !mode.ptr) {
            fs->mode = (enum pl_ext_write_mode)i;
            return true;
        }
    pl_hostcall_fail(call, "invalid_request", NULL, "mode is replace, create or append");
    return false;
}

static bool read_root(struct pl_ext_hostcall *call, struct fs *fs)
{
    struct pl_str root;
    if (!pl_hostcall_text(call, call->params, "root", &root))
        return false;
    bool is_state = pl_str_eq(root, PL_STR("state"));
    if (root.ptr && !is_state && !pl_str_eq(root, PL_STR("workspace"))) {
        pl_hostcall_fail(call, "invalid_request", NULL, "root is workspace or state");
        return false;
    }
    return pl_ext_root_find(call, is_state, &fs->root);
}

static const struct op *find_op(struct pl_str name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (size_t k = 0; k < 3 && ops[i].names[k]; k++)
            if (pl_str_eq(name, pl_str_of(ops[i].names[k])))
                return &ops[i];
    return NULL;
}

static bool takes_quota(struct pl_ext_hostcall *call, const struct fs *fs)
{
    struct pl_ext_instance *instance = call->instance;
    if (!fs->op->writes || pl_ext_bucket_take(&instance->buckets[PL_EXT_QUOTA_WRITTEN_BYTES],
                                              PL_EXT_QUOTA_WRITTEN_BYTES, (int64_t)fs->content.len,
                                              pl_loop_now_ms(call->exts->loop)))
        return true;
    pl_hostcall_fail(call, "io", "quota", "at most 50 MiB are written in an hour");
    (void)pl_ext_instance_strike(instance, "written bytes");
    return false;
}

static bool read_params(struct pl_ext_hostcall *call, struct fs *fs)
{
    static const char *const members[] = {"op",      "path",          "root", "offset", "limit",
                                          "content", "content_bytes", "mode", "stream", NULL};
    struct pl_str name, path;
    if (!pl_hostcall_members(call, call->params, members) ||
        !pl_hostcall_text(call, call->params, "op", &name) ||
        !pl_hostcall_text(call, call->params, "path", &path) ||
        !pl_hostcall_int(call, call->params, "offset", 0, INT64_MAX / 2, 0, &fs->offset) ||
        !pl_hostcall_int(call, call->params, "limit", 0, INT64_MAX / 2, -1, &fs->limit) ||
        !pl_ext_get_content(call, call->params, "content", "content_bytes", &fs->content) ||
        !read_mode(call, fs) || !read_root(call, fs))
        return false;
    fs->op = find_op(name);
    if (pl_ext_path_clean(&call->arena, path.ptr ? path : PL_STR("."), &fs->path) != PL_OK) {
        pl_hostcall_deny(call, PL_EXT_REASON_PATH_ESCAPE);
        return false;
    }
    const char *wrong = !fs->op                           ? "there is no such op"
                        : fs->op->writes && !fs->path.len ? "a path is needed"
                        : fs->op->run == do_write && !fs->content.ptr
                            ? "write needs content or content_bytes"
                        : call->is_streamed && fs->op->run != do_read ? "only read has a stream"
                                                                      : NULL;
    if (wrong)
        pl_hostcall_fail(call, "invalid_request", NULL, "%s", wrong);
    return !wrong && takes_quota(call, fs);
}

void pl_ext_fs_start(struct pl_ext_hostcall *call)
{
    struct fs *fs = pl_arena_zalloc(&call->arena, 1, sizeof *fs);
    if (!fs) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    fs->fd = -1;
    pl_buf_init(&fs->piece, 0);
    if (!read_params(call, fs))
        return;
    call->own = fs;
    call->clean = clean;
    call->go_on = call->is_streamed ? send_pieces : NULL;
    if (call->is_streamed)
        pl_hostcall_work(call, read_piece, send_pieces);
    else
        pl_hostcall_work(call, run, NULL);
}
