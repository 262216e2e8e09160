#include "bus/peers.h"

static struct pl_bus_peer *find(const struct pl_bus_peers *peers, const struct pl_node_id *node)
{
    for (size_t i = 0; i < peers->n; i++)
        if (pl_node_id_eq(&peers->items[i].node, node))
            return (struct pl_bus_peer *)&peers->items[i];
    return NULL;
}

static struct pl_bus_peer *make_room(struct pl_bus_peers *peers)
{
    struct pl_bus_peer *oldest = &peers->items[0];
    if (peers->n < PL_BUS_PEERS_MAX)
        return &peers->items[peers->n++];
    for (size_t i = 1; i < peers->n; i++)
        if (peers->items[i].used < oldest->used)
            oldest = &peers->items[i];
    return oldest;
}

static struct pl_bus_peer *use(struct pl_bus_peers *peers, const struct pl_node_id *node)
{
    struct pl_bus_peer *peer = find(peers, node);
    if (!peer) {
        peer = make_room(peers);
        *peer = (struct pl_bus_peer){.node = *node};
    }
    peer->used = ++peers->n_uses;
    return peer;
}

bool pl_bus_peers_accept(struct pl_bus_peers *peers, const struct pl_node_id *sender,
                         int64_t number)
{
    struct pl_bus_peer *peer = use(peers, sender);
    bool is_new = number > peer->number;
    if (peer->state == PL_BUS_PEER_UNHEARD)
        peer->state = PL_BUS_PEER_BY_STORE;
    if (is_new)
        peer->number = number;
    return is_new;
}

void pl_bus_peers_hear(struct pl_bus_peers *peers, const struct pl_node_id *sender)
{
    use(peers, sender)->state = PL_BUS_PEER_FINE;
}

void pl_bus_peers_miss(struct pl_bus_peers *peers, const struct pl_node_id *node)
{
    use(peers, node)->state = PL_BUS_PEER_UNHEARD;
}

void pl_bus_peers_arrive(struct pl_bus_peers *peers)
{
    for (size_t i = 0; i < peers->n; i++)
        peers->items[i].state = PL_BUS_PEER_FINE;
}

void pl_bus_peers_forget(struct pl_bus_peers *peers, const struct pl_node_id *node)
{
    struct pl_bus_peer *peer = find(peers, node);
    if (peer)
        *peer = peers->items[--peers->n];
}

bool pl_bus_peer_is_off_nats(const struct pl_bus_peer *peer)
{
    return peer->state != PL_BUS_PEER_FINE;
}

const struct pl_bus_peer *pl_bus_peers_find(const struct pl_bus_peers *peers,
                                            const struct pl_node_id *node)
{
    return find(peers, node);
}
