/* The routes of the vendors' APIs: one table per file of routes (http/routes/route.h). */
#ifndef PL_GATEWAY_ROUTES_H
#define PL_GATEWAY_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_gateway[];
extern const struct pl_route pl_routes_gateway_models[];
extern const struct pl_route pl_routes_gateway_responses[];
/* Paths of the vendors that are not offered. */
extern const struct pl_route_family pl_gateway_families[];

#endif
