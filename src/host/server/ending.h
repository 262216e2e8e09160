/* How the server ends: ending.c. */
#ifndef PL_SERVER_ENDING_H
#define PL_SERVER_ENDING_H

#include "server/shard_int.h"

/* For SIGTERM and SIGINT, on the first shard; ctx is the struct pl_server_own. */
void pl_ending_on_signal(void *ctx, int number);

/* No connection is accepted on this shard any more. */
void pl_shard_stop_listeners(struct pl_shard_own *shard);

#endif
