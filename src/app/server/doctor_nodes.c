/* parley doctor for a cluster. The database knows the nodes and their leases; only a running node
 * knows whether the bus works, and what is on its disk. */
#include "app/server/doctor_int.h"

#include "app/server/local_store.h"
#include "bus/bus.h"
#include "store/node/node_line.h"

static bool has_nodes(const struct pl_exam *exam)
{
    const char *url = exam->api.config.store_url;
    return url && strncmp(url, "postgres", sizeof "postgres" - 1) == 0;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void find_node(struct pl_exam *exam, const struct pl_node_view *view,
                      const struct pl_node_seen *node)
{
    bool ends = node->wants_drain || node->row.state == PL_NODE_STATE_DRAINING;
    double left_s = (double)(node->row.until_ms - view->base_ms) / 1000;
    double silent_s = (double)(view->base_ms - node->row.renewed_ms) / 1000;
    if (left_s <= 0)
        pl_doctor_find(exam, PL_EXAM_WARNING,
                       "look whether it runs, and read its log; another node that is up takes over "
                       "its sessions",
                       "the lease of node %.*s has run out: it was renewed %.1f s ago",
                       PL_STR_ARG(node->name), silent_s);
    else if (ends)
        pl_doctor_find(exam, PL_EXAM_FINE, NULL,
                       "node %.*s is draining, version %.*s; its lease lasts %.1f s more",
                       PL_STR_ARG(node->name), PL_STR_ARG(node->build), left_s);
    else
        pl_doctor_find(exam, PL_EXAM_FINE, NULL,
                       "node %.*s is up, version %.*s; its lease lasts %.1f s more",
                       PL_STR_ARG(node->name), PL_STR_ARG(node->build), left_s);
}

/* Reports each pair once: the names are sorted, so equal ones are adjacent. */
static void compare_nodes(struct pl_exam *exam, const struct pl_node_view *view)
{
    bool is_mixed = false;
    for (size_t i = 1; i < view->n_nodes; i++) {
        const struct pl_node_seen *node = &view->nodes[i];
        is_mixed |= !pl_str_eq(node->build, view->nodes[0].build);
        if (pl_str_eq(node->name, view->nodes[i - 1].name))
            pl_doctor_find(exam, PL_EXAM_WARNING,
                           "give each its own name (--node), unless one has just been replaced",
                           "two nodes have the name %.*s", PL_STR_ARG(node->name));
    }
    if (is_mixed)
        pl_doctor_find(exam, PL_EXAM_WARNING,
                       "finish the upgrade: end and start one node after the other",
                       "the nodes have different versions");
}

void pl_doctor_nodes(struct pl_exam *exam)
{
    struct pl_error err = {0};
    struct pl_node_view view = {0};
    if (!has_nodes(exam))
        return;
    enum pl_status status = pl_local_store_open(&exam->api, false, &exam->store, &err);
    if (status == PL_OK)
        status = pl_store_nodes(exam->store, &exam->api.texts.arena, &view, &err);
    if (status != PL_OK) {
        pl_doctor_find(exam, PL_EXAM_PROBLEM, "check the address of the database (--store)",
                       "the nodes cannot be read: %s", err.message);
        return;
    }
    if (!view.n_nodes)
        pl_doctor_find(exam, PL_EXAM_FINE, NULL, "no node is up");
    for (size_t i = 0; i < view.n_nodes; i++)
        find_node(exam, &view, &view.nodes[i]);
    compare_nodes(exam, &view);
}

void pl_doctor_standbys(struct pl_exam *exam)
{
    struct pl_error err = {0};
    struct pl_standbys standbys = {0};
    if (!exam->store)
        return;
    if (pl_store_standbys(exam->store, &standbys, &err) != PL_OK)
        pl_doctor_find(exam, PL_EXAM_WARNING, NULL, "the standbys cannot be counted: %s",
                       err.message);
    else if (!standbys.n)
        pl_doctor_find(
            exam, PL_EXAM_FINE, NULL,
            "the database has no standby; if its disk is lost, a backup is all there is");
    else if (!standbys.are_waited_for)
        pl_doctor_find(exam, PL_EXAM_WARNING,
                       "set synchronous_standby_names, so that a failover loses nothing that was "
                       "acknowledged",
                       "the database has %lld standbys, and a change waits for none of them",
                       (long long)standbys.n);
    else
        pl_doctor_find(exam, PL_EXAM_FINE, NULL,
                       "the database has %lld standbys, and a change waits for them as "
                       "synchronous_standby_names says",
                       (long long)standbys.n);
}

/* --- questions to a running node -------------------------------------------------------------- */

/* False if there is no answer; check_store has reported why. */
static bool ask(struct pl_exam *exam, const char *path, struct pl_json_doc *ret_doc)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    struct pl_http_call call = {.method = "GET"};
    struct pl_arena *arena = &exam->api.texts.arena;
    int status = 0;
    pl_buf_init(&reply, 0);
    if (!exam->is_running || pl_api_try(&exam->api, &call, path, &status, &reply, NULL) != PL_OK ||
        status != 200)
        return false;
    struct pl_str text = pl_arena_dup(arena, pl_buf_str(&reply));
    return text.ptr && pl_json_parse(arena, text, NULL, ret_doc, NULL) == PL_OK;
}

