#include "io/move.h"

#include <assert.h>
#include <stdio.h>

static pl_move_trace_fn *trace;

void pl_move_set_trace(pl_move_trace_fn *fn)
{
    trace = fn;
}

static const char *name_of(const struct pl_machine *machine, unsigned state)
{
    return state < machine->n_states ? machine->states[state].name : "?";
}

/* Calls the C library's own function, so that it is reported and logged like every failed
 * assertion. */
static _Noreturn void refuse(const struct pl_machine *machine, unsigned from, unsigned to)
{
    char text[160];
    snprintf(text, sizeof text, "%s may go from %s to %s", machine->name, name_of(machine, from),
             name_of(machine, to));
    __assert_fail(text, __FILE__, __LINE__, "pl_move");
}

unsigned pl_move(const struct pl_machine *machine, const void *who, unsigned from, unsigned to)
{
    if (!pl_machine_may(machine, from, to))
        refuse(machine, from, to);
    if (trace)
        trace(machine, who, from, to);
    return to;
}

void pl_move_limit(const struct pl_machine *machine, unsigned state, struct pl_loop *loop,
                   struct pl_timer *timer, int64_t set_ms, void (*on_late)(struct pl_timer *timer))
{
    const struct pl_state *line = &machine->states[state];
    if (line->wait == PL_WAIT_MS)
        pl_timer_start(loop, timer, line->limit_ms, on_late);
    else if (line->wait == PL_WAIT_SET)
        pl_timer_start(loop, timer, set_ms, on_late);
    else
        pl_timer_stop(loop, timer);
}
