/* The end of the server: shutdown.c. */
#ifndef PL_SERVER_SHUTDOWN_H
#define PL_SERVER_SHUTDOWN_H

#include "server/server_int.h"

/* For SIGTERM and SIGINT, on the first shard; ctx is the struct pl_server_own. */
void pl_shutdown_on_signal(void *ctx, int number);

/* The same as SIGTERM, for another reason; does nothing if the server is already ending. On the
 * first shard. */
void pl_shutdown_begin(struct pl_server_own *own, const char *why);

/* Call when the loops have stopped and their threads are joined, also if the server did not start:
 * closes the connections, ends all work in progress, and drops the sessions from memory. Afterwards
 * nothing works for a loop, and no loop has a letter. */
void pl_shutdown_close_shards(struct pl_server_own *own);

/* Stops accepting connections on this shard. */
void pl_shard_stop_listeners(struct pl_shard_own *shard);

#endif
