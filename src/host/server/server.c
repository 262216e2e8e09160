/* The server from start to end.
 *
 * Start: sockets are bound first, so that a port in use is detected at once and clients wait in the
 * queue rather than being refused; then the store is opened and the work of a crashed process is
 * settled; then the shards accept. Everything that the first answer does not need is created later.
 *
 * End: shutdown.c stops the loops; then everything is closed here, in reverse order. */
#include "server/server.h"

#include "access/audit.h"
#include "access/auth_refresh.h"
#include "access/guard.h"
#include "access/key_table.h"
#include "access/meter/meter.h"
#include "access/oidc/provider.h"
#include "agent/driver.h"
#include "agent/running_turns.h"
#include "agent/background/unattended.h"
#include "agent/tools/ext_tool.h"
#include "agent/tools/tools.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text/uuid.h"
#include "ext/cell/uids.h"
#include "ext/run/ext.h"
#include "gateway/gateway.h"
#include "gateway/routes.h"
#include "http/connection.h"
#include "http/limits/quota.h"
#include "http/routes/request_schema.h"
#include "http/routes/route_times.h"
#include "io/clock.h"
#include "io/file/outfile.h"
#include "io/file/file_tree.h"
#include "live/hub.h"
#include "model/model.h"
#include "live/lists.h"
#include "model/vendor/vendors.h"
#include "node/node.h"
#include "server/call_counts.h"
#include "server/cluster.h"
#include "server/loop_lag.h"
#include "server/reload.h"
#include "server/server_int.h"
#include "server/shutdown.h"
#include "server/signals.h"
#include "service/runs/routes.h"
#include "service/admin/store_size.h"
#include "service/blobs/media_keep.h"
#include "service/sessions/socket_commands.h"
#include "service/tasks/scheduler.h"
#include "service/tasks/zones.h"
#include "server/routes.h"
#include "shard/access_log.h"
#include "server/setup.h"
#include "shard/tracing.h"
#include "store/node/shared.h"
#include "store/page.h"
#include "store/work.h"
#include "transaction/idempotency.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CARE_MS = 60000,
    DAY_MS = 86400000,
    UPLOAD_IDLE_MS = 600000, /* at the minimum rate of a body, a piece takes half of that */
    EXIT_STORE_FAILED = 4,
};

/* --- sockets --------------------------------------------------------------------------------- */

static enum pl_status add_unix(struct pl_server_own *own, const char *path, bool is_control,
                               struct pl_error *err)
{
    enum pl_status status = pl_socket_listen_unix(path, &own->sockets[own->server.n_sockets], err);
    if (status == PL_OK)
        own->is_control[own->server.n_sockets++] = is_control;
    return status;
}

/* The control socket also keeps a second server away from the same data. */
static enum pl_status open_sockets(struct pl_server_own *own, struct pl_error *err)
{
    const struct pl_server_config *config = &own->setup->config;
    char control[PATH_MAX];
    int n = snprintf(control, sizeof control, "%s/parley.sock", config->data_dir);
    if (n < 0 || (size_t)n >= sizeof control)
        return pl_fail(err, PL_INVALID, "the name of the data directory is too long");
    enum pl_status status = add_unix(own, control, true, err);
    struct stat info;
    if (status == PL_CONFLICT && lstat(control, &info) == 0 && S_ISSOCK(info.st_mode))
        return pl_fail(err, PL_CONFLICT,
                       "another server is using the data in %s; stop it first, or give another "
                       "--data",
                       config->data_dir);
    size_t n_given = 0;
    if (status == PL_OK)
        status = pl_socket_from_systemd(own->sockets + own->server.n_sockets,
                                        PL_MAX_SOCKETS - own->server.n_sockets - 2, &n_given, err);
    if (status != PL_OK)
        return status;
    own->server.n_sockets += n_given;
    for (size_t i = 0; i < own->server.n_sockets; i++)
        if (own->sockets[i].is_outside && !own->setup->tls && !config->is_behind_proxy)
            return pl_fail(err, PL_USAGE,
                           "a socket of systemd (port %u) listens beyond this machine without TLS, "
                           "which would send keys and conversations unencrypted: give --tls-cert "
                           "and --tls-key, or --behind-proxy if a proxy does TLS",
                           own->sockets[i].port);
    if (!n_given) {
        status = pl_socket_listen_tcp(config->host, config->port,
                                      &own->sockets[own->server.n_sockets], err);
        own->server.n_sockets += status == PL_OK;
    }
    if (status == PL_OK && config->unix_path)
        status = add_unix(own, config->unix_path, false, err);
    return status;
}

