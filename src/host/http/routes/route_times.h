/* Durations of requests by route, as histograms for /metrics. Each shard has its own histograms:
 * its thread writes them, any thread reads them. */
#ifndef PL_HTTP_ROUTE_TIMES_H
#define PL_HTTP_ROUTE_TIMES_H

#include "base/buf.h"
#include "http/routes/route.h"

#include <stdint.h>

struct pl_route_times; /* owned by its creator */
struct pl_server;

/* After pl_routes_use. NULL when out of memory. */
struct pl_route_times *pl_route_times_create(void);
void pl_route_times_destroy(struct pl_route_times *times); /* accepts NULL */

/* Only on the owning thread. */
void pl_route_times_note(struct pl_route_times *times, const struct pl_route *route, int64_t ms);
/* Writes the sums over all shards in the Prometheus text format, for every route that was
 * requested. */
void pl_route_times_write(const struct pl_server *server, struct pl_buf *to);

#endif
