/* How the server ends: shutdown.c. */
#ifndef PL_SERVER_SHUTDOWN_H
#define PL_SERVER_SHUTDOWN_H

#include "server/server_int.h"

/* For SIGTERM and SIGINT, on the first shard; ctx is the struct pl_server_own. */
void pl_shutdown_on_signal(void *ctx, int number);

/* The same as SIGTERM, for another reason; nothing where the server ends already. On the first shard. */
void pl_shutdown_begin(struct pl_server_own *own, const char *why);

/* When the loops have stopped and their threads are joined, also where the server did not start:
 * closes the connections, ends all work in progress, and drops the sessions from memory. Nothing
 * works for a loop then, and no loop has a letter. */
void pl_shutdown_close_shards(struct pl_server_own *own);

/* No connection is accepted on this shard any more. */
void pl_shard_stop_listeners(struct pl_shard_own *shard);

#endif