static void on_accept(void *ctx, struct pl_conn *conn)
{
    struct pl_accepting *accepting = ctx;
    pl_http_conn_open(accepting->shard, conn, accepting->is_control);
}

static void on_exhausted(void *ctx)
{
    struct pl_accepting *accepting = ctx;
    pl_log_say(accepting->shard->server->log, accepting->shard, PL_LOG_WARNING,
               "no file descriptor is free; a connection waits. Raise the limit (ulimit -n)");
}

static enum pl_status start_listeners(struct pl_shard_own *shard, struct pl_error *err)
{
    struct pl_server_own *own = pl_server_own(shard->shard.server);
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < own->server.n_sockets; i++) {
        shard->accepting[i] = (struct pl_accepting){&shard->shard, own->is_control[i]};
        struct pl_listener_config config = {
            .socket = &own->sockets[i],
            .tls = own->sockets[i].is_unix ? NULL : own->setup->tls,
            .on_accept = on_accept,
            .on_exhausted = on_exhausted,
            .ctx = &shard->accepting[i],
        };
        status = pl_listener_start(shard->shard.loop, &config, &shard->listeners[i], err);
    }
    return status;
}

/* --- at the start, and once a minute ---------------------------------------------------------- */

static void forget_limits(void *ctx, struct pl_str key_id)
{
    pl_meter_forget(ctx, key_id);
}

static void cared(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_server_own *own = ctx;
    if (status != PL_OK)
        pl_log_say(own->server.log, own->server.shards[0], PL_LOG_WARNING,
                   "the last-used times of keys could not be stored: %s", err->message);
    else
        pl_auth_remove_logins(own->server.auth, own->swept_ms, forget_limits, own->server.meter);
}

/* Whether the wall clock has run evenly for as long as an upload may pause: pieces have its time,
 * and a jump forward would make all of them look old. Pieces found at a start have no owner. */
static bool is_clock_steady(struct pl_server_own *own)
{
    struct pl_loop *loop = own->server.shards[0]->loop;
    int64_t now_ms = pl_loop_now_ms(loop), ahead_ms = pl_loop_unix_ms(loop) - now_ms;
    int64_t jump_ms = ahead_ms - own->ahead_ms;
    bool is_first = !own->ahead_ms;
    own->ahead_ms = ahead_ms;
    if (!is_first && jump_ms > CARE_MS)
        own->jumped_ms = now_ms;
    return !own->jumped_ms || now_ms - own->jumped_ms > UPLOAD_IDLE_MS;
}

static void close_key(void *ctx, struct pl_str key_id)
{
    (void)pl_hub_close_key_everywhere(ctx, key_id);
}

/* Stores when keys were last used; closes the sockets of expired keys; removes old idempotency
 * keys, expired sign-ins, abandoned uploads, unused setups and rows that were deleted long ago. */
