/* The counters of all shards as text (shard/metrics.h). */
#ifndef PL_SERVICE_ADMIN_METRICS_TEXT_H
#define PL_SERVICE_ADMIN_METRICS_TEXT_H

#include "shard/shard.h"

struct pl_models;
/* The Prometheus text format, version 0.0.4: the sums, and the resources of the process. */
void pl_metrics_write(struct pl_server *server, const struct pl_models *models, struct pl_buf *to);

#endif
