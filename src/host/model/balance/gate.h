/* Limits the concurrent calls to a provider. A call that finds no room waits for its turn, up to a
 * number of waiters and for a limited time; otherwise it is refused. Shared by all shards, and by
 * the configurations before and after a reload. */
#ifndef PL_MODEL_GATE_H
#define PL_MODEL_GATE_H

#include "base/status.h"
#include "io/loop.h"

struct pl_gate;      /* reference-counted */
struct pl_gate_wait; /* owned by the waiter until its callback or pl_gate_cancel */

struct pl_gate_limits {
    size_t max;         /* concurrent calls; 1 or more */
    size_t max_waiting; /* 0 for no waiting */
    int64_t wait_ms;
};

struct pl_gate *pl_gate_create(const struct pl_gate_limits *limits); /* NULL if out of memory */
struct pl_gate *pl_gate_ref(struct pl_gate *gate);
void pl_gate_unref(struct pl_gate *gate); /* accepts NULL */
/* Sets new limits. Calls waiters that have room now. */
void pl_gate_set(struct pl_gate *gate, const struct pl_gate_limits *limits);

enum pl_gate_answer {
    PL_GATE_IN,    /* call pl_gate_leave later */
    PL_GATE_WAITS, /* on_turn will be called on the loop, once */
    PL_GATE_FULL,  /* too many are waiting already */
};
/* Decides about new calls. */
enum pl_gate_answer pl_gate_decide(const struct pl_gate_limits *limits, size_t n_in,
                                   size_t n_waiting);

/* is_in is false if it waited too long. The wait no longer exists. */
typedef void pl_gate_turn_fn(void *ctx, bool is_in);
enum pl_gate_answer pl_gate_enter(struct pl_gate *gate, struct pl_loop *loop,
                                  pl_gate_turn_fn *on_turn, void *ctx,
                                  struct pl_gate_wait **ret_wait);
void pl_gate_leave(struct pl_gate *gate); /* any thread */
/* On the loop of the wait; accepts NULL. */
void pl_gate_cancel(struct pl_gate_wait *wait);

struct pl_gate_numbers {
    size_t n_in, n_waiting;
    int64_t n_refused; /* since the start: the gate was full, or the wait was too long */
};
struct pl_gate_numbers pl_gate_look(struct pl_gate *gate); /* NULL: all 0 */

#endif
