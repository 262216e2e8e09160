/* The timers of one loop, sorted by when they are due: a hierarchical wheel (Varghese and Lauck).
 * Starting and stopping take constant time, whatever their number. It has no clock of its own, so
 * that a test can turn it through a hundred years.
 *
 * Time is counted in ticks of 4 ms. Level 0 has a slot for each of the 64 ticks around now, level 1
 * one for each 64 of those, and so on. A timer is on the level of the highest group of six bits in
 * which its tick differs from the present one, and so moves down a level each time the present
 * reaches its slot, until on level 0 it fires. */
#ifndef PL_IO_WHEEL_H
#define PL_IO_WHEEL_H

#include "io/loop.h"

#include <stddef.h>

enum { PL_WHEEL_TICK_MS = 4, PL_WHEEL_LEVELS = 7, PL_WHEEL_SLOTS = 64 };

struct pl_wheel {
    int64_t start_ms; /* tick 0 */
    int64_t tick;     /* the present: every timer of this tick and before has fired */
    size_t n_timers;
    /* A bit for each slot that has timers; the last word belongs to the list of those due. */
    uint64_t occupied[PL_WHEEL_LEVELS + 1];
    /* Ring lists; of the heads only prev and next are used. The last is of those due right now. */
    struct pl_timer slots[PL_WHEEL_LEVELS * PL_WHEEL_SLOTS + 1];
};

void pl_wheel_init(struct pl_wheel *wheel, int64_t now_ms);
/* Adds a stopped timer for its due_ms. */
void pl_wheel_add(struct pl_wheel *wheel, struct pl_timer *timer, int64_t now_ms);
/* Does nothing with a stopped timer. */
void pl_wheel_remove(struct pl_wheel *wheel, struct pl_timer *timer);
/* When pl_wheel_advance has something to do next, firing or moving; INT64_MAX: never. */
int64_t pl_wheel_next_ms(const struct pl_wheel *wheel);
/* Calls all timers that are due by now_ms, earlier ticks first. */
void pl_wheel_advance(struct pl_wheel *wheel, int64_t now_ms);

#endif
