/* The lifetime of a node: it enters, reads the cluster's name and secret, and leaves. */
#include "node/node.h"
#include "base/mem.h"
#include "io/clock.h"
#include "io/file/file.h"
#include "io/file/outfile.h"
#include "node/node_int.h"
#include "shard/log.h"
#include "store/node/owners.h"

#include <limits.h>
#include <sodium/randombytes.h>
#include <stdio.h>

enum { LAPSE_LOOK_MS = 100, OWN_MAX_BYTES = 256 };

/* --- the cluster ----------------------------------------------------------------------------- */

/* The first node draws the value at random; all others read it. */
static enum pl_status read_setting(struct pl_node *node, const char *name, size_t n_bytes,
                                   unsigned char *ret_bytes, struct pl_error *err)
{
    struct pl_store *store = node->server->store;
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    unsigned char drawn[PL_NODE_SECRET_BYTES];
    struct pl_str value;
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return pl_fail(err, PL_NOMEM, "out of memory");
    randombytes_buf(drawn, sizeof drawn);
    pl_batch_add_setting(batch, pl_str_of(name), (struct pl_str){(const char *)drawn, n_bytes});
    enum pl_status status = pl_store_commit(store, batch, err);
    if (status == PL_OK)
        status = pl_store_setting_get(store, &arena, pl_str_of(name), &value, err);
    if (status != PL_OK)
        return status;
    if (value.len != n_bytes)
        return pl_fail(err, PL_INVALID, "the setting %s of the store has the wrong length", name);
    memcpy(ret_bytes, value.ptr, n_bytes);
    return PL_OK;
}

static enum pl_status read_cluster(struct pl_node *node, struct pl_error *err)
{
    unsigned char name[8];
    enum pl_status status = read_setting(node, "cluster", sizeof name, name, err);
    for (size_t i = 0; status == PL_OK && i < sizeof name; i++)
        snprintf(node->cluster + 2 * i, 3, "%02x", name[i]);
    return status == PL_OK
               ? read_setting(node, "cluster_secret", sizeof node->secret, node->secret, err)
               : status;
}

/* --- the previous process -------------------------------------------------------------------- */

static bool write_path(const struct pl_node *node, char *to, size_t size)
{
    int n = snprintf(to, size, "%s/node", node->config.data_dir);
    return n > 0 && (size_t)n < size;
}

/* The process that used this data directory before. It has ended, since this process holds the
 * lock. */
static bool read_before(const struct pl_node *node, struct pl_node_id *ret_id)
{
    char path[PATH_MAX];
    struct pl_file file PL_CLEANUP_FILE = {0};
    if (!write_path(node, path, sizeof path) ||
        pl_file_read(path, OWN_MAX_BYTES, NULL, &file, NULL) != PL_OK)
        return false;
    return pl_node_id_read(file.bytes, ret_id);
}

void pl_node_write_own(const struct pl_node *node)
{
    char path[PATH_MAX], text[PL_NODE_ID_TEXT];
    struct pl_error err = {0};
    if (!write_path(node, path, sizeof path))
        return;
    pl_node_id_write(&node->me, text);
    /* Without the file the next start waits until this lease has expired. */
    if (pl_file_write(path, pl_str_of(text), &err) != PL_OK)
        pl_log_say(node->server->log, NULL, PL_LOG_WARNING, "%s cannot be written: %s", path,
                   err.message);
}

