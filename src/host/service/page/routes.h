/* The web page: one table per file of routes (http/routes/route.h). */
#ifndef PL_SERVICE_PAGE_ROUTES_H
#define PL_SERVICE_PAGE_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_page[];
extern const struct pl_route pl_routes_docs[];
extern const struct pl_route pl_routes_settings[];
extern const struct pl_route pl_routes_models[];
extern const struct pl_route pl_routes_cards[];
extern const struct pl_route pl_routes_deleted[];

#endif
