/* The timers of one loop, sorted by when they are due: a hierarchical wheel (Varghese and Lauck).
 * Starting and stopping take constant time, whatever their number. It has no clock of its own, so
 * that a test can run it through a hundred years.
 *
 * Time is counted in ticks of 4 ms. Level 0 has a slot for each of the 64 ticks around now, level 1
 * one for each 64 of those, and so on. A timer is on the level of the highest group of six bits in
 * which its tick differs from the current one. When the current tick reaches its slot, the timer
 * moves to a lower level; on level 0 it fires. */
#ifndef PL_IO_WHEEL_H
#define PL_IO_WHEEL_H

#include "io/loop.h"

#include <stddef.h>

enum { PL_WHEEL_TICK_MS = 4, PL_WHEEL_LEVELS = 7, PL_WHEEL_SLOTS = 64 };

struct pl_wheel {
    int64_t start_ms; /* tick 0 */
    int64_t tick;     /* the current tick: all timers up to this tick have fired */
    size_t n_timers;
    /* A bit for each slot that has timers; the last word is for the list of due timers. */
    uint64_t occupied[PL_WHEEL_LEVELS + 1];
    /* Ring lists; the heads use only prev and next. The last one has the timers that are due
     * now. */
    struct pl_timer slots[PL_WHEEL_LEVELS * PL_WHEEL_SLOTS + 1];
};

void pl_wheel_init(struct pl_wheel *wheel, int64_t now_ms);
/* Adds a stopped timer. The caller has set timer->due_ms. */
void pl_wheel_add(struct pl_wheel *wheel, struct pl_timer *timer, int64_t now_ms);
/* Does nothing if the timer is stopped. */
void pl_wheel_remove(struct pl_wheel *wheel, struct pl_timer *timer);
/* When pl_wheel_advance next has a timer to fire or move; INT64_MAX: never. */
int64_t pl_wheel_next_ms(const struct pl_wheel *wheel);
/* Calls all timers that are due by now_ms, earlier ticks first. */
void pl_wheel_advance(struct pl_wheel *wheel, int64_t now_ms);

#endif
