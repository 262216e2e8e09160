/* Checks who may talk to the server: the names allowed in Host (against DNS rebinding) and the
 * origins of browsers. */
#ifndef PL_ACCESS_HOST_ORIGIN_H
#define PL_ACCESS_HOST_ORIGIN_H

#include "http/exchange.h"

/* PL_INVALID with a message if this configuration listens beyond loopback without protection. */
enum pl_status pl_access_check_config(const struct pl_server_config *config, struct pl_error *err);

/* "localhost", 127.0.0.0/8, ::1. */
bool pl_host_is_loopback(struct pl_str host);

/* Checks Host (and the authority of an absolute target); false after making a problem. */
bool pl_access_check_host(struct pl_exchange *x);
/* Checks Origin of a request that changes something or opens a socket. */
bool pl_access_check_origin(struct pl_exchange *x);
/* Whether `origin` is a configured one, which gets the CORS headers. */
bool pl_access_is_cors(const struct pl_exchange *x, struct pl_str origin);

#endif
