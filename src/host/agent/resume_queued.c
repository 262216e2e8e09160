/* A worker reads the next session with a queue, and PL_SE_GO_ON is sent to it; then comes the
 * next session. A failure that may pass is tried again after a second. */
#include "agent/resume_queued.h"

#include "base/table.h"

#include <stdio.h>

enum { AGAIN_MS = 1000 };

static void look(struct pl_resume_queued *requeue);

static struct pl_shard *home_of(const struct pl_resume_queued *requeue)
{
    return requeue->server->shards[0];
}

static void on_timer(struct pl_timer *timer)
{
    look(PL_CONTAINER_OF(timer, struct pl_resume_queued, timer));
}

static void try_again(struct pl_resume_queued *requeue)
{
    if (!pl_life_is_closing(&requeue->server->life))
        pl_timer_start(home_of(requeue)->loop, &requeue->timer, AGAIN_MS, on_timer);
}

/* A session that was deleted meanwhile, or has a damaged queue, does not delay the others. */
static void asked(struct pl_session_command *command)
{
    struct pl_resume_queued *requeue = PL_CONTAINER_OF(command, struct pl_resume_queued, command);
    bool may_come_again =
        command->problem != PL_PROBLEM_COUNT && pl_problem_info(command->problem)->is_retryable;
    pl_session_command_deinit(command);
    if (may_come_again) {
        try_again(requeue);
        return;
    }
    memcpy(requeue->after, requeue->next, sizeof requeue->after);
    look(requeue);
}

static void read_next(struct pl_job *job)
{
    struct pl_resume_queued *requeue = PL_CONTAINER_OF(job, struct pl_resume_queued, job);
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
    struct pl_resume_queued *requeue = PL_CONTAINER_OF(job, struct pl_resume_queued, job);
    if (job->is_refused || requeue->status != PL_OK) {
        try_again(requeue);
        return;
    }
    if (!requeue->next[0] || pl_life_is_closing(&requeue->server->life))
        return;
    pl_session_command_init(&requeue->command, PL_COMMAND_EVENT, home_of(requeue),
                            (struct pl_str){0}, pl_str_of(requeue->next));
    requeue->command.event.kind = PL_SE_GO_ON;
    requeue->command.done = asked;
    pl_session_command_send(&requeue->command);
}

static void look(struct pl_resume_queued *requeue)
{
    requeue->job = (struct pl_job){.run = read_next, .done = have_read};
    pl_workers_submit(requeue->server->workers, home_of(requeue)->loop, &requeue->job);
}

void pl_resume_queued_start(struct pl_resume_queued *requeue, struct pl_server *server)
{
    *requeue = (struct pl_resume_queued){.server = server};
    pl_timer_start(home_of(requeue)->loop, &requeue->timer, 0, on_timer);
}
