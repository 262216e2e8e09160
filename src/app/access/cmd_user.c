/* parley user: adds, shows, disables, enables and removes the users of a server. */
#include "app/chat/turn_show.h"
#include "app/frame/verbs.h"
#include "app/access/key_wish.h"
#include "app/access/user_export.h"
#include "app/access/user_find.h"

#include "base/text/utf8.h"

#include <stdio.h>
#include <unistd.h>

enum { MAX_NAME = 100 };

static struct pl_str role_of(const struct pl_deed *deed, const struct pl_json_node *user)
{
    const struct pl_json_node *node = pl_json_get(&deed->answer, user, PL_STR("is_admin"));
    return node && pl_json_kind(node) == PL_JSON_TRUE ? PL_STR("admin") : PL_STR("member");
}

static struct pl_str state_of(const struct pl_deed *deed, const struct pl_json_node *user)
{
    const struct pl_json_node *node = pl_json_get(&deed->answer, user, PL_STR("is_disabled"));
    return node && pl_json_kind(node) == PL_JSON_TRUE ? PL_STR("disabled") : PL_STR("active");
}

static enum pl_exit run_add(struct pl_deed *deed)
{
    size_t n = pl_utf8_count(pl_str_of(deed->words[0]));
    if (!n || n > MAX_NAME)
        return pl_deed_usage(deed, "the name of a user has 1 to 100 characters");
    enum pl_exit code = pl_user_expect_none(&deed->api, deed->words[0]);
    if (code != PL_EXIT_OK)
        return code;
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "name");
    pl_json_out_text(&deed->out, pl_str_of(deed->words[0]));
    pl_json_out_key(&deed->out, "is_admin");
    pl_json_out_bool(&deed->out, pl_args_has(deed->args, PL_OPT_ADMIN));
    pl_json_out_close(&deed->out, '}');
    code = pl_deed_ask(deed, "POST", "/api/users");
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    const struct pl_json_node *key =
        pl_json_member(&deed->answer, deed->answer.root, "key", PL_JSON_OBJECT);
    pl_console_put_safe(deed->console, pl_deed_text(deed, deed->answer.root, "id"));
    pl_console_puts(deed->console, "\n");
    pl_console_put_safe(deed->console, pl_deed_text(deed, key, "plaintext"));
    pl_console_puts(deed->console, "\n");
    pl_console_hint(deed->console, "The second line is the user's first key. Store it now: it "
                                   "cannot be shown again.");
    return PL_EXIT_OK;
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    struct pl_texts *texts = &deed->api.texts;
    struct pl_columns columns;
    enum pl_exit code = pl_deed_ask(deed, "GET", "/api/users?limit=100");
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        pl_columns_add(&columns, pl_deed_text(deed, one, "id"));
        pl_columns_add(&columns, role_of(deed, one));
        pl_columns_add(&columns, state_of(deed, one));
        pl_columns_add(&columns, pl_time_of(texts, pl_deed_text(deed, one, "created_at")));
        pl_columns_add(&columns, pl_line_of(texts, pl_deed_text(deed, one, "name"), MAX_NAME));
    }
    return pl_deed_print_table(deed, &columns, "show NAME finds any.");
}

/* The path of the user that the first word names. NULL after printing the error (*ret_code). */
static const char *path_of(struct pl_deed *deed, enum pl_exit *ret_code)
{
    const char *id = NULL;
    *ret_code = pl_user_find(&deed->api, deed->words[0], &id);
    const char *path =
        *ret_code == PL_EXIT_OK ? pl_api_path(&deed->api, "/api/users/%", id, NULL) : NULL;
    if (*ret_code == PL_EXIT_OK && !path)
        *ret_code = pl_deed_stop(deed, PL_NOMEM);
    return path;
}

