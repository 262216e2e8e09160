/*     look -> page of at most 100 -> delete one after the other -> look behind the last … -> sleep
 *
 * A session that changes between the look and its turn is not deleted: the command names the version
 * that was seen. */
#include "agent/retention.h"

#include "base/table.h"
#include "io/clock.h"
#include "shard/log.h"
#include "shard/setup.h"

#include <stdio.h>

enum { PAGE = 100, ROUND_MS = 60 * 1000 };
#define DAY_MS ((int64_t)24 * 60 * 60 * 1000)

static void look(struct pl_retention *retention);
static void delete_next(struct pl_retention *retention);

static struct pl_shard *home_of(const struct pl_retention *retention)
{
    return retention->server->shards[0];
}

static void on_timer(struct pl_timer *timer)
{
    struct pl_retention *retention = PL_CONTAINER_OF(timer, struct pl_retention, timer);
    size_t n_days = home_of(retention)->setup->config.retention_days;
    retention->after[0] = '\0';
    retention->n_deleted = 0;
    retention->before_ms = pl_clock_unix_ms() - (int64_t)n_days * DAY_MS;
    if (n_days && retention->before_ms > 0)
        look(retention);
    else
        pl_timer_start(home_of(retention)->loop, timer, ROUND_MS, on_timer);
}

static void end_round(struct pl_retention *retention)
{
    if (retention->n_deleted)
        pl_log_say(retention->server->log, NULL, PL_LOG_INFO,
                   "retention: deleted %lld sessions that were not changed for long",
                   (long long)retention->n_deleted);
    if (!pl_life_is_closing(&retention->server->life))
        pl_timer_start(home_of(retention)->loop, &retention->timer, ROUND_MS, on_timer);
}

static void deleted(struct pl_session_command *command)
{
    struct pl_retention *retention = PL_CONTAINER_OF(command, struct pl_retention, command);
    retention->n_deleted += command->problem == PL_PROBLEM_COUNT;
    pl_session_command_deinit(command);
    retention->n_done++;
    delete_next(retention);
}

/* The page is through when all of it was asked for; what could not be deleted comes in the next
 * round. */
static void delete_next(struct pl_retention *retention)
{
    const struct pl_session_page *page = &retention->page;
    bool is_closing = pl_life_is_closing(&retention->server->life);
    if (retention->n_done < page->n_items && !is_closing) {
        const struct pl_session_record *record = &page->items[retention->n_done];
        pl_session_command_init(&retention->command, PL_COMMAND_DELETE, home_of(retention),
                                (struct pl_str){0}, record->id);
        retention->command.if_version = record->version;
        retention->command.done = deleted;
        pl_session_command_send(&retention->command);
        return;
    }
    bool has_more = page->has_more && !is_closing;
    if (page->n_items)
        snprintf(retention->after, sizeof retention->after, "%.*s",
                 PL_STR_ARG(page->items[page->n_items - 1].id));
    pl_arena_deinit(&retention->arena);
    if (has_more)
        look(retention);
    else
        end_round(retention);
}

static void read_page(struct pl_job *job)
{
    struct pl_retention *retention = PL_CONTAINER_OF(job, struct pl_retention, job);
    retention->page = (struct pl_session_page){0};
    retention->status = pl_store_session_expired(retention->server->store, &retention->arena,
                                                 pl_str_of(retention->after), retention->before_ms,
                                                 PAGE, &retention->page, NULL);
}

static void have_read(struct pl_job *job)
{
    struct pl_retention *retention = PL_CONTAINER_OF(job, struct pl_retention, job);
    retention->n_done = 0;
    if (job->is_refused || retention->status != PL_OK)
        retention->page = (struct pl_session_page){0};
    delete_next(retention);
}

static void look(struct pl_retention *retention)
{
    pl_arena_init(&retention->arena, 0);
    retention->job = (struct pl_job){.run = read_page, .done = have_read};
    pl_workers_submit(retention->server->workers, home_of(retention)->loop, &retention->job);
}

void pl_retention_start(struct pl_retention *retention, struct pl_server *server)
{
    *retention = (struct pl_retention){.server = server};
    pl_timer_start(home_of(retention)->loop, &retention->timer, 0, on_timer);
}
