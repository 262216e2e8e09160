/* Runs this program again, as `parley serve` on the same data directory: storage, recovery and
 * locking stay the server's work. */
#include "app/frame/embedded.h"

#include "io/file/file_tree.h"

#include <unistd.h>

static enum pl_status join(struct pl_embedded *embedded, struct pl_api *api, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/" PL_EMBEDDED_USERS, api->config.data_dir);
    pl_buf_addc(&path, '\0');
    enum pl_status status = path.status;
    if (status == PL_OK)
        status = pl_path_make_parents(path.ptr, err);
    if (status == PL_OK)
        status = pl_users_join(&embedded->users, path.ptr, err);
    return status;
}

static enum pl_exit start(struct pl_embedded *embedded, struct pl_api *api)
{
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    const char *const argv[] = {"/proc/self/exe", "serve",     "--data", api->config.data_dir,
                                "--host",         "127.0.0.1", "--port", "0",
                                "--log-level",    "error",     NULL};
    static const char *const env[] = {"PARLEY_SCHEDULES=false", "PARLEY_UNTIL_UNUSED=true", NULL};
    enum pl_status status = pl_companion_start(&embedded->server, argv, env, &said, &err);
    if (status == PL_OK)
        return PL_EXIT_OK;
    if (status != PL_NOT_FOUND)
        return pl_console_fail(api->console, NULL, &err);
    (void)!write(STDERR_FILENO, said.ptr, said.len); /* the server's own error message */
    pl_console_hint(api->console,
                    "No server is running with the data in %s, and none could be started.",
                    api->config.data_dir);
    return PL_EXIT_FAILED;
}

enum pl_exit pl_embedded_open(struct pl_embedded *embedded, struct pl_api *api)
{
    struct pl_error err = {0};
    bool is_running = false;
    *embedded = (struct pl_embedded)PL_EMBEDDED_NONE;
    if (!api->is_local)
        return PL_EXIT_OK;
    /* A server may run on a data directory in which this user cannot create files. */
    enum pl_status joining = join(embedded, api, &err);
    enum pl_status looking = pl_api_is_running(api, &is_running, joining == PL_OK ? &err : NULL);
    if (joining == PL_NOMEM || (!is_running && (joining != PL_OK || looking != PL_OK)))
        return pl_console_fail(api->console, NULL, &err);
    enum pl_exit code = is_running ? PL_EXIT_OK : start(embedded, api);
    pl_users_begun(&embedded->users);
    return code;
}

void pl_embedded_close(struct pl_embedded *embedded)
{
    if (embedded->server.pid && pl_users_are_gone(&embedded->users))
        pl_companion_end(&embedded->server);
    else
        pl_companion_leave(&embedded->server);
    pl_users_leave(&embedded->users);
}
