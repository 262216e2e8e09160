/* The end, stage by stage (life.h):
 *
 *     SIGTERM ─> LAME: wait drain_accept_ms ─> CLOSING: every shard stops accepting, and says so
 *       ─> DRAINING: the sockets are closed; every shard tells its WebSockets and streams, waits
 *          for its turns up to drain_ms, shuts its sessions down, and says so
 *       ─> STOPPED: the loops stop; work in progress ends; pl_server_run closes the rest
 *
 * Clients are told to go away only when all shards have stopped accepting: a client that reconnects
 * at once then finds a closed port rather than a server that is about to disconnect it again. A
 * second signal ends the process at once. All of it runs on the first shard, except the letters. */
#include "server/shutdown.h"

#include "server/reload.h"
#include "agent/driver.h"
#include "base/mem.h"
#include "base/table.h"
#include "ext/run/ext.h"
#include "http/connection.h"
#include "io/upstream/upstream.h"
#include "live/hub.h"
#include "node/node.h"
#include "service/blobs/blob_fetch.h"
#include "shard/log.h"
#include "shard/setup.h"

#include <signal.h>
#include <unistd.h>

enum {
    DRAIN_LOOK_MS = 20,
    ACCEPT_MS = 5000,
    SPREAD_PART = 4, /* sockets are closed within this fraction of the drain */
    EXIT_SECOND_SIGNAL = 1,
};

void pl_shard_stop_listeners(struct pl_shard_own *shard)
{
    for (size_t i = 0; i < PL_MAX_SOCKETS; i++)
        pl_listener_stop(PL_TAKE(shard->listeners[i]));
}

static struct pl_shard_own *shard_of(struct pl_letter *letter)
{
    return PL_CONTAINER_OF(letter, struct pl_shard_own, ending);
}

static void tell_first(struct pl_shard_own *shard, void (*open)(struct pl_letter *letter))
{
    shard->ending.open = open;
    pl_loop_post(shard->shard.server->shards[0]->loop, &shard->ending);
}

static void tell_all(struct pl_server_own *own, void (*open)(struct pl_letter *letter))
{
    own->n_ended = 0;
    for (size_t i = 0; i < own->server.n_shards; i++) {
        struct pl_shard_own *shard = pl_shard_own(own->server.shards[i]);
        shard->ending.open = open;
        pl_loop_post(shard->shard.loop, &shard->ending);
    }
}

/* Whether this was the last shard to report. */
static bool have_all_said(struct pl_server_own *own)
{
    return ++own->n_ended == own->server.n_shards;
}

/* --- draining -------------------------------------------------------------------------------- */

static void on_drained(struct pl_letter *letter)
{
    struct pl_server_own *own = pl_server_own(shard_of(letter)->shard.server);
    if (!have_all_said(own))
        return;
    pl_life_go(&own->server.life, PL_LIFE_STOPPED);
    for (size_t i = 0; i < own->server.n_shards; i++)
        pl_loop_stop(own->server.shards[i]->loop);
}

static void on_extensions_stopped(void *ctx)
{
    tell_first(ctx, on_drained);
}

static void on_shut_down(void *ctx)
{
    struct pl_shard_own *shard = ctx;
    pl_ext_shard_stop(shard->shard.exts, on_extensions_stopped, shard);
}

static void look_at_drain(struct pl_timer *timer)
{
    struct pl_shard_own *shard = PL_CONTAINER_OF(timer, struct pl_shard_own, drain_timer);
    struct pl_loop *loop = shard->shard.loop;
    bool is_quiet = pl_drivers_n_running(shard->shard.drivers) == 0 &&
                    pl_exchange_pool_n_busy(shard->shard.exchanges) == 0 &&
                    pl_hub_n_sockets(shard->shard.hub) == 0;
    if (is_quiet || pl_loop_now_ms(loop) >= shard->drain_until_ms)
        pl_drivers_shut_down(shard->shard.drivers, on_shut_down, shard);
    else
        pl_timer_start(loop, timer, DRAIN_LOOK_MS, look_at_drain);
}

static void drain(struct pl_letter *letter)
{
    struct pl_shard_own *shard = shard_of(letter);
    for (struct pl_http_conn *conn = shard->shard.conns, *next; conn; conn = next) {
        next = conn->next;
        pl_http_conn_retire(conn);
    }
    int64_t drain_ms = shard->shard.setup->config.drain_ms;
    /* Clients that have no other node to reconnect to need not be spread. */
    bool has_others = pl_node_has_others(shard->shard.server->node);
    pl_hub_go_away(shard->shard.hub, has_others ? drain_ms / SPREAD_PART : 0);
    shard->drain_until_ms = pl_loop_now_ms(shard->shard.loop) + drain_ms;
    look_at_drain(&shard->drain_timer);
}

/* --- closing --------------------------------------------------------------------------------- */

/* The control socket stays bound to the end: it keeps a second server away from the data. */
static void close_sockets(struct pl_server_own *own)
{
    for (size_t i = 0; i < own->server.n_sockets; i++)
        if (!own->is_control[i])
            pl_socket_close(&own->sockets[i]);
}

