/* GET /api/cluster, POST /api/cluster/nodes/{name}/drain: the nodes of this service, for
 * administrators.
 *
 * GET shows what this node learned at its last renewal, so it works without the database. A drain
 * request goes to the database, because the node reads it there. */
#include "access/audit.h"
#include "base/text/suggest.h"
#include "http/exchange.h"
#include "http/json_members.h"
#include "node/node.h"
#include "service/admin/cluster_json.h"
#include "service/admin/routes.h"
#include "transaction/commit.h"

static void show_cluster(struct pl_exchange *x)
{
    if (pl_cluster_write(x->shard->server, &x->arena, &x->reply) != PL_OK)
        pl_exchange_fail(x, PL_NOMEM, NULL);
    pl_exchange_finish(x);
}

/* --- ending a node --------------------------------------------------------------------------- */

static void refuse_unknown(struct pl_exchange *x, const struct pl_node_view *view)
{
    struct pl_suggest suggest = pl_suggest(x->args[0]);
    for (size_t i = 0; i < view->n_nodes; i++) {
        char *name = pl_arena_alloc(&x->arena, view->nodes[i].name.len + 1, 1);
        if (!name)
            continue;
        memcpy(name, view->nodes[i].name.ptr, view->nodes[i].name.len);
        name[view->nodes[i].name.len] = 0;
        pl_suggest_offer(&suggest, name);
    }
    int n = (int)(x->args[0].len < 80 ? x->args[0].len : 80);
    if (suggest.best)
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL,
                            "No node is named \"%.*s\"; did you mean \"%s\"?", n, x->args[0].ptr,
                            suggest.best);
    else
        pl_exchange_problem(x, PL_PROBLEM_NOT_FOUND, NULL,
                            "No node is named \"%.*s\"; GET /api/cluster lists the nodes.", n,
                            x->args[0].ptr);
}

static bool is_staying(const struct pl_node_seen *node, int64_t base_ms)
{
    return node->row.state == PL_NODE_STATE_UP && !node->wants_drain &&
           node->row.until_ms > base_ms;
}

struct draining {
    bool is_asked; /* nothing left to do */
};

static void look(struct pl_exchange *x)
{
    struct draining *draining = x->state;
    struct pl_node_view view = {0};
    struct pl_error err = {0};
    bool is_known = false, is_there = false;
    size_t n_others = 0;
    enum pl_status status = pl_store_nodes_look(x->shard->server->store, &x->arena, &view, &err);
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    for (size_t i = 0; i < view.n_nodes; i++) {
        bool is_it = pl_str_eq(view.nodes[i].name, x->args[0]);
        bool stays = is_staying(&view.nodes[i], view.base_ms);
        is_known = is_known || is_it;
        is_there = is_there || (is_it && stays);
        n_others += !is_it && stays;
    }
    draining->is_asked = is_known && !is_there;
    if (!is_known)
        refuse_unknown(x, &view);
    else if (is_there && !n_others)
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "\"%.*s\" is the only node that is up: nobody could take over its "
                            "work. Start another node first, or stop the server.",
                            PL_STR_ARG(x->args[0]));
}

static void write_answer(struct pl_exchange *x)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    pl_put_text(&out, "name", x->args[0]);
    pl_put_bool(&out, "is_draining", true);
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
}

static void looked(struct pl_exchange *x)
{
    const struct draining *draining = x->state;
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    x->status = 202;
    if (draining->is_asked) {
        write_answer(x);
        return;
    }
    struct pl_batch *batch = pl_batch_create();
    if (batch) {
        pl_batch_drain_node(batch, x->args[0]);
        pl_audit_add(x, batch, "node.drain", x->args[0], (struct pl_str){0});
    }
    pl_exchange_commit_repeatable(x, batch, write_answer);
}

static void drain_node(struct pl_exchange *x)
{
    if (!x->shard->server->node) {
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "This server is the only one that uses its store; there are nodes "
                            "with --store postgres://….");
        pl_exchange_finish(x);
        return;
    }
    x->state = pl_exchange_room(x, sizeof(struct draining));
    if (x->state)
        pl_exchange_work(x, look, looked);
}

const struct pl_route pl_routes_cluster[] = {
    {PL_METHOD_GET, "/api/cluster", PL_ROUTE_ADMIN, PL_FOR_READ, show_cluster, "cluster_get",
     "Show the nodes of this service and the bus between them", "service", NULL, "Cluster", 200,
     NULL},
    {PL_METHOD_POST, "/api/cluster/nodes/{name}/drain", PL_ROUTE_ADMIN, PL_FOR_ALL, drain_node,
     "cluster_drain", "Ask a node to finish its work and end", "service", NULL, "ClusterDrain", 202,
     NULL},
    {0},
};
