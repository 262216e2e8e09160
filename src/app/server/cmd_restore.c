/* parley restore: replaces the store by a backup while no server runs. The old file is kept beside
 * it under another name. */
#include "app/frame/api.h"
#include "app/server/local_store.h"
#include "app/server/restore_check.h"

#include "base/text/utc.h"
#include "io/clock.h"
#include "io/system/machine.h"
#include "io/file/outfile.h"
#include "json/write.h"
#include "store/audit.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct job {
    struct pl_api api; /* owned */
    struct pl_console *console;
    const struct pl_args *args;
    const char *from;     /* the backup */
    const char *url;      /* of the store */
    const char *path;     /* its file; NULL: not a file */
    struct pl_buf before; /* owned; the new name of the old file; empty: there was none */
    struct pl_error err;
};

static enum pl_exit ask_person(struct job *job)
{
    bool is_told = pl_args_has(job->args, PL_OPT_YES) || pl_args_has(job->args, PL_OPT_FORCE);
    if (is_told || !job->path || !pl_path_look(job->path).is_there)
        return PL_EXIT_OK;
    if (!isatty(STDIN_FILENO) || !job->console->err_is_terminal)
        return pl_usage_fail(
            job->console, "restore",
            "%s contains a store, and there is no terminal to ask; --force (or --yes) replaces "
            "it",
            job->api.config.data_dir);
    if (pl_console_ask(job->console, "Replace %s with the backup? The old store is kept beside it.",
                       job->path))
        return PL_EXIT_OK;
    pl_console_say(job->console, "nothing was changed");
    return PL_EXIT_NO;
}

/* Links the old file, after resolving symbolic links, to a second name beside it. SQLite
 * checkpoints its log before the new file takes the first name, so the old file is complete. */
static enum pl_status keep_old(struct job *job)
{
    char now[PL_UTC_SIZE];
    struct pl_outfile_place place;
    if (!job->path || !pl_path_look(job->path).is_there)
        return PL_OK;
    enum pl_status status = pl_outfile_find(job->path, &place, &job->err);
    if (status != PL_OK)
        return status;
    pl_utc_write(now, pl_clock_unix_ms());
    pl_buf_addf(&job->before, "%s.before-%.10s-", place.path, now);
    for (size_t i = 11; i < 19; i++)
        if (now[i] != ':')
            pl_buf_addc(&job->before, now[i]);
    size_t n_name = job->before.len;
    int code = EEXIST;
    /* A restore in the same second gets another name. */
    for (int i = 1; i < 100 && code == EEXIST; i++) {
        job->before.len = n_name;
        if (i > 1)
            pl_buf_addf(&job->before, "-%d", i);
        pl_buf_addc(&job->before, '\0');
        if (job->before.status != PL_OK)
            return pl_fail(&job->err, PL_NOMEM, "out of memory");
        code = link(place.path, job->before.ptr) == 0 ? 0 : errno;
    }
    if (!code)
        return PL_OK;
    pl_buf_clear(&job->before);
    return pl_fail(&job->err, PL_IO, "%s cannot be renamed (%s), so nothing was changed", job->path,
                   strerror(code));
}

/* Adds an audit row to the restored store: it marks the end of the earlier entries. */
static enum pl_status record(struct job *job)
{
    struct pl_store *store = NULL;
    enum pl_status status = pl_local_store_open(&job->api, false, &store, &job->err);
    struct pl_batch *batch = status == PL_OK ? pl_batch_create() : NULL;
    if (status == PL_OK && !batch)
        status = pl_fail(&job->err, PL_NOMEM, "out of memory");
    if (batch) {
        pl_batch_add_audit(batch, &(struct pl_audit_row){.at_ms = pl_clock_unix_ms(),
                                                         .action = PL_STR("store.restore")});
        status = pl_store_commit(store, batch, &job->err);
    }
    pl_store_close(store);
    return status;
}

