/* The server as a node: the functions that node/ needs of the rooms above it (cluster.c). */
#ifndef PL_SERVER_CLUSTER_H
#define PL_SERVER_CLUSTER_H

#include "server/server_int.h"

/* Enters the node if several servers may share the store, and settles the work that a crash has
 * left. Call before the shards exist. */
enum pl_status pl_cluster_enter(struct pl_server_own *own, struct pl_error *err);
/* Call when the shards exist. */
enum pl_status pl_cluster_start(struct pl_server_own *own, struct pl_error *err);

#endif
