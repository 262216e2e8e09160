/* The next request to the model of a session, for the routes that show it. */
#ifndef PL_SERVICE_SESSIONS_NEXT_REQUEST_H
#define PL_SERVICE_SESSIONS_NEXT_REQUEST_H

#include "agent/context/request.h"
#include "http/exchange.h"

/* For the session in the path and the loop of the query (root by default). Blocking: on a
 * worker. Memory of the exchange's arena. */
enum pl_status pl_exchange_read_request(struct pl_exchange *x, struct pl_request *ret_request,
                                        struct pl_error *err);

#endif