static enum pl_exit run_show(struct pl_deed *deed)
{
    enum pl_exit code;
    const char *path = path_of(deed, &code);
    if (path)
        code = pl_deed_ask(deed, "GET", path);
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    const struct pl_json_node *user = deed->answer.root;
    pl_console_put_safe(deed->console, pl_deed_text(deed, user, "id"));
    pl_console_puts(deed->console, "\n");
    pl_show_member(deed->console, "name", pl_deed_text(deed, user, "name"));
    pl_show_member(deed->console, "role", role_of(deed, user));
    pl_show_member(deed->console, "state", state_of(deed, user));
    pl_show_member(deed->console, "created",
                   pl_time_of(&deed->api.texts, pl_deed_text(deed, user, "created_at")));
    return PL_EXIT_OK;
}

/* --- limits ---------------------------------------------------------------------------------- */

static const struct limit {
    enum pl_option_id id;
    const char *option, *member, *title;
    double most;
    bool is_whole; /* false: dollars */
} limits[] = {
    {PL_OPT_RPM, "rpm", "rpm", "calls a minute", 1e9, true},
    {PL_OPT_TPM, "tpm", "tpm", "tokens a minute", 1e12, true},
    {PL_OPT_BUDGET_DAY, "budget-day", "budget_usd_day", "dollars a day", 1e9, false},
    {PL_OPT_BUDGET_MONTH, "budget-month", "budget_usd_month", "dollars a month", 1e9, false},
    {PL_OPT_MAX_TURNS, "max-turns", "max_turns", "turns at once", 64, true},
    {PL_OPT_MAX_SESSIONS, "max-sessions", "max_sessions", "sessions", 1e9, true},
    {PL_OPT_MAX_BLOB_BYTES, "max-blob-bytes", "max_blob_bytes", "bytes of blobs", 9007199254740991,
     true},
    {PL_OPT_MAX_KEYS, "max-keys", "max_keys", "keys", 1e6, true},
    {PL_OPT_MAX_TASKS, "max-tasks", "max_tasks", "tasks", 1e6, true},
    {PL_OPT_MAX_SOCKETS, "max-sockets", "max_sockets", "sockets at once", 1e6, true},
};
enum { N_LIMITS = sizeof limits / sizeof *limits };

/* Writes the body of the change; *ret_n is the number of limits in it. */
static enum pl_exit write_limits(struct pl_deed *deed, size_t *ret_n)
{
    pl_json_out_open(&deed->out, '{');
    pl_json_out_key(&deed->out, "limits");
    pl_json_out_open(&deed->out, '{');
    for (size_t i = 0; i < N_LIMITS; i++) {
        const char *text = pl_deed_option(deed, limits[i].id);
        int64_t value;
        if (!text)
            continue;
        if (!pl_limit_read(text, limits[i].is_whole, limits[i].is_whole ? 1 : 1e6, limits[i].most,
                           &value))
            return pl_deed_usage(
                deed, "--%s %s: give a %s greater than 0, at most %.0f, or none", limits[i].option,
                text, limits[i].is_whole ? "whole number" : "number of dollars", limits[i].most);
        pl_json_out_key(&deed->out, limits[i].member);
        if (value)
            pl_json_out_raw(&deed->out, pl_str_of(text));
        else
            pl_json_out_null(&deed->out);
        ++*ret_n;
    }
    pl_json_out_close(&deed->out, '}');
    pl_json_out_close(&deed->out, '}');
    return PL_EXIT_OK;
}

static enum pl_exit print_limits(struct pl_deed *deed)
{
    const struct pl_json_node *all =
        pl_json_member(&deed->answer, deed->answer.root, "limits", PL_JSON_OBJECT);
    bool has_some = false;
    for (size_t i = 0; i < N_LIMITS; i++) {
        const struct pl_json_node *value =
            pl_json_member(&deed->answer, all, limits[i].member, PL_JSON_NUMBER);
        if (!value)
            continue;
        has_some = true;
        pl_show_member(deed->console, limits[i].title, pl_json_span(&deed->answer, value));
    }
    if (!has_some)
        pl_console_put_line(deed->console, "there are no limits");
    return PL_EXIT_OK;
}

