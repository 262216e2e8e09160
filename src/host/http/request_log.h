/* A line of the log for each request, when it is over. */
#ifndef PL_HTTP_REQUEST_LOG_H
#define PL_HTTP_REQUEST_LOG_H

#include "http/client_address.h"
#include "http/exchange.h"

void pl_log_request(struct pl_exchange *x);
/* Where it came from; empty: its client is gone. */
void pl_log_client(const struct pl_exchange *x, char to[PL_CLIENT_ADDRESS_SIZE]);

#endif
