/* A shard's loop: one thread, its timers, its letters from other threads.
 * Everything here is called on the loop's own thread, except pl_loop_post and what says so. */
#ifndef PL_IO_LOOP_H
#define PL_IO_LOOP_H

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pl_loop; /* owned by its creator, and then by the thread that runs it */

enum pl_status pl_loop_create(struct pl_loop **ret_loop, struct pl_error *err);
/* After pl_loop_run has returned, the connections of the loop are closed, and no other thread is
 * there that posts to it. Stops its listeners and opens the letters that are left. Accepts NULL. */
void pl_loop_destroy(struct pl_loop *loop);

/* Runs until pl_loop_stop. Letters posted before are delivered first. */
void pl_loop_run(struct pl_loop *loop);
/* Any thread. The run returns after the present turn. */
void pl_loop_stop(struct pl_loop *loop);
/* On the thread that ends the loop, when it no longer runs: opens all letters and calls all hooks,
 * until none is left. Returns whether there were any. */
bool pl_loop_settle(struct pl_loop *loop);

/* The monotonic clock at the beginning of this turn of the loop, and the wall clock with it. */
int64_t pl_loop_now_ms(const struct pl_loop *loop);
int64_t pl_loop_unix_ms(const struct pl_loop *loop);

/* --- after every turn ------------------------------------------------------------------------ */

/* Called once at the end of the iteration in which it was added: where writes collected during the
 * iteration are sent together. Adding it again before it ran does nothing; adding it from within
 * `fn` means the end of the next iteration, which then starts at once. */
struct pl_loop_hook {
    void (*fn)(struct pl_loop_hook *self);
    struct pl_loop_hook *next, **link; /* the loop's */
    bool is_waiting;
};
void pl_loop_hook_add(struct pl_loop *loop, struct pl_loop_hook *end);
/* Removes it, before the object that contains it is freed. */
void pl_loop_hook_remove(struct pl_loop *loop, struct pl_loop_hook *end);

/* --- timers ---------------------------------------------------------------------------------- */

/* Embedded in what waits; zeroed is stopped. Coarse on purpose (a wheel with slots of about 4 ms,
 * so that ten thousand cost nothing): fires not before `delay_ms`, and soon after. */
struct pl_timer {
    struct pl_timer *prev, *next; /* the wheel's; NULL when stopped */
    int64_t due_ms;
    void (*fn)(struct pl_timer *self); /* stopped already when it is called; may start it again */
};
void pl_timer_start(struct pl_loop *loop, struct pl_timer *timer, int64_t delay_ms,
                    void (*fn)(struct pl_timer *self));
void pl_timer_stop(struct pl_loop *loop, struct pl_timer *timer);
static inline bool pl_timer_is_on(const struct pl_timer *timer)
{
    return timer->next != NULL;
}

/* --- letters --------------------------------------------------------------------------------- */

/* A message to another shard, embedded in what is sent. From the post on it belongs to the
 * receiver; letters of one sender arrive in the order they were posted. */
struct pl_letter {
    _Atomic(struct pl_letter *) next;     /* the mailbox's */
    void (*open)(struct pl_letter *self); /* called on the receiver's loop */
};
/* Any thread; never fails, never blocks. A loop that no longer runs keeps its letters: its destroy
 * opens them, so that they free themselves. */
void pl_loop_post(struct pl_loop *loop, struct pl_letter *letter);
/* A letter that another thread posts later, when its work is done: it is expected from the moment
 * the work is handed over, and delivered with the last touch of the loop. In between the loop
 * cannot be destroyed (asserted): to end a loop, first wait for the threads that work for it. */
void pl_loop_expect(struct pl_loop *loop);
void pl_loop_deliver(struct pl_loop *loop, struct pl_letter *letter);

/* --- signals --------------------------------------------------------------------------------- */

/* A signal as a call on this loop, one for as many as came during a turn; one loop of the process
 * hears them all. */
enum pl_status pl_loop_on_signal(struct pl_loop *loop, int signal,
                                 void (*fn)(void *ctx, int signal), void *ctx);

#endif
