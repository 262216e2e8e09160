/* SIGHUP or a request on the control socket: reads the settings again, while everything runs.
 *
 *     machine reload
 *
 *     QUIET -> READING -> TELLING -> QUIET
 *     READING -> QUIET                      an error: the previous settings stay
 *     QUIET -> TELLING                      only to destroy unused settings
 *     QUIET, READING, TELLING -> OVER       the loops have stopped
 *
 * READING: a worker reads file, keys and certificate, and validates all of it. TELLING: a letter to
 * each shard. The shard uses the new settings for everything that begins from then on, and reports
 * the oldest settings that it still uses; unused ones are destroyed.
 *
 * A request that comes meanwhile is not lost: the settings are read once more afterwards, for all
 * such requests together. Each request is answered by a reading that began after it came. systemd
 * is told of the start and the end (Type=notify-reload). */
#include "server/reload.h"

#include "base/table.h"
#include "io/clock.h"
#include "io/move.h"
#include "model/vendor/vendors.h"
#include "shard/access_log.h"
#include "shard/log.h"
#include "server/setup.h"

#include <stdio.h>

#define TO(name) PL_TO(PL_RELOAD_##name)
static const struct pl_state states[] = {
    [PL_RELOAD_QUIET] = {"quiet", TO(READING) | TO(TELLING) | TO(OVER), PL_WAIT_OPEN,
                         PL_CANCEL_ENDS, .why = "a request, or the end of the server"},
    [PL_RELOAD_READING] = {"reading", TO(QUIET) | TO(TELLING) | TO(OVER), PL_WAIT_SET,
                           PL_CANCEL_LATER, .why = "queue_wait_ms; a job that runs comes back"},
    [PL_RELOAD_TELLING] = {"telling", TO(QUIET) | TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                           .why = "every shard answers its letter"},
    [PL_RELOAD_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("reload", states);

static void become(struct pl_reload *reload, enum pl_reload_state to)
{
    reload->state = (enum pl_reload_state)pl_move(&machine, reload, reload->state, to);
}

static void read_again(struct pl_server_own *own);

/* --- who asked ------------------------------------------------------------------------------- */

static void open_answer(struct pl_letter *letter)
{
    struct pl_reload_ask *ask = PL_CONTAINER_OF(letter, struct pl_reload_ask, letter);
    ask->done(ask);
}

static void answer(struct pl_reload_ask *ask)
{
    ask->letter.open = open_answer;
    pl_loop_post(ask->shard->loop, &ask->letter);
}

static void refuse(struct pl_reload_ask *ask, const char *why)
{
    ask->status = pl_fail(&ask->err, PL_CONFLICT, "%s", why);
    answer(ask);
}

/* With the result of the reading that has just ended. */
static void answer_all(struct pl_reload *reload)
{
    for (struct pl_reload_ask *ask = PL_TAKE(reload->asking), *next; ask; ask = next) {
        next = ask->next;
        ask->status = reload->status;
        ask->err = reload->err;
        pl_buf_add(&ask->changed, pl_buf_str(&reload->changed));
        pl_buf_add(&ask->kept, pl_buf_str(&reload->kept));
        answer(ask);
    }
}

void pl_reload_refuse_all(struct pl_server_own *own)
{
    struct pl_reload_ask **const lists[] = {&own->reload.asking, &own->reload.next};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (struct pl_reload_ask *ask = PL_TAKE(*lists[i]), *next; ask; ask = next) {
            next = ask->next;
            refuse(ask, "the server is stopping");
        }
}

static void be_quiet(struct pl_server_own *own)
{
    struct pl_reload *reload = &own->reload;
    bool goes_on = reload->wants_again && !pl_life_is_ending(&own->server.life);
    become(reload, PL_RELOAD_QUIET);
    answer_all(reload);
    reload->asking = PL_TAKE(reload->next);
    if (!goes_on)
        pl_reload_refuse_all(own);
    reload->wants_again = false;
    if (reload->is_announced)
        pl_systemd_notify("READY=1");
    reload->is_announced = false;
    if (goes_on)
        read_again(own);
}

/* --- telling the shards ---------------------------------------------------------------------- */

/* Destroys setups that are older than any in use. */
static void destroy_unused(struct pl_server_own *own)
{
    struct pl_setup *last = own->setup;
    while (last->older && last->older->generation >= own->reload.least)
        last = last->older;
    for (struct pl_setup *old = PL_TAKE(last->older), *older; old; old = older) {
        older = old->older;
        pl_setup_destroy(old);
    }
}

/* Called when all shards use the new settings. Logs only names: a value may be a secret. */
static void say_changes(struct pl_server_own *own)
{
    struct pl_reload *reload = &own->reload;
    struct pl_log *log = own->server.log;
    struct pl_shard *first = own->server.shards[0];
    struct pl_str changed = pl_buf_str(&reload->changed), kept = pl_buf_str(&reload->kept);
    pl_log_say(log, first, PL_LOG_INFO, "the configuration was reloaded; %s%.*s",
               changed.len ? "changed: " : "nothing changed", PL_STR_ARG(changed));
    if (own->setup->warning[0])
        pl_log_say(log, first, PL_LOG_WARNING, "%s", own->setup->warning);
    if (kept.len)
        pl_log_say(log, first, PL_LOG_WARNING,
                   "these settings keep their values until the server is restarted: %.*s",
                   PL_STR_ARG(kept));
}

static void on_settled(struct pl_letter *letter)
{
    struct pl_shard_own *shard = PL_CONTAINER_OF(letter, struct pl_shard_own, settling);
    struct pl_server_own *own = pl_server_own(shard->shard.server);
    struct pl_reload *reload = &own->reload;
    if (shard->least < reload->least)
        reload->least = shard->least;
    if (++reload->n_answered < own->server.n_shards)
        return;
    destroy_unused(own);
    if (reload->is_announced)
        say_changes(own);
    be_quiet(own);
}

/* On each shard. own->setup does not change before all shards have answered. */
static void settle(struct pl_letter *letter)
{
    struct pl_shard_own *shard = PL_CONTAINER_OF(letter, struct pl_shard_own, settling);
    struct pl_server_own *own = pl_server_own(shard->shard.server);
    if (atomic_load(&own->server.life) == PL_LIFE_STOPPED)
        return; /* the loop is being destroyed, and the first one may be gone */
    shard->shard.setup = own->setup;
    for (size_t i = 0; i < own->server.n_sockets; i++)
        if (shard->listeners[i] && !own->sockets[i].is_unix)
            pl_listener_use_tls(shard->listeners[i], own->setup->tls);
    for (struct pl_setup *s = own->setup; s; s = s->older)
        if (s == own->setup || s->holders[shard->shard.index].n)
            shard->least = s->generation;
    letter->open = on_settled;
    pl_loop_post(own->server.shards[0]->loop, letter);
}

static void tell_shards(struct pl_server_own *own)
{
    become(&own->reload, PL_RELOAD_TELLING);
    own->reload.n_answered = 0;
    own->reload.least = own->setup->generation;
    for (size_t i = 0; i < own->server.n_shards; i++) {
        struct pl_shard_own *shard = pl_shard_own(own->server.shards[i]);
        shard->settling.open = settle;
        pl_loop_post(shard->shard.loop, &shard->settling);
    }
}

void pl_reload_tidy(struct pl_server_own *own)
{
    if (own->reload.state == PL_RELOAD_QUIET && own->setup->older)
        tell_shards(own);
}

/* --- reading --------------------------------------------------------------------------------- */

static void read_run(struct pl_job *job)
{
    struct pl_server_own *own = PL_CONTAINER_OF(job, struct pl_server_own, reload.job);
    struct pl_reload *reload = &own->reload;
    struct pl_setup *made = reload->made;
    reload->status =
        reload->source->read(reload->source->ctx, &made->arena, &own->setup->config, &made->config,
                             &reload->changed, &reload->kept, &reload->err);
    if (reload->status == PL_OK)
        reload->status = pl_setup_complete(made, own->setup, &reload->err);
    if (reload->status == PL_OK && made->config.is_probing)
        pl_models_probe(made->models);
}

static void install(struct pl_server_own *own)
{
    struct pl_setup *made = PL_TAKE(own->reload.made);
    made->generation = own->setup->generation + 1;
    made->older = own->setup;
    own->setup = made;
    if (made->tls != made->older->tls)
        pl_buf_adds(&own->reload.changed,
                    own->reload.changed.len ? ", certificate" : "certificate");
    pl_log_set_level(own->server.log, made->config.log_level);
    pl_access_log_reload(own->server.access_log, &made->config);
    tell_shards(own);
}

static void read_done(struct pl_job *job)
{
    struct pl_server_own *own = PL_CONTAINER_OF(job, struct pl_server_own, reload.job);
    struct pl_reload *reload = &own->reload;
    if (atomic_load(&own->server.life) == PL_LIFE_STOPPED)
        return; /* pl_reload_forget frees `made` */
    if (job->is_refused)
        reload->status = pl_fail(&reload->err, PL_IO, "no thread was free; send SIGHUP again");
    if (reload->status == PL_OK) {
        install(own);
    } else {
        pl_log_say(own->server.log, own->server.shards[0], PL_LOG_ERROR,
                   "the configuration was not reloaded, and the previous one stays: %s",
                   reload->err.message[0] ? reload->err.message
                                          : pl_status_info(reload->status)->text);
        pl_setup_destroy(PL_TAKE(reload->made));
        be_quiet(own);
    }
}

static void read_again(struct pl_server_own *own)
{
    struct pl_reload *reload = &own->reload;
    char text[80];
    reload->made = pl_setup_create();
    if (!reload->made) {
        reload->status =
            pl_fail(&reload->err, PL_NOMEM, "out of memory while reloading the configuration");
        pl_log_say(own->server.log, own->server.shards[0], PL_LOG_ERROR, "%s", reload->err.message);
        answer_all(reload);
        return;
    }
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)pl_clock_ms() * 1000);
    pl_systemd_notify(text);
    reload->is_announced = true;
    become(reload, PL_RELOAD_READING);
    pl_buf_clear(&reload->changed);
    pl_buf_clear(&reload->kept);
    reload->err = (struct pl_error){0};
    reload->job = (struct pl_job){.lane = PL_WORK_FILE,
                                  .wait_ms = own->setup->config.queue_wait_ms,
                                  .run = read_run,
                                  .done = read_done};
    pl_workers_submit(own->server.workers, own->server.shards[0]->loop, &reload->job);
}

