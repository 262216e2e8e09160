/* A cell on the loop: its pidfd is watched, and a worker frees it, because that waits for
 * processes to end. */
#include "ext/run/ext_int.h"

#include "base/mem.h"

#include <sys/epoll.h>

struct pl_ext_child {
    struct pl_ext_shard *exts; /* borrowed */
    struct pl_cell *cell;      /* owned */
    struct pl_watch watch;
    void (*on_exit)(void *ctx, const struct pl_cell_end *end);
    void *ctx;
    bool has_exited;
};

struct freeing {
    struct pl_job job;
    struct pl_ext_shard *exts; /* borrowed */
    struct pl_cell *cell;      /* owned; may be NULL */
    struct pl_ext_ward *ward;  /* owned; may be NULL */
};

static void end_all(struct pl_cell *cell, struct pl_ext_ward *ward)
{
    pl_cell_free(cell);
    if (ward && !pl_ext_ward_is_over(ward))
        pl_ext_ward_end(ward);
}

static void free_run(struct pl_job *job)
{
    struct freeing *freeing = PL_CONTAINER_OF(job, struct freeing, job);
    end_all(freeing->cell, freeing->ward);
}

static void free_done(struct pl_job *job)
{
    struct freeing *freeing = PL_CONTAINER_OF(job, struct freeing, job);
    struct pl_ext_shard *exts = freeing->exts;
    exts->n_ending--;
    pl_ext_ward_free(exts, freeing->ward);
    pl_mem_free(freeing);
    if (exts->is_stopping)
        pl_loop_hook_add(exts->loop, &exts->stop_hook);
}

/* Kills it at once; a worker waits for its end. Without memory for a job the loop waits, some
 * milliseconds. */
void pl_ext_cell_leave(struct pl_ext_shard *exts, struct pl_cell *cell, struct pl_ext_ward *ward)
{
    if (!cell && !ward)
        return;
    if (cell)
        pl_cell_kill(cell);
    struct freeing *freeing = pl_mem_alloc(1, sizeof *freeing);
    if (!freeing) {
        end_all(cell, ward);
        pl_ext_ward_free(exts, ward);
        return;
    }
    *freeing = (struct freeing){.exts = exts, .cell = cell, .ward = ward};
    freeing->job = (struct pl_job){
        .lane = PL_WORK_FILE, .owner = 1, .is_begun = true, .run = free_run, .done = free_done};
    exts->n_ending++;
    pl_workers_submit(exts->shard->server->workers, exts->loop, &freeing->job);
}

static void on_pidfd(struct pl_watch *watch, uint32_t events)
{
    struct pl_ext_child *child = PL_CONTAINER_OF(watch, struct pl_ext_child, watch);
    struct pl_cell_end end;
    (void)events;
    if (child->has_exited || !pl_cell_reap(child->cell, &end))
        return;
    child->has_exited = true;
    pl_watch_want(child->exts->loop, watch, 0);
    child->on_exit(child->ctx, &end);
}

struct pl_ext_child *pl_ext_child_take(struct pl_ext_shard *exts, struct pl_cell *cell,
                                       void (*on_exit)(void *ctx, const struct pl_cell_end *end),
                                       void *ctx)
{
    struct pl_ext_child *child = pl_mem_alloc(1, sizeof *child);
    if (!child)
        return NULL;
    *child = (struct pl_ext_child){.exts = exts, .cell = cell, .on_exit = on_exit, .ctx = ctx};
    if (pl_watch_start(exts->loop, &child->watch, cell->pidfd, EPOLLIN, on_pidfd) == PL_OK)
        return child;
    pl_mem_free(child);
    return NULL;
}

void pl_ext_child_signal(struct pl_ext_child *child, int signal)
{
    (void)pl_cell_signal(child->cell, signal);
}

void pl_ext_child_kill(struct pl_ext_child *child)
{
    pl_cell_kill(child->cell);
}

static void on_buried(struct pl_watch *watch)
{
    pl_mem_free(PL_CONTAINER_OF(watch, struct pl_ext_child, watch));
}

void pl_ext_child_leave(struct pl_ext_child *child, struct pl_ext_ward *ward)
{
    if (!child)
        return;
    pl_watch_end(child->exts->loop, &child->watch, on_buried);
    pl_ext_cell_leave(child->exts, PL_TAKE(child->cell), ward);
}
