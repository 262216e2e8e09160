/* Decides whether a model of a chain is called. A model that was busy or unreachable is skipped for
 * a while, so that not every request has to find out again.
 *
 *     CLOSED     it is called           --busy------------------> OPEN
 *     OPEN       it is skipped          --time is up, entered---> HALF_OPEN
 *     HALF_OPEN  one call is its probe, --the probe is fine-----> CLOSED
 *                the others skip it     --the probe is busy-----> OPEN, for as long again
 *                                       --the probe is given up-> OPEN, time is up
 *
 * A call that began in CLOSED and ends in another state changes nothing: the probe decides. All
 * shards share one cooldown; any thread may call every function. */
#ifndef PL_MODEL_COOLDOWN_H
#define PL_MODEL_COOLDOWN_H

#include <stdatomic.h>
#include <stdint.h>

enum pl_cooldown_state { PL_COOLDOWN_CLOSED, PL_COOLDOWN_OPEN, PL_COOLDOWN_HALF_OPEN };

struct pl_cooldown {
    const char *model;          /* as written in the configuration */
    int64_t rest_ms;            /* how long it is skipped; 0 for never */
    _Atomic(uint64_t) word;     /* the state in the two lowest bits, the end of OPEN above them */
    _Atomic(int64_t) n_running; /* running calls of the model, by any name */
};

/* The permission for a call. Release it with pl_cooldown_leave, whatever the outcome of the
 * call. */
enum pl_cooldown_pass {
    PL_PASS_NONE, /* skip the model; needs no release */
    PL_PASS_CALL,
    PL_PASS_PROBE,
};

enum pl_cooldown_news {
    PL_NEWS_NONE, /* the call was given up before anything was known */
    PL_NEWS_FINE, /* it answered, even if only with an error of the request itself */
    PL_NEWS_BUSY, /* it accepts no requests now, or is unreachable */
};

/* Upper limit for a vendor's Retry-After. */
enum { PL_COOLDOWN_MAX_MS = 5 * 60 * 1000 };

/* Returns PL_PASS_CALL if cooldown is NULL. */
enum pl_cooldown_pass pl_cooldown_enter(struct pl_cooldown *cooldown, int64_t now_ms);
/* retry_ms: the vendor's Retry-After for PL_NEWS_BUSY; -1 if none. */
void pl_cooldown_leave(struct pl_cooldown *cooldown, enum pl_cooldown_pass pass,
                       enum pl_cooldown_news news, int64_t retry_ms, int64_t now_ms);

enum pl_cooldown_state pl_cooldown_state(const struct pl_cooldown *cooldown);
/* Time until it may be called; 0 if now, or if its probe is running. */
int64_t pl_cooldown_left_ms(const struct pl_cooldown *cooldown, int64_t now_ms);

#endif
