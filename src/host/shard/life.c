#include "shard/life.h"

#include <assert.h>

#define TO(stage) (1u << PL_LIFE_##stage)
static const struct {
    const char *name;
    unsigned next; /* a bit for each stage that may follow */
} stages[PL_LIFE_COUNT] = {
    [PL_LIFE_STARTING] = {"starting", TO(SERVING) | TO(STOPPED)},
    [PL_LIFE_SERVING] = {"serving", TO(LAME) | TO(CLOSING)},
    [PL_LIFE_LAME] = {"lame", TO(CLOSING)},
    [PL_LIFE_CLOSING] = {"closing", TO(DRAINING)},
    [PL_LIFE_DRAINING] = {"draining", TO(STOPPED)},
    [PL_LIFE_STOPPED] = {"stopped", 0},
};

bool pl_life_may(enum pl_life from, enum pl_life to)
{
    return from < PL_LIFE_COUNT && to < PL_LIFE_COUNT && (stages[from].next >> to & 1);
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
