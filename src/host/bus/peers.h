/* The bus's knowledge of other nodes: the last parcel of each, and which ones are not on NATS. A
 * node is known once a letter came from it or NATS reported it. The table has a fixed size; the
 * node that was silent for the longest time is replaced. Pure functions, without a lock of their
 * own. */
#ifndef PL_BUS_PEERS_H
#define PL_BUS_PEERS_H

#include "cluster/node.h"

enum { PL_BUS_PEERS_MAX = 256 };

/* How a node can be reached. Any state may follow any other, but BY_STORE only follows UNHEARD. */
enum pl_bus_peer_state {
    PL_BUS_PEER_FINE,     /* no known problem with NATS */
    PL_BUS_PEER_UNHEARD,  /* NATS reported that nobody listens there; nothing came from it since */
    PL_BUS_PEER_BY_STORE, /* NATS reported the same; only parcels came from it since */
};

struct pl_bus_peer {
    struct pl_node_id node;
    int64_t number; /* of the last parcel from it through the store; 0 if none */
    uint64_t used;  /* order of the last contact */
    enum pl_bus_peer_state state;
};

struct pl_bus_peers {
    struct pl_bus_peer items[PL_BUS_PEERS_MAX];
    size_t n;
    uint64_t n_uses;
};

/* A parcel came through the store. Returns false if it or a later one came before. */
bool pl_bus_peers_accept(struct pl_bus_peers *peers, const struct pl_node_id *sender,
                         int64_t number);
/* A letter came through NATS. */
void pl_bus_peers_hear(struct pl_bus_peers *peers, const struct pl_node_id *sender);
/* NATS reports that nobody listens to the node. */
void pl_bus_peers_miss(struct pl_bus_peers *peers, const struct pl_node_id *node);
/* This node has just connected to NATS: it is unknown who is there. */
void pl_bus_peers_arrive(struct pl_bus_peers *peers);
/* The node is gone from the store. */
void pl_bus_peers_forget(struct pl_bus_peers *peers, const struct pl_node_id *node);

/* True if letters for it go through the store. */
bool pl_bus_peer_is_off_nats(const struct pl_bus_peer *peer);
/* Returns NULL if unknown. */
const struct pl_bus_peer *pl_bus_peers_find(const struct pl_bus_peers *peers,
                                            const struct pl_node_id *node);

#endif