/* --- life ------------------------------------------------------------------------------------ */

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = pl_mem_alloc(n, 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

static void init_locks(struct pl_node *node)
{
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_mutex_init(&node->lock, NULL);
    pthread_mutex_init(&node->post_lock, NULL);
    pthread_cond_init(&node->wake, &steady);
    pthread_condattr_destroy(&steady);
}

/* The first renewal, before anything is asked or served. It gives the offset of the database's
 * clock, because asks contain the database's time. The wall clock of this machine may be off by any
 * amount. */
static enum pl_status renew_first(struct pl_node *node, struct pl_error *err)
{
    struct pl_arena arena PL_CLEANUP_ARENA;
    struct pl_node_view view;
    pl_arena_init(&arena, 0);
    pl_lease_ask(&node->lease, pl_clock_ms());
    enum pl_status status =
        pl_node_line_renew(node->line, &(struct pl_node_load){0}, &arena, &view, err);
    if (status != PL_OK)
        return status;
    pl_lease_renewed(&node->lease, pl_clock_ms());
    atomic_store(&node->base_ahead_ms, view.base_ms - pl_clock_ms());
    atomic_store(&node->good_ms, node->lease.good_ms);
    atomic_store(&node->held_until_ms, node->lease.good_ms + PL_LEASE_TTL_MS);
    return PL_OK;
}

/* Reads the other nodes before the first request. */
static enum pl_status look_around(struct pl_node *node, struct pl_error *err)
{
    struct pl_node_view view = {0};
    enum pl_status status =
        pl_node_line_renew(node->line, &(struct pl_node_load){0}, &node->arenas[0], &view, err);
    if (status == PL_OK)
        pl_node_keep_view(node, &view);
    return status;
}

static enum pl_status enter(struct pl_node *node, struct pl_error *err)
{
    struct pl_node_id before;
    struct pl_node_about about = {.name = pl_str_of(node->name),
                                  .build = pl_str_of(pl_server_version),
                                  .address = pl_str_of(node->address),
                                  .protocol = PL_NODE_LETTER_VERSION};
    bool was_here = read_before(node, &before);
    enum pl_status status = pl_node_line_open(node->server->store, &about, &node->line, err);
    if (status != PL_OK)
        return status;
    node->me = *pl_node_line_writer(node->line);
    status = renew_first(node, err);
    if (status == PL_OK && was_here)
        status = pl_node_line_fence(node->line, &before, err);
    if (status == PL_OK)
        status = pl_node_settle_left(node, err);
    if (status == PL_OK)
        pl_node_write_own(node);
    return status == PL_OK ? look_around(node, err) : status;
}

enum pl_status pl_node_create(struct pl_server *server, const struct pl_node_config *config,
                              const struct pl_node_above *above, struct pl_node **ret_node,
                              struct pl_error *err)
{
    struct pl_node *node = pl_mem_alloc(1, sizeof *node);
    if (!node)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *node = (struct pl_node){.server = server, .config = *config, .above = above, .was_held = true};
    init_locks(node);
    pl_lease_init(&node->lease);
    for (size_t i = 0; i < 2; i++)
        pl_arena_init(&node->arenas[i], 0);
    node->name = copy_text(config->name);
    node->address = copy_text(config->address);
    enum pl_status status =
        node->name && node->address ? PL_OK : pl_fail(err, PL_NOMEM, "out of memory");
    if (status == PL_OK)
        status = read_cluster(node, err);
    if (status == PL_OK)
        status = enter(node, err);
    if (status == PL_OK)
        *ret_node = node;
    else
        pl_node_destroy(node);
    return status;
}

/* A node without its lease publishes nothing: another node may have its sessions. */
static void look_at_lease(struct pl_timer *timer)
{
    struct pl_node *node = PL_CONTAINER_OF(timer, struct pl_node, lapse);
    bool is_held = pl_node_holds(node);
    if (node->was_held && !is_held) {
        pl_log_say(node->server->log, NULL, PL_LOG_WARNING,
                   "this node does not hold its lease: it changes nothing until it does");
        (void)pl_mail_all(node, PL_MAIL_HUSH, NULL);
    }
    if (!node->was_held && is_held)
        pl_log_say(node->server->log, NULL, PL_LOG_INFO, "this node holds its lease again");
    node->was_held = is_held;
    pl_timer_start(node->server->shards[0]->loop, timer, LAPSE_LOOK_MS, look_at_lease);
}

enum pl_status pl_node_start(struct pl_node *node, struct pl_error *err)
{
    enum pl_status status = pl_post_open(node, err);
    if (status != PL_OK)
        return status;
    /* A node that does not know the others would assume that it is alone and use the whole
     * limits. */
    pl_node_renew(node);
    pl_post_greet(node);
    int code = pthread_create(&node->thread, NULL, pl_node_renew_all, node);
    if (code)
        return pl_fail(err, PL_NOMEM, "the thread of the node cannot be started: %s",
                       strerror(code));
    node->has_thread = true;
    pl_timer_start(node->server->shards[0]->loop, &node->lapse, LAPSE_LOOK_MS, look_at_lease);
    return PL_OK;
}

static void set(struct pl_node *node, bool *flag)
{
    pthread_mutex_lock(&node->lock);
    *flag = true;
    pthread_cond_signal(&node->wake);
    pthread_mutex_unlock(&node->lock);
}

void pl_node_want_view(struct pl_node *node)
{
    set(node, &node->wants_view);
}

void pl_node_drain(struct pl_node *node)
{
    if (!node)
        return;
    set(node, &node->is_draining);
    if (pl_node_has_others(node))
        (void)pl_mail_all(node, PL_MAIL_GIVE, NULL); /* otherwise after they have been quiet for
                                                        long */
}

void pl_node_fenced(struct pl_node *node)
{
    if (!node)
        return;
    atomic_store(&node->held_until_ms, 0); /* no more frames, even before the thread reacts */
    set(node, &node->is_fence_seen);
}

void pl_node_rewound(struct pl_node *node)
{
    if (node)
        set(node, &node->is_rewound_seen);
}

/* If anything fails here, the other nodes notice when the lease has expired. */
static void leave(struct pl_node *node)
{
    struct pl_error err = {0};
    enum pl_status status = pl_node_line_become(node->line, PL_NODE_STATE_GONE, &err);
    bool has_more = status == PL_OK;
    while (has_more) {
        struct pl_arena arena PL_CLEANUP_ARENA;
        pl_arena_init(&arena, 0);
        struct pl_settle_page page;
        status = pl_node_line_settle(node->line, &node->me, &arena, &page, &err);
        /* The other nodes recover sessions that still run. */
        has_more = status == PL_OK && page.n_released == PL_SETTLE_PAGE;
    }
    pl_lease_leave(&node->lease);
    if (status != PL_OK && status != PL_CONFLICT)
        pl_log_say(node->server->log, NULL, PL_LOG_WARNING,
                   "this node could not give everything back; others do, when its lease has run "
                   "out: %s",
                   err.message);
}

void pl_node_stop(struct pl_node *node)
{
    if (!node)
        return;
    set(node, &node->is_stopping);
    if (node->has_thread)
        pthread_join(node->thread, NULL);
    node->has_thread = false;
    pl_post_close(node);
    if (node->line && node->lease.state != PL_LEASE_FENCED)
        leave(node);
    pl_node_line_close(PL_TAKE(node->line)); /* before the store closes */
}

void pl_node_destroy(struct pl_node *node)
{
    if (!node)
        return;
    pl_node_line_close(node->line);
    for (size_t i = 0; i < 2; i++)
        pl_arena_deinit(&node->arenas[i]);
    pl_vec_deinit(&node->peers);
    pthread_mutex_destroy(&node->lock);
    pthread_mutex_destroy(&node->post_lock);
    pthread_cond_destroy(&node->wake);
    explicit_bzero(node->secret, sizeof node->secret);
    pl_mem_free(node->name);
    pl_mem_free(node->address);
    pl_mem_free(node);
}

/* --- looking --------------------------------------------------------------------------------- */

struct pl_node_id pl_node_me(struct pl_node *node)
{
    pthread_mutex_lock(&node->lock);
    struct pl_node_id me = node->me;
    pthread_mutex_unlock(&node->lock);
    return me;
}

bool pl_node_holds(struct pl_node *node)
{
    return pl_clock_ms() < atomic_load(&node->held_until_ms);
}

int64_t pl_node_base_ms(const struct pl_node *node)
{
    return pl_clock_ms() + atomic_load(&node->base_ahead_ms);
}

int64_t pl_node_lease_age_ms(struct pl_node *node)
{
    return pl_clock_ms() - atomic_load(&node->good_ms);
}

enum pl_bus_state pl_node_bus_state(struct pl_node *node)
{
    pthread_mutex_lock(&node->post_lock);
    enum pl_bus_state state = node->bus ? pl_bus_state(node->bus) : PL_BUS_DOWN;
    pthread_mutex_unlock(&node->post_lock);
    return state;
}

bool pl_node_has_others(struct pl_node *node)
{
    return node && atomic_load(&node->n_others) > 0;
}

void pl_node_name_of(struct pl_node *node, const struct pl_node_id *id,
                     char ret_name[PL_NODE_NAME_MAX + 1])
{
    ret_name[0] = 0;
    pthread_mutex_lock(&node->lock);
    for (size_t i = 0; i < node->view.n_nodes; i++) {
        const struct pl_node_seen *seen = &node->view.nodes[i];
        if (pl_node_id_eq(&seen->writer, id))
            snprintf(ret_name, PL_NODE_NAME_MAX + 1, "%.*s", PL_STR_ARG(seen->name));
    }
    pthread_mutex_unlock(&node->lock);
}

void pl_node_ring(struct pl_node *node, int64_t bell, struct pl_str text)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_node_fields_put_number(&body, bell);
    pl_node_fields_put_bytes(&body, text);
    if (body.status == PL_OK)
        pl_post_send_all(node, PL_NODE_LETTER_BELL, pl_buf_str(&body));
}

