/* Writes what a node knows of itself and the others (node/node.h), for people and for
 * Prometheus. */
#include "service/admin/cluster_json.h"

#include "http/json_members.h"
#include "node/node.h"
#include "store/store.h"

/* --- JSON ------------------------------------------------------------------------------------ */

struct line {
    struct pl_str name, state, version, address;
    int64_t lease_left_ms; /* -1: no lease */
    struct pl_node_load load;
};

static void write_line(struct pl_json_out *out, const struct line *line)
{
    pl_json_out_open(out, '{');
    pl_put_text(out, "name", line->name);
    pl_put_text(out, "state", line->state);
    pl_put_text(out, "version", line->version);
    pl_put_text(out, "address", line->address.len ? line->address : (struct pl_str){0});
    pl_json_out_key(out, "lease_ms_left");
    if (line->lease_left_ms < 0)
        pl_json_out_null(out);
    else
        pl_json_out_int(out, line->lease_left_ms);
    pl_put_int(out, "sessions", line->load.n_sessions);
    pl_put_int(out, "running", line->load.n_running);
    pl_put_int(out, "sockets", line->load.n_sockets);
    pl_json_out_close(out, '}');
}

static void write_alone(const struct pl_server *server, struct pl_json_out *out)
{
    bool is_ending = pl_life_is_ending(&server->life);
    write_line(out, &(struct line){
                        .name = pl_str_of(server->node_name),
                        .state = is_ending ? PL_STR("draining") : PL_STR("up"),
                        .version = pl_str_of(pl_server_version),
                        .lease_left_ms = -1,
                        .load = {.n_sessions = pl_metric_sum(server, PL_METRIC_sessions_loaded),
                                 .n_running = pl_metric_sum(server, PL_METRIC_turns_running),
                                 .n_sockets = pl_metric_sum(server, PL_METRIC_sockets)},
                    });
}

/* The view is as old as the last renewal: the leases have become shorter since. */
static void write_seen(const struct pl_node_looks *looks, struct pl_json_out *out)
{
    for (size_t i = 0; i < looks->view.n_nodes; i++) {
        const struct pl_node_seen *node = &looks->view.nodes[i];
        bool is_me = pl_node_id_eq(&node->writer, &looks->me);
        int64_t left_ms = is_me ? looks->lease_left_ms
                                : node->row.until_ms - looks->view.base_ms - looks->lease_age_ms;
        bool ends = node->wants_drain && node->row.state == PL_NODE_STATE_UP;
        enum pl_node_state state = ends ? PL_NODE_STATE_DRAINING : node->row.state;
        write_line(out, &(struct line){
                            .name = node->name,
                            .state = pl_str_of(pl_node_state_text(state)),
                            .version = node->build,
                            .address = node->address,
                            .lease_left_ms = left_ms > 0 ? left_ms : 0,
                            .load = node->load,
                        });
    }
}

static void write_bus(enum pl_bus_kind kind, enum pl_bus_state state, struct pl_json_out *out)
{
    pl_json_out_key(out, "bus");
    pl_json_out_open(out, '{');
    pl_put_text(out, "kind", pl_str_of(pl_bus_kind_text(kind)));
    pl_put_text(out, "state", pl_str_of(pl_bus_state_text(state)));
    pl_json_out_close(out, '}');
}

enum pl_status pl_cluster_write(struct pl_server *server, struct pl_arena *arena, struct pl_buf *to)
{
    struct pl_node_looks looks = {.bus_kind = PL_BUS_LOCAL, .bus_state = PL_BUS_UP};
    enum pl_status status = server->node ? pl_node_look(server->node, arena, &looks) : PL_OK;
    if (status != PL_OK)
        return status;
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "nodes");
    pl_json_out_open(&out, '[');
    if (server->node)
        write_seen(&looks, &out);
    else
        write_alone(server, &out);
    pl_json_out_close(&out, ']');
    write_bus(looks.bus_kind, looks.bus_state, &out);
    pl_json_out_close(&out, '}');
    return to->status;
}

/* --- metrics --------------------------------------------------------------------------------- */

enum metric {
    LEASE_AGE,
    OWNED,
    TAKEOVERS,
    FENCED,
    FORWARDED,
    GAPS,
    DROPPED,
    BUS_UP,
    LOOP_LAG,
    REWINDS,
    N_METRICS,
};

static const struct {
    const char *name, *type, *help;
} metrics[] = {
    [LEASE_AGE] = {"node_lease_age_seconds", "gauge",
                   "Time since the last good renewal of this node's lease was sent"},
    [OWNED] = {"node_sessions_owned", "gauge", "Sessions that this node drives"},
    [TAKEOVERS] = {"node_takeovers_total", "counter",
                   "Nodes that this one took over because their lease had run out"},
    [FENCED] = {"node_fenced_total", "counter", "How often this node was taken over by another"},
    [FORWARDED] = {"node_asks_forwarded_total", "counter",
                   "Commands sent to the node that owns their session"},
    [GAPS] = {"node_link_gaps_total", "counter",
              "Gaps in the letters of another node; readers of its sessions began again"},
    [DROPPED] = {"node_letters_dropped_total", "counter",
                 "Letters that were not sent, or that came and were not accepted"},
    [BUS_UP] = {"node_bus_up", "gauge",
                "Whether the bus works as configured (1); 0: letters go by the database, or wait"},
    [LOOP_LAG] = {"node_loop_lag_seconds", "gauge",
                  "The longest time in the last 10 seconds that a loop was late"},
    [REWINDS] = {"store_rewinds_total", "counter",
                 "How often the database had less than it had acknowledged"},
};

static int64_t lag_of(const struct pl_server *server)
{
    int64_t lag_ms = 0;
    for (size_t i = 0; i < server->n_shards; i++) {
        int64_t own_ms = atomic_load_explicit(&server->shards[i]->lag_ms, memory_order_relaxed);
        lag_ms = own_ms > lag_ms ? own_ms : lag_ms;
    }
    return lag_ms;
}

void pl_cluster_metrics_write(struct pl_server *server, struct pl_buf *to)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_node_looks looks = {.bus_state = PL_BUS_UP,
                                  .n_owned =
                                      (size_t)pl_metric_sum(server, PL_METRIC_sessions_loaded)};
    if (server->node && pl_node_look(server->node, &arena, &looks) != PL_OK) {
        to->status = PL_NOMEM;
        return;
    }
    const double values[] = {
        [LEASE_AGE] = (double)looks.lease_age_ms / 1000, [OWNED] = (double)looks.n_owned,
        [TAKEOVERS] = (double)looks.counts.n_takeovers,  [FENCED] = (double)looks.counts.n_fenced,
        [FORWARDED] = (double)looks.counts.n_forwarded,  [GAPS] = (double)looks.counts.n_gaps,
        [DROPPED] = (double)looks.counts.n_dropped,      [BUS_UP] = looks.bus_state == PL_BUS_UP,
        [LOOP_LAG] = (double)lag_of(server) / 1000,      [REWINDS] = (double)looks.counts.n_rewinds,
    };
    for (int i = 0; i < N_METRICS; i++)
        pl_buf_addf(to, "# HELP parley_%s %s\n# TYPE parley_%s %s\nparley_%s %.15g\n",
                    metrics[i].name, metrics[i].help, metrics[i].name, metrics[i].type,
                    metrics[i].name, values[i]);
}
