/* Moves a state machine (base/machine.h) to its next state. The edge is always checked, and traced
 * if tracing is on. This takes a few instructions and allocates nothing.
 *
 * Each kind of object has one function for its moves:
 *
 *     static void become(struct pl_fetch *fetch, enum state to)
 *     {
 *         fetch->state = (enum state)pl_move(&machine, fetch, fetch->state, to);
 *     } */
#ifndef PL_IO_MOVE_H
#define PL_IO_MOVE_H

#include "base/machine.h"
#include "io/loop.h"

/* Called at every move, on the thread of the moving object. `who` is its address, to tell objects
 * of one kind apart. */
typedef void pl_move_trace_fn(const struct pl_machine *machine, const void *who, unsigned from,
                              unsigned to);
/* NULL turns tracing off. Set this before the first thread starts. */
void pl_move_set_trace(pl_move_trace_fn *fn);

/* Returns the next state. An edge that is not in the table is a bug of the caller: the program ends
 * as by a failed assertion that names the machine and both states. */
unsigned pl_move(const struct pl_machine *machine, const void *who, unsigned from, unsigned to);

/* Starts the timer for this state as its table line says: PL_WAIT_MS with the limit in the table,
 * PL_WAIT_SET with set_ms. Otherwise stops the timer. */
void pl_move_limit(const struct pl_machine *machine, unsigned state, struct pl_loop *loop,
                   struct pl_timer *timer, int64_t set_ms, void (*on_late)(struct pl_timer *timer));

#endif
