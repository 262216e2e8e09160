/* All tables of routes. */
#ifndef PL_SERVER_ROUTES_H
#define PL_SERVER_ROUTES_H

#include "http/routes/route.h"

/* Ended by NULL; for pl_routes_use. */
extern const struct pl_route *const pl_server_routes[];

#endif
