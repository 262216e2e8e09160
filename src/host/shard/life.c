/* The stages of the server's life; life.h describes each.
 *
 *     machine life
 *
 *     STARTING -> SERVING -> LAME -> CLOSING -> DRAINING -> STOPPED
 *     SERVING -> CLOSING          SIGINT, or drain_accept_ms is 0
 *     STARTING -> STOPPED         it did not start */
#include "shard/life.h"

#include "base/machine.h"

#include <assert.h>

#define TO(stage) PL_TO(PL_LIFE_##stage)
static const struct pl_state stages[PL_LIFE_COUNT] = {
    [PL_LIFE_STARTING] = {"starting", TO(SERVING) | TO(STOPPED)},
    [PL_LIFE_SERVING] = {"serving", TO(LAME) | TO(CLOSING), PL_WAIT_OPEN,
                         .why = "a signal, or the node is asked to end"},
    [PL_LIFE_LAME] = {"lame", TO(CLOSING), PL_WAIT_SET, .why = "drain_accept_ms"},
    [PL_LIFE_CLOSING] = {"closing", TO(DRAINING)},
    [PL_LIFE_DRAINING] = {"draining", TO(STOPPED), PL_WAIT_SET, .why = "drain_ms"},
    [PL_LIFE_STOPPED] = {"stopped", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("life", stages);

bool pl_life_may(enum pl_life from, enum pl_life to)
{
    return pl_machine_may(&machine, from, to);
}

void pl_life_go(pl_life_atomic *life, enum pl_life to)
{
    assert(pl_life_may(atomic_load_explicit(life, memory_order_acquire), to));
    atomic_store_explicit(life, to, memory_order_release);
}

const char *pl_life_name(enum pl_life life)
{
    return life < PL_LIFE_COUNT ? stages[life].name : "unknown";
}
