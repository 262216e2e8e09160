/* The settings of a node among others: its name, its address, the bus. */
#ifndef PL_APP_SERVE_NODE_H
#define PL_APP_SERVE_NODE_H

#include "base/arena.h"
#include "shard/config.h"

/* bus_file in the place of bus: the first line of a file. PL_USAGE: both are given; PL_IO; PL_NOMEM. */
enum pl_status pl_serve_bus_read(struct pl_arena *arena, struct pl_server_config *config,
                                 struct pl_error *err);
/* What one of them says, and what they say together. PL_USAGE names the option and what to do. */
enum pl_status pl_serve_node_check(const struct pl_server_config *config, struct pl_error *err);
/* The addresses with "***" in the place of what is before an "@"; NULL when out of memory. */
const char *pl_bus_url_redact(struct pl_arena *arena, const char *url);
/* Overwrites it in place, so that a list of processes does not show it. */
void pl_bus_url_scrub(char *url);

#endif
