/* Guards the directories that a program may write to: a new protected path is removed when all
 * processes of the program are gone, even if nobody waits for the program any more. */
#include "ext/run/ext_int.h"

#include "base/mem.h"
#include "base/text/utf8.h"
#include "shard/log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

struct warded {
    struct pl_cell_guard *guard; /* owned */
    const char *dir;             /* relative to the workspace; "" is all of it; arena */
    int fd;                      /* owned; for a ward that is renewed, otherwise -1 */
};

struct pl_ext_ward {
    struct pl_arena arena;
    struct pl_str extension_id, user_id, instance_id, session_id, call_id; /* arena */
    PL_VEC(struct warded) dirs;
    bool is_over, is_renewed;
    struct pl_buf removed; /* paths relative to the workspace, one per line */
    enum pl_status status; /* PL_OK, or why not everything was checked */
    struct pl_error err;
};

struct pl_ext_ward *pl_ext_ward_create(const struct pl_ext_warded_call *call)
{
    struct pl_ext_ward *ward = pl_mem_alloc(1, sizeof *ward);
    if (!ward)
        return NULL;
    *ward = (struct pl_ext_ward){.status = PL_OK, .is_renewed = call->is_renewed};
    pl_arena_init(&ward->arena, 0);
    pl_buf_init(&ward->removed, 0);
    ward->extension_id = pl_arena_dup(&ward->arena, call->extension_id);
    ward->user_id = pl_arena_dup(&ward->arena, call->user_id);
    ward->instance_id = pl_arena_dup(&ward->arena, call->instance_id);
    ward->session_id = pl_arena_dup(&ward->arena, call->session_id);
    ward->call_id = pl_arena_dup(&ward->arena, call->call_id);
    return ward;
}

enum pl_status pl_ext_ward_add(struct pl_ext_ward *ward, const char *dir, int fd,
                               struct pl_error *err)
{
    struct warded warded = {
        .dir = pl_arena_dup(&ward->arena, (struct pl_str){dir, strlen(dir) + 1}).ptr, .fd = -1};
    if (!warded.dir || !pl_vec_reserve(&ward->dirs, ward->dirs.len + 1))
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (ward->is_renewed && (warded.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0)
        return pl_fail(err, PL_IO, "no descriptor is left: %s", strerror(errno));
    enum pl_status status = pl_cell_guard_begin(fd, &warded.guard, err);
    if (status == PL_OK)
        (void)pl_vec_push(&ward->dirs, warded);
    else if (warded.fd >= 0)
        close(warded.fd);
    return status;
}

static void end_one(struct pl_ext_ward *ward, const struct warded *one)
{
    PL_CLEANUP_BUF struct pl_buf lines;
    struct pl_error err = {0};
    pl_buf_init(&lines, 0);
    enum pl_status status = pl_cell_guard_end(one->guard, &lines, &err);
    if (status != PL_OK && ward->status == PL_OK) {
        ward->status = status;
        ward->err = err;
    }
    struct pl_str rest = pl_buf_str(&lines);
    while (rest.len) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        pl_buf_addf(&ward->removed, "%s%s%.*s\n", one->dir, one->dir[0] ? "/" : "", (int)n,
                    rest.ptr);
        rest = pl_str_slice(rest, n + (end != NULL), rest.len);
    }
}

void pl_ext_ward_end(struct pl_ext_ward *ward)
{
    for (size_t i = 0; i < ward->dirs.len; i++) {
        end_one(ward, &ward->dirs.ptr[i]);
        if (ward->dirs.ptr[i].fd >= 0)
            close(ward->dirs.ptr[i].fd);
    }
    pl_vec_deinit(&ward->dirs);
    ward->is_over = true;
}

struct pl_ext_ward *pl_ext_ward_renew(struct pl_ext_ward *ward)
{
    struct pl_ext_warded_call of = {.extension_id = ward->extension_id,
                                    .user_id = ward->user_id,
                                    .instance_id = ward->instance_id,
                                    .is_renewed = true};
    struct pl_ext_ward *fresh = pl_ext_ward_create(&of);
    for (size_t i = 0; fresh && i < ward->dirs.len; i++) {
        const struct warded *one = &ward->dirs.ptr[i];
        struct pl_error err = {0};
        end_one(ward, one);
        enum pl_status status = pl_ext_ward_add(fresh, one->dir, one->fd, &err);
        if (status != PL_OK && ward->status == PL_OK) {
            ward->status = status;
            ward->err = err;
        }
        close(one->fd);
    }
    if (fresh) {
        pl_vec_deinit(&ward->dirs);
        ward->is_over = true;
    }
    return fresh;
}

bool pl_ext_ward_is_over(const struct pl_ext_ward *ward)
{
    return ward->is_over || !ward->dirs.len;
}

enum pl_status pl_ext_ward_status(const struct pl_ext_ward *ward, const char **ret_why)
{
    *ret_why = ward->err.message;
    return ward->status;
}

bool pl_ext_ward_has_removed(const struct pl_ext_ward *ward)
{
    return ward->removed.len;
}

void pl_ext_ward_put(const struct pl_ext_ward *ward, struct pl_json_out *out)
{
    struct pl_str rest = pl_buf_str(&ward->removed);
    enum { MOST = 100 };
    pl_json_out_key(out, "removed");
    pl_json_out_open(out, '[');
    for (size_t i = 0; rest.len && i < MOST; i++) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        struct pl_str path = pl_str_slice(rest, 0, end ? (size_t)(end - rest.ptr) : rest.len);
        pl_json_out_text(out, pl_utf8_is_valid(path) ? path : PL_STR("(a name that is not UTF-8)"));
        rest = pl_str_slice(rest, path.len + (end != NULL), rest.len);
    }
    pl_json_out_close(out, ']');
}

static void audit(struct pl_ext_shard *exts, const struct pl_ext_ward *ward)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    pl_buf_init(&detail, 0);
    struct pl_json_out out = pl_json_out(&detail);
    const struct pl_ext_text members[] = {
        {"instance_id", ward->instance_id},
        {"call_id", pl_str_slice(ward->call_id, 0, 100)},
        {"session_id", ward->session_id},
        {"error", pl_str_of(ward->status == PL_OK ? "" : ward->err.message)},
    };
    pl_json_out_open(&out, '{');
    pl_ext_put_texts(&out, members, sizeof members / sizeof *members);
    pl_ext_ward_put(ward, &out);
    pl_json_out_close(&out, '}');
    struct pl_ext_audited what = {
        .user_id = ward->user_id,
        .action = "protected_path.removed",
        .object = ward->extension_id,
        .detail = pl_buf_str(&detail),
    };
    if (detail.status == PL_OK)
        pl_ext_audit(exts, &what, NULL, NULL);
    if (ward->status != PL_OK)
        pl_log_say(exts->shard->server->log, exts->shard, PL_LOG_WARNING,
                   "extension %.*s: not every directory that a program could write to was looked "
                   "through for protected paths: %s",
                   PL_STR_ARG(ward->extension_id), ward->err.message);
}

void pl_ext_ward_free(struct pl_ext_shard *exts, struct pl_ext_ward *ward)
{
    if (!ward)
        return;
    if (ward->removed.len || ward->status != PL_OK)
        audit(exts, ward);
    pl_buf_deinit(&ward->removed);
    pl_arena_deinit(&ward->arena);
    pl_mem_free(ward);
}
