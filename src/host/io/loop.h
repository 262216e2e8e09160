/* A shard's event loop: one thread with its timers and its letters (messages) from other threads.
 * Call all of this on the loop's own thread, except pl_loop_post and functions marked "any
 * thread". */
#ifndef PL_IO_LOOP_H
#define PL_IO_LOOP_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pl_loop; /* owned by its creator, then by the thread that runs it */

enum pl_status pl_loop_create(struct pl_loop **ret_loop, struct pl_error *err);
/* Call this after pl_loop_run has returned, the loop's connections are closed and no other thread
 * posts to it. Stops its listeners and opens the remaining letters. Accepts NULL. */
void pl_loop_destroy(struct pl_loop *loop);

/* Runs until pl_loop_stop. Letters posted before the start are delivered first. */
void pl_loop_run(struct pl_loop *loop);
/* Any thread. pl_loop_run returns after the current turn. */
void pl_loop_stop(struct pl_loop *loop);
/* Called by the thread that ends the loop, after the run: opens letters and calls hooks until none
 * are left. Returns whether there were any. */
bool pl_loop_settle(struct pl_loop *loop);

/* The monotonic clock at the start of this turn of the loop, and the wall clock at that time. On the
 * loop's thread only: workers use pl_clock_unix_ms. */
int64_t pl_loop_now_ms(const struct pl_loop *loop);
int64_t pl_loop_unix_ms(const struct pl_loop *loop);

/* --- after every turn ------------------------------------------------------------------------ */

/* Called once, at the end of the turn in which it was added: there the writes collected during the
 * turn are sent together. Adding it again before it has run does nothing. If `fn` adds it, it runs
 * at the end of the next turn, which then starts without sleeping. */
struct pl_loop_hook {
    void (*fn)(struct pl_loop_hook *self);
    struct pl_loop_hook *next, **link; /* the loop's */
    bool is_waiting;
};
void pl_loop_hook_add(struct pl_loop *loop, struct pl_loop_hook *end);
/* Removes it; call this before its container is freed. */
void pl_loop_hook_remove(struct pl_loop *loop, struct pl_loop_hook *end);

/* --- timers ---------------------------------------------------------------------------------- */

/* Embedded in its owner; zeroed means stopped. Coarse on purpose: a wheel with slots of about 4 ms,
 * so that ten thousand timers cost little. Fires soon after `delay_ms`, never before. */
struct pl_timer {
    struct pl_timer *prev, *next; /* the wheel's; NULL when stopped */
    int64_t due_ms;
    void (*fn)(struct pl_timer *self); /* it is stopped before the call, and may be started again */
};
void pl_timer_start(struct pl_loop *loop, struct pl_timer *timer, int64_t delay_ms,
                    void (*fn)(struct pl_timer *self));
void pl_timer_stop(struct pl_loop *loop, struct pl_timer *timer);
static inline bool pl_timer_is_on(const struct pl_timer *timer)
{
    return timer->next != NULL;
}

/* --- letters --------------------------------------------------------------------------------- */

/* A message to another shard, embedded in a larger object. Posting passes it to the receiver.
 * Letters from one sender arrive in the order they were posted. */
struct pl_letter {
    _Atomic(struct pl_letter *) next;     /* the mailbox's */
    void (*open)(struct pl_letter *self); /* called on the receiver's loop */
};
/* Any thread; never fails, never blocks. A loop that no longer runs keeps its letters:
 * pl_loop_destroy opens them, so that they free themselves. */
void pl_loop_post(struct pl_loop *loop, struct pl_letter *letter);
/* For a letter that another thread posts when its work is done. pl_loop_expect announces the letter
 * when the work is handed over; pl_loop_deliver posts it and is the last access to the loop. In
 * between the loop must not be destroyed (asserted): before ending a loop, wait for the threads
 * that work for it. */
void pl_loop_expect(struct pl_loop *loop);
void pl_loop_deliver(struct pl_loop *loop, struct pl_letter *letter);

/* --- signals --------------------------------------------------------------------------------- */

/* Calls `fn` on this loop for a signal, once per turn however often it came. Only one loop of the
 * process receives signals. */
enum pl_status pl_loop_on_signal(struct pl_loop *loop, int signal,
                                 void (*fn)(void *ctx, int signal), void *ctx);

#endif
