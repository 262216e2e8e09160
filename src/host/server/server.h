/* The server from start to end: opens, recovers, listens, drains, closes. */
#ifndef PL_SERVER_SERVER_H
#define PL_SERVER_SERVER_H

#include "shard/config.h"
#include "shard/shard.h"

/* Runs until SIGTERM or SIGINT. `say` gets the text for the operator, once, when the server is
 * ready: lines with the address and, on the first start, the one-time link. PL_OK after an orderly
 * end; otherwise *err says why it could not start. SIGHUP reads the settings again from `source`;
 * NULL: it does nothing. */
enum pl_status pl_server_run(const struct pl_server_config *config,
                             const struct pl_server_source *source,
                             void (*say)(void *ctx, const char *text), void *ctx,
                             struct pl_error *err);

#endif
