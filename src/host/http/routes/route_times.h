/* How long the requests of each route took, as histograms for /metrics. Each shard has its own, which
 * its thread writes and any thread reads. */
#ifndef PL_HTTP_ROUTE_TIMES_H
#define PL_HTTP_ROUTE_TIMES_H

#include "base/buf.h"
#include "http/routes/route.h"

#include <stdint.h>

struct pl_route_times; /* owned by whoever created it */
struct pl_server;

/* After pl_routes_use. NULL when out of memory. */
struct pl_route_times *pl_route_times_create(void);
void pl_route_times_destroy(struct pl_route_times *times); /* accepts NULL */

/* By the owning thread only. */
void pl_route_times_note(struct pl_route_times *times, const struct pl_route *route, int64_t ms);
/* Those of all shards, summed, in the Prometheus text format: the routes that were asked. */
void pl_route_times_write(const struct pl_server *server, struct pl_buf *to);

#endif