/* Shows the limits; with options, sets only the given ones. */
static enum pl_exit run_limits(struct pl_deed *deed)
{
    size_t n = 0;
    enum pl_exit code = write_limits(deed, &n);
    const char *path = code == PL_EXIT_OK ? path_of(deed, &code) : NULL;
    if (!n)
        pl_buf_clear(&deed->body);
    if (path)
        code = pl_deed_ask(deed, n ? "PATCH" : "GET", path);
    if (code != PL_EXIT_OK)
        return code;
    return deed->api.is_json ? pl_deed_print(deed) : print_limits(deed);
}

static enum pl_exit change(struct pl_deed *deed, const char *member, bool value)
{
    enum pl_exit code;
    const char *path = path_of(deed, &code);
    if (!path)
        return code;
    pl_buf_addf(&deed->body, "{\"%s\":%s}", member, value ? "true" : "false");
    return pl_deed_ask(deed, "PATCH", path);
}

static enum pl_exit run_disable(struct pl_deed *deed)
{
    enum pl_exit code = change(deed, "is_disabled", true);
    return code == PL_EXIT_OK
               ? pl_deed_done(deed, "%s is disabled: no key works, and what ran was stopped",
                              deed->words[0])
               : code;
}

static enum pl_exit run_enable(struct pl_deed *deed)
{
    enum pl_exit code = change(deed, "is_disabled", false);
    return code == PL_EXIT_OK
               ? pl_deed_done(deed, "%s is active again, with the same keys", deed->words[0])
               : code;
}

static enum pl_exit run_role(struct pl_deed *deed)
{
    bool is_admin = strcmp(deed->words[1], "admin") == 0;
    if (!is_admin && strcmp(deed->words[1], "member") != 0)
        return pl_deed_usage(deed, "there is no role \"%s\"; use admin or member", deed->words[1]);
    enum pl_exit code = change(deed, "is_admin", is_admin);
    return code == PL_EXIT_OK
               ? pl_deed_done(deed, is_admin ? "%s is an administrator" : "%s is a member",
                              deed->words[0])
               : code;
}

static enum pl_exit run_remove(struct pl_deed *deed)
{
    const char *dir = pl_deed_option(deed, PL_OPT_EXPORT), *id = NULL;
    enum pl_exit code = pl_user_find(&deed->api, deed->words[0], &id);
    if (code == PL_EXIT_OK)
        code = pl_deed_confirm(deed,
                               "Erase the user %s with all sessions, prompts, memories, tasks, "
                               "blobs and keys? This cannot be undone.",
                               deed->words[0]);
    if (code == PL_EXIT_OK && dir)
        code = pl_user_export(deed, id, dir);
    const char *path =
        code == PL_EXIT_OK ? pl_api_path(&deed->api, "/api/users/%", id, NULL) : NULL;
    if (path)
        code = pl_deed_ask(deed, "DELETE", path);
    return code == PL_EXIT_OK
               ? pl_deed_done(deed, "removed %s and everything of the user", deed->words[0])
               : code;
}

const struct pl_verb pl_user_verbs[] = {
    {"add", "NAME", 1, 1, "Create a user, and print the id and a first key", run_add},
    {"list", "", 0, 0, "List the users", run_list, .columns = "id,role,state,created,name"},
    {"show", "USER", 1, 1, "Show a user, by name or id", run_show, .offers = "users"},
    {"role", "USER admin|member", 2, 2, "Make a user an administrator or a member", run_role,
     .offers = "users"},
    {"limits", "USER", 1, 1, "Show the user's limits, or set those that are named", run_limits,
     .offers = "users"},
    {"disable", "USER", 1, 1, "Refuse the user's keys, close the sockets and stop running work",
     run_disable, .offers = "users"},
    {"enable", "USER", 1, 1, "Accept the user's keys again", run_enable, .offers = "users"},
    {"remove", "USER", 1, 1, "Erase a user and everything of the user", run_remove,
     .offers = "users"},
    {0},
};
