/* A backup of the store while the server runs.
 *
 * Over HTTP the copy is the answer, and the request cannot name a file: an administrator of the
 * service is not the system user that runs it. Only the control socket accepts a path, because only
 * that user can open it; even there the store cannot be overwritten. For an answer the copy is made
 * in the data directory and unlinked before it is sent. The next start removes copies left by a
 * crash.
 *
 * One copy at a time, because each is as large as the store until its last byte is sent. */
#include "access/audit.h"
#include "http/connection.h"
#include "service/admin/backup/backup_place.h"

#include "http/exchange.h"
#include "json/write.h"
#include "service/admin/routes.h"
#include "store/store.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static enum pl_status fail_place(enum pl_status status, const char *path, struct pl_error *err)
{
    struct pl_error why = *err;
    if (status == PL_CONFLICT)
        return pl_fail(err, status, "\"%.300s\" exists; \"force\": true replaces it", path);
    return pl_fail(err, PL_INVALID, "\"%.300s\": %s", path, why.message);
}

static enum pl_status write_file(struct pl_exchange *x, const char *path, int64_t *ret_n_bytes,
                                 struct pl_error *err)
{
    const struct pl_server *server = x->shard->server;
    struct pl_outfile_rules rules = {.is_new = !pl_body_bool(x, "force", false),
                                     .is_private = true,
                                     .is_durable = true,
                                     .is_file = true};
    PL_CLEANUP_OUTFILE struct pl_outfile out = {0};
    struct pl_outfile_place place;
    struct stat info = {0};
    enum pl_status status = path[0] == '/' ? pl_outfile_find(path, &place, err)
                                           : pl_fail(err, PL_INVALID, "the path is not absolute");
    if (status == PL_OK)
        status = pl_backup_check_place(&x->setup->config, &place, err);
    if (status == PL_OK)
        status = pl_outfile_open(&out, path, &rules, err);
    if (status != PL_OK)
        return fail_place(status, path, err);
    status = pl_store_backup(server->store, out.part, err);
    if (status == PL_OK && fstat(out.fd, &info) != 0)
        status = pl_fail(err, PL_IO, "the backup cannot be checked: %s", strerror(errno));
    if (status != PL_OK)
        return status;
    *ret_n_bytes = info.st_size;
    status = pl_outfile_commit(&out, err);
    return status == PL_OK ? PL_OK : fail_place(status, path, err);
}

static void backup_to_path(struct pl_exchange *x, const char *path)
{
    struct pl_error err = {0};
    int64_t n_bytes = 0;
    enum pl_status status = write_file(x, path, &n_bytes, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "path");
    pl_json_out_text(&out, pl_str_of(path));
    pl_json_out_key(&out, "bytes");
    pl_json_out_int(&out, n_bytes);
    pl_json_out_close(&out, '}');
}

static void backup_to_client(struct pl_exchange *x)
{
    struct pl_server *server = x->shard->server;
    struct pl_error err = {0};
    struct stat info = {0};
    PL_CLEANUP_OUTFILE struct pl_outfile out;
    enum pl_status status = pl_outfile_open_scratch(&out, x->setup->config.data_dir, &err);
    if (status == PL_OK)
        status = pl_store_backup(server->store, out.part, &err);
    if (status == PL_OK && fstat(out.fd, &info) != 0)
        status = pl_fail(&err, PL_IO, "the backup cannot be checked: %s", strerror(errno));
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    x->content_type = "application/vnd.sqlite3";
    pl_exchange_header(x, "Content-Disposition", "attachment; filename=\"parley-backup.db\"");
    pl_exchange_file(x, pl_outfile_take_fd(&out), info.st_size);
}

/* False after making a problem of the body. */
static bool is_fit(struct pl_exchange *x, struct pl_str path)
{
    if (path.len && !x->conn->is_control)
        pl_exchange_problem(x, PL_PROBLEM_FORBIDDEN, NULL,
                            "A path is accepted only on the control socket (parley backup FILE on "
                            "the server's machine). Without it, the answer is the copy.");
    else if (path.len && memchr(path.ptr, '\0', path.len))
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL, "The path contains a NUL.");
    else if (!path.len && pl_body_bool(x, "force", false))
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "\"force\" needs \"path\": an answer replaces nothing.");
    else
        return true;
    return false;
}

static void run_backup(struct pl_exchange *x)
{
    struct pl_server *server = x->shard->server;
    struct pl_str path = pl_body_text(x, "path");
    if (!is_fit(x, path))
        return;
    if (atomic_exchange(&server->is_backing_up, true)) {
        pl_exchange_problem(x, PL_PROBLEM_OVERLOADED, NULL,
                            "Another backup is running; try again later.");
        return;
    }
    /* Cleared at the end of the exchange, when the copy is gone too. */
    pl_exchange_clear_when_sent(x, &server->is_backing_up);
    char *text = path.len ? pl_arena_zalloc(&x->arena, path.len + 1, 1) : NULL;
    if (!path.len) {
        backup_to_client(x);
    } else if (!text) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
    } else {
        memcpy(text, path.ptr, path.len);
        backup_to_path(x, text);
    }
}

static void back_up(struct pl_exchange *x)
{
    pl_audit_tell(x, "store.backup", (struct pl_str){0});
    pl_exchange_work_in(x, PL_WORK_FILE, run_backup, NULL);
}

const struct pl_route pl_routes_backup[] = {
    {PL_METHOD_POST, "/api/admin/backup", PL_ROUTE_ADMIN | PL_ROUTE_ANY_REPLY, PL_FOR_ALL, back_up,
     "backup_create",
     "Back up the store while it is used: the answer is the copy; over the control socket only, it "
     "may be a file",
     "service", "BackupRequest", "Backup", 200, NULL},
    {0},
};