static void care(struct pl_timer *timer)
{
    struct pl_server_own *own = PL_CONTAINER_OF(timer, struct pl_server_own, care);
    struct pl_loop *loop = own->server.shards[0]->loop;
    struct pl_batch *batch = pl_batch_create();
    if (batch) {
        pl_auth_put_used(own->server.auth, batch);
        pl_batch_expire_idempotency(batch, pl_loop_unix_ms(loop) - PL_IDEMPOTENCY_KEPT_MS);
        if (is_clock_steady(own)) {
            own->swept_ms = pl_loop_unix_ms(loop);
            pl_batch_expire_logins(batch, own->swept_ms);
            pl_batch_sweep_uploads(batch, own->swept_ms - UPLOAD_IDLE_MS);
            int64_t n_days = (int64_t)own->server.shards[0]->setup->config.deleted_days;
            pl_batch_expire_deleted(batch, own->swept_ms - n_days * DAY_MS);
            pl_batch_sweep_shared(batch);
        }
        pl_store_submit(own->server.store, loop, batch, cared, own);
    }
    int64_t now_ms = pl_loop_unix_ms(loop);
    pl_auth_each_expired(own->server.auth, own->cared_ms, now_ms, close_key, &own->server);
    own->cared_ms = now_ms;
    pl_store_size_measure(&own->server);
    pl_reload_tidy(own);
    pl_timer_start(loop, timer, CARE_MS, care);
}

/* The outcome of a commit is unknown: nothing more may be acknowledged, and the next start
 * recovers. */
static void on_store_fatal(void *ctx, const struct pl_error *err)
{
    struct pl_server_own *own = ctx;
    atomic_store(&own->server.is_storage_bad, true);
    pl_log_say(own->server.log, NULL, PL_LOG_ERROR,
               "the store failed; nothing more can be acknowledged: %s", err->message);
    pl_log_flush(own->server.log);
    _exit(EXIT_STORE_FAILED);
}

/* Another node has taken over: this one drops its sessions and enters again. */
static void on_store_fenced(void *ctx)
{
    struct pl_server_own *own = ctx;
    pl_node_fenced(own->server.node);
}

static void on_store_rewound(void *ctx)
{
    struct pl_server_own *own = ctx;
    pl_node_rewound(own->server.node);
}

/* The database's message is for the operator of the server. */
static void on_store_trouble(void *ctx, const char *text)
{
    struct pl_server_own *own = ctx;
    pl_log_say(own->server.log, NULL, PL_LOG_WARNING, "%s", text);
}

/* --- the beginning --------------------------------------------------------------------------- */

static enum pl_status make_data_dir(const char *path, struct pl_error *err)
{
    char inside[PATH_MAX];
    int n = snprintf(inside, sizeof inside, "%s/parley.db", path);
    if (n < 0 || (size_t)n >= sizeof inside)
        return pl_fail(err, PL_INVALID, "the name of the data directory is too long");
    if (pl_path_is_directory(path))
        return PL_OK;
    enum pl_status status = pl_path_make_parents(inside, err);
    if (status == PL_OK && chmod(path, 0700) != 0)
        return pl_fail(err, PL_IO, "the permissions of %s cannot be set: %s", path,
                       strerror(errno));
    return status;
}

static size_t n_workers_of(const struct pl_server_config *config)
{
    return config->n_workers ? config->n_workers : 4;
}

/* A connection for every thread that may read, so that no lane waits for another. */
static size_t n_readers_of(const struct pl_server_config *config)
{
    size_t n = n_workers_of(config);
    return pl_work_threads(PL_WORK_STORE, n) + pl_work_threads(PL_WORK_CPU, n) +
           pl_work_threads(PL_WORK_FILE, n);
}

static enum pl_status open_store(struct pl_server_own *own, struct pl_error *err)
{
    const struct pl_server_config *config = &own->setup->config;
    char url[PATH_MAX + 32];
    snprintf(url, sizeof url, "sqlite:%s/parley.db", config->data_dir);
    struct pl_store_config store = {
        .url = config->store_url ? config->store_url : url,
        .n_readers = n_readers_of(config),
        .password = config->store_password,
        .is_server = true,
        .answer_ms = config->store_answer_ms,
        .away_ms = config->store_away_ms,
        .on_fatal = on_store_fatal,
        .on_fenced = on_store_fenced,
        .on_rewound = on_store_rewound,
        .on_trouble = on_store_trouble,
        .ctx = own,
    };
    enum pl_status status = pl_store_open(&store, &own->server.store, err);
    /* Only now does this process hold the directory alone. */
    if (status == PL_OK)
        pl_outfile_sweep(config->data_dir);
    if (status == PL_OK)
        status = pl_cluster_enter(own, err);
    return status;
}