static void find_bus(struct pl_exam *exam, struct pl_str kind, struct pl_str state)
{
    if (pl_str_eq(state, pl_str_of(pl_bus_state_text(PL_BUS_UP))))
        pl_doctor_find(exam, PL_EXAM_FINE, NULL, "messages between the nodes go through %.*s",
                       PL_STR_ARG(kind));
    else if (pl_str_eq(state, pl_str_of(pl_bus_state_text(PL_BUS_DEGRADED))))
        pl_doctor_find(exam, PL_EXAM_WARNING,
                       "look whether NATS runs, and check its address and credentials (--bus)",
                       "NATS does not answer; messages between the nodes go through the database, "
                       "which is slower");
    else
        pl_doctor_find(exam, PL_EXAM_PROBLEM, "look whether PostgreSQL runs, and read the log",
                       "messages between the nodes do not arrive");
}

void pl_doctor_bus(struct pl_exam *exam)
{
    struct pl_json_doc doc;
    if (!has_nodes(exam))
        return;
    const struct pl_json_node *bus = ask(exam, "/api/cluster", &doc)
                                         ? pl_json_member(&doc, doc.root, "bus", PL_JSON_OBJECT)
                                         : NULL;
    if (bus)
        find_bus(exam, pl_api_text(&exam->api.texts, &doc, bus, "kind"),
                 pl_api_text(&exam->api.texts, &doc, bus, "state"));
    else
        pl_doctor_find(exam, PL_EXAM_FINE, NULL,
                       "messages between the nodes go through %s; only a running node can tell "
                       "whether that works",
                       exam->api.config.bus_url ? "nats" : "pg");
}

void pl_doctor_extensions(struct pl_exam *exam)
{
    struct pl_json_doc doc;
    if (!has_nodes(exam) || !ask(exam, "/api/extensions?limit=100", &doc))
        return;
    size_t n = 0;
    const struct pl_json_node *list = pl_json_member(&doc, doc.root, "items", PL_JSON_ARRAY);
    for (const struct pl_json_node *one = list ? pl_json_first(list) : NULL;
         one && one < pl_json_end(list); one = pl_json_next(one), n++)
        if (pl_json_member(&doc, one, "is_installed", PL_JSON_FALSE))
            pl_doctor_find(exam, PL_EXAM_WARNING, "add it again with parley ext update",
                           "extension %.*s is not installed on this node",
                           PL_STR_ARG(pl_api_text(&exam->api.texts, &doc, one, "id")));
    if (n)
        pl_doctor_find(exam, PL_EXAM_FINE, NULL, "there are %zu extensions", n);
}
