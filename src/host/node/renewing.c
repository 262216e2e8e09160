/* The thread of a node. It renews the lease every second; the answer lists the other nodes:
 *
 *     renew ──> held: pass the view on; send the beat
 *           ──> a node's lease has expired, and this node may: take over, settle its sessions
 *           ──> a node has disappeared: settle its sessions, together with the others
 *           ──> this node was taken over: drop everything, enter as a new writer
 *
 * It blocks only on its own connection to the database. core/cluster/lease.h makes the decisions
 * from times and rows. */
#include "base/mem.h"
#include "io/clock.h"
#include "node/node_int.h"
#include "shard/bell.h"
#include "shard/log.h"
#include "store/node/owners.h"

#include <stdlib.h>
#include <time.h>

enum {
    TURN_MS = 100,       /* period of the thread */
    SWEEP_MS = 10000,    /* period of the search for unsettled nodes */
    ENTER_AGAIN_MS = 500 /* between two attempts */
};

/* --- renewing --------------------------------------------------------------------------------- */

static void publish_lease(struct pl_node *node)
{
    bool is_held = node->lease.state == PL_LEASE_HELD;
    atomic_store(&node->good_ms, node->lease.good_ms);
    atomic_store(&node->held_until_ms, is_held ? node->lease.good_ms + PL_LEASE_TTL_MS : 0);
}

static struct pl_node_load load_of(struct pl_node *node)
{
    return (struct pl_node_load){.n_sessions = atomic_load(&node->n_owned),
                                 .n_running = pl_metric_sum(node->server, PL_METRIC_turns_running),
                                 .n_sockets = pl_metric_sum(node->server, PL_METRIC_sockets)};
}

/* One renewal. PL_CONFLICT: this node was taken over. */
static enum pl_status renew_lease(struct pl_node *node, struct pl_arena *arena,
                                  struct pl_node_view *ret_view)
{
    struct pl_error err = {0};
    struct pl_node_load load = load_of(node);
    pl_lease_ask(&node->lease, pl_clock_ms());
    enum pl_status status = pl_node_line_renew(node->line, &load, arena, ret_view, &err);
    if (status == PL_OK) {
        pl_lease_renewed(&node->lease, pl_clock_ms());
        atomic_store(&node->base_ahead_ms, ret_view->base_ms - pl_clock_ms());
    } else if (status == PL_CONFLICT) {
        pl_lease_fence(&node->lease);
    } else {
        pl_lease_failed(&node->lease);
        (void)pl_lease_holds(&node->lease, pl_clock_ms());
    }
    publish_lease(node);
    return status;
}

/* Renews the lease during long work. The other nodes are handled afterwards. */
static void keep_lease(struct pl_node *node)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    struct pl_node_view view;
    pl_arena_init(&arena, 0);
    if (!pl_lease_is_time(&node->lease, pl_clock_ms()))
        return;
    if (renew_lease(node, &arena, &view) == PL_CONFLICT)
        pl_node_fenced(node);
}

void pl_node_say_failure(struct pl_node *node, const char *what, const struct pl_error *err)
{
    pl_log_say(node->server->log, NULL, PL_LOG_WARNING, "%s: %s", what, err->message);
}

static void look_at_writer(struct pl_node *node)
{
    struct pl_error err = {0};
    int64_t since_ms = pl_store_busy_since_ms(node->server->store);
    if (!since_ms || !pl_lease_writer_is_stuck(since_ms, pl_clock_ms()) ||
        node->lease.state != PL_LEASE_HELD)
        return;
    if (pl_node_line_end_own_writer(node->line, &err) != PL_OK)
        pl_node_say_failure(node, "a connection that says nothing could not be ended", &err);
}

bool pl_node_goes_on(struct pl_node *node)
{
    pthread_mutex_lock(&node->lock);
    bool goes_on = !node->is_stopping && !node->is_fence_seen && !node->is_rewound_seen;
    pthread_mutex_unlock(&node->lock);
    return goes_on;
}

