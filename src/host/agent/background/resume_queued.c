/* A worker reads the next session with a queue, and PL_SE_GO_ON is sent to it; then the next one. A
 * temporary failure is tried again after a pause.
 *
 *     machine resume-queued
 *
 *     PAUSING -> LOOKING -> ASKING -> LOOKING
 *     LOOKING, ASKING -> PAUSING          a temporary failure
 *     LOOKING -> OVER                     there is no further session
 *     PAUSING, ASKING -> OVER             the server closes
 */
#include "agent/background/resume_queued.h"

#include "base/table.h"
#include "io/move.h"
#include "shard/setup.h"

#include <stdio.h>

enum { AGAIN_MS = 1000 };

#define TO(name) PL_TO(PL_RESUME_QUEUED_##name)
static const struct pl_state states[] = {
    [PL_RESUME_QUEUED_PAUSING] = {"pausing", TO(LOOKING) | TO(OVER), PL_WAIT_MS, PL_CANCEL_ENDS,
                                  .limit_ms = AGAIN_MS},
    [PL_RESUME_QUEUED_LOOKING] = {"looking", TO(ASKING) | TO(PAUSING) | TO(OVER), PL_WAIT_OPEN,
                                  PL_CANCEL_LATER,
                                  .why = "a worker always comes back; queue_wait_ms for its turn"},
    [PL_RESUME_QUEUED_ASKING] = {"asking", TO(LOOKING) | TO(PAUSING) | TO(OVER), PL_WAIT_OPEN,
                                 PL_CANCEL_LATER, .why = "a command is always answered"},
    [PL_RESUME_QUEUED_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("resume-queued", states);

static void look(struct pl_resume_queued *requeue);

static struct pl_shard *home_of(const struct pl_resume_queued *requeue)
{
    return requeue->server->shards[0];
}

static bool is_closing(const struct pl_resume_queued *requeue)
{
    return pl_life_is_closing(&requeue->server->life);
}

static void on_timer(struct pl_timer *timer)
{
    look(PL_CONTAINER_OF(timer, struct pl_resume_queued, timer));
}

static void become(struct pl_resume_queued *requeue, enum pl_resume_queued_state to)
{
    requeue->state = (enum pl_resume_queued_state)pl_move(&machine, requeue, requeue->state, to);
    pl_move_limit(&machine, to, home_of(requeue)->loop, &requeue->timer, 0, on_timer);
}

static void try_again(struct pl_resume_queued *requeue)
{
    become(requeue, is_closing(requeue) ? PL_RESUME_QUEUED_OVER : PL_RESUME_QUEUED_PAUSING);
}

/* --- ASKING ---------------------------------------------------------------------------------- */

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

static void ask(struct pl_resume_queued *requeue)
{
    become(requeue, PL_RESUME_QUEUED_ASKING);
    pl_session_command_init(&requeue->command, PL_COMMAND_EVENT, home_of(requeue),
                            (struct pl_str){0}, pl_str_of(requeue->next));
    requeue->command.event.kind = PL_SE_GO_ON;
    requeue->command.done = asked;
    pl_session_command_send(&requeue->command);
}

/* --- LOOKING --------------------------------------------------------------------------------- */

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

/* More sessions have lost their owner since it began. */
static void begin_again(struct pl_resume_queued *requeue)
{
    requeue->wants_again = false;
    requeue->after[0] = '\0';
    try_again(requeue);
}

static void have_read(struct pl_job *job)
{
    struct pl_resume_queued *requeue = PL_CONTAINER_OF(job, struct pl_resume_queued, job);
    if (job->is_refused || requeue->status != PL_OK)
        try_again(requeue);
    else if (!requeue->next[0] && requeue->wants_again && !is_closing(requeue))
        begin_again(requeue);
    else if (!requeue->next[0] || is_closing(requeue))
        become(requeue, PL_RESUME_QUEUED_OVER);
    else
        ask(requeue);
}

static void look(struct pl_resume_queued *requeue)
{
    if (is_closing(requeue)) {
        become(requeue, PL_RESUME_QUEUED_OVER);
        return;
    }
    become(requeue, PL_RESUME_QUEUED_LOOKING);
    requeue->job = (struct pl_job){
        .wait_ms = home_of(requeue)->setup->config.queue_wait_ms,
        .run = read_next,
        .done = have_read,
    };
    pl_workers_submit(requeue->server->workers, home_of(requeue)->loop, &requeue->job);
}

void pl_resume_queued_again(struct pl_resume_queued *requeue)
{
    if (requeue->state == PL_RESUME_QUEUED_OVER)
        pl_resume_queued_start(requeue, requeue->server);
    else
        requeue->wants_again = true;
}

void pl_resume_queued_start(struct pl_resume_queued *requeue, struct pl_server *server)
{
    *requeue = (struct pl_resume_queued){.server = server};
    pl_timer_start(home_of(requeue)->loop, &requeue->timer, 0, on_timer);
}
