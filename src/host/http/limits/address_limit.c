#include "http/limits/address_limit.h"

#include "shard/setup.h"

enum { MAX_BY_DEFAULT = 1000, MAX_TOLD = 16 /* beyond the limit, to send a refusal */ };

/* 0: no limit, and the connection is not counted. */
static int64_t most_of(const struct pl_server_config *config, const struct pl_network *network)
{
    if (!network->n)
        return 0;
    if (config->max_address_connections)
        return (int64_t)config->max_address_connections;
    return network->is_loopback || config->is_behind_proxy ? 0 : MAX_BY_DEFAULT;
}

enum pl_arrival pl_address_limit_enter(struct pl_shard *shard, const struct pl_conn *conn,
                                       struct pl_hold *hold)
{
    struct pl_network network = pl_conn_network(conn);
    return pl_address_limit_enter_as(shard, &network, hold);
}

enum pl_arrival pl_address_limit_enter_as(struct pl_shard *shard, const struct pl_network *network,
                                          struct pl_hold *hold)
{
    struct pl_str owner = {(const char *)network->bytes, network->n};
    int64_t most = most_of(&shard->setup->config, network);
    struct pl_quota_limits fine = {most, INT64_MAX}, told = {most + MAX_TOLD, INT64_MAX};
    if (!most ||
        pl_quota_take(shard->server->address_limit, hold, owner, 1, fine) == PL_TAKING_DONE)
        return PL_ARRIVAL_FINE;
    return pl_quota_take(shard->server->address_limit, hold, owner, 1, told) == PL_TAKING_DONE
               ? PL_ARRIVAL_REFUSED
               : PL_ARRIVAL_DROPPED;
}

void pl_address_limit_leave(struct pl_server *server, struct pl_hold *hold)
{
    pl_quota_give(server->address_limit, hold, hold->n);
}