void pl_node_go_on(struct pl_node *node)
{
    keep_lease(node);
    look_at_writer(node);
}

/* --- others ---------------------------------------------------------------------------------- */

static const struct pl_node_seen *find(const struct pl_node_view *view, const struct pl_node_id *id)
{
    for (size_t i = 0; i < view->n_nodes; i++)
        if (pl_node_id_eq(&view->nodes[i].writer, id))
            return &view->nodes[i];
    return NULL;
}

/* Reports that this node was asked to end. */
static void look_for_end(struct pl_node *node, const struct pl_node_view *view)
{
    const struct pl_node_seen *me = find(view, &node->me);
    if (me && me->wants_drain && !node->is_end_told) {
        node->is_end_told = true;
        node->above->end(node->server);
    }
}

/* All nodes use the version that the oldest of them understands. */
static unsigned char protocol_of(const struct pl_node_view *view)
{
    unsigned char spoken = PL_NODE_LETTER_VERSION;
    for (size_t i = 0; i < view->n_nodes; i++)
        spoken = pl_node_letter_least(spoken, view->nodes[i].protocol);
    return spoken;
}

void pl_node_keep_view(struct pl_node *node, const struct pl_node_view *view)
{
    size_t n_others = 0;
    for (size_t i = 0; i < view->n_nodes; i++)
        n_others += !pl_node_id_eq(&view->nodes[i].writer, &node->me);
    pthread_mutex_lock(&node->lock);
    node->view = *view;
    pthread_mutex_unlock(&node->lock);
    atomic_store(&node->n_others, n_others);
    atomic_store(&node->protocol, protocol_of(view));
}

/* Finds nodes that have disappeared since the last view: they left, or another node took over. All
 * nodes settle their sessions together, each a page at a time. */
static void look_for_gone(struct pl_node *node, const struct pl_node_view *before,
                          const struct pl_node_view *now)
{
    for (size_t i = 0; i < before->n_nodes; i++) {
        const struct pl_node_id *id = &before->nodes[i].writer;
        if (!pl_node_id_eq(id, &node->me) && !find(now, id))
            pl_node_settle_gone(node, id);
    }
}

/* A node that has just come may have readers who missed events that this node told nobody. */
static void look_for_new(struct pl_node *node, const struct pl_node_view *before,
                         const struct pl_node_view *now)
{
    for (size_t i = 0; i < now->n_nodes; i++) {
        const struct pl_node_id *id = &now->nodes[i].writer;
        if (!pl_node_id_eq(id, &node->me) && !find(before, id))
            pl_node_ring(node, PL_BELL_MET,
                         (struct pl_str){(const char *)id->bytes, sizeof id->bytes});
    }
}

/* True if nobody is there: NATS has no listener for it, or the database has lost its connection, as
 * after kill -9. A frozen node has both; its lease has to expire. */
static bool is_unheard(struct pl_node *node, const struct pl_node_seen *other)
{
    return !other->is_connected || pl_bus_is_unheard(node->bus, &other->writer);
}

static void take_over(struct pl_node *node, const struct pl_node_seen *dead)
{
    struct pl_error err = {0};
    bool is_taken = false;
    if (pl_node_line_take_over(node->line, &dead->writer, is_unheard(node, dead), &is_taken,
                               &err) != PL_OK) {
        pl_node_say_failure(node, "a node whose lease has run out could not be taken over yet",
                            &err);
        return;
    }
    if (!is_taken)
        return;
    atomic_fetch_add(&node->n_takeovers, 1);
    pl_log_say(node->server->log, NULL, PL_LOG_WARNING,
               "the node %.*s has not renewed its lease; its sessions are taken over",
               PL_STR_ARG(dead->name));
    pl_node_settle_gone(node, &dead->writer);
}