static enum pl_exit finish(struct job *job)
{
    bool has_old = job->before.len > 0;
    if (job->api.is_json) {
        struct pl_json_out out = pl_json_out(pl_console_out(job->console));
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "restored");
        pl_json_out_text(&out, pl_str_of(job->path ? job->path : job->url));
        pl_json_out_key(&out, "before");
        if (has_old)
            pl_json_out_text(&out, pl_str_of(job->before.ptr));
        else
            pl_json_out_null(&out);
        pl_json_out_close(&out, '}');
        pl_console_puts(job->console, "\n");
        return PL_EXIT_OK;
    }
    pl_console_say(job->console, "restored; start the server with \"parley serve\"");
    if (has_old)
        pl_console_hint(job->console,
                        "The old store is in %s; delete it when you no longer need "
                        "it.",
                        job->before.ptr);
    return PL_EXIT_OK;
}

static enum pl_exit restore(struct job *job)
{
    enum pl_status status =
        job->path ? pl_local_store_make_dir(&job->api, job->path, &job->err) : PL_OK;
    if (status == PL_OK)
        status = keep_old(job);
    if (status == PL_OK) {
        status = pl_store_restore(job->url, job->from, &job->err);
        if (status != PL_OK && job->before.len)
            unlink(job->before.ptr);
    }
    if (status == PL_OK)
        status = record(job);
    return status == PL_OK ? finish(job) : pl_api_fail(&job->api, status, &job->err);
}

/* Determines the backup: the operand, or by --at. */
static enum pl_exit choose(struct job *job)
{
    const char *at = pl_args_value(job->args, PL_OPT_AT);
    const char *dir = pl_args_value(job->args, PL_OPT_FROM);
    bool is_list = pl_args_has(job->args, PL_OPT_LIST);
    dir = dir ? dir : job->api.config.backup_dir;
    if ((at != NULL) + is_list + (job->args->operands.len == 1) != 1)
        return pl_usage_fail(job->console, "restore",
                             "give exactly one of a FILE, --at TIME, and --list");
    if (is_list)
        return pl_restore_list(&job->api, dir);
    if (at)
        return pl_restore_find(&job->api, dir, at, &job->from);
    job->from = job->args->operands.ptr[0];
    return PL_EXIT_OK;
}

static enum pl_exit run(struct job *job)
{
    bool is_free = false;
    enum pl_exit code = pl_api_open_local(&job->api, job->console, job->args, "restore");
    if (code == PL_EXIT_OK)
        code = choose(job);
    if (code != PL_EXIT_OK || !job->from)
        return code;
    if (pl_args_has(job->args, PL_OPT_CHECK))
        return pl_restore_check(&job->api, job->from);
    code = pl_local_store_is_free(&job->api, &is_free);
    if (code != PL_EXIT_OK)
        return code;
    if (!is_free) {
        (void)pl_fail(&job->err, PL_CONFLICT, "a server is using the data in %s; stop it first",
                      job->api.config.data_dir);
        return pl_console_fail(job->console, NULL, &job->err);
    }
    job->url = pl_local_store_url(&job->api);
    if (!job->url)
        return pl_api_fail(&job->api, PL_NOMEM, &job->err);
    job->path = pl_local_store_path(job->url);
    if (access(job->from, R_OK) != 0) {
        (void)pl_fail(&job->err, PL_UNREADABLE, "the file cannot be read: %s", strerror(errno));
        return pl_console_fail(job->console, job->from, &job->err);
    }
    code = ask_person(job);
    return code == PL_EXIT_OK ? restore(job) : code;
}

enum pl_exit pl_cmd_restore(struct pl_console *console, const struct pl_args *args)
{
    struct job job = {.console = console, .args = args};
    pl_buf_init(&job.before, 0);
    enum pl_exit code = run(&job);
    pl_buf_deinit(&job.before);
    pl_api_close(&job.api);
    return code;
}
