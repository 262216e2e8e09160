/* Works in rounds. A worker reads a page of due sessions, and they are deleted one after the other;
 * then the next page, until the last. Then it rests.
 *
 *     machine retention
 *
 *     RESTING -> LOOKING -> DELETING -> RESTING
 *     DELETING -> LOOKING                  there is another page
 *     LOOKING -> RESTING                   the page could not be read
 *     RESTING, LOOKING, DELETING -> OVER   the server closes
 *
 * A session that changes after the page was read is not deleted, because the command names the
 * version that was read. The next round tries failed deletions again. */
#include "agent/background/retention.h"

#include "base/table.h"
#include "io/clock.h"
#include "io/move.h"
#include "shard/log.h"
#include "shard/setup.h"

#include <stdio.h>

enum { PAGE = 100, ROUND_MS = 60 * 1000 };
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

#define TO(name) PL_TO(PL_RETENTION_##name)
static const struct pl_state states[] = {
    [PL_RETENTION_RESTING] = {"resting", TO(LOOKING) | TO(OVER), PL_WAIT_MS, PL_CANCEL_ENDS,
                              .limit_ms = ROUND_MS},
    [PL_RETENTION_LOOKING] = {"looking", TO(DELETING) | TO(RESTING) | TO(OVER), PL_WAIT_OPEN,
                              PL_CANCEL_LATER,
                              .why = "a worker always comes back; queue_wait_ms for its turn"},
    [PL_RETENTION_DELETING] = {"deleting", TO(LOOKING) | TO(RESTING) | TO(OVER), PL_WAIT_OPEN,
                               PL_CANCEL_LATER, .why = "a command is always answered"},
    [PL_RETENTION_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("retention", states);

static void on_timer(struct pl_timer *timer);

static struct pl_shard *home_of(const struct pl_retention *retention)
{
    return retention->server->shards[0];
}

static bool is_closing(const struct pl_retention *retention)
{
    return pl_life_is_closing(&retention->server->life);
}

static void become(struct pl_retention *retention, enum pl_retention_state to)
{
    retention->state = (enum pl_retention_state)pl_move(&machine, retention, retention->state, to);
    pl_move_limit(&machine, to, home_of(retention)->loop, &retention->timer, 0, on_timer);
}

static void end_round(struct pl_retention *retention)
{
    if (retention->n_deleted)
        pl_log_say(retention->server->log, NULL, PL_LOG_INFO,
                   "retention: deleted %lld sessions that were not changed for long",
                   (long long)retention->n_deleted);
    become(retention, is_closing(retention) ? PL_RETENTION_OVER : PL_RETENTION_RESTING);
}

/* --- DELETING -------------------------------------------------------------------------------- */

static void look(struct pl_retention *retention);
static void deleted(struct pl_session_command *command);

static void end_page(struct pl_retention *retention)
{
    const struct pl_session_page *page = &retention->page;
    bool has_more = page->has_more && page->n_items && !is_closing(retention);
    if (has_more)
        snprintf(retention->after, sizeof retention->after, "%.*s",
                 PL_STR_ARG(page->items[page->n_items - 1].id));
    pl_arena_deinit(&retention->arena);
    if (has_more)
        look(retention);
    else
        end_round(retention);
}

static void delete_next(struct pl_retention *retention)
{
    if (retention->n_done == retention->page.n_items || is_closing(retention)) {
        end_page(retention);
        return;
    }
    const struct pl_session_record *record = &retention->page.items[retention->n_done++];
    pl_session_command_init(&retention->command, PL_COMMAND_DELETE, home_of(retention),
                            (struct pl_str){0}, record->id);
    retention->command.if_version = record->version;
    retention->command.done = deleted;
    pl_session_command_send(&retention->command);
}

static void deleted(struct pl_session_command *command)
{
    struct pl_retention *retention = PL_CONTAINER_OF(command, struct pl_retention, command);
    retention->n_deleted += command->problem == PL_PROBLEM_COUNT;
    pl_session_command_deinit(command);
    delete_next(retention);
}

/* --- LOOKING --------------------------------------------------------------------------------- */

static void read_page(struct pl_job *job)
{
    struct pl_retention *retention = PL_CONTAINER_OF(job, struct pl_retention, job);
    retention->status = pl_store_session_expired(retention->server->store, &retention->arena,
                                                 pl_str_of(retention->after), retention->before_ms,
                                                 PAGE, &retention->page, NULL);
}

static void have_read(struct pl_job *job)
{
    struct pl_retention *retention = PL_CONTAINER_OF(job, struct pl_retention, job);
    if (job->is_refused || retention->status != PL_OK) {
        pl_arena_deinit(&retention->arena);
        end_round(retention);
        return;
    }
    retention->n_done = 0;
    become(retention, PL_RETENTION_DELETING);
    delete_next(retention);
}

static void look(struct pl_retention *retention)
{
    become(retention, PL_RETENTION_LOOKING);
    pl_arena_init(&retention->arena, 0);
    retention->page = (struct pl_session_page){0};
    retention->job = (struct pl_job){
        .wait_ms = home_of(retention)->setup->config.queue_wait_ms,
        .run = read_page,
        .done = have_read,
    };
    pl_workers_submit(retention->server->workers, home_of(retention)->loop, &retention->job);
}

/* --- RESTING --------------------------------------------------------------------------------- */

/* A reload may change retention_days, so it is read in each round. */
static void on_timer(struct pl_timer *timer)
{
    struct pl_retention *retention = PL_CONTAINER_OF(timer, struct pl_retention, timer);
    size_t n_days = home_of(retention)->setup->config.retention_days;
    retention->after[0] = '\0';
    retention->n_deleted = 0;
    retention->before_ms = pl_clock_unix_ms() - (int64_t)n_days * DAY_MS;
    if (is_closing(retention))
        become(retention, PL_RETENTION_OVER);
    else if (n_days && retention->before_ms > 0)
        look(retention);
    else
        pl_timer_start(home_of(retention)->loop, timer, ROUND_MS, on_timer);
}

void pl_retention_start(struct pl_retention *retention, struct pl_server *server)
{
    *retention = (struct pl_retention){.server = server};
    pl_timer_start(home_of(retention)->loop, &retention->timer, 0, on_timer);
}
