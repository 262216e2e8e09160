/* The line of the log about a request that was answered. */
#ifndef PL_HTTP_REQUEST_LOG_H
#define PL_HTTP_REQUEST_LOG_H

#include "http/exchange.h"

/* At the level of requests, or as an error when it failed here. */
void pl_log_request(struct pl_exchange *x);

#endif
