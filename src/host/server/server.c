/* The server from start to end.
 *
 * Start: sockets are bound first, so that a port that is taken is known at once and clients wait in
 * the queue rather than being refused; then the store is opened and what a crash left is settled;
 * then the shards accept. Nothing that is not needed for the first answer is made before it.
 *
 * End: ending.c brings the loops to a stop; then all is closed here, in the reverse order. */
#include "server/server.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/uuid.h"
#include "io/clock.h"
#include "io/outfile.h"
#include "io/tree.h"
#include "model/vendors.h"
#include "server/auth_int.h"
#include "server/driver.h"
#include "server/ending.h"
#include "server/gate.h"
#include "server/gateway/gateway.h"
#include "server/gateway/meter.h"
#include "server/http_conn.h"
#include "server/hub.h"
#include "server/quota.h"
#include "server/reload.h"
#include "server/request_schema.h"
#include "server/running.h"
#include "server/scheduler.h"
#include "server/setup.h"
#include "server/shard_int.h"
#include "server/signals.h"
#include "server/unattended.h"
#include "server/zones.h"
#include "store/work.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sodium/randombytes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

const char pl_server_version[] = PARLEY_VERSION;

enum {
    CARE_MS = 60000,
    UPLOAD_IDLE_MS = 600000, /* at the least rate of a body, a piece takes half of that */
    EXIT_STORE_FAILED = 4,
};

/* --- what shards share ----------------------------------------------------------------------- */

struct pl_shard *pl_shard_of_session(struct pl_server *server, struct pl_str session_id)
{
    return server->shards[pl_hash(session_id) % server->n_shards];
}

struct pl_id_seed pl_shard_seed(struct pl_shard *shard)
{
    struct pl_shard_own *own = pl_shard_own(shard);
    if (own->n_random < 2) {
        randombytes_buf(own->random, sizeof own->random);
        own->n_random = sizeof own->random / sizeof *own->random;
    }
    struct pl_id_seed seed = {.unix_ms = pl_loop_unix_ms(shard->loop)};
    seed.random[0] = own->random[--own->n_random];
    seed.random[1] = own->random[--own->n_random];
    return seed;
}

struct pl_id_seed pl_seed_draw(void)
{
    struct pl_id_seed seed = {.unix_ms = pl_clock_unix_ms()};
    randombytes_buf(seed.random, sizeof seed.random);
    return seed;
}

struct pl_str pl_shard_date(struct pl_shard *shard)
{
    struct pl_shard_own *own = pl_shard_own(shard);
    int64_t now_s = pl_loop_unix_ms(shard->loop) / 1000;
    if (now_s != own->date_s) {
        memcpy(own->date, "Date: ", 6);
        pl_http_date_write(own->date + 6, now_s);
        memcpy(own->date + 6 + PL_HTTP_DATE_SIZE, "\r\n", 2);
        own->date_s = now_s;
    }
    return (struct pl_str){own->date, sizeof own->date};
}

/* --- sockets --------------------------------------------------------------------------------- */

static enum pl_status add_unix(struct pl_server_own *own, const char *path, bool is_control,
                               struct pl_error *err)
{
    enum pl_status status = pl_socket_listen_unix(path, &own->sockets[own->n_sockets], err);
    if (status == PL_OK)
        own->is_control[own->n_sockets++] = is_control;
    return status;
}

/* The control socket is also what keeps a second server away from the same data. */
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
                       "another server is running with the data in %s; end it first, or give "
                       "another --data",
                       config->data_dir);
    size_t n_given = 0;
    if (status == PL_OK)
        status = pl_socket_from_systemd(own->sockets + own->n_sockets,
                                        PL_MAX_SOCKETS - own->n_sockets - 2, &n_given, err);
    if (status != PL_OK)
        return status;
    own->n_sockets += n_given;
    if (!n_given) {
        status =
            pl_socket_listen_tcp(config->host, config->port, &own->sockets[own->n_sockets], err);
        own->n_sockets += status == PL_OK;
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
               "no file descriptor is free for another connection; it waits. Raise the limit "
               "(ulimit -n)");
}

