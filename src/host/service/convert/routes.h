/* The functions of the command line: one table per file of routes (http/routes/route.h). */
#ifndef PL_SERVICE_CONVERT_ROUTES_H
#define PL_SERVICE_CONVERT_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_convert[];

#endif
