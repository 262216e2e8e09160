/* The routes that the clients of vendors ask: one table per file of routes (http/route.h). */
#ifndef PL_GATEWAY_ROUTES_H
#define PL_GATEWAY_ROUTES_H

#include "http/route.h"

extern const struct pl_route pl_routes_gateway[];

#endif
