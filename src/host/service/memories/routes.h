/* Memories: one table per file of routes (http/routes/route.h). */
#ifndef PL_SERVICE_MEMORIES_ROUTES_H
#define PL_SERVICE_MEMORIES_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_memories[];

#endif
