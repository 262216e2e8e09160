#include "app/server/user_find.h"

enum pl_exit pl_user_find(struct pl_api *api, const char *who, const char **ret_id)
{
    struct pl_json_doc doc = {0};
    struct pl_error err = {0};
    *ret_id = who;
    if (strncmp(who, "user_", 5) == 0)
        return PL_EXIT_OK;
    const char *path = pl_api_path(api, "/api/users?name=%", who, NULL);
    enum pl_exit code = path ? pl_api_ask(api, "GET", path, (struct pl_str){0}, &doc)
                             : pl_api_fail(api, PL_NOMEM, &err);
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_json_node *items = pl_json_member(&doc, doc.root, "items", PL_JSON_ARRAY);
    size_t n = items ? pl_json_count(items) : 0;
    if (n != 1) {
        (void)pl_fail(&err, PL_INVALID,
                      n ? "there are %zu users named \"%s\"; give the id of one (\"parley user "
                          "list\" shows it)"
                        : "there are %zu users named \"%s\"; \"parley user list\" lists them",
                      n, who);
        return pl_api_fail(api, PL_INVALID, &err);
    }
    struct pl_str id = pl_api_text(&api->texts, &doc, pl_json_first(items), "id");
    struct pl_str kept = pl_arena_dup(&api->texts.arena, id);
    if (!kept.ptr)
        return pl_api_fail(api, PL_NOMEM, &err);
    *ret_id = kept.ptr;
    return PL_EXIT_OK;
}