static void look_at_others(struct pl_node *node, const struct pl_node_view *view)
{
    for (size_t i = 0; i < view->n_nodes; i++) {
        const struct pl_node_seen *other = &view->nodes[i];
        if (pl_node_id_eq(&other->writer, &node->me) ||
            !pl_lease_is_due(&other->row, view->base_ms, is_unheard(node, other)))
            continue;
        if (pl_lease_may_take_over(&node->lease, pl_clock_ms()))
            take_over(node, other);
    }
}

/* --- the lease ------------------------------------------------------------------------------- */

/* Frees the view before the last one: readers copy a view under the lock. */
void pl_node_renew(struct pl_node *node)
{
    struct pl_node_view before = node->view, view = {0};
    struct pl_arena *arena = &node->arenas[(node->n_views + 1) % 2];
    pthread_mutex_lock(&node->lock);
    pl_arena_deinit(arena);
    pl_arena_init(arena, 0);
    pthread_mutex_unlock(&node->lock);
    enum pl_status status = renew_lease(node, arena, &view);
    if (status == PL_OK) {
        node->n_views++;
        pl_node_keep_view(node, &view);
        pl_post_forget(node, &view);
        node->above->hear(node->server, &view, &node->me);
        if (view.has_letters)
            pl_bus_look(node->bus);
        look_for_end(node, &view);
        look_for_gone(node, &before, &view);
        look_for_new(node, &before, &view);
        look_at_others(node, &view);
    } else if (status == PL_CONFLICT) {
        pl_node_fenced(node);
    }
}

/* --- taken over ------------------------------------------------------------------------------ */

/* Everything in memory is older than the store. Waits until all shards have dropped it. */
static void drop_everything(struct pl_node *node)
{
    pthread_mutex_lock(&node->lock);
    node->n_dropping = node->server->n_shards;
    pthread_mutex_unlock(&node->lock);
    while (!pl_mail_all(node, PL_MAIL_DROP, NULL)) {
        /* A shard without its letter would go on with sessions that it does not own. */
        pl_log_say(node->server->log, NULL, PL_LOG_ERROR,
                   "out of memory after this node was taken over: the process ends");
        pl_log_flush(node->server->log);
        abort();
    }
    pthread_mutex_lock(&node->lock);
    while (node->n_dropping && !node->is_stopping)
        pthread_cond_wait(&node->wake, &node->lock);
    pthread_mutex_unlock(&node->lock);
}

static enum pl_status enter_again(struct pl_node *node, struct pl_error *err)
{
    struct pl_node_about about = {.name = pl_str_of(node->name),
                                  .build = pl_str_of(pl_server_version),
                                  .address = pl_str_of(node->address),
                                  .protocol = PL_NODE_LETTER_VERSION};
    enum pl_status status = pl_store_enter_again(node->server->store, err);
    if (status != PL_OK)
        return status;
    pl_node_line_close(PL_TAKE(node->line));
    status = pl_node_line_open(node->server->store, &about, &node->line, err);
    if (status != PL_OK)
        return status;
    pthread_mutex_lock(&node->post_lock); /* letters contain their sender */
    pthread_mutex_lock(&node->lock);
    node->me = *pl_node_line_writer(node->line);
    node->is_fence_seen = false;
    pthread_mutex_unlock(&node->lock);
    pthread_mutex_unlock(&node->post_lock);
    pl_node_write_own(node);
    status = pl_post_open(node, err);
    if (status == PL_OK)
        pl_lease_enter_again(&node->lease);
    return status;
}

static bool is_stopping(struct pl_node *node)
{
    pthread_mutex_lock(&node->lock);
    bool is_stopping = node->is_stopping;
    pthread_mutex_unlock(&node->lock);
    return is_stopping;
}

