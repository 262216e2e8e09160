/* parley backup: copies the store to one file, with or without a running server. */
#include "app/frame/api.h"
#include "app/server/local_store.h"

#include "io/file/file.h"
#include "io/system/machine.h"
#include "json/write.h"
#include "service/admin/backup/backup_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { BACKUP_MS = 3600000, SILENCE_MS = 600000, PIECE_BYTES = 256 << 10 };

struct job {
    struct pl_api api; /* owned */
    struct pl_console *console;
    const char *path;
    bool is_forced;
    bool is_file;          /* the target is a regular file; otherwise it is streamed */
    struct pl_outfile out; /* owned */
    struct pl_error err;
};

static const char *name_of(const struct job *job)
{
    return strcmp(job->path, "-") == 0 ? "standard output" : job->path;
}

static enum pl_exit finish(struct job *job)
{
    struct pl_path_info info = pl_path_look(job->path);
    if (!job->is_file)
        return PL_EXIT_OK;
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
        pl_console_say(job->console, "wrote the backup to %s: %lld bytes", job->path,
                       (long long)info.n_bytes);
    }
    return PL_EXIT_OK;
}

/* --- the target ------------------------------------------------------------------------------ */

static enum pl_exit fail_there(struct job *job)
{
    if (job->err.status == PL_CONFLICT)
        (void)pl_fail(&job->err, PL_CONFLICT,
                      "the file exists; choose another name, or replace it with --force");
    return pl_console_fail(job->console, name_of(job), &job->err);
}

/* Checks the target before anything is copied, so that no mistake destroys data. */
static enum pl_exit look_at_place(struct job *job)
{
    struct pl_outfile_place place;
    const struct pl_server_config *config = job->api.is_local ? &job->api.config : NULL;
    enum pl_status status = pl_outfile_find(job->path, &place, &job->err);
    if (status == PL_OK)
        status = pl_backup_check_place(config, &place, &job->err);
    if (status == PL_OK && place.kind == PL_OUTFILE_FILE && !job->is_forced)
        status = pl_fail(&job->err, PL_CONFLICT, "the file exists");
    if (status != PL_OK)
        return fail_there(job);
    job->is_file = place.kind == PL_OUTFILE_FILE || place.kind == PL_OUTFILE_NEW;
    if (place.kind != PL_OUTFILE_DESCRIPTOR || place.fd != STDOUT_FILENO)
        return PL_EXIT_OK;
    if (job->api.is_json)
        return pl_usage_fail(
            job->console, "backup",
            "the backup and the output of --json would both be written to standard "
            "output; remove --json");
    if (job->console->out_is_terminal)
        return pl_usage_fail(job->console, "backup",
                             "the backup is binary data, not for a terminal; name a file, or use a "
                             "pipe");
    return PL_EXIT_OK;
}

static enum pl_status open_outfile(struct job *job)
{
    const struct pl_outfile_rules rules = {
        .is_new = !job->is_forced, .is_private = true, .is_durable = true};
    return pl_outfile_open(&job->out, job->path, &rules, &job->err);
}

/* The file appears under its name only after it is complete and durable. */
static enum pl_exit settle(struct job *job, enum pl_exit code)
{
    if (code == PL_EXIT_OK && job->err.status == PL_OK)
        (void)pl_outfile_commit(&job->out, &job->err);
    if (code != PL_EXIT_OK)
        return code;
    return job->err.status == PL_OK ? finish(job) : fail_there(job);
}

/* --- three ways ------------------------------------------------------------------------------ */

static enum pl_status pass_on(struct job *job, int fd)
{
    char piece[PIECE_BYTES];
    struct pl_str bytes = {0};
    enum pl_status status =
        lseek(fd, 0, SEEK_SET) == 0 ? PL_OK : pl_fail(&job->err, PL_IO, "%s", strerror(errno));
    while (status == PL_OK) {
        status = pl_fd_read(fd, piece, sizeof piece, &bytes, &job->err);
        if (status == PL_OK && !bytes.len)
            break;
        if (status == PL_OK)
            status = pl_outfile_write(&job->out, bytes, &job->err);
    }
    return status;
}

/* A streamed backup is written to a scratch file first: SQLite needs a file. */
static enum pl_status copy_here(struct job *job, struct pl_store *store)
{
    PL_CLEANUP_OUTFILE struct pl_outfile scratch = {0};
    if (job->is_file)
        return pl_store_backup(store, job->out.part, &job->err);
    enum pl_status status = pl_outfile_open_scratch(&scratch, job->api.config.data_dir, &job->err);
    if (status == PL_OK)
        status = pl_store_backup(store, scratch.part, &job->err);
    return status == PL_OK ? pass_on(job, scratch.fd) : status;
}

static enum pl_exit back_up_here(struct job *job)
{
    struct pl_store *store = NULL;
    enum pl_status status = pl_local_store_open(&job->api, false, &store, &job->err);
    if (status == PL_OK && open_outfile(job) != PL_OK) {
        pl_store_close(store);
        return fail_there(job);
    }
    if (status == PL_OK)
        status = copy_here(job, store);
    pl_store_close(store);
    return status == PL_OK ? settle(job, PL_EXIT_OK) : pl_api_fail(&job->api, status, &job->err);
}

/* The server on this machine writes the file; its working directory may differ. */
static enum pl_exit ask_for_file(struct job *job)
{
    PL_CLEANUP_BUF struct pl_buf body, reply;
    pl_buf_init(&body, 0);
    pl_buf_init(&reply, 0);
    char here[PATH_MAX] = "", path[2 * PATH_MAX];
    if (job->path[0] != '/' && !getcwd(here, sizeof here)) {
        (void)pl_fail(&job->err, PL_IO, "the working directory no longer exists: %s",
                      strerror(errno));
        return pl_console_fail(job->console, NULL, &job->err);
    }
    int n = snprintf(path, sizeof path, "%s%s%s", here, here[0] ? "/" : "", job->path);
    struct pl_json_out out = pl_json_out(&body);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "path");
    pl_json_out_text(&out, (struct pl_str){path, (size_t)n});
    pl_json_out_key(&out, "force");
    pl_json_out_bool(&out, job->is_forced);
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
    return pl_outfile_write(&job->out, piece, &job->err) == PL_OK;
}

/* Receives the backup from a remote server, or from the local one if the target is not a regular
 * file. */
static enum pl_exit receive(struct job *job)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    if (open_outfile(job) != PL_OK)
        return fail_there(job);
    struct pl_http_call call = {.method = "POST",
                                .body = PL_STR("{}"),
                                .has_body = true,
                                .timeout_ms = SILENCE_MS,
                                .on_piece = on_piece,
                                .ctx = job};
    return settle(job, pl_api_call(&job->api, &call, "/api/admin/backup", &reply));
}

enum pl_exit pl_cmd_backup(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {.console = console,
                      .path = args->operands.ptr[0],
                      .is_forced = pl_args_has(args, PL_OPT_FORCE)};
    bool is_free = false;
    enum pl_exit code = pl_api_open(&job.api, console, args, "backup");
    if (code == PL_EXIT_OK)
        code = look_at_place(&job);
    if (code == PL_EXIT_OK)
        code = pl_local_store_is_free(&job.api, &is_free);
    if (code == PL_EXIT_OK) {
        pl_console_progress(console, "copying ...");
        code = is_free                           ? back_up_here(&job)
               : job.api.is_local && job.is_file ? ask_for_file(&job)
                                                 : receive(&job);
    }
    pl_outfile_drop(&job.out);
    pl_api_close(&job.api);
    return code;
}