/* --- asking ---------------------------------------------------------------------------------- */

static void be_asked(struct pl_letter *letter)
{
    struct pl_reload_ask *ask = PL_CONTAINER_OF(letter, struct pl_reload_ask, letter);
    struct pl_server_own *own = pl_server_own(ask->shard->server);
    struct pl_reload *reload = &own->reload;
    bool is_busy = reload->state != PL_RELOAD_QUIET;
    if (!reload->source || pl_life_is_ending(&own->server.life)) {
        refuse(ask, reload->source ? "the server is stopping" : "there is no configuration");
        return;
    }
    struct pl_reload_ask **list = is_busy ? &reload->next : &reload->asking;
    ask->next = *list;
    *list = ask;
    if (is_busy)
        reload->wants_again = true;
    else
        read_again(own);
}

static void ask_first_shard(struct pl_reload_ask *ask)
{
    ask->letter.open = be_asked;
    pl_loop_post(ask->shard->server->shards[0]->loop, &ask->letter);
}

const struct pl_reload_ops pl_reload_ops = {ask_first_shard};

void pl_reload_on_signal(void *ctx, int number)
{
    struct pl_server_own *own = ctx;
    (void)number;
    if (!own->reload.source || pl_life_is_ending(&own->server.life))
        pl_log_say(own->server.log, own->server.shards[0], PL_LOG_INFO,
                   "SIGHUP: the configuration is not reloaded, because %s",
                   own->reload.source ? "the server is stopping" : "there is no configuration");
    else if (own->reload.state != PL_RELOAD_QUIET)
        own->reload.wants_again = true;
    else
        read_again(own);
}

void pl_reload_forget(struct pl_server_own *own)
{
    become(&own->reload, PL_RELOAD_OVER);
    pl_setup_destroy(own->reload.made);
    for (struct pl_setup *old = PL_TAKE(own->setup), *older; old; old = older) {
        older = old->older;
        pl_setup_destroy(old);
    }
    pl_buf_deinit(&own->reload.changed);
    pl_buf_deinit(&own->reload.kept);
}