static void begin_anew(struct pl_node *node)
{
    struct pl_error err = {0};
    pl_lease_fence(&node->lease);
    publish_lease(node);
    atomic_fetch_add(&node->n_fenced, 1);
    pl_log_say(
        node->server->log, NULL, PL_LOG_ERROR,
        "this node was taken over by another one: its sessions are dropped from memory, and it "
        "enters again");
    drop_everything(node);
    pl_post_close(node);
    while (!is_stopping(node)) {
        enum pl_status status = enter_again(node, &err);
        if (status == PL_OK)
            return;
        pl_node_say_failure(node, "this node could not enter again yet", &err);
        pl_post_close(node);
        nanosleep(&(struct timespec){.tv_nsec = ENTER_AGAIN_MS * 1000000}, NULL);
    }
}

/* The database has lost acknowledged data. Drops the memory and gives every session of this node a
 * new epoch, so that readers begin again. Being taken over does both. */
static void rewind_all(struct pl_node *node)
{
    struct pl_error err = {0};
    struct pl_node_id before = node->me;
    atomic_fetch_add(&node->n_rewinds, 1);
    pl_log_say(
        node->server->log, NULL, PL_LOG_ERROR,
        "the database went back in time: what it lost is lost, and this node's sessions begin "
        "anew");
    if (pl_node_line_rewind(node->line, &before, &err) != PL_OK)
        pl_node_say_failure(node, "the epochs of this node's sessions could not be raised", &err);
    if (pl_node_line_fence(node->line, &before, &err) != PL_OK)
        pl_node_say_failure(node, "this node could not give its sessions back", &err);
    begin_anew(node);
    pl_node_settle_gone(node, &before);
}

/* --- turns ----------------------------------------------------------------------------------- */

static void drain(struct pl_node *node)
{
    struct pl_error err = {0};
    enum pl_status status = pl_node_line_become(node->line, PL_NODE_STATE_DRAINING, &err);
    if (status != PL_OK && status != PL_CONFLICT)
        pl_node_say_failure(node, "the other nodes could not be told that this one ends", &err);
}

static void sweep(struct pl_node *node)
{
    struct pl_error err = {0};
    int64_t now_ms = pl_clock_ms();
    if (now_ms - node->swept_ms < SWEEP_MS || node->lease.state != PL_LEASE_HELD)
        return;
    node->swept_ms = now_ms;
    if (pl_node_settle_left(node, &err) != PL_OK)
        pl_node_say_failure(node, "what nodes left could not be settled yet", &err);
}

static void beat(struct pl_node *node)
{
    int64_t now_ms = pl_clock_ms();
    if (!pl_node_link_is_beat_due(node->beat_ms, now_ms) || !pl_node_holds(node))
        return;
    node->beat_ms = now_ms;
    pl_post_beat(node);
}

/* False: the node stops. */
static bool pause_turn(struct pl_node *node)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TURN_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&node->lock);
    if (!node->is_stopping && !node->is_fence_seen && !node->is_rewound_seen && !node->wants_view)
        pthread_cond_timedwait(&node->wake, &node->lock, &until);
    bool goes_on = !node->is_stopping;
    pthread_mutex_unlock(&node->lock);
    return goes_on;
}

void *pl_node_renew_all(void *arg)
{
    struct pl_node *node = arg;
    bool has_drained = false;
    while (pause_turn(node)) {
        pthread_mutex_lock(&node->lock);
        bool is_fenced = node->is_fence_seen, is_rewound = node->is_rewound_seen;
        bool is_draining = node->is_draining;
        bool wants_view = node->wants_view;
        node->is_rewound_seen = node->wants_view = false;
        pthread_mutex_unlock(&node->lock);
        if (is_rewound)
            rewind_all(node);
        else if (is_fenced)
            begin_anew(node);
        if (is_rewound || is_fenced)
            has_drained = false; /* the new writer has not announced it */
        if (is_draining && !has_drained)
            drain(node);
        has_drained = is_draining;
        if (pl_lease_is_time(&node->lease, pl_clock_ms()) ||
            (wants_view && node->lease.state == PL_LEASE_HELD))
            pl_node_renew(node);
        look_at_writer(node);
        beat(node);
        sweep(node);
    }
    return NULL;
}
