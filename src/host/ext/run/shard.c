/* A shard's part of the host: its places, their end with the server, and commits for them. */
#include "ext/run/ext_int.h"

#include "base/mem.h"
#include "shard/log.h"

static void on_stop_hook(struct pl_loop_hook *hook)
{
    struct pl_ext_shard *exts = PL_CONTAINER_OF(hook, struct pl_ext_shard, stop_hook);
    if (!exts->is_stopping || exts->n_live || exts->n_ending || !exts->stopped)
        return;
    void (*stopped)(void *ctx) = exts->stopped;
    exts->stopped = NULL;
    pl_ext_audit_flush(exts);
    stopped(exts->stopped_ctx);
}

enum pl_status pl_ext_shard_create(struct pl_shard *shard, struct pl_ext_shard **ret_exts)
{
    struct pl_ext_shard *exts = pl_mem_alloc(1, sizeof *exts);
    if (!exts)
        return PL_NOMEM;
    *exts = (struct pl_ext_shard){.shard = shard, .loop = shard->loop, .host = shard->server->ext};
    exts->stop_hook.fn = on_stop_hook;
    if (pl_ext_env_secrets(shard, &exts->secrets) != PL_OK) {
        pl_mem_free(exts);
        return PL_NOMEM;
    }
    *ret_exts = exts;
    return PL_OK;
}

void pl_ext_shard_stop(struct pl_ext_shard *exts, void (*done)(void *ctx), void *ctx)
{
    exts->is_stopping = true;
    exts->stopped = done;
    exts->stopped_ctx = ctx;
    for (struct pl_table_link *link = pl_table_next(&exts->places, NULL); link;
         link = pl_table_next(&exts->places, link)) {
        struct pl_ext_place *place = PL_CONTAINER_OF(link, struct pl_ext_place, link);
        if (place->instance)
            pl_ext_instance_stop(place->instance, "the server ends");
    }
    pl_loop_hook_add(exts->loop, &exts->stop_hook);
}

void pl_ext_shard_kill(struct pl_ext_shard *exts)
{
    struct pl_table_link *link;
    if (!exts)
        return;
    exts->is_stopping = true;
    exts->stopped = NULL;
    while ((link = pl_table_next(&exts->places, NULL)))
        pl_ext_place_destroy(PL_CONTAINER_OF(link, struct pl_ext_place, link));
    pl_ext_audit_flush(exts);
}

void pl_ext_shard_destroy(struct pl_ext_shard *exts)
{
    if (!exts)
        return;
    pl_table_deinit(&exts->places);
    pl_table_deinit(&exts->questions);
    pl_loop_hook_remove(exts->loop, &exts->stop_hook);
    pl_timer_stop(exts->loop, &exts->gather);
    pl_batch_destroy(exts->gathered);
    pl_buf_deinit(&exts->spare);
    pl_mem_free((struct pl_str *)exts->secrets.values);
    pl_mem_free(exts);
}

/* --- changed extensions ----------------------------------------------------------------------- */

struct visiting {
    struct pl_letter letter;
    struct pl_ext_shard *exts; /* borrowed */
    size_t n_id;               /* 0: all changed extensions */
    char id[];
};

static bool is_same(const struct pl_ext_known *a, const struct pl_ext_known *b)
{
    return b && b->package.state == PL_EXT_STATE_ENABLED &&
           pl_str_eq(a->row.artifact, b->row.artifact) &&
           pl_str_eq(a->row.manifest_hash, b->row.manifest_hash) &&
           pl_str_eq(a->row.profile, b->row.profile) && pl_str_eq(a->row.granted, b->row.granted) &&
           pl_str_eq(a->row.denied, b->row.denied) && a->row.restarts == b->row.restarts;
}

static void visit(struct pl_ext_place *place, struct pl_str id)
{
    struct pl_ext_known *known = pl_ext_known_any(place->exts->host, place->extension_id);
    bool is_meant = id.len && pl_str_eq(place->extension_id, id);
    bool is_new = known && pl_ext_known_state(known, place->user_id) == PL_EXT_STATE_ENABLED;
    bool is_changed =
        !id.len && place->instance && !(is_new && is_same(place->instance->known, known));
    pl_ext_known_release(known);
    if (is_meant || (!id.len && is_new && place->state == PL_EXT_PLACE_BARRED))
        pl_ext_place_pardon(place);
    if (place->instance && (is_meant || is_changed))
        pl_ext_instance_stop(place->instance, is_meant ? "it is restarted" : "it was changed");
}

static void on_visit(struct pl_letter *letter)
{
    struct visiting *visiting = PL_CONTAINER_OF(letter, struct visiting, letter);
    struct pl_ext_shard *exts = visiting->exts;
    for (struct pl_table_link *link = pl_table_next(&exts->places, NULL); link;
         link = pl_table_next(&exts->places, link))
        visit(PL_CONTAINER_OF(link, struct pl_ext_place, link),
              (struct pl_str){visiting->id, visiting->n_id});
    pl_mem_free(visiting);
}

void pl_ext_shards_visit(struct pl_ext_server *host, struct pl_str extension_id)
{
    for (size_t i = 0; i < host->server->n_shards; i++) {
        struct pl_shard *shard = host->server->shards[i];
        struct visiting *visiting =
            shard->exts ? pl_mem_alloc(1, sizeof *visiting + extension_id.len) : NULL;
        if (!visiting)
            continue;
        *visiting = (struct visiting){
            .letter.open = on_visit, .exts = shard->exts, .n_id = extension_id.len};
        memcpy(visiting->id, extension_id.ptr ? extension_id.ptr : "", extension_id.len);
        pl_loop_post(shard->loop, &visiting->letter);
    }
}

void pl_ext_server_restart(struct pl_ext_server *host, struct pl_str extension_id)
{
    pl_ext_shards_visit(host, extension_id);
}

/* --- changes of the record -------------------------------------------------------------------- */

/* A worker reads the set again when the change is durable. */
struct committing {
    struct pl_job job;
    struct pl_ext_shard *exts; /* borrowed */
    struct pl_error err;
};

static void reload_run(struct pl_job *job)
{
    struct committing *c = PL_CONTAINER_OF(job, struct committing, job);
    (void)pl_ext_server_reload(c->exts->host, &c->err);
}

static void reload_done(struct pl_job *job)
{
    struct committing *c = PL_CONTAINER_OF(job, struct committing, job);
    if (c->err.message[0])
        pl_log_say(c->exts->shard->server->log, c->exts->shard, PL_LOG_WARNING,
                   "extensions could not be read again: %s", c->err.message);
    pl_mem_free(c);
}

static void on_committed(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct committing *c = ctx;
    if (status != PL_OK) {
        pl_log_say(c->exts->shard->server->log, c->exts->shard, PL_LOG_WARNING,
                   "the record of an extension could not be stored: %s", err->message);
        pl_mem_free(c);
        return;
    }
    c->job = (struct pl_job){.owner = 1, .is_begun = true, .run = reload_run, .done = reload_done};
    pl_workers_submit(c->exts->shard->server->workers, c->exts->loop, &c->job);
}

void pl_ext_server_commit(struct pl_ext_shard *exts, struct pl_batch *batch)
{
    struct committing *c = pl_mem_alloc(1, sizeof *c);
    if (!c) {
        pl_batch_destroy(batch);
        return;
    }
    *c = (struct committing){.exts = exts};
    pl_store_submit(exts->shard->server->store, exts->loop, batch, on_committed, c);
}
