/* Blobs: one table per file of routes (http/routes/route.h). */
#ifndef PL_SERVICE_BLOBS_ROUTES_H
#define PL_SERVICE_BLOBS_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_blobs[];
extern const struct pl_route pl_routes_media[];

#endif
