/* Follows changes of extensions by other nodes. A bell, or a version in the answer to a lease
 * renewal, signals a change: a worker reads the set again, so that extensions disabled or
 * removed elsewhere stop here at once. Another worker then fetches the files that this node
 * lacks, and shares those that only this node has: packages that were added before nodes shared
 * them. One of each at a time. */
#include "ext/run/host_int.h"

#include "base/mem.h"
#include "ext/package/tree.h"
#include "io/clock.h"
#include "shard/log.h"
#include "shard/setup.h"
#include "store/node/packages.h"
#include "store/node/shared.h"

struct following {
    struct pl_letter letter; /* to the first shard, which has the job */
    struct pl_job job;
    struct pl_ext_server *host; /* borrowed */
};

static void say(struct pl_ext_server *host, const struct pl_error *err)
{
    pl_log_say(host->server->log, NULL, PL_LOG_WARNING,
               "extensions could not be read again: %s; trying again", err->message);
}

/* --- on a worker -------------------------------------------------------------------------------- */

/* A copy that was changed since it was added is not shared. */
static enum pl_status share(struct pl_store *store, const struct pl_ext_package *package,
                            struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_ext_tree tree;
    char hash[PL_EXT_HASH_SIZE];
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_ext_tree_load(&arena, package->dir.ptr, &tree, err);
    if (status == PL_OK)
        status = pl_ext_tree_hash(&arena, &tree, hash);
    if (status != PL_OK || !pl_str_eq(pl_str_of(hash), package->artifact))
        return status;
    return pl_ext_tree_share(store, &tree, hash, pl_clock_unix_ms(), err);
}

/* True: files were fetched. */
static bool bring(struct pl_ext_server *host, const struct pl_ext_known *known)
{
    const struct pl_ext_package *package = &known->package;
    struct pl_store *store = host->server->store;
    const char *data_dir = host->server->shards[0]->setup->config.data_dir;
    struct pl_error err = {0};
    bool has = true;
    if (!package->dir.len)
        return false;
    enum pl_status status = PL_OK;
    if (known->is_missing)
        status = pl_ext_tree_fetch(store, data_dir, package->id, package->artifact, &err);
    else
        status = pl_store_package_has(store, package->artifact, &has, &err);
    if (status == PL_OK && !has)
        status = share(store, package, &err);
    if (status != PL_OK)
        pl_log_say(host->server->log, NULL, PL_LOG_WARNING,
                   "the files of extension %.*s could not be %s: %s", PL_STR_ARG(package->id),
                   known->is_missing ? "fetched" : "shared with other nodes", err.message);
    return status == PL_OK && known->is_missing;
}

/* Removes copies of extensions that were removed elsewhere. Running instances keep their open
 * files. */
static void sweep(struct pl_ext_server *host, const struct pl_ext_set *before,
                  const struct pl_ext_set *now)
{
    const char *data_dir = host->server->shards[0]->setup->config.data_dir;
    for (size_t i = 0; i < before->n; i++) {
        struct pl_str id = before->items[i]->package.id;
        bool is_there = false;
        for (size_t k = 0; k < now->n && !is_there; k++)
            is_there = pl_str_eq(now->items[k]->package.id, id);
        if (!is_there)
            pl_ext_tree_sweep(data_dir, id, NULL);
    }
}

static void read_run(struct pl_job *job)
{
    struct following *f = PL_CONTAINER_OF(job, struct following, job);
    struct pl_error err = {0};
    struct pl_ext_set *before = pl_ext_set_hold(f->host);
    enum pl_status status = pl_ext_set_read(f->host, &err);
    struct pl_ext_set *now = pl_ext_set_hold(f->host);
    if (status == PL_OK)
        sweep(f->host, before, now);
    else
        say(f->host, &err);
    pl_ext_set_release(before);
    pl_ext_set_release(now);
}

static void bring_run(struct pl_job *job)
{
    struct following *f = PL_CONTAINER_OF(job, struct following, job);
    struct pl_error err = {0};
    bool has_come = false;
    struct pl_ext_set *set = pl_ext_set_hold(f->host);
    for (size_t i = 0; i < set->n; i++)
        has_come |= bring(f->host, set->items[i]);
    pl_ext_set_release(set);
    if (has_come && pl_ext_set_read(f->host, &err) != PL_OK)
        say(f->host, &err);
}

/* --- at home ------------------------------------------------------------------------------------ */

static void bring_done(struct pl_job *job)
{
    struct following *f = PL_CONTAINER_OF(job, struct following, job);
    atomic_store(&f->host->is_bringing, false);
    pl_mem_free(f);
}

static void submit(struct following *f, enum pl_work lane, void (*run)(struct pl_job *job),
                   void (*done)(struct pl_job *job))
{
    struct pl_shard *shard = f->host->server->shards[0];
    f->job = (struct pl_job){
        .lane = lane, .wait_ms = shard->setup->config.queue_wait_ms, .run = run, .done = done};
    pl_workers_submit(f->host->server->workers, shard->loop, &f->job);
}

/* Fetching may take long, and does not delay later changes. If another job began without this
 * change, the files are found when they are needed (place.c), or by the next change. */
static void read_done(struct pl_job *job)
{
    struct following *f = PL_CONTAINER_OF(job, struct following, job);
    atomic_store(&f->host->is_following, false);
    if (atomic_exchange(&f->host->is_bringing, true))
        pl_mem_free(f);
    else
        submit(f, PL_WORK_FILE, bring_run, bring_done);
}

static void open_following(struct pl_letter *letter)
{
    submit(PL_CONTAINER_OF(letter, struct following, letter), PL_WORK_STORE, read_run, read_done);
}

void pl_ext_follow(struct pl_server *server, int64_t ext_version)
{
    struct pl_ext_server *host = server->ext;
    bool is_behind = host && ext_version > atomic_load(&host->version);
    if (!is_behind || !pl_store_is_shared(server->store) ||
        atomic_exchange(&host->is_following, true))
        return;
    struct following *f = pl_mem_alloc(1, sizeof *f);
    if (!f) {
        atomic_store(&host->is_following, false);
        return;
    }
    *f = (struct following){.host = host, .letter.open = open_following};
    pl_loop_post(server->shards[0]->loop, &f->letter);
}