static enum pl_status make_shard(struct pl_server_own *own, size_t index, struct pl_error *err)
{
    struct pl_shard_own *shard = pl_mem_alloc(1, sizeof *shard);
    if (!shard)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *shard = (struct pl_shard_own){
        .shard = {.index = index, .server = &own->server, .setup = own->setup}};
    own->server.shards[index] = &shard->shard;
    own->server.n_shards = index + 1;
    shard->shard.exchanges = pl_exchange_pool_create();
    shard->shard.route_times = pl_route_times_create();
    bool is_whole = shard->shard.exchanges && shard->shard.route_times;
    enum pl_status status = is_whole ? pl_loop_create(&shard->shard.loop, err)
                                     : pl_fail(err, PL_NOMEM, "out of memory");
    if (status == PL_OK)
        status = pl_hub_create(&shard->shard, &shard->shard.hub);
    if (status == PL_OK)
        status = pl_drivers_create(&shard->shard, &shard->shard.drivers);
    if (status == PL_OK && own->server.node)
        status = pl_node_seats_create(&shard->shard, &shard->shard.seats);
    if (status == PL_OK)
        status = pl_gateway_create(&shard->shard.gateway);
    return status;
}

static size_t n_shards_of(const struct pl_server_config *config)
{
    long n = config->n_shards ? (long)config->n_shards : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > PL_MAX_SHARDS ? PL_MAX_SHARDS : (size_t)n;
}

static bool is_model(struct pl_shard *shard, struct pl_str name)
{
    return pl_model_find(shard->setup->models, name);
}

static enum pl_status keep_media(struct pl_server *server, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str document,
                                 struct pl_str *ret_document, struct pl_error *err)
{
    return pl_media_keep_here(server, arena, user_id, document, false, ret_document, err);
}

static bool is_tool(struct pl_str name)
{
    return pl_tools_has(name) || pl_str_eq(name, PL_STR(PL_TOOL_SEARCH));
}

static const struct pl_ext_above above_ext = {is_tool, is_model, pl_tools_write_names, keep_media};

/* Creates the extensions; they start when they are needed. */
static enum pl_status make_extensions(struct pl_server_own *own, struct pl_error *err)
{
    enum pl_status status = pl_ext_server_create(&own->server, &above_ext, &own->server.ext, err);
    for (size_t i = 0; status == PL_OK && i < own->server.n_shards; i++)
        status = pl_ext_shard_create(own->server.shards[i], &own->server.shards[i]->exts);
    return status;
}

static void ring_auth(void *ctx)
{
    struct pl_server *server = ctx;
    if (server->ring)
        server->ring(server, PL_BELL_AUTH, (struct pl_str){0});
}

