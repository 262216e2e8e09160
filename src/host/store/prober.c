/* The prober checks once a second whether the database answers. Callers read the last result
 * without waiting.
 *
 *     ANSWERS ──(no answer)──> AWAY: reads are refused at once, writes that wait are refused
 *        ^                      │    once they have waited long enough
 *        └─────(answers)────────┘
 *
 * If it finds that another server holds the database exclusively, everything stops. */
#include "store/store_int.h"

#include "io/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { PROBE_MS = 1000, PROBES_AWAY = 4 };

void pl_place_say(const struct pl_db_place *place, const char *format, ...)
{
    char text[512];
    va_list args;
    if (!place->on_trouble)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    place->on_trouble(place->ctx, text);
}

bool pl_store_is_away(struct pl_store *store)
{
    return atomic_load(&store->prober.is_away);
}

/* False: the store is closing. */
static bool pause_prober(struct pl_prober *prober, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    pthread_mutex_lock(&prober->lock);
    while (!prober->is_closing && pthread_cond_timedwait(&prober->wake, &prober->lock, &until) == 0)
        ;
    bool goes_on = !prober->is_closing;
    pthread_mutex_unlock(&prober->lock);
    return goes_on;
}

static void note(struct pl_store *store, enum pl_status status, const struct pl_error *err)
{
    bool is_away = status != PL_OK;
    bool was_away = atomic_exchange(&store->prober.is_away, is_away);
    if (is_away && !was_away)
        pl_place_say(&store->place, "the database is not available: %s", err->message);
    if (!is_away && was_away)
        pl_place_say(&store->place, "the database is available again");
}

static void *probe_all(void *arg)
{
    struct pl_store *store = arg;
    struct pl_prober *prober = &store->prober;
    int64_t answer_ms = store->place.answer_ms;
    int64_t pause_ms = answer_ms < PROBE_MS ? answer_ms : PROBE_MS;
    while (pause_prober(prober, pl_store_is_away(store) ? pause_ms / PROBES_AWAY : pause_ms)) {
        struct pl_error err = {0};
        enum pl_status status = store->ops->probe(prober->db, &err);
        if (status == PL_CONFLICT) {
            pl_store_writer_halt(store, &err);
            return NULL;
        }
        note(store, status, &err);
        if (status != PL_OK)
            pl_store_writer_expire(store, pl_clock_ms() - answer_ms, &err);
    }
    return NULL;
}

enum pl_status pl_prober_start(struct pl_store *store, struct pl_error *err)
{
    struct pl_prober *prober = &store->prober;
    if (!prober->db)
        return PL_OK;
    int code = pthread_create(&prober->thread, NULL, probe_all, store);
    if (code)
        return pl_fail(err, PL_NOMEM, "the prober's thread cannot be started: %s", strerror(code));
    prober->is_running = true;
    return PL_OK;
}

void pl_prober_stop(struct pl_store *store)
{
    struct pl_prober *prober = &store->prober;
    if (!prober->is_running)
        return;
    pthread_mutex_lock(&prober->lock);
    prober->is_closing = true;
    pthread_cond_signal(&prober->wake);
    pthread_mutex_unlock(&prober->lock);
    pthread_join(prober->thread, NULL);
    prober->is_running = false;
}
