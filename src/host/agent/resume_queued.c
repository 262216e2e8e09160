#include "server/requeue.h"

#include "base/table.h"
#include "server/shard_int.h"

#include <stdio.h>

enum { AGAIN_MS = 1000 };

static void look(struct pl_requeue *requeue);

static struct pl_shard *home_of(const struct pl_requeue *requeue)
{
    return requeue->server->shards[0];
}

static void on_timer(struct pl_timer *timer)
{
    look(PL_CONTAINER_OF(timer, struct pl_requeue, timer));
}

static void try_again(struct pl_requeue *requeue)
{
    if (!pl_life_is_closing(&requeue->server->life))
        pl_timer_start(home_of(requeue)->loop, &requeue->timer, AGAIN_MS, on_timer);
}

/* A session that was deleted meanwhile, or whose queue is damaged, does not hold up the others. */
static void asked(struct pl_ask *ask)
{
    struct pl_requeue *requeue = PL_CONTAINER_OF(ask, struct pl_requeue, ask);
    bool may_come_again =
        ask->problem != PL_PROBLEM_COUNT && pl_problem_info(ask->problem)->is_retryable;
    pl_ask_deinit(ask);
    if (may_come_again) {
        try_again(requeue);
        return;
    }
    memcpy(requeue->after, requeue->next, sizeof requeue->after);
    look(requeue);
}

static void read_next(struct pl_job *job)
{
    struct pl_requeue *requeue = PL_CONTAINER_OF(job, struct pl_requeue, job);
    struct pl_session_page page = {0};
    pl_arena_init(&requeue->arena, 0);
    requeue->status = pl_store_session_queued(requeue->server->store, &requeue->arena,
                                              pl_str_of(requeue->after), 1, &page, NULL);
    requeue->next[0] = '\0';
    if (requeue->status == PL_OK && page.n_items)
        snprintf(requeue->next, sizeof requeue->next, "%.*s", PL_STR_ARG(page.items[0].id));
    pl_arena_deinit(&requeue->arena);
}

static void have_read(struct pl_job *job)
{
    struct pl_requeue *requeue = PL_CONTAINER_OF(job, struct pl_requeue, job);
    if (job->is_refused || requeue->status != PL_OK) {
        try_again(requeue);
        return;
    }
    if (!requeue->next[0] || pl_life_is_closing(&requeue->server->life))
        return;
    pl_ask_init(&requeue->ask, PL_ASK_EVENT, home_of(requeue), (struct pl_str){0},
                pl_str_of(requeue->next));
    requeue->ask.event.kind = PL_SE_GO_ON;
    requeue->ask.done = asked;
    pl_ask_send(&requeue->ask);
}

static void look(struct pl_requeue *requeue)
{
    requeue->job = (struct pl_job){.run = read_next, .done = have_read};
    pl_workers_submit(requeue->server->workers, home_of(requeue)->loop, &requeue->job);
}

void pl_requeue_start(struct pl_requeue *requeue, struct pl_server *server)
{
    *requeue = (struct pl_requeue){.server = server};
    pl_timer_start(home_of(requeue)->loop, &requeue->timer, 0, on_timer);
}
