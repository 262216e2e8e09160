#include "app/access/user_find.h"

/* Requests the users of this name. */
static enum pl_exit ask(struct pl_api *api, const char *name, struct pl_json_doc *doc,
                        const struct pl_json_node **ret_items, size_t *ret_n)
{
    struct pl_error err = {0};
    const char *path = pl_api_path(api, "/api/users?name=%", name, NULL);
    enum pl_exit code = path ? pl_api_ask(api, "GET", path, (struct pl_str){0}, doc)
                             : pl_api_fail(api, PL_NOMEM, &err);
    if (code != PL_EXIT_OK)
        return code;
    *ret_items = pl_json_member(doc, doc->root, "items", PL_JSON_ARRAY);
    *ret_n = *ret_items ? pl_json_count(*ret_items) : 0;
    return PL_EXIT_OK;
}

enum pl_exit pl_user_find(struct pl_api *api, const char *who, const char **ret_id)
{
    struct pl_json_doc doc = {0};
    struct pl_error err = {0};
    const struct pl_json_node *items = NULL;
    size_t n = 0;
    *ret_id = who;
    if (strncmp(who, "user_", 5) == 0)
        return PL_EXIT_OK;
    enum pl_exit code = ask(api, who, &doc, &items, &n);
    if (code != PL_EXIT_OK)
        return code;
    if (!n)
        (void)pl_fail(&err, PL_INVALID,
                      "there is no user named \"%s\"; \"parley user list\" lists them", who);
    else if (n > 1)
        (void)pl_fail(&err, PL_INVALID,
                      "there are %zu users named \"%s\"; give the id of one (\"parley user list\" "
                      "shows it)",
                      n, who);
    if (n != 1)
        return pl_api_fail(api, PL_INVALID, &err);
    struct pl_str id = pl_api_text(&api->texts, &doc, pl_json_first(items), "id");
    struct pl_str kept = pl_arena_dup(&api->texts.arena, id);
    if (!kept.ptr)
        return pl_api_fail(api, PL_NOMEM, &err);
    *ret_id = kept.ptr;
    return PL_EXIT_OK;
}

enum pl_exit pl_user_expect_none(struct pl_api *api, const char *name)
{
    struct pl_json_doc doc = {0};
    struct pl_error err = {0};
    const struct pl_json_node *items = NULL;
    size_t n = 0;
    enum pl_exit code = ask(api, name, &doc, &items, &n);
    if (code != PL_EXIT_OK || !n)
        return code;
    (void)pl_fail(
        &err, PL_INVALID,
        "there is a user named \"%s\" already; commands find users by their names, so give "
        "another one",
        name);
    return pl_api_fail(api, PL_INVALID, &err);
}
