/* The place of an extension of a user: instances come and go, and asks wait until one is ready.
 *
 *     machine ext-place
 *
 *     EMPTY -> TAKEN -> EMPTY             started at first need; stopped when idle
 *     TAKEN -> RESTING -> EMPTY           it crashed: 1 to 60 seconds
 *     TAKEN -> BARRED -> EMPTY            it crashed five times in ten minutes; an administrator restarts it
 *     EMPTY, RESTING, BARRED, TAKEN -> GONE
 */
#include "ext/run/ext_int.h"

#include "base/mem.h"
#include "io/move.h"

#include <stdarg.h>
#include <stdio.h>

static const char QUARANTINED[] = "it crashed five times in ten minutes and is quarantined";

#define TO(name) PL_TO(PL_EXT_PLACE_##name)
static const struct pl_state states[] = {
    [PL_EXT_PLACE_EMPTY] = {"empty", TO(TAKEN) | TO(GONE)},
    [PL_EXT_PLACE_TAKEN] = {"taken", TO(EMPTY) | TO(RESTING) | TO(BARRED) | TO(GONE), PL_WAIT_OPEN,
                            PL_CANCEL_ENDS,
                            .why = "the instance ends: it is idle, crashes, or the server ends"},
    [PL_EXT_PLACE_RESTING] = {"resting", TO(EMPTY) | TO(GONE), PL_WAIT_SET, PL_CANCEL_ENDS,
                              .why = "1 to 60 seconds, as pl_ext_crashes_add says"},
    [PL_EXT_PLACE_BARRED] = {"barred", TO(EMPTY) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS,
                             .why = "an administrator restarts or changes the extension"},
    [PL_EXT_PLACE_GONE] = {"gone", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("ext-place", states);

static void become(struct pl_ext_place *place, enum pl_ext_place_state to)
{
    place->state = (enum pl_ext_place_state)pl_move(&machine, place, place->state, to);
    if (to != PL_EXT_PLACE_RESTING)
        pl_timer_stop(place->exts->loop, &place->rest);
}

/* --- finding ---------------------------------------------------------------------------------- */

enum { MAX_KEY = 200 };

static struct pl_str key_of(char *to, struct pl_str extension_id, struct pl_str user_id)
{
    int n = snprintf(to, MAX_KEY, "%.*s\n%.*s", PL_STR_ARG(extension_id), PL_STR_ARG(user_id));
    return (struct pl_str){to, n > 0 && n < MAX_KEY ? (size_t)n : 0};
}

struct pl_shard *pl_ext_shard_of(struct pl_server *server, struct pl_str extension_id,
                                 struct pl_str user_id)
{
    char room[MAX_KEY];
    return server->shards[pl_hash(key_of(room, extension_id, user_id)) % server->n_shards];
}

struct pl_ext_place *pl_ext_place_find(struct pl_ext_shard *exts, struct pl_str extension_id,
                                       struct pl_str user_id)
{
    char room[MAX_KEY];
    struct pl_table_link *link = pl_table_get(&exts->places, key_of(room, extension_id, user_id));
    return link ? PL_CONTAINER_OF(link, struct pl_ext_place, link) : NULL;
}

struct pl_ext_place *pl_ext_place_get(struct pl_ext_shard *exts, struct pl_str extension_id,
                                      struct pl_str user_id)
{
    struct pl_ext_place *place = pl_ext_place_find(exts, extension_id, user_id);
    if (place)
        return place;
    place = pl_mem_alloc(1, sizeof *place + MAX_KEY);
    if (!place)
        return NULL;
    *place = (struct pl_ext_place){.exts = exts};
    place->link.key = key_of(place->key, extension_id, user_id);
    place->extension_id = (struct pl_str){place->key, extension_id.len};
    place->user_id = (struct pl_str){place->key + extension_id.len + 1, user_id.len};
    if (place->link.key.len && pl_table_put(&exts->places, &place->link))
        return place;
    pl_mem_free(place);
    return NULL;
}

void pl_ext_place_destroy(struct pl_ext_place *place)
{
    if (place->instance)
        pl_ext_instance_end(place->instance, PL_EXT_LIFE_KILLED, "the server ends");
    become(place, PL_EXT_PLACE_GONE);
    pl_timer_stop(place->exts->loop, &place->idle);
    pl_timer_stop(place->exts->loop, &place->rest);
    pl_table_remove(&place->exts->places, &place->link);
    while (place->waiting) {
        struct pl_ext_ask *ask = place->waiting;
        place->waiting = ask->next;
        pl_ext_ask_fail(ask, PL_TOOL_ERROR_INTERRUPTED, "The server ends");
    }
    while (place->answers) {
        struct pl_ext_answer_kept *next = place->answers->next;
        pl_mem_free(place->answers);
        place->answers = next;
    }
    while (place->denials) {
        struct pl_ext_denials *next = place->denials->next;
        pl_mem_free(place->denials);
        place->denials = next;
    }
    pl_mem_free(place);
}

/* --- waiting asks ----------------------------------------------------------------------------- */

static void fail_waiting(struct pl_ext_place *place, const char *why)
{
    while (place->waiting) {
        struct pl_ext_ask *ask = place->waiting;
        place->waiting = ask->next;
        if (!place->waiting)
            place->last_waiting = NULL;
        pl_ext_ask_fail(ask, PL_TOOL_ERROR_NOT_AVAILABLE, "The extension %.*s does not run: %s",
                        PL_STR_ARG(place->extension_id), why);
    }
}

static void append(struct pl_ext_place *place, struct pl_ext_ask *ask)
{
    ask->next = NULL;
    if (place->waiting)
        place->last_waiting->next = ask;
    else
        place->waiting = ask;
    place->last_waiting = ask;
}

/* Whether a tool that runs one call at a time is busy. */
static bool must_wait(const struct pl_ext_instance *instance, const struct pl_ext_ask *ask)
{
    for (const struct pl_ext_ask *other = instance->asks; other; other = other->next)
        if (ask->is_sequential && other->kind == ask->kind && pl_str_eq(other->name, ask->name))
            return true;
    return false;
}

void pl_ext_place_ready(struct pl_ext_place *place)
{
    struct pl_ext_ask *ask = place->waiting;
    place->waiting = place->last_waiting = NULL;
    pl_ext_place_touch(place);
    while (ask) {
        struct pl_ext_ask *next = ask->next;
        bool is_ready = place->instance && place->instance->life == PL_EXT_LIFE_READY;
        if (is_ready && !must_wait(place->instance, ask))
            pl_ext_ask_queue(ask, place->instance);
        else
            append(place, ask);
        ask = next;
    }
}

/* --- starting --------------------------------------------------------------------------------- */

static void start(struct pl_ext_place *place)
{
    struct pl_ext_known *known = pl_ext_known_any(place->exts->host, place->extension_id);
    enum pl_ext_state state =
        known ? pl_ext_known_state(known, place->user_id) : PL_EXT_STATE_DISABLED;
    const char *why = place->exts->is_stopping            ? "the server ends"
                      : state == PL_EXT_STATE_QUARANTINED ? QUARANTINED
                      : state != PL_EXT_STATE_ENABLED     ? "it is not installed, or not enabled"
                                                          : NULL;
    if (!why && !known->package.dir.len)
        why = "it runs elsewhere, and is not connected";
    if (!why && known->is_missing) {
        why = PL_EXT_NOT_HERE;
        pl_ext_follow(place->exts->shard->server, PL_EXT_VERSION_UNKNOWN);
    }
    place->instance = why ? NULL : pl_ext_instance_start(place, known);
    pl_ext_known_release(known);
    if (place->instance)
        become(place, PL_EXT_PLACE_TAKEN);
    else
        fail_waiting(place, why ? why : "out of memory");
}

static void refuse(struct pl_ext_refusal *to, enum pl_problem problem, int retry_s,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
static void refuse(struct pl_ext_refusal *to, enum pl_problem problem, int retry_s,
                   const char *format, ...)
{
    va_list args;
    *to = (struct pl_ext_refusal){.problem = problem, .retry_s = retry_s};
    va_start(args, format);
    vsnprintf(to->says, sizeof to->says, format, args);
    va_end(args);
}

static bool may_come(const struct pl_ext_place *place, const struct pl_ext_known *known,
                     struct pl_ext_refusal *ret_refusal)
{
    enum { RETRY_S = 5 };
    struct pl_str id = place->extension_id;
    *ret_refusal = (struct pl_ext_refusal){0};
    if (!known)
        refuse(ret_refusal, PL_PROBLEM_NOT_FOUND, 0,
               "There is no extension \"%.*s\"; add it first.", PL_STR_ARG(id));
    else if (known->package.dir.len)
        refuse(ret_refusal, PL_PROBLEM_CONFLICT, 0,
               "The extension \"%.*s\" runs on the server: its runtime is \"%s\", not \"remote\".",
               PL_STR_ARG(id), pl_ext_runtime_word(known->package.runtime));
    else if (pl_ext_known_state(known, place->user_id) != PL_EXT_STATE_ENABLED ||
             place->state == PL_EXT_PLACE_BARRED)
        refuse(ret_refusal, PL_PROBLEM_CONFLICT, 0,
               "The extension \"%.*s\" is %s; an administrator enables it.", PL_STR_ARG(id),
               known->package.state == PL_EXT_STATE_DISABLED ? "disabled" : "quarantined");
    else if (place->state == PL_EXT_PLACE_TAKEN)
        refuse(ret_refusal, PL_PROBLEM_CONFLICT, RETRY_S,
               "The extension \"%.*s\" is connected already, and one runs for each user. A "
               "connection that is dead is given up after 30 seconds.",
               PL_STR_ARG(id));
    else if (place->state == PL_EXT_PLACE_RESTING)
        refuse(ret_refusal, PL_PROBLEM_RATE_LIMITED, RETRY_S,
               "The extension \"%.*s\" was ended (%.100s); come back later.", PL_STR_ARG(id),
               place->last_error);
    return !ret_refusal->says[0];
}

void pl_ext_place_connect(struct pl_ext_place *place, struct pl_ext_wire *wire,
                          struct pl_ext_refusal *ret_refusal)
{
    struct pl_ext_known *known = pl_ext_known_any(place->exts->host, place->extension_id);
    if (may_come(place, known, ret_refusal)) {
        place->instance = pl_ext_instance_connect(place, known, wire);
        if (place->instance)
            become(place, PL_EXT_PLACE_TAKEN);
        else
            refuse(ret_refusal, PL_PROBLEM_OVERLOADED, 1, "The server is out of memory.");
    }
    pl_ext_known_release(known);
}

void pl_ext_place_take(struct pl_ext_place *place, struct pl_ext_ask *ask)
{
    pl_ext_ask_become(ask, PL_EXT_ASK_STATE_WAITING);
    append(place, ask);
    if (place->instance && place->instance->life == PL_EXT_LIFE_READY)
        pl_ext_place_ready(place);
    else if (place->state == PL_EXT_PLACE_EMPTY)
        start(place);
    else if (place->state == PL_EXT_PLACE_BARRED)
        fail_waiting(place, QUARANTINED);
}

/* --- ending ----------------------------------------------------------------------------------- */

static void on_rested(struct pl_timer *timer)
{
    struct pl_ext_place *place = PL_CONTAINER_OF(timer, struct pl_ext_place, rest);
    become(place, PL_EXT_PLACE_EMPTY);
    if (place->waiting)
        start(place);
}

/* For this user only: a user who makes it crash takes it from nobody else. Durable, so that its
 * closed hooks stay closed after a restart too. */
static void quarantine(struct pl_ext_place *place)
{
    struct pl_batch *batch = pl_batch_create();
    struct pl_ext_shard *exts = place->exts;
    if (!batch)
        return;
    struct pl_extension_quarantine_row row = {
        .user_id = place->user_id,
        .error = pl_str_of(place->last_error),
        .since_ms = pl_loop_unix_ms(exts->loop),
    };
    pl_batch_quarantine_extension(batch, place->extension_id, &row);
    pl_ext_server_commit(exts, batch);
}

void pl_ext_place_left(struct pl_ext_place *place, bool is_crash, const char *why)
{
    int64_t rest_ms =
        is_crash ? pl_ext_crashes_add(&place->crashes, pl_loop_now_ms(place->exts->loop)) : 0;
    place->n_restarts += is_crash;
    if (is_crash)
        snprintf(place->last_error, sizeof place->last_error, "%s", why);
    if (place->exts->is_stopping || !is_crash) {
        become(place, PL_EXT_PLACE_EMPTY);
        if (place->waiting)
            start(place);
    } else if (rest_ms < 0) {
        become(place, PL_EXT_PLACE_BARRED);
        fail_waiting(place, why);
        quarantine(place);
    } else {
        become(place, PL_EXT_PLACE_RESTING);
        /* Asks that waited for this start fail now; later ones wait for the next start. */
        fail_waiting(place, why);
        pl_timer_start(place->exts->loop, &place->rest, rest_ms, on_rested);
    }
}

static void on_idle(struct pl_timer *timer)
{
    struct pl_ext_place *place = PL_CONTAINER_OF(timer, struct pl_ext_place, idle);
    int64_t idle_ms = pl_loop_now_ms(place->exts->loop) - place->touched_ms;
    if (!place->instance || place->instance->is_remote)
        return;
    if (idle_ms < PL_EXT_IDLE_MS)
        pl_timer_start(place->exts->loop, &place->idle, PL_EXT_IDLE_MS - idle_ms, on_idle);
    else if (pl_ext_instance_is_quiet(place->instance))
        pl_ext_instance_stop(place->instance, "nothing was asked of it for ten minutes");
    else
        pl_ext_place_touch(place);
}

/* Every line touches it, so the timer is not restarted each time: when it fires, it checks the
 * last touch. */
void pl_ext_place_touch(struct pl_ext_place *place)
{
    place->touched_ms = pl_loop_now_ms(place->exts->loop);
    if (!pl_timer_is_on(&place->idle))
        pl_timer_start(place->exts->loop, &place->idle, PL_EXT_IDLE_MS, on_idle);
}

/* An administrator lets it start again. */
void pl_ext_place_pardon(struct pl_ext_place *place)
{
    place->crashes = (struct pl_ext_crashes){0};
    pl_timer_stop(place->exts->loop, &place->rest);
    if (place->state == PL_EXT_PLACE_BARRED || place->state == PL_EXT_PLACE_RESTING)
        become(place, PL_EXT_PLACE_EMPTY);
}
