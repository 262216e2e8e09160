/* One refresh at a time, on a worker; its job is on the first shard. */
#include "agent/auth_hear.h"

#include "access/meter/meter.h"
#include "agent/driver.h"
#include "base/mem.h"
#include "base/table.h"
#include "live/hub.h"
#include "shard/log.h"
#include "shard/setup.h"

struct hearing {
    struct pl_letter letter; /* to the first shard */
    struct pl_job job;
    struct pl_server *server; /* borrowed */
    enum pl_status status;
    struct pl_error err;
};

/* --- on a worker -------------------------------------------------------------------------------- */

static void read_all(struct pl_job *job)
{
    struct hearing *hearing = PL_CONTAINER_OF(job, struct hearing, job);
    hearing->status = pl_auth_refresh(hearing->server->auth, NULL, &hearing->err);
}

/* --- at home ------------------------------------------------------------------------------------ */

static void act(struct pl_server *server, const struct pl_auth_news *news)
{
    struct pl_str id = pl_str_of(news->id);
    switch (news->kind) {
    case PL_AUTH_KEY_GONE:
        pl_meter_forget(server->meter, id);
        (void)pl_hub_close_key_everywhere(server, id);
        return;
    case PL_AUTH_USER_GONE:
        pl_meter_forget_user(server->meter, id);
        break;
    case PL_AUTH_USER_DISABLED:
        break;
    }
    (void)pl_hub_close_user_everywhere(server, id);
    (void)pl_drivers_stop_user_everywhere(server, id);
}

static void have_read(struct pl_job *job)
{
    struct hearing *hearing = PL_CONTAINER_OF(job, struct hearing, job);
    struct pl_server *server = hearing->server;
    struct pl_auth_news news;
    if (!job->is_refused && hearing->status != PL_OK && hearing->status != PL_CONFLICT)
        pl_log_say(server->log, server->shards[0], PL_LOG_WARNING,
                   "users and keys could not be read again: %s; trying again",
                   hearing->err.message);
    while (pl_auth_take_news(server->auth, &news))
        act(server, &news);
    pl_auth_end_hearing(server->auth);
    pl_mem_free(hearing);
}

static void open_hearing(struct pl_letter *letter)
{
    struct hearing *hearing = PL_CONTAINER_OF(letter, struct hearing, letter);
    struct pl_shard *shard = hearing->server->shards[0];
    hearing->job = (struct pl_job){.lane = PL_WORK_STORE,
                                   .wait_ms = shard->setup->config.queue_wait_ms,
                                   .run = read_all,
                                   .done = have_read};
    pl_workers_submit(hearing->server->workers, shard->loop, &hearing->job);
}

void pl_auth_hear(struct pl_server *server, int64_t auth_version)
{
    if (!pl_auth_is_behind(server->auth, auth_version) || !pl_auth_begin_hearing(server->auth))
        return;
    struct hearing *hearing = pl_mem_alloc(1, sizeof *hearing);
    if (!hearing) {
        pl_auth_end_hearing(server->auth);
        return;
    }
    *hearing = (struct hearing){.server = server, .letter.open = open_hearing};
    pl_loop_post(server->shards[0]->loop, &hearing->letter);
}
