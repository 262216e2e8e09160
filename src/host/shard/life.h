/* The stages of the server's life: one enum and its legal edges. Code that needs to know whether
 * the server still accepts work asks by stage.
 *
 *     STARTING   sockets are bound; the store is opened and recovered; clients wait in the queue
 *     SERVING    everything works; /readyz returns 200
 *     LAME       after SIGTERM, for drain_accept_ms: /readyz returns 503, but every request is
 *                still answered, so that load balancers have time to notice. Answers close their
 *                connections; no task starts. SIGINT skips this stage, and so does
 *                drain_accept_ms 0 if no other node is up
 *     CLOSING    no shard accepts connections; changes are refused with 503
 *     DRAINING   the listening sockets are closed: new connections are refused. WebSockets and
 *                event streams are notified and closed; running turns have drain_ms to end
 *     STOPPED    the loops have stopped; the store is closed next
 *
 * Changed on the first shard's thread, read on any. */
#ifndef PL_SHARD_LIFE_H
#define PL_SHARD_LIFE_H

#include <stdatomic.h>
#include <stdbool.h>

enum pl_life {
    PL_LIFE_STARTING,
    PL_LIFE_SERVING,
    PL_LIFE_LAME,
    PL_LIFE_CLOSING,
    PL_LIFE_DRAINING,
    PL_LIFE_STOPPED,
    PL_LIFE_COUNT,
};

typedef _Atomic(enum pl_life) pl_life_atomic;

/* True if the diagram in life.c has this edge. */
bool pl_life_may(enum pl_life from, enum pl_life to);
/* Takes an edge of the diagram; any other change is a bug of the caller (asserted). */
void pl_life_go(pl_life_atomic *life, enum pl_life to);
const char *pl_life_name(enum pl_life life);

/* SIGTERM has come: nothing long starts any more. */
static inline bool pl_life_is_ending(const pl_life_atomic *life)
{
    return atomic_load_explicit(life, memory_order_acquire) >= PL_LIFE_LAME;
}

/* The loops have stopped: nothing can run any more. */
static inline bool pl_life_is_over(const pl_life_atomic *life)
{
    return atomic_load_explicit(life, memory_order_acquire) == PL_LIFE_STOPPED;
}

/* No more work is accepted. */
static inline bool pl_life_is_closing(const pl_life_atomic *life)
{
    return atomic_load_explicit(life, memory_order_acquire) >= PL_LIFE_CLOSING;
}

#endif
