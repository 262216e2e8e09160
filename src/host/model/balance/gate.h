/* How many calls to a provider are under way at once. Who finds no room waits for his turn, up to a
 * number of waiters and for a time; otherwise he is refused. Shared by all shards, and by the
 * configurations before and after a reload. */
#ifndef PL_MODEL_GATE_H
#define PL_MODEL_GATE_H

#include "base/status.h"
#include "io/loop.h"

struct pl_gate;      /* counted */
struct pl_gate_wait; /* owned by who waits until its callback or pl_gate_cancel */

struct pl_gate_limits {
    size_t max;         /* calls at once; 1 or more */
    size_t max_waiting; /* 0: nobody waits */
    int64_t wait_ms;
};

struct pl_gate *pl_gate_create(const struct pl_gate_limits *limits); /* NULL: out of memory */
struct pl_gate *pl_gate_ref(struct pl_gate *gate);
void pl_gate_unref(struct pl_gate *gate); /* accepts NULL */
/* From now on. Who has his turn by it is called. */
void pl_gate_set(struct pl_gate *gate, const struct pl_gate_limits *limits);

enum pl_gate_answer {
    PL_GATE_IN,    /* and pl_gate_leave later */
    PL_GATE_WAITS, /* on_turn will be called on the loop, once */
    PL_GATE_FULL,  /* too many wait already */
};
/* Only this decides about calls that come from now on. */
enum pl_gate_answer pl_gate_decide(const struct pl_gate_limits *limits, size_t n_in,
                                   size_t n_waiting);

/* is_in false: it has waited for too long. The wait is gone. */
typedef void pl_gate_turn_fn(void *ctx, bool is_in);
enum pl_gate_answer pl_gate_enter(struct pl_gate *gate, struct pl_loop *loop,
                                  pl_gate_turn_fn *on_turn, void *ctx,
                                  struct pl_gate_wait **ret_wait);
void pl_gate_leave(struct pl_gate *gate); /* any thread */
/* On the loop of the wait; accepts NULL. */
void pl_gate_cancel(struct pl_gate_wait *wait);

struct pl_gate_numbers {
    size_t n_in, n_waiting;
    int64_t n_refused; /* since the start: found it full, or waited for too long */
};
struct pl_gate_numbers pl_gate_look(struct pl_gate *gate); /* NULL: all 0 */

#endif
