/* How late the loops of the shards are, for /metrics. */
#ifndef PL_SERVER_LOOP_LAG_H
#define PL_SERVER_LOOP_LAG_H

#include "server/server_int.h"

/* Call before the loop runs, and after it has stopped. */
void pl_loop_lag_start(struct pl_shard_own *own);
void pl_loop_lag_stop(struct pl_shard_own *own);

#endif
