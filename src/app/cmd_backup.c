/* parley backup: a copy of the store in one file, while the server goes on or when none runs. */
#include "app/api.h"
#include "app/local_store.h"

#include "io/file.h"
#include "io/machine.h"
#include "json/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { BACKUP_MS = 3600000, SILENCE_MS = 600000 };

struct job {
    struct pl_api api; /* owned */
    struct pl_console *console;
    const char *path;
    int fd; /* of the file that is being received */
    struct pl_error err;
};

static enum pl_exit finish(struct job *job)
{
    struct pl_path_info info = pl_path_look(job->path);
    if (job->api.is_json) {
        struct pl_json_out out = pl_json_out(pl_console_out(job->console));
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "path");
        pl_json_out_text(&out, pl_str_of(job->path));
        pl_json_out_key(&out, "bytes");
        pl_json_out_int(&out, info.n_bytes);
        pl_json_out_close(&out, '}');
        pl_console_puts(job->console, "\n");
    } else {
        pl_console_say(job->console, "%s has it all: %lld bytes", job->path,
                       (long long)info.n_bytes);
    }
    return PL_EXIT_OK;
}

/* --- three ways ------------------------------------------------------------------------------ */

static enum pl_exit back_up_here(struct job *job)
{
    struct pl_store *store = NULL;
    enum pl_status status = pl_local_store_open(&job->api, false, &store, &job->err);
    if (status == PL_OK)
        status = pl_store_backup(store, job->path, &job->err);
    pl_store_close(store);
    return status == PL_OK ? finish(job) : pl_api_fail(&job->api, status, &job->err);
}

/* The server on this machine writes the file itself; it may run in another directory. */
static enum pl_exit ask_for_file(struct job *job)
{
    PL_CLEANUP_BUF struct pl_buf body, reply;
    pl_buf_init(&body, 0);
    pl_buf_init(&reply, 0);
    char here[PATH_MAX] = "", path[2 * PATH_MAX];
    if (job->path[0] != '/' && !getcwd(here, sizeof here)) {
        (void)pl_fail(&job->err, PL_IO, "the working directory is gone: %s", strerror(errno));
        return pl_console_fail(job->console, NULL, &job->err);
    }
    int n = snprintf(path, sizeof path, "%s%s%s", here, here[0] ? "/" : "", job->path);
    struct pl_json_out out = pl_json_out(&body);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "path");
    pl_json_out_text(&out, (struct pl_str){path, (size_t)n});
    pl_json_out_close(&out, '}');
    if (body.status != PL_OK)
        return pl_api_fail(&job->api, body.status, &job->err);
    struct pl_http_call call = {
        .method = "POST", .body = pl_buf_str(&body), .has_body = true, .timeout_ms = BACKUP_MS};
    enum pl_exit code = pl_api_call(&job->api, &call, "/api/admin/backup", &reply);
    return code == PL_EXIT_OK ? finish(job) : code;
}

static bool on_piece(void *ctx, struct pl_str piece)
{
    struct job *job = ctx;
    return pl_fd_write(job->fd, piece, &job->err) == PL_OK;
}

/* Under its name only when it is whole and durable. */
static enum pl_exit put_in_place(struct job *job, const char *part, enum pl_exit code)
{
    if (code == PL_EXIT_OK && job->err.status == PL_OK &&
        (fsync(job->fd) != 0 || rename(part, job->path) != 0))
        (void)pl_fail(&job->err, PL_IO, "it cannot be put in its place: %s", strerror(errno));
    close(job->fd);
    if (code == PL_EXIT_OK && job->err.status == PL_OK)
        return finish(job);
    unlink(part);
    return code == PL_EXIT_OK ? pl_console_fail(job->console, job->path, &job->err) : code;
}

/* A server elsewhere sends it. */
static enum pl_exit receive(struct job *job)
{
    PL_CLEANUP_BUF struct pl_buf part, reply;
    pl_buf_init(&part, 0);
    pl_buf_init(&reply, 0);
    pl_buf_addf(&part, "%s-part", job->path);
    pl_buf_addc(&part, '\0');
    if (part.status != PL_OK)
        return pl_api_fail(&job->api, part.status, &job->err);
    job->fd = open(part.ptr, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (job->fd < 0) {
        (void)pl_fail(&job->err, PL_IO, "it cannot be written: %s", strerror(errno));
        return pl_console_fail(job->console, job->path, &job->err);
    }
    struct pl_http_call call = {.method = "POST",
                                .body = PL_STR("{}"),
                                .has_body = true,
                                .timeout_ms = SILENCE_MS,
                                .on_piece = on_piece,
                                .ctx = job};
    enum pl_exit code = pl_api_call(&job->api, &call, "/api/admin/backup", &reply);
    return put_in_place(job, part.ptr, code);
}

enum pl_exit pl_cmd_backup(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {.console = console, .path = args->operands.ptr[0], .fd = -1};
    bool is_free = false;
    enum pl_exit code = pl_api_open(&job.api, console, args, "backup");
    if (code == PL_EXIT_OK)
        code = pl_local_store_is_free(&job.api, &is_free);
    if (code == PL_EXIT_OK) {
        pl_console_progress(console, "copying ...");
        code = is_free ? back_up_here(&job) : job.api.is_local ? ask_for_file(&job) : receive(&job);
    }
    pl_api_close(&job.api);
    return code;
}
