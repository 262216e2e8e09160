/* Extensions, for administrators: what was added, what it may do, and changes of both. */
#include "access/audit.h"
#include "ext/package/tree.h"
#include "ext/run/ext.h"
#include "http/json_members.h"
#include "io/clock.h"
#include "json/text.h"
#include "service/extensions/extension_add.h"
#include "service/extensions/extension_json.h"
#include "service/extensions/routes.h"
#include "service/request_options.h"
#include "store/node/packages.h"
#include "transaction/change.h"

/* --- looking --------------------------------------------------------------------------------- */

static void list_work(struct pl_exchange *x)
{
    struct pl_store *store = x->shard->server->store;
    struct pl_page_args args;
    struct pl_extension_row *rows;
    size_t n_rows = 0;
    struct pl_error err = {0};
    if (!pl_exchange_counted_args(x, &args))
        return;
    enum pl_status status = pl_store_extension_list(store, &x->arena, &rows, &n_rows, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    size_t first = (uint64_t)args.offset < n_rows ? (size_t)args.offset : n_rows;
    size_t n = n_rows - first < args.limit ? n_rows - first : args.limit;
    struct pl_json_out out = pl_exchange_list_begin(x);
    struct pl_list_walk walk = {n, first + n < n_rows, 0};
    while (pl_list_walk_next(&walk, x))
        pl_extension_write(&out, x, &rows[first + walk.n - 1], NULL, 1);
    pl_exchange_counted_end(x, &args, (int64_t)n_rows, &walk);
}

static void list_extensions(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

static void get_work(struct pl_exchange *x)
{
    pl_extension_tell(x, x->args[0]);
}

static void get_extension(struct pl_exchange *x)
{
    pl_exchange_work(x, get_work, NULL);
}

/* --- changing -------------------------------------------------------------------------------- */

static bool read_member(struct pl_exchange *x, const char *name, struct pl_str *to)
{
    struct pl_str text = pl_body_text(x, name);
    if (text.ptr)
        *to = text;
    return true;
}

static bool read_capabilities(struct pl_exchange *x, const char *name, struct pl_str *to)
{
    struct pl_str lines;
    if (!pl_extension_body_capabilities(x, name, &lines))
        return false;
    if (lines.ptr)
        *to = lines;
    return true;
}

/* Accepts changed tools in the form that the person saw. */
static bool accept_tools(struct pl_exchange *x, struct pl_batch *batch)
{
    const struct pl_json_node *list =
        pl_json_member(&x->body, x->body.root, "accept_tools", PL_JSON_ARRAY);
    for (const struct pl_json_node *n = list ? pl_json_first(list) : NULL;
         n && n < pl_json_end(list); n = pl_json_next(n)) {
        struct pl_str name, hash;
        if (pl_member_text(&x->arena, &x->body, n, "name", &name) != PL_OK ||
            pl_member_text(&x->arena, &x->body, n, "hash", &hash) != PL_OK) {
            pl_exchange_fail(x, PL_NOMEM, NULL);
            return false;
        }
        pl_batch_accept_extension_tool(batch, x->args[0], name, hash);
    }
    return true;
}

static void patch_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_extension_row row;
    (void)ctx;
    if (!pl_extension_find(x, &row) || !pl_exchange_if_match(x, row.revision) ||
        !read_member(x, "profile", &row.profile) || !read_member(x, "state", &row.state) ||
        !read_capabilities(x, "grant", &row.granted) ||
        !read_capabilities(x, "deny", &row.denied) || !accept_tools(x, batch))
        return;
    row.updated_ms = pl_clock_unix_ms();
    if (pl_body_text(x, "state").ptr) {
        row.last_error = (struct pl_str){0};
        pl_batch_forget_extension_quarantines(batch, row.id);
    }
    /* A running instance still knows the answers. */
    if (pl_body_bool(x, "forget_answers", false)) {
        pl_batch_forget_extension_answers(batch, row.id, (struct pl_str){0});
        pl_batch_restart_extension(batch, row.id);
    }
    pl_batch_update_extension(batch, &row);
    pl_audit_add(x, batch, "extension.change", row.id, x->body_text);
}

static void patch_tell(struct pl_exchange *x, void *ctx)
{
    (void)ctx;
    pl_extension_reload(x);
    pl_extension_tell(x, x->args[0]);
}

static void patch_extension(struct pl_exchange *x)
{
    pl_exchange_change(x, patch_plan, patch_tell, NULL);
}

static void delete_plan(struct pl_exchange *x, struct pl_batch *batch, void *ctx)
{
    struct pl_extension_row row;
    (void)ctx;
    if (!pl_extension_find(x, &row))
        return;
    x->status = 204;
    pl_batch_delete_extension(batch, row.id);
    pl_batch_sweep_packages(batch, pl_clock_unix_ms());
    pl_audit_add(x, batch, "extension.remove", row.id, PL_STR(""));
}

/* Running instances keep their open files. */
static void delete_tell(struct pl_exchange *x, void *ctx)
{
    (void)ctx;
    pl_extension_reload(x);
    pl_ext_tree_sweep(x->setup->config.data_dir, x->args[0], NULL);
}

static void delete_extension(struct pl_exchange *x)
{
    pl_exchange_change(x, delete_plan, delete_tell, NULL);
}

static const struct pl_route_param list_params[] = {PL_PARAMS_OF_PAGE, {0}};

const struct pl_route pl_routes_extensions[] = {
    {PL_METHOD_GET, "/api/extensions", PL_ROUTE_ADMIN, PL_FOR_READ, list_extensions,
     "extension_list", "List the extensions, in the order of loading", "extensions", NULL,
     "ExtensionList", 200, list_params},
    {PL_METHOD_POST, "/api/extensions", PL_ROUTE_ADMIN | PL_ROUTE_LARGE | PL_ROUTE_STORED,
     PL_FOR_ALL, pl_extension_add, "extension_add",
     "Add an extension, or replace it by another version", "extensions", "ExtensionAdd",
     "Extension", 201, NULL, .tells = "extension:updated"},
    {PL_METHOD_GET, "/api/extensions/connect", PL_ROUTE_ANY_REPLY, PL_FOR_EXTENSION, pl_ext_connect,
     "extension_connect",
     "The WebSocket (subprotocol pi.ext.v1) of an extension that runs elsewhere, with a key that "
     "is "
     "bound to it",
     "extensions", NULL, NULL, 101, NULL},
    {PL_METHOD_GET, "/api/extensions/{id}", PL_ROUTE_ADMIN, PL_FOR_READ, get_extension,
     "extension_get", "Get an extension: what it may do, its tools, its state", "extensions", NULL,
     "Extension", 200, NULL},
    {PL_METHOD_PATCH, "/api/extensions/{id}", PL_ROUTE_ADMIN, PL_FOR_ALL, patch_extension,
     "extension_update",
     "Change profile, granted and denied capabilities or state; accept changed tools", "extensions",
     "ExtensionUpdate", "Extension", 200, NULL, .tells = "extension:updated"},
    {PL_METHOD_DELETE, "/api/extensions/{id}", PL_ROUTE_ADMIN, PL_FOR_ALL, delete_extension,
     "extension_remove", "Remove an extension, its files and its stored answers", "extensions",
     NULL, NULL, 204, NULL, .tells = "extension:deleted"},
    {0},
};