static enum pl_status prepare(struct pl_server_own *own, struct pl_error *err)
{
    const struct pl_server_config *config = &own->setup->config;
    enum pl_status status = pl_setup_complete(own->setup, NULL, err);
    if (status == PL_OK)
        status = make_data_dir(config->data_dir, err);
    if (status == PL_OK)
        status = open_sockets(own, err);
    if (status == PL_OK)
        status = open_store(own, err);
    if (status == PL_OK)
        status = pl_auth_create(own->server.store, &own->server.auth, err);
    if (status == PL_OK)
        status = pl_auth_share_first_code(own->server.auth, err);
    if (status == PL_OK)
        pl_auth_watch(own->server.auth, ring_auth, &own->server);
    if (status == PL_OK)
        status = pl_meter_create(&own->server, &own->server.meter, err);
    if (status == PL_OK)
        pl_auth_share_limits(own->server.auth, own->server.meter);
    if (status == PL_OK)
        status = pl_audit_create(&own->server, &own->server.audit, err);
    if (status == PL_OK) {
        own->server.running = pl_running_create(pl_scheduler_tell_room);
        own->server.zones = pl_zones_create(NULL);
        own->server.unattended = pl_unattended_create();
        own->server.bodies = pl_quota_create();
        own->server.address_limit = pl_quota_create();
        own->server.spools = pl_quota_create();
        own->server.claims = pl_claims_create();
        own->server.store_size = pl_store_size_create();
        own->server.oidc = pl_oidc_cache_create();
        bool is_whole = own->server.running && own->server.zones && own->server.unattended &&
                        own->server.bodies && own->server.address_limit && own->server.spools &&
                        own->server.claims && own->server.store_size && own->server.oidc;
        status = is_whole ? PL_OK : PL_NOMEM;
    }
    if (status == PL_OK)
        status = pl_workers_create(n_workers_of(config), &own->server.workers, err);
    for (size_t i = 0; status == PL_OK && i < n_shards_of(config); i++)
        status = make_shard(own, i, err);
    if (status == PL_OK)
        status = make_extensions(own, err);
    if (status == PL_OK)
        status = pl_scheduler_create(&own->server, &own->server.scheduler);
    if (status == PL_OK)
        status = pl_cluster_start(own, err);
    for (size_t i = 0; status == PL_OK && i < own->server.n_shards; i++)
        status = start_listeners(pl_shard_own(own->server.shards[i]), err);
    struct pl_loop *first = own->server.n_shards ? own->server.shards[0]->loop : NULL;
    if (status == PL_OK)
        status = pl_signals_hear(own, first);
    return status;
}

/* --- what a person sees ---------------------------------------------------------------------- */

/* The first address that a client can use: "http://127.0.0.1:8787", or the path of a Unix
 * socket. */
static void write_url(const struct pl_server_own *own, char *to, size_t size)
{
    const struct pl_server_config *config = &own->setup->config;
    bool is_v6 = strchr(config->host, ':') != NULL;
    for (size_t i = 0; i < own->server.n_sockets; i++)
        if (!own->sockets[i].is_unix) {
            snprintf(to, size, "%s://%s%s%s:%u", own->setup->tls ? "https" : "http",
                     is_v6 ? "[" : "", config->host, is_v6 ? "]" : "", own->sockets[i].port);
            return;
        }
    snprintf(to, size, "unix:%s", config->unix_path ? config->unix_path : config->data_dir);
}

/* Written at once: a reader of the first line has the others. */
static void greet(struct pl_server_own *own, void (*say)(void *ctx, const char *text), void *ctx)
{
    char url[512], text[2048];
    const char *code = pl_auth_first_code(own->server.auth);
    write_url(own, url, sizeof url);
    int n = snprintf(text, sizeof text, "Parley %s is ready at %s/\n", pl_server_version, url);
    if (code && n > 0)
        snprintf(text + n, sizeof text - (size_t)n,
                 "First start: this link makes you its administrator, once, within an hour:\n"
                 "  %s/#login=%s\n"
                 "or, for a key: curl --json '{\"code\":\"%s\"}' %s/api/login\n",
                 url, code, code, url);
    say(ctx, text);
    pl_systemd_notify("READY=1");
}

/* --- running --------------------------------------------------------------------------------- */

static void *run_shard(void *ctx)
{
    struct pl_shard_own *shard = ctx;
    pl_loop_run(shard->shard.loop);
    return NULL;
}

static void probe_run(struct pl_job *job)
{
    struct pl_server_own *own = PL_CONTAINER_OF(job, struct pl_server_own, probe);
    pl_models_probe(own->probed->models);
}

static void probe_done(struct pl_job *job)
{
    struct pl_server_own *own = PL_CONTAINER_OF(job, struct pl_server_own, probe);
    if (job->is_refused)
        pl_log_say(own->server.log, NULL, PL_LOG_WARNING,
                   "the models were not asked for at the start, because no thread was free");
    pl_setup_release(own->server.shards[0], PL_TAKE(own->probed));
}

