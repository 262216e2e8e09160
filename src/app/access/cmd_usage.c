/* parley usage: shows the usage of users, keys and models. */
#include "app/frame/verbs.h"
#include "app/server/server_commands.h"
#include "app/access/user_find.h"

static const char *const groups[] = {"user", "key", "model", "provider", "day", NULL};

const char *pl_usage_group_choice(size_t i)
{
    return groups[i];
}

/* The member of an item that names its group. */
static const char *member_of(const char *group)
{
    return strcmp(group, "user") == 0 ? "user_id" : strcmp(group, "key") == 0 ? "key_id" : group;
}

static enum pl_exit print_csv(struct pl_deed *deed, const char *path)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    struct pl_http_call call = {.method = "GET"};
    enum pl_exit code = pl_api_call(&deed->api, &call, path, &reply);
    if (code == PL_EXIT_OK)
        pl_console_put(deed->console, pl_buf_str(&reply));
    return code;
}

static void add_cost(struct pl_deed *deed, struct pl_columns *columns,
                     const struct pl_json_node *row)
{
    const struct pl_json_node *cost = pl_json_get(&deed->answer, row, PL_STR("cost_usd"));
    pl_columns_add(columns, cost ? pl_json_span(&deed->answer, cost) : PL_STR("-"));
}

static enum pl_exit print_table(struct pl_deed *deed, const char *group)
{
    char title[16] = "";
    static const char *const counters[] = {"requests", "failed",       "aborted",
                                           "unpriced", "input_tokens", "output_tokens"};
    struct pl_columns columns;
    for (size_t i = 0; group[i] && i + 1 < sizeof title; i++)
        title[i] = (char)(group[i] - 'a' + 'A');
    if (!pl_deed_item(deed, NULL)) {
        pl_console_say(deed->console, "nothing was used in this time");
        return PL_EXIT_OK;
    }
    pl_deed_begin_table(deed, &columns);
    if (!columns.is_cut)
        columns.cells.ptr[0] = pl_str_of(title);
    for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
        struct pl_str name = pl_deed_text(deed, one, member_of(group));
        pl_columns_add(&columns, name.len ? name : PL_STR("-"));
        for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
            pl_columns_add(&columns, pl_deed_number(deed, one, counters[i]));
        add_cost(deed, &columns, one);
    }
    return pl_deed_print_table(deed, &columns, NULL);
}

static enum pl_exit show(struct pl_deed *deed)
{
    static const struct pl_deed_param params[] = {
        {PL_OPT_FROM, "from"}, {PL_OPT_TO, "to"}, {PL_OPT_GROUP, "group"}, {0}};
    const char *group = pl_deed_option(deed, PL_OPT_GROUP), *id = NULL;
    const char *who = pl_deed_option(deed, PL_OPT_USER);
    const char *path = pl_deed_query(deed, "/api/usage", params);
    enum pl_exit code = PL_EXIT_OK;
    PL_CLEANUP_BUF struct pl_buf whole;
    pl_buf_init(&whole, 0);
    if (pl_args_has(deed->args, PL_OPT_CSV) && deed->api.is_json)
        return pl_deed_usage(deed, "--csv and --json exclude each other");
    if (who && strcmp(who, "all") != 0)
        code = pl_user_find(&deed->api, who, &id);
    if (code != PL_EXIT_OK)
        return code;
    pl_buf_adds(&whole, path ? path : "");
    if (who)
        pl_buf_addf(&whole, "%cuser=%s", path && strchr(path, '?') ? '&' : '?', id ? id : "all");
    bool is_csv = pl_args_has(deed->args, PL_OPT_CSV);
    if (is_csv)
        pl_buf_addf(&whole, "%cformat=csv", memchr(whole.ptr, '?', whole.len) ? '&' : '?');
    pl_buf_addc(&whole, '\0');
    if (!path || whole.status != PL_OK)
        return pl_deed_stop(deed, PL_NOMEM);
    if (is_csv)
        return print_csv(deed, whole.ptr);
    code = pl_deed_ask(deed, "GET", whole.ptr);
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    return print_table(deed, group ? group : "model");
}

enum pl_exit pl_cmd_usage(struct pl_console *console, const struct pl_args *args)
{
    return pl_deed_run(console, "usage", args, show);
}
