/* Writes each list of the user to DIR/NAME.json. If a route has more of an item than the list, each
 * item gets a file too: DIR/sessions/ID.json. */
#include "app/access/user_export.h"

#include "io/file/file_tree.h"
#include "io/file/outfile.h"
#include "io/system/machine.h"

static const struct {
    const char *name, *path; /* of the list */
    const char *each;        /* path of an item, '%' is its id; NULL: the list is complete */
    const char *ending;      /* file name ending of an item */
} lists[] = {
    {"sessions", "/api/sessions?limit=100", "/api/sessions/%/export?format=turns", ".json"},
    {"prompts", "/api/prompts?limit=100", "/api/prompts/%/versions?limit=100", ".json"},
    {"memories", "/api/memories?limit=100", NULL, NULL},
    {"tasks", "/api/scheduled-tasks?limit=100", "/api/scheduled-tasks/%/runs?limit=100", ".json"},
    {"blobs", "/api/blobs?limit=100", "/api/blobs/%", ""},
    {"keys", "/api/user/api-keys?limit=100", NULL, NULL},
    {"usage", "/api/usage?group=day", NULL, NULL},
};

enum { MAX_ITEM = 512 << 20 };

static enum pl_exit put_file(struct pl_deed *deed, struct pl_str bytes, const char *dir,
                             const char *name, const char *rest)
{
    PL_CLEANUP_BUF struct pl_buf path;
    struct pl_error err = {0};
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/%s%s", dir, name, rest);
    pl_buf_addc(&path, '\0');
    if (path.status != PL_OK)
        return pl_deed_stop(deed, PL_NOMEM);
    enum pl_status status = pl_path_make_parents(path.ptr, &err);
    if (status == PL_OK)
        status = pl_file_write(path.ptr, bytes, &err);
    return status == PL_OK ? PL_EXIT_OK : pl_console_fail(deed->console, path.ptr, &err);
}

static enum pl_exit export_item(struct pl_deed *deed, size_t i, struct pl_str id, const char *dir)
{
    PL_CLEANUP_BUF struct pl_buf reply, rest;
    pl_buf_init(&reply, 0);
    pl_buf_init(&rest, 0);
    struct pl_http_call call = {.method = "GET", .max_bytes = MAX_ITEM};
    const char *word = pl_deed_keep(deed, id);
    const char *path = word ? pl_api_path(&deed->api, lists[i].each, word, NULL) : NULL;
    pl_buf_addf(&rest, "/%s%s", word ? word : "", lists[i].ending);
    pl_buf_addc(&rest, '\0');
    if (!path || rest.status != PL_OK)
        return pl_deed_stop(deed, PL_NOMEM);
    enum pl_exit code = pl_api_call(&deed->api, &call, path, &reply);
    return code == PL_EXIT_OK ? put_file(deed, pl_buf_str(&reply), dir, lists[i].name, rest.ptr)
                              : code;
}

static enum pl_exit export_list(struct pl_deed *deed, size_t i, const char *dir)
{
    PL_CLEANUP_BUF struct pl_buf all;
    enum pl_exit code = PL_EXIT_OK;
    pl_buf_init(&all, 0);
    pl_buf_addc(&all, '[');
    for (const char *path = lists[i].path; path && code == PL_EXIT_OK;) {
        code = pl_deed_ask(deed, "GET", path);
        struct pl_json_doc page = deed->answer;
        const char *next = code == PL_EXIT_OK ? pl_deed_next_page(deed, lists[i].path) : NULL;
        for (const struct pl_json_node *one = NULL;
             code == PL_EXIT_OK && (one = pl_deed_item(deed, one));) {
            pl_buf_adds(&all, all.len > 1 ? ",\n" : "\n");
            pl_json_write_min(&all, &page, one);
            if (lists[i].each)
                code = export_item(deed, i, pl_deed_text(deed, one, "id"), dir);
        }
        path = next;
    }
    pl_buf_adds(&all, "\n]\n");
    if (code == PL_EXIT_OK && all.status != PL_OK)
        code = pl_deed_stop(deed, all.status);
    return code == PL_EXIT_OK ? put_file(deed, pl_buf_str(&all), dir, lists[i].name, ".json")
                              : code;
}

enum pl_exit pl_user_export(struct pl_deed *deed, const char *user_id, const char *dir)
{
    const char *own = deed->api.key;
    if (pl_path_look(dir).is_there)
        return pl_deed_usage(deed, "%s exists already; name a new directory", dir);
    const char *keys = pl_api_path(&deed->api, "/api/users/%/api-keys", user_id, NULL);
    pl_buf_adds(&deed->body, "{\"name\":\"export\",\"scope\":\"read\"}");
    enum pl_exit code = pl_deed_ask(deed, "POST", keys);
    if (code != PL_EXIT_OK)
        return code;
    const char *key = pl_deed_keep(deed, pl_deed_text(deed, deed->answer.root, "plaintext"));
    const char *id = pl_deed_keep(deed, pl_deed_text(deed, deed->answer.root, "id"));
    const char *path =
        key && id ? pl_api_path(&deed->api, "/api/users/%/api-keys/%", user_id, id, NULL) : NULL;
    if (!path)
        return pl_deed_stop(deed, PL_NOMEM);
    deed->api.key = key;
    for (size_t i = 0; i < sizeof lists / sizeof *lists && code == PL_EXIT_OK; i++)
        code = export_list(deed, i, dir);
    deed->api.key = own;
    enum pl_exit revoked = pl_deed_ask(deed, "DELETE", path);
    return code == PL_EXIT_OK ? revoked : code;
}
