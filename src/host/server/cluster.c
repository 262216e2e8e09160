/* Connects a node to the rest of the server: functions that drive sessions, settle those of nodes
 * that are gone, and handle changes of the other nodes. */
#include "server/cluster.h"

#include "access/meter/meter.h"
#include "agent/auth_hear.h"
#include "agent/driver.h"
#include "ext/run/ext.h"
#include "live/hub.h"
#include "live/lists.h"
#include "io/clock.h"
#include "node/node.h"
#include "service/tasks/scheduler.h"
#include "store/node/node_line.h"
#include "store/node/shared.h"
#include "shard/bell.h"
#include "shard/setup.h"
#include "store/work.h"
#include "base/table.h"
#include "server/shutdown.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum pl_status settle(struct pl_server *server, const struct pl_node_id *gone,
                             struct pl_error *err)
{
    enum pl_status status = pl_store_task_runs_fail_of(
        server->store, gone, PL_STR("The server ended during the run."), pl_clock_unix_ms(), err);
    if (status == PL_OK && server->scheduler)
        pl_scheduler_take_up(server);
    return status;
}

static void settled(struct pl_server *server)
{
    pl_resume_queued_again(&pl_server_own(server)->requeue);
}

static void hear(struct pl_server *server, const struct pl_node_view *view,
                 const struct pl_node_id *me)
{
    struct pl_node_id ids[64];
    size_t n = 0;
    for (size_t i = 0; i < view->n_nodes && n < sizeof ids / sizeof *ids; i++)
        if (view->nodes[i].row.state == PL_NODE_STATE_UP)
            ids[n++] = view->nodes[i].writer;
    pl_auth_hear(server, view->auth_version);
    pl_ext_follow(server, view->ext_version);
    /* A draining node still calls models. */
    pl_meter_hear_nodes(server->meter, view->n_nodes);
    pl_scheduler_hear_nodes(server->scheduler, me, ids, n);
}

/* On the first shard: the same as SIGTERM. */
static void open_end(struct pl_letter *letter)
{
    struct pl_server_own *own = PL_CONTAINER_OF(letter, struct pl_server_own, node_end);
    pl_shutdown_begin(own, "parley cluster drain");
}

static void end(struct pl_server *server)
{
    struct pl_server_own *own = pl_server_own(server);
    own->node_end.open = open_end;
    pl_loop_post(server->shards[0]->loop, &own->node_end);
}

/* Until now the sender told this node nothing. */
static void met(struct pl_server *server, struct pl_str id)
{
    struct pl_node_id me = pl_node_me(server->node);
    if (pl_str_eq(id, (struct pl_str){(const char *)me.bytes, sizeof me.bytes}))
        pl_lists_say_missed_everywhere(server);
}

static void bell(struct pl_server *server, int64_t number, struct pl_str text)
{
    switch (number) {
    case PL_BELL_AUTH:
        pl_auth_hear(server, PL_AUTH_VERSION_UNKNOWN);
        break;
    case PL_BELL_USER:
        pl_hub_hear_user(server, text);
        break;
    case PL_BELL_MET:
        met(server, text);
        break;
    case PL_BELL_EXT:
        pl_ext_follow(server, PL_EXT_VERSION_UNKNOWN);
        break;
    default:
        break; /* from a newer version */
    }
}

static void ring(struct pl_server *server, enum pl_bell number, struct pl_str text)
{
    if (pl_node_has_others(server->node))
        pl_node_ring(server->node, number, text);
}

static const struct pl_node_above above = {
    .drivers = &pl_driver_owner,
    .recover = pl_drivers_recover_these,
    .settle = settle,
    .settled = settled,
    .hear = hear,
    .end = end,
    .bell = bell,
};

static void say_recovered(struct pl_server_own *own, size_t n)
{
    if (n)
        pl_log_say(own->server.log, NULL, PL_LOG_INFO,
                   "%zu sessions were running when the server ended; they are now interrupted", n);
}

/* The name is used in headers and on the command line, so other characters of a default name are
 * replaced. A configured name is valid (app/server/serve_node.c). */
static void name_node(struct pl_server *server, const char *chosen)
{
    char host[HOST_NAME_MAX + 1] = "";
    if (!chosen && gethostname(host, sizeof host - 1) != 0)
        host[0] = 0;
    const char *name = chosen ? chosen : host[0] ? host : "parley";
    snprintf(server->node_name, sizeof server->node_name, "%s", name);
    for (char *at = server->node_name; *at; at++)
        if (!pl_node_name_has(*at))
            *at = '-';
}

enum pl_status pl_cluster_enter(struct pl_server_own *own, struct pl_error *err)
{
    const struct pl_server_config *config = &own->setup->config;
    struct pl_server *server = &own->server;
    size_t n_recovered = 0;
    name_node(server, config->node_name);
    if (strcmp(pl_store_kind(server->store), "postgres") != 0) {
        enum pl_status status = pl_drivers_recover(server->store, NULL, &n_recovered, err);
        if (status == PL_OK)
            say_recovered(own, n_recovered);
        return status;
    }
    struct pl_node_config node = {
        .name = server->node_name,
        .address = config->node_address ? config->node_address : "",
        .data_dir = config->data_dir,
        .bus = {.url = config->bus_url,
                .ca = config->bus_ca,
                .cert = config->bus_cert,
                .key = config->bus_key,
                .creds = config->bus_creds},
    };
    enum pl_status status = pl_node_create(server, &node, &above, &server->node, err);
    if (status != PL_OK)
        return status;
    struct pl_node_id me = pl_node_me(server->node);
    server->session_owner = &pl_node_owner;
    server->session_home = &pl_node_home;
    server->ring = ring;
    snprintf(server->node_header, sizeof server->node_header, "X-Parley-Node: %s\r\n", node.name);
    status = pl_drivers_recover(server->store, &me, &n_recovered, err);
    if (status == PL_OK)
        say_recovered(own, n_recovered);
    return status;
}

/* A failover would lose acknowledged data. */
static void warn_of_standbys(struct pl_server *server)
{
    struct pl_standbys standbys;
    if (pl_store_standbys(server->store, &standbys, NULL) == PL_OK && standbys.n &&
        !standbys.are_waited_for)
        pl_log_say(
            server->log, NULL, PL_LOG_WARNING,
            "the database has %lld standbys and waits for none: a failover may lose what was "
            "acknowledged; set synchronous_standby_names",
            (long long)standbys.n);
}

enum pl_status pl_cluster_start(struct pl_server_own *own, struct pl_error *err)
{
    if (own->server.node)
        warn_of_standbys(&own->server);
    return own->server.node ? pl_node_start(own->server.node, err) : PL_OK;
}
