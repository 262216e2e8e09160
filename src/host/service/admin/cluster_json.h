/* The nodes of this service: JSON for GET /api/cluster, lines for /metrics. */
#ifndef PL_SERVICE_ADMIN_CLUSTER_JSON_H
#define PL_SERVICE_ADMIN_CLUSTER_JSON_H

#include "base/buf.h"
#include "shard/shard.h"

/* {"nodes":[…],"bus":{…}}. A server outside of a cluster is shown as one node without a lease.
 * Any thread. */
enum pl_status pl_cluster_write(struct pl_server *server, struct pl_arena *arena,
                                struct pl_buf *to);
/* In the text format of Prometheus (metrics_text.h). */
void pl_cluster_metrics_write(struct pl_server *server, struct pl_buf *to);

#endif
