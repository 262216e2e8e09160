/* The server as a node: what node/ needs of the rooms above it (cluster.c). */
#ifndef PL_SERVER_CLUSTER_H
#define PL_SERVER_CLUSTER_H

#include "server/server_int.h"

/* Enters the node where the store is one that several servers may share, and settles what a crash left.
 * Before the shards are there. */
enum pl_status pl_cluster_enter(struct pl_server_own *own, struct pl_error *err);
/* Once they are. */
enum pl_status pl_cluster_start(struct pl_server_own *own, struct pl_error *err);

#endif
