/* The settings of a cluster node: its name, its address, the bus. */
#ifndef PL_APP_SERVE_NODE_H
#define PL_APP_SERVE_NODE_H

#include "base/arena.h"
#include "shard/config.h"

/* Reads bus_file, an alternative to bus: the first line of a file. PL_USAGE if both are given;
 * PL_IO; PL_NOMEM. */
enum pl_status pl_serve_bus_read(struct pl_arena *arena, struct pl_server_config *config,
                                 struct pl_error *err);
/* Checks each setting and their combination. PL_USAGE with a message that names the option and what
 * to do. */
enum pl_status pl_serve_node_check(const struct pl_server_config *config, struct pl_error *err);
/* The addresses with "***" for the credentials before an "@"; NULL if out of memory. */
const char *pl_bus_url_redact(struct pl_arena *arena, const char *url);
/* Overwrites the credentials in place, so that no process list shows them. */
void pl_bus_url_scrub(char *url);

#endif
