/* The bus carries letters from node to node. A letter is bytes that the caller has sealed and
 * numbered; the bus does not read them. docs/internals/bus.md.
 *
 *     local   one process: letters to itself are delivered, all others have no receiver
 *     pg      rows of the store in PostgreSQL, and NOTIFY
 *     nats    NATS; pg carries the letters while it is away, and those for a node that is not on it
 *
 * A letter may be lost. It is never changed, and letters from one sender to one receiver that went
 * the same way arrive in the order sent, each once. A letter can overtake one that went the other
 * way.
 *
 * Sending never blocks: threads of the bus do the waiting. */
#ifndef PL_BUS_BUS_H
#define PL_BUS_BUS_H

#include "cluster/node.h"
#include "store/store.h"

enum {
    PL_BUS_LETTER_MAX = 512 << 10,
    PL_BUS_WAITING_MAX = 64 << 20, /* bytes, for all receivers together */
};

struct pl_bus; /* owned */

enum pl_bus_kind { PL_BUS_LOCAL, PL_BUS_PG, PL_BUS_NATS };

enum pl_bus_state {
    PL_BUS_UP,
    PL_BUS_DEGRADED, /* NATS is away: the database carries its letters */
    PL_BUS_DOWN,     /* letters wait; those older than a minute are lost */
};

struct pl_bus_config {
    /* "nats://host:port", "tls://host:port", or several separated by commas. NULL: pg if the store
     * is PostgreSQL, otherwise local. */
    const char *url;
    const char *ca, *cert, *key, *creds; /* files for NATS; may be NULL */
    struct pl_store *store;              /* borrowed; must outlive the bus */
    struct pl_str cluster;               /* its name, part of NATS subjects: [A-Za-z0-9_-]+ */
    struct pl_node_id me;                /* has a row in nodes, unless the bus is local */
    /* Both are called on threads of the bus, and never at the same time. They may send, but must
     * not close the bus. The bytes are valid during the call and are not trusted. */
    void (*on_letter)(void *ctx, struct pl_str bytes, bool is_to_all);
    /* The state has changed; `why` is a sentence. May be NULL. pl_bus_state returns the first
     * state. */
    void (*on_state)(void *ctx, enum pl_bus_state state, const char *why);
    void *ctx;
};

/* PL_INVALID: the URL, the cluster's name or the store does not fit. PL_IO: the database cannot be
 * reached, or a library or a file is missing. An unreachable NATS server is not an error: the bus
 * begins degraded and retries for ever. */
enum pl_status pl_bus_open(const struct pl_bus_config *config, struct pl_bus **ret_bus,
                           struct pl_error *err);
/* Sends the waiting letters, unless the connection is broken. on_letter and on_state are not called
 * after it returns. Accepts NULL. */
void pl_bus_close(struct pl_bus *bus);

/* Copies the letter. `by_store`: use PostgreSQL even if NATS is up, for an ask that got no answer.
 * PL_LIMIT: the letter is too long, or too much is waiting; PL_NOMEM. */
enum pl_status pl_bus_send(struct pl_bus *bus, const struct pl_node_id *to, struct pl_str bytes,
                           bool by_store);
/* To every node but this one. */
enum pl_status pl_bus_send_all(struct pl_bus *bus, struct pl_str bytes);
/* Looks for letters now, because the renewal of the lease reported some
 * (pl_node_view.has_letters). */
void pl_bus_look(struct pl_bus *bus);

/* True if NATS reported that nobody listens to this node's subject, and nothing came from it
 * since. */
bool pl_bus_is_unheard(struct pl_bus *bus, const struct pl_node_id *node);
enum pl_bus_kind pl_bus_kind(const struct pl_bus *bus);
enum pl_bus_state pl_bus_state(struct pl_bus *bus);
/* "local", "pg", "nats"; "up", "degraded", "down". */
const char *pl_bus_kind_text(enum pl_bus_kind kind);
const char *pl_bus_state_text(enum pl_bus_state state);
/* Unsent bytes for this receiver, including those for everybody. */
size_t pl_bus_waiting(struct pl_bus *bus, const struct pl_node_id *to);

/* True if the library for NATS is installed. */
bool pl_bus_has_nats_library(void);

#endif
