/*     once a minute ─> worker: which blobs were unused for blob_grace? ─> one transaction: settles
 *                      the used ones, deletes the rest ─> after a second again, if there is more
 *
 * A step is small, so that other commits do not wait for it: SQLite overwrites deleted data. If a
 * blob was used between the scan and the transaction, the transaction fails, and the next round
 * scans again. */
#include "service/blobs/blob_collect.h"

#include "base/table.h"
#include "io/clock.h"
#include "shard/log.h"
#include "shard/setup.h"
#include "store/work.h"

enum { LOOK_MS = 60000, STEP_MS = 1000, MAX_BLOBS = 100 };
#define MAX_BYTES ((int64_t)64 << 20)

/* Adds at least one blob, however large. */
static void add_all(struct pl_blob_collect *collect, struct pl_batch *batch,
                    const struct pl_unused_blob *blobs, size_t n)
{
    collect->has_more = n == MAX_BLOBS;
    for (size_t i = 0; i < n; i++) {
        if (blobs[i].is_used) {
            pl_batch_settle_blob(batch, &blobs[i]);
            continue;
        }
        if (collect->n_blobs && collect->n_bytes + blobs[i].n_bytes > MAX_BYTES) {
            collect->has_more = true;
            return;
        }
        pl_batch_collect_blob(batch, &blobs[i]);
        collect->n_blobs++;
        collect->n_bytes += blobs[i].n_bytes;
    }
}

static enum pl_status step(struct pl_blob_collect *collect, struct pl_arena *arena)
{
    struct pl_store *store = collect->server->store;
    struct pl_unused_blob *blobs = NULL;
    size_t n = 0;
    enum pl_status status =
        pl_store_blob_unused(store, arena, collect->until_ms, MAX_BLOBS, &blobs, &n, &collect->err);
    if (status != PL_OK || !n)
        return status;
    struct pl_batch *batch = pl_batch_create();
    if (!batch)
        return pl_fail(&collect->err, PL_NOMEM, "out of memory");
    add_all(collect, batch, blobs, n);
    return pl_store_commit(store, batch, &collect->err);
}

static void run(struct pl_job *job)
{
    struct pl_blob_collect *collect = PL_CONTAINER_OF(job, struct pl_blob_collect, job);
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    collect->status = step(collect, &arena);
    pl_arena_deinit(&arena);
}

static void look(struct pl_timer *timer);

static void done(struct pl_job *job)
{
    struct pl_blob_collect *collect = PL_CONTAINER_OF(job, struct pl_blob_collect, job);
    struct pl_shard *first = collect->server->shards[0];
    bool is_done = !job->is_refused && collect->status == PL_OK;
    if (is_done) {
        pl_metric_add(&first->metrics, PL_METRIC_blobs_collected_total, collect->n_blobs);
        pl_metric_add(&first->metrics, PL_METRIC_blobs_collected_bytes_total, collect->n_bytes);
    }
    if (is_done && collect->n_blobs)
        pl_log_say(collect->server->log, first, PL_LOG_INFO,
                   "deleted %lld blobs (%lld bytes) that nothing referred to any more",
                   (long long)collect->n_blobs, (long long)collect->n_bytes);
    if (collect->status != PL_OK && collect->status != PL_NOT_FOUND)
        pl_log_say(collect->server->log, first, PL_LOG_WARNING,
                   "blobs that nothing refers to could not be deleted, and are tried again: %s",
                   collect->err.message);
    if (!pl_life_is_closing(&collect->server->life))
        pl_timer_start(first->loop, &collect->timer,
                       is_done && collect->has_more ? STEP_MS : LOOK_MS, look);
}

/* Reads the grace period in each step, because a reload may change it. */
static void look(struct pl_timer *timer)
{
    struct pl_blob_collect *collect = PL_CONTAINER_OF(timer, struct pl_blob_collect, timer);
    struct pl_shard *first = collect->server->shards[0];
    const struct pl_server_config *config = &first->setup->config;
    collect->until_ms = pl_clock_unix_ms() - config->blob_grace;
    if (!config->blob_grace || collect->until_ms <= 0) {
        pl_timer_start(first->loop, timer, LOOK_MS, look);
        return;
    }
    collect->status = PL_OK;
    collect->err = (struct pl_error){0};
    collect->n_blobs = collect->n_bytes = 0;
    collect->has_more = false;
    collect->job = (struct pl_job){
        .wait_ms = config->queue_wait_ms,
        .run = run,
        .done = done,
    };
    pl_workers_submit(collect->server->workers, first->loop, &collect->job);
}

void pl_blob_collect_start(struct pl_blob_collect *collect, struct pl_server *server)
{
    *collect = (struct pl_blob_collect){.server = server};
    pl_timer_start(server->shards[0]->loop, &collect->timer, 0, look);
}
