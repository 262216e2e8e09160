/* What the bus knows of other nodes: the last parcel of each, and who is not on NATS. A node is known once a
 * letter came from it or NATS reported it. The table has a fixed size; the node that was silent for the
 * longest time makes room. Pure, and without a lock of its own. */
#ifndef PL_BUS_PEERS_H
#define PL_BUS_PEERS_H

#include "cluster/node.h"

enum { PL_BUS_PEERS_MAX = 256 };

/* How it can be reached. Any of these may follow another, but BY_STORE only UNHEARD. */
enum pl_bus_peer_state {
    PL_BUS_PEER_FINE,     /* nothing is known against NATS */
    PL_BUS_PEER_UNHEARD,  /* NATS said that nobody listens there, and nothing came from it since */
    PL_BUS_PEER_BY_STORE, /* … and only parcels came since */
};

struct pl_bus_peer {
    struct pl_node_id node;
    int64_t number; /* of the last parcel that came from it by the store; 0: none */
    uint64_t used;  /* when it was heard of, in order */
    enum pl_bus_peer_state state;
};

struct pl_bus_peers {
    struct pl_bus_peer items[PL_BUS_PEERS_MAX];
    size_t n;
    uint64_t n_uses;
};

/* A parcel came by the store. False: it, or a later one, was there before. */
bool pl_bus_peers_accept(struct pl_bus_peers *peers, const struct pl_node_id *sender,
                         int64_t number);
/* A letter came by NATS. */
void pl_bus_peers_hear(struct pl_bus_peers *peers, const struct pl_node_id *sender);
/* NATS says that nobody listens to it. */
void pl_bus_peers_miss(struct pl_bus_peers *peers, const struct pl_node_id *node);
/* This node has just come to NATS: nobody knows who is there. */
void pl_bus_peers_arrive(struct pl_bus_peers *peers);
/* It is gone from the store. */
void pl_bus_peers_forget(struct pl_bus_peers *peers, const struct pl_node_id *node);

/* Letters for it go by the store. */
bool pl_bus_peer_is_off_nats(const struct pl_bus_peer *peer);
/* NULL: unknown. */
const struct pl_bus_peer *pl_bus_peers_find(const struct pl_bus_peers *peers,
                                            const struct pl_node_id *node);

#endif
