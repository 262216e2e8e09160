/* parley restore --check, --list and --at. The check makes a store from the backup elsewhere and
 * opens it, so it fails wherever a real restore would. */
#include "app/server/restore_check.h"

#include "app/table/columns.h"
#include "base/text/utc.h"
#include "json/write.h"
#include "service/admin/backup/backup_files.h"
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* --- the drill ------------------------------------------------------------------------------- */

struct drill {
    struct pl_api *api;
    struct pl_json_out out; /* for --json */
    char dir[300];
    char url[340];
    size_t n_problems;
};

static void say(void *ctx, bool is_problem, const char *sentence)
{
    struct drill *drill = ctx;
    drill->n_problems += is_problem;
    if (!drill->api->is_json) {
        pl_console_say(drill->api->console, "%s", sentence);
        return;
    }
    pl_json_out_open(&drill->out, '{');
    pl_json_out_key(&drill->out, "is_problem");
    pl_json_out_bool(&drill->out, is_problem);
    pl_json_out_key(&drill->out, "text");
    pl_json_out_text(&drill->out, pl_str_of(sentence));
    pl_json_out_close(&drill->out, '}');
}

/* Not in the data directory, which a server may use, and not on a file system in memory. */
static enum pl_status make_dir(struct drill *drill, struct pl_error *err)
{
    const char *base = getenv("TMPDIR");
    int n = snprintf(drill->dir, sizeof drill->dir, "%s/parley-check-XXXXXX",
                     base && *base ? base : "/var/tmp");
    if (n < 0 || (size_t)n >= sizeof drill->dir)
        return pl_fail(err, PL_INVALID, "the name in TMPDIR is too long");
    if (!mkdtemp(drill->dir))
        return pl_fail(err, PL_IO, "%s cannot be made: %s", drill->dir, strerror(errno));
    snprintf(drill->url, sizeof drill->url, "sqlite:%s/parley.db", drill->dir);
    return PL_OK;
}

static void remove_dir(const struct drill *drill)
{
    static const char *const names[] = {"parley.db", "parley.db-wal", "parley.db-shm",
                                        "parley.db-lock"};
    char path[340];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", drill->dir, names[i]);
        unlink(path);
    }
    rmdir(drill->dir);
}

static enum pl_status rehearse(struct drill *drill, const char *from, struct pl_error *err)
{
    struct pl_store *store = NULL;
    struct pl_store_config config = {.url = drill->url, .n_readers = 1};
    enum pl_status status = pl_store_restore(drill->url, from, err);
    if (status == PL_OK)
        status = pl_store_open(&config, &store, err);
    if (status == PL_OK)
        status = pl_store_check(store, say, drill, err);
    pl_store_close(store);
    return status;
}

enum pl_exit pl_restore_check(struct pl_api *api, const char *from)
{
    struct drill drill = {.api = api, .out = pl_json_out(pl_console_out(api->console))};
    struct pl_error err = {0};
    enum pl_status status = make_dir(&drill, &err);
    if (status != PL_OK)
        return pl_api_fail(api, status, &err);
    if (api->is_json) {
        pl_json_out_open(&drill.out, '{');
        pl_json_out_key(&drill.out, "path");
        pl_json_out_text(&drill.out, pl_str_of(from));
        pl_json_out_key(&drill.out, "findings");
        pl_json_out_open(&drill.out, '[');
    }
    status = rehearse(&drill, from, &err);
    remove_dir(&drill);
    if (status != PL_OK && api->is_json)
        say(&drill, true, err.message);
    bool is_good = status == PL_OK && !drill.n_problems;
    if (api->is_json) {
        pl_json_out_close(&drill.out, ']');
        pl_json_out_key(&drill.out, "ok");
        pl_json_out_bool(&drill.out, is_good);
        pl_json_out_close(&drill.out, '}');
        pl_console_puts(api->console, "\n");
        return is_good ? PL_EXIT_OK : PL_EXIT_NO;
    }
    if (status != PL_OK)
        return pl_api_fail(api, status, &err);
    pl_console_say(api->console, is_good ? "%s can be restored" : "%s is damaged", from);
    return is_good ? PL_EXIT_OK : PL_EXIT_NO;
}

/* --- those that are stored -------------------------------------------------------------------- */

static enum pl_exit find_all(struct pl_api *api, const char *dir, struct pl_backup_files *ret_files)
{
    struct pl_error err = {0};
    if (!dir)
        return pl_usage_fail(
            api->console, api->command,
            "the directory of the backups is not known; give --from DIR, or set backup_dir");
    enum pl_status status = pl_backup_files_list(&api->texts.arena, dir, ret_files, &err);
    return status == PL_OK ? PL_EXIT_OK : pl_api_fail(api, status, &err);
}

enum pl_exit pl_restore_list(struct pl_api *api, const char *dir)
{
    struct pl_backup_files found;
    enum pl_exit code = find_all(api, dir, &found);
    if (code != PL_EXIT_OK)
        return code;
    struct pl_json_out out = pl_json_out(pl_console_out(api->console));
    if (api->is_json)
        pl_json_out_open(&out, '[');
    for (size_t i = 0; i < found.n; i++) {
        const struct pl_backup_file *file = &found.files[i];
        char time[PL_UTC_SIZE + 1] = "";
        pl_utc_write(time, file->unix_ms);
        if (!api->is_json) {
            pl_console_putf(api->console, "%.19sZ  %12lld bytes  ", time, (long long)file->n_bytes);
            pl_console_put_safe(api->console, pl_str_of(file->path));
            pl_console_puts(api->console, "\n");
            continue;
        }
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "time");
        pl_json_out_text(&out, (struct pl_str){time, PL_UTC_SIZE});
        pl_json_out_key(&out, "bytes");
        pl_json_out_int(&out, file->n_bytes);
        pl_json_out_key(&out, "path");
        pl_json_out_text(&out, pl_str_of(file->path));
        pl_json_out_close(&out, '}');
    }
    if (api->is_json) {
        pl_json_out_close(&out, ']');
        pl_console_puts(api->console, "\n");
    }
    return PL_EXIT_OK;
}

static bool read_time(const char *text, int64_t *ret_unix_ms)
{
    char whole[40];
    int64_t unix_us;
    bool is_date = strlen(text) == 10;
    snprintf(whole, sizeof whole, "%.10sT23:59:59.999Z", text);
    if (!pl_utc_read(pl_str_of(is_date ? whole : text), &unix_us))
        return false;
    *ret_unix_ms = unix_us / 1000;
    return true;
}

enum pl_exit pl_restore_find(struct pl_api *api, const char *dir, const char *at,
                             const char **ret_path)
{
    struct pl_backup_files found;
    int64_t at_ms = 0;
    if (!read_time(at, &at_ms))
        return pl_usage_fail(api->console, api->command,
                             "--at must be a time such as 2026-01-31T04:00:00Z, or a date, not "
                             "\"%s\"",
                             at);
    enum pl_exit code = find_all(api, dir, &found);
    if (code != PL_EXIT_OK)
        return code;
    const char *path = NULL;
    for (size_t i = 0; i < found.n && found.files[i].unix_ms <= at_ms; i++)
        path = found.files[i].path;
    if (!path) {
        struct pl_error err = {0};
        (void)pl_fail(&err, PL_NOT_FOUND,
                      "there is no backup of that time or earlier in %.300s; \"parley restore "
                      "--list\" shows what there is",
                      dir);
        return pl_console_fail(api->console, NULL, &err);
    }
    *ret_path = path;
    return PL_EXIT_OK;
}