static enum pl_status run(struct pl_server_own *own, void (*say)(void *ctx, const char *text),
                          void *ctx, struct pl_error *err)
{
    for (size_t i = 0; i < own->server.n_shards; i++)
        pl_loop_lag_start(pl_shard_own(own->server.shards[i]));
    for (size_t i = 1; i < own->server.n_shards; i++) {
        struct pl_shard_own *shard = pl_shard_own(own->server.shards[i]);
        int failure = pthread_create(&shard->thread, NULL, run_shard, shard);
        if (failure) {
            for (size_t k = 1; k < i; k++)
                pl_loop_stop(own->server.shards[k]->loop);
            return pl_fail(err, PL_IO, "a shard's thread cannot be started: %s", strerror(failure));
        }
        shard->has_thread = true;
    }
    pl_timer_start(own->server.shards[0]->loop, &own->care, 0, care);
    pl_scheduler_start(own->server.scheduler);
    pl_meter_start(own->server.meter);
    pl_audit_start(own->server.audit);
    pl_resume_queued_start(&own->requeue, &own->server);
    pl_retention_start(&own->retention, &own->server);
    pl_backup_schedule_start(&own->backups, &own->server);
    pl_blob_collect_start(&own->unused, &own->server);
    if (own->setup->config.is_probing) {
        own->probed = pl_setup_hold(own->server.shards[0]);
        own->probe = (struct pl_job){.lane = PL_WORK_FILE,
                                     .wait_ms = own->setup->config.queue_wait_ms,
                                     .run = probe_run,
                                     .done = probe_done};
        pl_workers_submit(own->server.workers, own->server.shards[0]->loop, &own->probe);
    }
    pl_life_go(&own->server.life, PL_LIFE_SERVING);
    greet(own, say, ctx);
    if (own->setup->warning[0])
        pl_log_say(own->server.log, own->server.shards[0], PL_LOG_WARNING, "%s",
                   own->setup->warning);
    pl_loop_run(own->server.shards[0]->loop);
    return PL_OK;
}

static void store_used(struct pl_server_own *own)
{
    struct pl_batch *batch = own->server.auth ? pl_batch_create() : NULL;
    struct pl_error err = {0};
    if (!batch)
        return;
    if (!pl_auth_put_used(own->server.auth, batch))
        pl_batch_destroy(batch);
    else if (pl_store_commit(own->server.store, batch, &err) != PL_OK)
        pl_log_say(own->server.log, NULL, PL_LOG_WARNING,
                   "the last-used times of keys could not be stored: %s", err.message);
}

