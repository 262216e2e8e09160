/* Moving a machine (base/machine.h) from one state to the next: the edge is always checked, and
 * traced if tracing is on. A few instructions; nothing is allocated.
 *
 * Each kind of thing has one function that moves it:
 *
 *     static void become(struct pl_fetch *fetch, enum state to)
 *     {
 *         fetch->state = (enum state)pl_move(&machine, fetch, fetch->state, to);
 *     }
 */
#ifndef PL_IO_MOVE_H
#define PL_IO_MOVE_H

#include "base/machine.h"
#include "io/loop.h"

/* Called at every move, on the thread of the thing that moves. `who` is its address, to tell
 * things of one kind apart. */
typedef void pl_move_trace_fn(const struct pl_machine *machine, const void *who, unsigned from,
                              unsigned to);
/* NULL turns it off. Set before the first thread starts. */
void pl_move_set_trace(pl_move_trace_fn *fn);

/* The next state. An edge that the table does not have is a defect of the caller: the program ends
 * there, as by a failed assertion that names the machine and both states. */
unsigned pl_move(const struct pl_machine *machine, const void *who, unsigned from, unsigned to);

/* Starts the timer of a stay in this state, as its line says: PL_WAIT_MS with its own limit,
 * PL_WAIT_SET with set_ms; otherwise the timer is stopped. */
void pl_move_limit(const struct pl_machine *machine, unsigned state, struct pl_loop *loop,
                   struct pl_timer *timer, int64_t set_ms, void (*on_late)(struct pl_timer *timer));

#endif