static bool copy_view(struct pl_arena *arena, const struct pl_node_view *from,
                      struct pl_node_view *to)
{
    *to = *from;
    to->nodes = pl_arena_zalloc(arena, from->n_nodes, sizeof *to->nodes);
    if (!to->nodes && from->n_nodes)
        return false;
    for (size_t i = 0; i < from->n_nodes; i++) {
        struct pl_node_seen *node = &to->nodes[i];
        *node = from->nodes[i];
        node->name = pl_arena_dup(arena, node->name);
        node->build = pl_arena_dup(arena, node->build);
        node->address = pl_arena_dup(arena, node->address);
        if (!node->name.ptr || !node->build.ptr || !node->address.ptr)
            return false;
    }
    return true;
}

enum pl_status pl_node_look(struct pl_node *node, struct pl_arena *arena,
                            struct pl_node_looks *ret_looks)
{
    int64_t now_ms = pl_clock_ms(), until_ms = atomic_load(&node->held_until_ms);
    struct pl_node_looks looks = {
        .name = node->name,
        .lease_left_ms = until_ms > now_ms ? until_ms - now_ms : 0,
        .lease_age_ms = now_ms - atomic_load(&node->good_ms),
        .n_owned = (size_t)atomic_load(&node->n_owned),
        .counts = {.n_takeovers = atomic_load(&node->n_takeovers),
                   .n_fenced = atomic_load(&node->n_fenced),
                   .n_rewinds = atomic_load(&node->n_rewinds),
                   .n_forwarded = atomic_load(&node->n_forwarded),
                   .n_gaps = atomic_load(&node->n_gaps),
                   .n_dropped = atomic_load(&node->n_lost)},
    };
    pthread_mutex_lock(&node->lock);
    looks.me = node->me;
    bool is_whole = copy_view(arena, &node->view, &looks.view);
    pthread_mutex_unlock(&node->lock);
    pthread_mutex_lock(&node->post_lock);
    looks.bus_kind = node->bus ? pl_bus_kind(node->bus) : PL_BUS_LOCAL;
    looks.bus_state = node->bus ? pl_bus_state(node->bus) : PL_BUS_DOWN;
    pthread_mutex_unlock(&node->post_lock);
    if (!is_whole)
        return PL_NOMEM;
    *ret_looks = looks;
    return PL_OK;
}
