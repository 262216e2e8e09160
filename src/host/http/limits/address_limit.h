/* Limits the connections of one address. An IPv6 client is identified by its first 64 bits: one
 * subscriber line has that many.
 *
 * `max_connections_per_address` is the limit. 0, the default, means 1,000 for every address but
 * loopback (tests and reverse proxies), and no limit behind a proxy, where all clients have the
 * proxy's address. Any other number applies to every address. Unix sockets are never counted. */
#ifndef PL_HTTP_LIMITS_ADDRESS_LIMIT_H
#define PL_HTTP_LIMITS_ADDRESS_LIMIT_H

#include "http/limits/quota.h"
#include "shard/shard.h"

enum pl_arrival {
    PL_ARRIVAL_FINE,
    PL_ARRIVAL_REFUSED, /* one too many: it is told so */
    PL_ARRIVAL_DROPPED, /* too many to answer */
};

/* Give the hold back when the connection ends, whatever the result was. */
enum pl_arrival pl_address_limit_enter(struct pl_shard *shard, const struct pl_conn *conn,
                                       struct pl_hold *hold);
/* The same for a client behind a proxy. */
enum pl_arrival pl_address_limit_enter_as(struct pl_shard *shard, const struct pl_network *network,
                                          struct pl_hold *hold);
void pl_address_limit_leave(struct pl_server *server, struct pl_hold *hold);

#endif