static enum pl_status start_listeners(struct pl_shard_own *shard, struct pl_error *err)
{
    struct pl_server_own *own = pl_server_own(shard->shard.server);
    enum pl_status status = PL_OK;
    for (size_t i = 0; status == PL_OK && i < own->n_sockets; i++) {
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

static void cared(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_server_own *own = ctx;
    if (status != PL_OK)
        pl_log_say(own->server.log, own->server.shards[0], PL_LOG_WARNING,
                   "the times keys were used at could not be stored: %s", err->message);
}

static void measure_run(struct pl_job *job)
{
    struct pl_server_own *own = PL_CONTAINER_OF(job, struct pl_server_own, measure);
    atomic_store(&own->server.n_store_bytes, pl_store_n_bytes(own->server.store));
    /* What those who left have freed goes back to the system. */
    pl_mem_trim();
}

static void measure_done(struct pl_job *job)
{
    atomic_store(&PL_CONTAINER_OF(job, struct pl_server_own, measure)->is_measuring, false);
}

void pl_server_measure(struct pl_server *server)
{
    struct pl_server_own *own = pl_server_own(server);
    if (atomic_exchange(&own->is_measuring, true))
        return;
    own->measure = (struct pl_job){.lane = PL_WORK_FILE, .run = measure_run, .done = measure_done};
    pl_workers_submit(server->workers, server->shards[0]->loop, &own->measure);
}

/* Whether the wall clock has gone evenly for as long as an upload may rest: pieces are dated by it,
 * and one that jumps forward would make all of them look old. What a start finds is nobody's. */
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

/* When keys were used; old idempotency keys, uploads that nobody goes on with and settings that
 * nobody holds any more out. */
static void care(struct pl_timer *timer)
{
    struct pl_server_own *own = PL_CONTAINER_OF(timer, struct pl_server_own, care);
    struct pl_loop *loop = own->server.shards[0]->loop;
    struct pl_batch *batch = pl_batch_create();
    if (batch) {
        pl_auth_put_used(own->server.auth, batch);
        pl_batch_expire_idempotency(batch, pl_loop_unix_ms(loop) - PL_IDEMPOTENCY_KEPT_MS);
        if (is_clock_steady(own))
            pl_batch_sweep_uploads(batch, pl_loop_unix_ms(loop) - UPLOAD_IDLE_MS);
        pl_store_submit(own->server.store, loop, batch, cared, own);
    }
    pl_server_measure(&own->server);
    pl_reload_tidy(own);
    pl_timer_start(loop, timer, CARE_MS, care);
}

/* A commit whose fate nobody knows: nothing more may be said, and the next start recovers. */
static void on_store_fatal(void *ctx, const struct pl_error *err)
{
    struct pl_server_own *own = ctx;
    atomic_store(&own->server.is_storage_bad, true);
    pl_log_say(own->server.log, NULL, PL_LOG_ERROR,
               "the store failed and nothing more can be acknowledged: %s", err->message);
    pl_log_flush(own->server.log);
    _exit(EXIT_STORE_FAILED);
}

/* What the database says about itself is for whoever runs the server. */
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
        return pl_fail(err, PL_IO, "%s cannot be made private: %s", path, strerror(errno));
    return status;
}

static enum pl_status open_store(struct pl_server_own *own, struct pl_error *err)
{
    const struct pl_server_config *config = &own->setup->config;
    char url[PATH_MAX + 32];
    snprintf(url, sizeof url, "sqlite:%s/parley.db", config->data_dir);
    struct pl_store_config store = {
        .url = config->store_url ? config->store_url : url,
        .password = config->store_password,
        .is_server = true,
        .answer_ms = config->store_answer_ms,
        .away_ms = config->store_away_ms,
        .on_fatal = on_store_fatal,
        .on_trouble = on_store_trouble,
        .ctx = own,
    };
    size_t n_recovered = 0;
    enum pl_status status = pl_store_open(&store, &own->server.store, err);
    /* Only now is the directory ours alone. */
    if (status == PL_OK)
        pl_outfile_sweep(config->data_dir);
    if (status == PL_OK)
        status = pl_drivers_recover(own->server.store, &n_recovered, err);
    if (status == PL_OK && n_recovered)
        pl_log_say(own->server.log, NULL, PL_LOG_INFO,
                   "%zu sessions were running when the server ended; they are interrupted now",
                   n_recovered);
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
    enum pl_status status = pl_loop_create(&shard->shard.loop, err);
    if (status == PL_OK)
        status = pl_hub_create(&shard->shard, &shard->shard.hub);
    if (status == PL_OK)
        status = pl_drivers_create(&shard->shard, &shard->shard.drivers);
    if (status == PL_OK)
        status = pl_gateway_create(&shard->shard.gateway);
    return status;
}

static size_t n_shards_of(const struct pl_server_config *config)
{
    long n = config->n_shards ? (long)config->n_shards : sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > PL_MAX_SHARDS ? PL_MAX_SHARDS : (size_t)n;
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
        status = pl_meter_create(&own->server, &own->server.meter, err);
    if (status == PL_OK) {
        own->server.running = pl_running_create();
        own->server.zones = pl_zones_create(NULL);
        own->server.unattended = pl_unattended_create();
        own->server.bodies = pl_quota_create();
        own->server.neighbours = pl_quota_create();
        own->server.spools = pl_quota_create();
        bool is_whole = own->server.running && own->server.zones && own->server.unattended &&
                        own->server.bodies && own->server.neighbours && own->server.spools;
        status = is_whole ? PL_OK : PL_NOMEM;
    }
    if (status == PL_OK)
        status =
            pl_workers_create(config->n_workers ? config->n_workers : 4, &own->server.workers, err);
    for (size_t i = 0; status == PL_OK && i < n_shards_of(config); i++)
        status = make_shard(own, i, err);
    if (status == PL_OK)
        status = pl_scheduler_create(&own->server, &own->server.scheduler);
    for (size_t i = 0; status == PL_OK && i < own->server.n_shards; i++)
        status = start_listeners(pl_shard_own(own->server.shards[i]), err);
    struct pl_loop *first = own->server.n_shards ? own->server.shards[0]->loop : NULL;
    if (status == PL_OK)
        status = pl_signals_hear(own, first);
    return status;
}

/* --- what a person sees ---------------------------------------------------------------------- */

/* The first address a client can use: "http://127.0.0.1:8787", or the path of a Unix socket. */
static void write_url(const struct pl_server_own *own, char *to, size_t size)
{
    const struct pl_server_config *config = &own->setup->config;
    bool is_v6 = strchr(config->host, ':') != NULL;
    for (size_t i = 0; i < own->n_sockets; i++)
        if (!own->sockets[i].is_unix) {
            snprintf(to, size, "%s://%s%s%s:%u", own->setup->tls ? "https" : "http",
                     is_v6 ? "[" : "", config->host, is_v6 ? "]" : "", own->sockets[i].port);
            return;
        }
    snprintf(to, size, "unix:%s", config->unix_path ? config->unix_path : config->data_dir);
}

/* In one piece: whoever reads the first line has the others. */
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
    pl_setup_release(own->server.shards[0], PL_TAKE(own->probed));
}

