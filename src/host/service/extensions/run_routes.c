/* Running extensions: their log, their state, and restarting them. */
#include "access/audit.h"
#include "ext/run/ext.h"
#include "http/json_members.h"
#include "io/clock.h"
#include "service/extensions/extension_json.h"
#include "service/extensions/routes.h"
#include "shard/log.h"
#include "transaction/change.h"

void pl_extension_reload(struct pl_exchange *x)
{
    struct pl_error err = {0};
    if (pl_ext_server_reload(x->shard->server->ext, &err) != PL_OK)
        pl_log_say(x->shard->server->log, NULL, PL_LOG_WARNING,
                   "extensions could not be read again: %s", err.message);
}

/* A user sees the lines addressed to that user; an administrator sees all. */
static void log_work(struct pl_exchange *x)
{
    struct pl_extension_row row;
    if (!pl_extension_find(x, &row))
        return;
    pl_buf_adds(&x->reply, "{\"items\":[");
    pl_ext_log_write(x->shard->server->ext, row.id,
                     x->caller.is_admin ? (struct pl_str){0} : x->caller.user_id, &x->reply);
    pl_buf_adds(&x->reply, "]}");
}

static void extension_log(struct pl_exchange *x)
{
    pl_exchange_work(x, log_work, NULL);
}

static void explain_work(struct pl_exchange *x)
{
    enum pl_status status =
        pl_ext_explain(x->shard->server->ext, x->args[0], x->caller.user_id, &x->reply);
    if (status == PL_NOT_FOUND)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL, "There is no such extension.");
    else if (status != PL_OK)
        pl_exchange_fail(x, status, NULL);
}

static void extension_explain(struct pl_exchange *x)
{
    pl_exchange_work(x, explain_work, NULL);
}

static void mine_work(struct pl_exchange *x)
{
    pl_buf_adds(&x->reply, "{\"items\":[");
    enum pl_status status =
        pl_ext_concerns_write(x->shard->server->ext, x->caller.user_id, &x->reply);
    pl_buf_adds(&x->reply, "]}");
    if (status != PL_OK)
        pl_exchange_fail(x, status, NULL);
}

static void my_extensions(struct pl_exchange *x)
{
    pl_exchange_work(x, mine_work, NULL);
}

/* Enables a quarantined extension again, for all users. */
static void restart_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_extension_row row;
    (void)ctx;
    if (!pl_extension_find(x, &row))
        return;
    if (pl_str_eq(row.state, PL_STR("quarantined")))
        pl_batch_set_extension_state(batch, row.id, PL_STR("enabled"), (struct pl_str){0},
                                     pl_clock_unix_ms());
    pl_batch_forget_extension_quarantines(batch, row.id);
    pl_batch_restart_extension(batch, row.id);
    pl_audit_add(x, batch, "extension.restart", row.id, PL_STR(""));
}

static void restart_tell(struct pl_exchange *x, void *ctx)
{
    (void)ctx;
    pl_extension_reload(x);
    pl_ext_server_restart(x->shard->server->ext, x->args[0]);
    pl_extension_tell(x, x->args[0]);
}

static void extension_restart(struct pl_exchange *x)
{
    pl_exchange_change(x, restart_plan, restart_tell, NULL);
}

const struct pl_route pl_routes_extension_runs[] = {
    {PL_METHOD_GET, "/api/extensions/{id}/log", 0, PL_FOR_SESSIONS | PL_FOR_READ, extension_log,
     "extension_log", "Get the last lines of an extension's log that concern you", "extensions",
     NULL, "ExtensionLog", 200, NULL},
    {PL_METHOD_GET, "/api/extensions/{id}/explain", 0, PL_FOR_SESSIONS | PL_FOR_READ,
     extension_explain, "extension_explain",
     "Explain what an extension may do for you, with the reasons", "extensions", NULL,
     "ExtensionExplained", 200, NULL},
    {PL_METHOD_GET, "/api/user/extensions", 0, PL_FOR_SESSIONS | PL_FOR_READ, my_extensions,
     "extension_mine", "List the extensions as they are for you: state, tools, what they may do",
     "extensions", NULL, "ExtensionsOfUser", 200, NULL},
    {PL_METHOD_POST, "/api/extensions/{id}/restart", PL_ROUTE_ADMIN, PL_FOR_ALL, extension_restart,
     "extension_restart", "Stop the instances of an extension; its next use starts it again",
     "extensions", NULL, "Extension", 200, NULL, .tells = "extension:updated"},
    {0},
};
