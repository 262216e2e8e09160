/* This process as a node of a cluster: servers that share one PostgreSQL. A node holds a lease,
 * owns the sessions it drives, and asks the owners of other sessions. PostgreSQL is the only source
 * of truth; letters between nodes make it fast, and may be lost (bus/bus.h). core/cluster makes the
 * decisions from rows, times and letters.
 *
 *     command ──> seat of its session ──> mine: the driver here
 *                   (seats.c)             another's: a letter to its owner (asking.c), which serves
 *                                         it (serving.c); frames come back as letters (mirror.c)
 *                                         nobody's: claimed first, or only looked at
 *
 *     thread of the node (renewing.c): renews the lease, takes over from nodes whose lease has
 *     expired, settles their sessions, and enters again if this node was taken over. */
#ifndef PL_NODE_NODE_H
#define PL_NODE_NODE_H

#include "bus/bus.h"
#include "live/session_home.h"
#include "store/node/node_line.h"
#include "store/node/owners.h"

/* Functions of the rooms above, for the node; static. */
struct pl_node_above {
    const struct pl_session_owner *drivers;
    /* Settles sessions that ran on a node that is gone. On the node's thread; blocks. */
    enum pl_status (*recover)(struct pl_store *store, const struct pl_left_session *left, size_t n,
                              const struct pl_node_id *me, struct pl_error *err);
    /* Settles the other work of a node that is gone. On the node's thread; blocks. */
    enum pl_status (*settle)(struct pl_server *server, const struct pl_node_id *gone,
                             struct pl_error *err);
    /* Called when messages may wait in sessions that no node owns now. On the first shard. */
    void (*settled)(struct pl_server *server);
    /* Gets the database's view of all nodes, after every renewal. On the node's thread. */
    void (*hear)(struct pl_server *server, const struct pl_node_view *view,
                 const struct pl_node_id *me);
    /* Called once if this node is asked to end (pl_batch_drain_node). On the node's thread. */
    void (*end)(struct pl_server *server);
    /* Gets a letter to all nodes. On the first shard. */
    void (*bell)(struct pl_server *server, int64_t bell, struct pl_str text);
};

struct pl_node_config {
    const char *name;     /* --node */
    const char *address;  /* where others may reach it, for people; may be "" */
    const char *data_dir; /* locked by this process; names the process before it */
    struct pl_bus_config bus;
};

/* Enters the node, fences an earlier process of it, and settles the work of nodes that are gone. On
 * the main thread, before the shards exist. Only for a store in PostgreSQL. */
enum pl_status pl_node_create(struct pl_server *server, const struct pl_node_config *config,
                              const struct pl_node_above *above, struct pl_node **ret_node,
                              struct pl_error *err);
/* Starts its thread and its bus, when the shards exist. */
enum pl_status pl_node_start(struct pl_node *node, struct pl_error *err);
/* Accepts nothing new: tells the other nodes and gives them the quiet sessions. Any thread. */
void pl_node_drain(struct pl_node *node);
/* Releases everything and leaves, after all drivers are shut down. Accepts NULL. */
void pl_node_stop(struct pl_node *node);
void pl_node_destroy(struct pl_node *node); /* accepts NULL; stopped, and the loops are destroyed */

/* A shard's part of the node. */
enum pl_status pl_node_seats_create(struct pl_shard *shard, struct pl_node_seats **ret_seats);
void pl_node_seats_destroy(struct pl_node_seats *seats); /* accepts NULL */

/* Routes commands; and the functions that drivers call (live/). */
extern const struct pl_session_owner pl_node_owner;
extern const struct pl_session_home pl_node_home;

struct pl_node_id pl_node_me(struct pl_node *node);
/* Whether the lease is held: live frames and changes are allowed. Any thread. */
bool pl_node_holds(struct pl_node *node);
/* The time since the last good renewal was sent, and the state of the bus. Any thread. */
int64_t pl_node_lease_age_ms(struct pl_node *node);
enum pl_bus_state pl_node_bus_state(struct pl_node *node);
/* Whether there are other nodes that could do its work. Accepts NULL. */
bool pl_node_has_others(struct pl_node *node);
/* Sends a letter to all other nodes. Any thread; it may be lost. */
void pl_node_ring(struct pl_node *node, int64_t bell, struct pl_str text);
/* The store's writer detected that this node was taken over, or that the database went back in
 * time. */
void pl_node_fenced(struct pl_node *node);
void pl_node_rewound(struct pl_node *node);

/* The name of a node in the last renewal; "" if it is not there. Any thread. */
void pl_node_name_of(struct pl_node *node, const struct pl_node_id *id,
                     char ret_name[PL_NODE_NAME_MAX + 1]);

/* --- for people ------------------------------------------------------------------------------ */

struct pl_node_counts {
    int64_t n_takeovers, n_fenced, n_rewinds, n_forwarded, n_gaps, n_dropped;
};
struct pl_node_looks {
    struct pl_node_view view; /* of the last renewal; arena */
    struct pl_node_id me;
    const char *name; /* lives as long as the node */
    int64_t lease_left_ms, lease_age_ms;
    size_t n_owned; /* sessions */
    enum pl_bus_kind bus_kind;
    enum pl_bus_state bus_state;
    struct pl_node_counts counts;
};
enum pl_status pl_node_look(struct pl_node *node, struct pl_arena *arena,
                            struct pl_node_looks *ret_looks);

#endif
