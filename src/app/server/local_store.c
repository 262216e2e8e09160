#include "app/server/local_store.h"

#include "io/system/machine.h"
#include "io/file/file_tree.h"

#include <errno.h>
#include <sys/stat.h>

const char *pl_local_store_url(struct pl_api *api)
{
    if (api->config.store_url)
        return api->config.store_url;
    PL_CLEANUP_BUF struct pl_buf url;
    pl_buf_init(&url, 0);
    pl_buf_addf(&url, "sqlite:%s/parley.db", api->config.data_dir);
    pl_buf_addc(&url, '\0');
    return url.status == PL_OK ? pl_arena_dup(&api->texts.arena, pl_buf_str(&url)).ptr : NULL;
}

const char *pl_local_store_path(const char *url)
{
    static const char scheme[] = "sqlite:";
    return strncmp(url, scheme, sizeof scheme - 1) == 0 ? url + sizeof scheme - 1 : NULL;
}

enum pl_status pl_local_store_make_dir(struct pl_api *api, const char *path, struct pl_error *err)
{
    const char *dir = api->config.data_dir;
    if (pl_path_is_directory(dir))
        return PL_OK;
    enum pl_status status = pl_path_make_parents(path, err);
    /* Private to its owner. */
    if (status == PL_OK && pl_path_is_directory(dir) && chmod(dir, 0700) != 0)
        return pl_fail(err, PL_IO, "the permissions of %s cannot be set: %s", dir, strerror(errno));
    return status;
}

enum pl_status pl_local_store_open(struct pl_api *api, bool makes_it, struct pl_store **ret_store,
                                   struct pl_error *err)
{
    const char *url = pl_local_store_url(api);
    const char *path = url ? pl_local_store_path(url) : NULL;
    enum pl_status status = PL_OK;
    if (!url)
        return pl_fail(err, PL_NOMEM, "out of memory");
    if (path && makes_it)
        status = pl_local_store_make_dir(api, path, err);
    else if (path && !pl_path_look(path).is_there)
        status = pl_fail(err, PL_UNREADABLE,
                         "there is no store %s; check the data directory (--data DIR)", path);
    if (status != PL_OK)
        return status;
    struct pl_store_config config = {
        .url = url,
        .n_readers = 1,
        .password = api->config.store_password,
        .answer_ms = api->config.store_answer_ms,
        .away_ms = api->config.store_away_ms,
    };
    return pl_store_open(&config, ret_store, err);
}

enum pl_exit pl_local_store_is_free(struct pl_api *api, bool *ret_is_free)
{
    struct pl_error err = {0};
    bool is_running = false;
    enum pl_status status = api->is_local ? pl_api_is_running(api, &is_running, &err) : PL_OK;
    if (status != PL_OK)
        return pl_api_fail(api, status, &err);
    *ret_is_free = api->is_local && !is_running;
    return PL_EXIT_OK;
}