/* Accepts a partly created server. */
static void close_all(struct pl_server_own *own)
{
    struct pl_server *server = &own->server;
    for (size_t i = 0; i < server->n_shards; i++)
        if (pl_shard_own(server->shards[i])->has_thread)
            pthread_join(pl_shard_own(server->shards[i])->thread, NULL);
    if (server->n_shards && server->shards[0]->loop)
        pl_timer_stop(server->shards[0]->loop, &own->care);
    for (size_t i = 0; i < server->n_shards; i++)
        if (server->shards[i]->loop)
            pl_loop_lag_stop(pl_shard_own(server->shards[i]));
    pl_scheduler_stop(server->scheduler);
    pl_shutdown_close_shards(own);
    store_used(own);
    pl_meter_stop(server->meter);
    pl_audit_stop(server->audit);
    /* Threads that post to loops first, then the loops. */
    pl_node_stop(server->node);
    pl_workers_destroy(server->workers);
    pl_store_close(server->store);
    pl_scheduler_destroy(server->scheduler);
    for (size_t i = 0; i < server->n_shards; i++)
        pl_loop_destroy(server->shards[i]->loop);
    for (size_t i = 0; i < server->n_shards; i++) {
        pl_hub_destroy(server->shards[i]->hub);
        pl_gateway_destroy(server->shards[i]->gateway);
        pl_exchange_pool_destroy(server->shards[i]->exchanges);
        pl_route_times_destroy(server->shards[i]->route_times);
        pl_mem_free(pl_shard_own(server->shards[i]));
    }
    pl_node_destroy(server->node);
    pl_ext_server_destroy(server->ext);
    pl_auth_destroy(server->auth);
    pl_meter_destroy(server->meter);
    pl_audit_destroy(server->audit);
    pl_running_destroy(server->running);
    pl_unattended_destroy(server->unattended);
    pl_zones_destroy(server->zones);
    pl_quota_destroy(server->bodies);
    pl_quota_destroy(server->address_limit);
    pl_quota_destroy(server->spools);
    pl_claims_destroy(server->claims);
    pl_store_size_destroy(server->store_size);
    pl_oidc_cache_destroy(server->oidc);
    for (size_t i = 0; i < own->server.n_sockets; i++)
        pl_socket_close(&own->sockets[i]);
    pl_request_schemas_free();
    pl_reload_forget(own);
    pl_access_log_destroy(server->access_log);
    pl_tracer_destroy(server->tracer);
    pl_log_destroy(server->log);
    pl_fetch_slots_deinit(&own->fetch_slots);
    pl_mem_free(own);
}

/* The user ids of cells; they are valid, since the configuration was read. */
static void use_uids(const struct pl_server_config *config)
{
    uid_t first;
    size_t n;
    if (config->ext_uids && pl_cell_uids_read(config->ext_uids, &first, &n, NULL) == PL_OK)
        pl_cell_uids_set(first, n);
}

enum pl_status pl_server_run(const struct pl_server_config *config,
                             const struct pl_server_source *source,
                             void (*say)(void *ctx, const char *text), void *ctx,
                             struct pl_error *err)
{
    struct pl_server_own *own = pl_mem_alloc(1, sizeof *own);
    if (!own)
        return pl_fail(err, PL_NOMEM, "out of memory");
    *own = (struct pl_server_own){.reload.source = source, .setup = pl_setup_create()};
    if (own->setup)
        own->setup->config = *config;
    pl_buf_init(&own->reload.changed, 0);
    pl_buf_init(&own->reload.kept, 0);
    pl_fetch_slots_init(&own->fetch_slots);
    own->server.fetch_slots = &own->fetch_slots;
    own->server.started_ms = pl_clock_unix_ms();
    own->server.log = pl_log_create(config->log_level, config->is_log_json);
    pl_routes_use(pl_server_routes);
    pl_families_use(pl_gateway_families);
    own->server.guard = &pl_access_guard;
    own->server.session_owner = &pl_driver_owner;
    own->server.socket_events = pl_session_socket_events;
    own->server.tell_change = pl_lists_tell_change;
    own->server.tell_run = pl_run_tell;
    own->server.claim_ops = &pl_idempotency;
    own->server.reloader = &pl_reload_ops;
    own->server.meter_watch = &pl_call_counts;
    own->server.sockets = own->sockets;
    pl_fd_limit_raise();
    pl_signals_ignore();
    use_uids(config);
    bool is_whole = own->server.log && own->setup;
    enum pl_status status = is_whole ? pl_access_log_create(config, &own->server.access_log, err)
                                     : pl_fail(err, PL_NOMEM, "out of memory");
    if (status == PL_OK)
        status = prepare(own, err);
    if (status == PL_OK && config->otlp_endpoint)
        status = pl_tracer_create(&(struct pl_tracer_config){config->otlp_endpoint,
                                                             config->otlp_headers_file,
                                                             config->otlp_percent},
                                  &own->server.tracer, err);
    if (status == PL_OK)
        status = run(own, say, ctx, err);
    if (status != PL_OK)
        pl_life_go(&own->server.life, PL_LIFE_STOPPED);
    close_all(own);
    return status;
}