static enum pl_status run(struct pl_server_own *own, void (*say)(void *ctx, const char *text),
                          void *ctx, struct pl_error *err)
{
    for (size_t i = 1; i < own->server.n_shards; i++) {
        struct pl_shard_own *shard = pl_shard_own(own->server.shards[i]);
        int failure = pthread_create(&shard->thread, NULL, run_shard, shard);
        if (failure) {
            for (size_t k = 1; k < i; k++)
                pl_loop_stop(own->server.shards[k]->loop);
            return pl_fail(err, PL_IO, "no thread for a shard: %s", strerror(failure));
        }
        shard->has_thread = true;
    }
    pl_timer_start(own->server.shards[0]->loop, &own->care, 0, care);
    pl_scheduler_start(own->server.scheduler);
    pl_meter_start(own->server.meter);
    pl_requeue_start(&own->requeue, &own->server);
    if (own->setup->config.is_probing) {
        own->probed = pl_setup_hold(own->server.shards[0]);
        own->probe = (struct pl_job){.lane = PL_WORK_FILE, .run = probe_run, .done = probe_done};
        pl_workers_submit(own->server.workers, own->server.shards[0]->loop, &own->probe);
    }
    pl_life_go(&own->server.life, PL_LIFE_SERVING);
    greet(own, say, ctx);
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
                   "the times keys were used at could not be stored: %s", err.message);
}

/* Accepts what is half-built. */
static void close_all(struct pl_server_own *own)
{
    struct pl_server *server = &own->server;
    for (size_t i = 0; i < server->n_shards; i++)
        if (pl_shard_own(server->shards[i])->has_thread)
            pthread_join(pl_shard_own(server->shards[i])->thread, NULL);
    if (server->n_shards && server->shards[0]->loop)
        pl_timer_stop(server->shards[0]->loop, &own->care);
    pl_scheduler_stop(server->scheduler);
    pl_ending_close_shards(own);
    store_used(own);
    pl_meter_stop(server->meter);
    /* First every thread that posts to loops, then the loops. */
    pl_workers_destroy(server->workers);
    pl_store_close(server->store);
    pl_scheduler_destroy(server->scheduler);
    for (size_t i = 0; i < server->n_shards; i++)
        pl_loop_destroy(server->shards[i]->loop);
    for (size_t i = 0; i < server->n_shards; i++) {
        pl_hub_destroy(server->shards[i]->hub);
        pl_gateway_destroy(server->shards[i]->gateway);
        pl_exchange_free_spares(server->shards[i]);
        pl_mem_free(pl_shard_own(server->shards[i]));
    }
    pl_auth_destroy(server->auth);
    pl_meter_destroy(server->meter);
    pl_running_destroy(server->running);
    pl_unattended_destroy(server->unattended);
    pl_zones_destroy(server->zones);
    pl_quota_destroy(server->bodies);
    pl_quota_destroy(server->neighbours);
    pl_quota_destroy(server->spools);
    for (size_t i = 0; i < own->n_sockets; i++)
        pl_socket_close(&own->sockets[i]);
    pl_request_schemas_free();
    pl_reload_forget(own);
    pl_log_destroy(server->log);
    pthread_mutex_destroy(&own->claims_lock);
    pl_fetch_slots_deinit(&server->fetch_slots);
    pl_mem_free(own);
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
    pthread_mutex_init(&own->claims_lock, NULL);
    pl_fetch_slots_init(&own->server.fetch_slots);
    own->server.started_ms = pl_clock_unix_ms();
    own->server.log = pl_log_create(config->log_level, config->is_log_json);
    pl_fd_limit_raise();
    pl_signals_ignore();
    bool is_whole = own->server.log && own->setup;
    enum pl_status status = is_whole ? prepare(own, err) : pl_fail(err, PL_NOMEM, "out of memory");
    if (status == PL_OK)
        status = run(own, say, ctx, err);
    if (status != PL_OK)
        pl_life_go(&own->server.life, PL_LIFE_STOPPED);
    close_all(own);
    return status;
}
