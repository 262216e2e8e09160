/* parley cluster: lists the nodes of a service, and drains one. */
#include "app/frame/verbs.h"
#include "app/server/server_commands.h"

#include <stdio.h>

static struct pl_str or_none(struct pl_str text)
{
    return text.len ? text : PL_STR("-");
}

/* "2.7 s"; a single server has no lease. */
static struct pl_str lease_of(struct pl_deed *deed, const struct pl_json_node *node)
{
    char text[32];
    int64_t ms = pl_api_int(&deed->answer, node, "lease_ms_left", -1);
    if (ms < 0)
        return PL_STR("-");
    snprintf(text, sizeof text, "%.1f s", (double)ms / 1000);
    return or_none(pl_arena_dup(&deed->api.texts.arena, pl_str_of(text)));
}

static enum pl_exit run_list(struct pl_deed *deed)
{
    struct pl_columns columns;
    enum pl_exit code = pl_deed_ask(deed, "GET", "/api/cluster");
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    const struct pl_json_node *root = deed->answer.root;
    const struct pl_json_node *nodes = pl_json_member(&deed->answer, root, "nodes", PL_JSON_ARRAY);
    const struct pl_json_node *bus = pl_json_member(&deed->answer, root, "bus", PL_JSON_OBJECT);
    if (!nodes || !bus)
        return pl_api_fail(&deed->api, PL_IO,
                           &(struct pl_error){.message = "the answer has no nodes"});
    pl_deed_begin_table(deed, &columns);
    for (const struct pl_json_node *one = pl_json_first(nodes); one < pl_json_end(nodes);
         one = pl_json_next(one)) {
        pl_columns_add(&columns, or_none(pl_deed_text(deed, one, "name")));
        pl_columns_add(&columns, or_none(pl_deed_text(deed, one, "state")));
        pl_columns_add(&columns, or_none(pl_deed_text(deed, one, "version")));
        pl_columns_add(&columns, lease_of(deed, one));
        pl_columns_add(&columns, pl_deed_number(deed, one, "sessions"));
        pl_columns_add(&columns, pl_deed_number(deed, one, "running"));
        pl_columns_add(&columns, pl_deed_number(deed, one, "sockets"));
        pl_columns_add(&columns, or_none(pl_deed_text(deed, one, "address")));
    }
    code = pl_deed_print_table(deed, &columns, NULL);
    if (code == PL_EXIT_OK)
        pl_console_hint(deed->console, "The bus between the nodes is %.*s: %.*s.",
                        PL_STR_ARG(pl_deed_text(deed, bus, "kind")),
                        PL_STR_ARG(pl_deed_text(deed, bus, "state")));
    return code;
}

static enum pl_exit run_drain(struct pl_deed *deed)
{
    const char *path = pl_api_path(&deed->api, "/api/cluster/nodes/%/drain", deed->words[0], NULL);
    if (!path)
        return pl_deed_stop(deed, PL_NOMEM);
    enum pl_exit code = pl_deed_ask(deed, "POST", path);
    if (code != PL_EXIT_OK || deed->api.is_json)
        return code == PL_EXIT_OK ? pl_deed_print(deed) : code;
    return pl_deed_done(deed, "%s finishes its work and ends", deed->words[0]);
}

const struct pl_verb pl_cluster_verbs[] = {
    {"list", "", 0, 0, "List the nodes; also without an action", run_list, .is_default = true,
     .columns = "name,state,version,lease,sessions,running,sockets,address"},
    {"drain", "NAME", 1, 1, "Let a node finish its work and end, as after SIGTERM", run_drain},
    {0},
};

const struct pl_option pl_cluster_options[] = {
    PL_OPTIONS_TABLE("list", "name,state"),
    PL_OPTION_DATA,
    PL_OPTION_SERVER,
    PL_OPTION_JSON,
    PL_OPTIONS_SHARED,
    {0},
};

const char *const pl_cluster_paragraphs[] = {
    "Servers that share a store in PostgreSQL are the nodes of a cluster; any node serves any "
    "session. The list comes from the node that answers. For each node it shows the state, how "
    "long the lease still lasts, the sessions, the running turns and the open sockets. A server "
    "with another store is a single node without a lease. Needs an administrator.",
    "drain asks a node to end, from any machine. The node is no longer ready, gives its quiet "
    "sessions to "
    "the others, finishes running turns within --drain, closes its sockets one after the other and "
    "exits with "
    "0. Its clients connect to another node. The last node that is up cannot be drained.",
    PL_TEXT_SERVER,
    NULL,
};

const struct pl_example pl_cluster_examples[] = {
    {"cluster", "Which nodes are up"},
    {"cluster --json", "The same, for a script"},
    {"cluster drain n2", "Let n2 end, for example before its machine is restarted"},
    {NULL, NULL},
};
