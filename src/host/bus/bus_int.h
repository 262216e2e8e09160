/* Internals of the bus.
 *
 *     pl_bus_send ──> queue ──> sender ──> rows ──NOTIFY──> receiver ──┐ of another node
 *                └──> queue ──> nats ───> subject ───────> delivery ───┴──> on_letter
 *
 * Threads: the sender (also of a local bus, which has no rows), the receiver, and that of NATS.
 * There are two locks: `lock` protects shared state and is held briefly; `telling` is held during a
 * callback to the owner. Code that needs both takes `telling` first. */
#ifndef PL_BUS_BUS_INT_H
#define PL_BUS_BUS_INT_H

#include "bus/bus.h"
#include "bus/peers.h"
#include "bus/queue.h"
#include "store/node/letters.h"

#include <pthread.h>

struct pl_bus_nats;

/* The ways of letters. */
enum pl_bus_way { PL_BUS_WAY_SENDER, PL_BUS_WAY_RECEIVER, PL_BUS_WAY_NATS, PL_BUS_WAY_COUNT };

struct pl_bus_thread {
    pthread_t thread;
    bool is_running; /* it was started */
};

struct pl_bus {
    enum pl_bus_kind kind;
    struct pl_node_id me;
    void (*on_letter)(void *ctx, struct pl_str bytes, bool is_to_all);
    void (*on_state)(void *ctx, enum pl_bus_state state, const char *why);
    void *ctx;

    pthread_mutex_t telling;

    pthread_mutex_t lock;
    /* Protected by the lock: */
    pthread_cond_t changed;      /* something waits for the sender, or the bus is closing */
    pthread_cond_t nats_changed; /* the same for the thread of NATS */
    bool is_closing;
    bool is_up[PL_BUS_WAY_COUNT];
    enum pl_bus_state told;    /* the last reported state; changes only while `telling` is held */
    struct pl_bus_queue queue; /* the sender's */
    struct pl_bus_peers peers;

    struct pl_letter_desk *out,
        *in;     /* owned by the sender's and the receiver's thread; NULL if local */
    int wake_fd; /* wakes the receiver; -1 if there is none */
    struct pl_bus_thread sender, receiver;
    struct pl_bus_nats *nats; /* owned; NULL for another kind */
};

/* --- bus.c ----------------------------------------------------------------------------------- */

/* Passes a letter to the owner, unless the bus is closing. */
void pl_bus_deliver(struct pl_bus *bus, struct pl_str letter, bool is_to_all);
/* Reports that a way works or does not; `why` may be NULL if it works. Tells the owner if the state
 * changes. */
void pl_bus_note(struct pl_bus *bus, enum pl_bus_way way, bool is_up, const char *why);
bool pl_bus_is_closing(struct pl_bus *bus);
/* Waits before a retry: a tenth of a second, growing with the tries to eight tenths, plus a random
 * part. Returns false if the bus is closing. */
bool pl_bus_pause(struct pl_bus *bus, size_t n_tries);
/* Starts one of its threads. */
enum pl_status pl_bus_start(struct pl_bus *bus, struct pl_bus_thread *thread,
                            void *(*run)(void *bus), struct pl_error *err);
/* Waits for the thread to end, if it was started. */
void pl_bus_join(struct pl_bus_thread *thread);

/* --- store_way.c ----------------------------------------------------------------------------- */

/* Starts the sender and, if letters go by the store, the receiver. */
enum pl_status pl_bus_store_start(struct pl_bus *bus, struct pl_store *store, struct pl_error *err);
/* Call after is_closing was set. */
void pl_bus_store_stop(struct pl_bus *bus);

/* --- nats.c ---------------------------------------------------------------------------------- */

enum pl_status pl_bus_nats_start(struct pl_bus *bus, const struct pl_bus_config *config,
                                 struct pl_error *err);
/* Call after is_closing was set. Waiting letters are sent, or moved to the queue of the store. */
void pl_bus_nats_stop(struct pl_bus *bus);
void pl_bus_nats_destroy(struct pl_bus *bus); /* after all threads have ended */
/* Call under the lock. */
struct pl_bus_queue *pl_bus_nats_queue(struct pl_bus_nats *nats);

#endif
