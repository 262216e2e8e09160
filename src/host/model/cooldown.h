/* Whether a model of a chain is asked at all: one that was busy or out of reach is passed over for
 * a while, so that not every request has to find out again.
 *
 *     CLOSED     it is asked            --busy------------------> OPEN
 *     OPEN       it is passed over      --time is up, entered---> HALF_OPEN
 *     HALF_OPEN  one call is its probe, --the probe is fine-----> CLOSED
 *                the others pass over   --the probe is busy-----> OPEN, for as long again
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
    const char *model;          /* as the configuration spells it */
    int64_t rest_ms;            /* how long it is passed over; 0: never */
    _Atomic(uint64_t) word;     /* the state in the two lowest bits, above them when OPEN ends */
    _Atomic(int64_t) n_running; /* calls of it under way, by whatever name */
};

/* The permission of a call. pl_cooldown_leave gives it back, whatever the outcome of the call. */
enum pl_cooldown_pass {
    PL_PASS_NONE, /* it is to be passed over; not given back */
    PL_PASS_CALL,
    PL_PASS_PROBE,
};

enum pl_cooldown_news {
    PL_NEWS_NONE, /* the call was given up before anything was known */
    PL_NEWS_FINE, /* it has answered, if only with an error of the request's own */
    PL_NEWS_BUSY, /* it takes no requests now, or is out of reach */
};

/* Longest time that a vendor's Retry-After counts for. */
enum { PL_COOLDOWN_MAX_MS = 5 * 60 * 1000 };

/* cooldown NULL: always PL_PASS_CALL. */
enum pl_cooldown_pass pl_cooldown_enter(struct pl_cooldown *cooldown, int64_t now_ms);
/* retry_ms: what the vendor says of it, with PL_NEWS_BUSY; -1: nothing. */
void pl_cooldown_leave(struct pl_cooldown *cooldown, enum pl_cooldown_pass pass,
                       enum pl_cooldown_news news, int64_t retry_ms, int64_t now_ms);

enum pl_cooldown_state pl_cooldown_state(const struct pl_cooldown *cooldown);
/* Until it may be asked; 0: now, or its probe is on the way. */
int64_t pl_cooldown_left_ms(const struct pl_cooldown *cooldown, int64_t now_ms);

#endif
