/* How many connections one address has, and whether it may have one more. An IPv6 client is known
 * by its first 64 bits, which is what one line is given.
 *
 * `max_connections_per_address` says how many. 0, the default, is 1,000 for every address but
 * loopback, where tests and reverse proxies are, and no limit at all behind a proxy, where all
 * clients have the proxy's address. Any other number counts for every address. Unix sockets are
 * never counted. */
#ifndef PL_HTTP_LIMITS_ADDRESS_LIMIT_H
#define PL_HTTP_LIMITS_ADDRESS_LIMIT_H

#include "http/limits/quota.h"
#include "shard/shard.h"

enum pl_arrival {
    PL_ARRIVAL_FINE,
    PL_ARRIVAL_REFUSED, /* one too many: it gets an answer */
    PL_ARRIVAL_DROPPED, /* too many to answer */
};

/* The hold is given back when the connection ends, whatever came of it. */
enum pl_arrival pl_address_limit_enter(struct pl_shard *shard, const struct pl_conn *conn,
                                       struct pl_hold *hold);
/* The same for a client that is behind the other end. */
enum pl_arrival pl_address_limit_enter_as(struct pl_shard *shard, const struct pl_network *network,
                                          struct pl_hold *hold);
void pl_address_limit_leave(struct pl_server *server, struct pl_hold *hold);

#endif