static void on_closed(struct pl_letter *letter)
{
    struct pl_server_own *own = pl_server_own(shard_of(letter)->shard.server);
    if (!have_all_said(own))
        return;
    close_sockets(own);
    pl_life_go(&own->server.life, PL_LIFE_DRAINING);
    tell_all(own, drain);
}

static void stop_accepting(struct pl_letter *letter)
{
    struct pl_shard_own *shard = shard_of(letter);
    pl_shard_stop_listeners(shard);
    tell_first(shard, on_closed);
}

static void close_doors(struct pl_timer *timer)
{
    struct pl_server_own *own = PL_CONTAINER_OF(timer, struct pl_server_own, accepting_on);
    pl_life_go(&own->server.life, PL_LIFE_CLOSING);
    tell_all(own, stop_accepting);
}

/* If there are other nodes, go on accepting until everybody knows that this one ends. */
static int64_t accept_ms(struct pl_server_own *own)
{
    int64_t set_ms = own->server.shards[0]->setup->config.drain_accept_ms;
    return set_ms || !pl_node_has_others(own->server.node) ? set_ms : ACCEPT_MS;
}

/* --- the signal ------------------------------------------------------------------------------ */

static void begin(struct pl_server_own *own, const char *name, int64_t lame_ms)
{
    struct pl_shard *first = own->server.shards[0];
    pl_systemd_notify("STOPPING=1");
    if (!lame_ms) {
        pl_log_say(own->server.log, first, PL_LOG_INFO, "%s: finishing running work, then stopping",
                   name);
        close_doors(&own->accepting_on);
        pl_node_drain(own->server.node);
        return;
    }
    pl_log_say(own->server.log, first, PL_LOG_INFO,
               "%s: no longer ready; requests are answered for another %lld ms, then the port is "
               "closed and running work is finished",
               name, (long long)lame_ms);
    pl_life_go(&own->server.life, PL_LIFE_LAME);
    pl_timer_start(first->loop, &own->accepting_on, lame_ms, close_doors);
    pl_node_drain(own->server.node); /* after pl_life_go, because it checks whether the server
                                        ends */
}

void pl_shutdown_begin(struct pl_server_own *own, const char *why)
{
    if (!pl_life_is_ending(&own->server.life))
        begin(own, why, accept_ms(own));
}

void pl_shutdown_on_signal(void *ctx, int number)
{
    struct pl_server_own *own = ctx;
    bool is_person = number == SIGINT;
    if (pl_life_is_ending(&own->server.life)) {
        pl_log_say(own->server.log, NULL, PL_LOG_WARNING, "a second signal: stopping at once");
        pl_log_flush(own->server.log);
        _exit(EXIT_SECOND_SIGNAL);
    }
    /* A person at a terminal does not wait for load balancers. */
    begin(own, is_person ? "SIGINT" : "SIGTERM", is_person ? 0 : accept_ms(own));
}

/* --- after the loops ------------------------------------------------------------------------- */

/* The loops no longer run, but workers and the store still work for them. Repeats until nobody does
 * and no loop has a letter: a letter may give work to anybody, so a whole round must find nothing.
 * It terminates, since no new work is accepted. */
static void settle(struct pl_server_own *own)
{
    bool has_done;
    do {
        if (own->server.workers)
            pl_workers_finish(own->server.workers);
        if (own->server.store)
            pl_store_flush(own->server.store);
        has_done = false;
        for (size_t i = 0; i < own->server.n_shards; i++)
            if (own->server.shards[i]->loop)
                has_done = pl_loop_settle(own->server.shards[i]->loop) || has_done;
    } while (has_done);
}

static void let_go_of_outside(struct pl_shard_own *shard)
{
    pl_shard_stop_listeners(shard);
    while (shard->shard.conns)
        pl_http_conn_close(shard->shard.conns);
    /* Before lookups of names are abandoned: a fetch holds its lookup. */
    pl_blob_fetch_end_all(&shard->shard);
    pl_hub_drop_all(shard->shard.hub);
}

/* Requests on a worker may have begun to fetch. */
static bool end_fetches(struct pl_server_own *own)
{
    bool were_any = false;
    for (size_t i = 0; i < own->server.n_shards; i++) {
        were_any = were_any || own->server.shards[i]->fetches;
        pl_blob_fetch_end_all(own->server.shards[i]);
    }
    return were_any;
}

/* A driver may be freed when nothing refers to it. Later look-ups find none. */
static void close_drivers(struct pl_shard *shard)
{
    pl_drivers_destroy(PL_TAKE(shard->drivers));
    pl_node_seats_destroy(PL_TAKE(shard->seats));
    pl_upstreams_destroy(PL_TAKE(shard->upstreams));
}

void pl_shutdown_close_shards(struct pl_server_own *own)
{
    for (size_t i = 0; i < own->server.n_shards; i++)
        let_go_of_outside(pl_shard_own(own->server.shards[i]));
    pl_reload_refuse_all(own);
    for (size_t i = 0; i < own->server.n_shards; i++)
        pl_ext_shard_kill(own->server.shards[i]->exts);
    do
        settle(own);
    while (end_fetches(own));
    for (size_t i = 0; i < own->server.n_shards; i++)
        close_drivers(own->server.shards[i]);
    settle(own);
    for (size_t i = 0; i < own->server.n_shards; i++)
        pl_ext_shard_destroy(PL_TAKE(own->server.shards[i]->exts));
}
