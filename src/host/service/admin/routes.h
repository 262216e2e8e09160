/* The service itself, its users, keys and their usage, backups of the store: one table per file
 * of routes (http/routes/route.h). */
#ifndef PL_SERVICE_ADMIN_ROUTES_H
#define PL_SERVICE_ADMIN_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_service[];
extern const struct pl_route pl_routes_keys[];
extern const struct pl_route pl_routes_login[];
extern const struct pl_route pl_routes_users[];
extern const struct pl_route pl_routes_audit[];
extern const struct pl_route pl_routes_usage[];
extern const struct pl_route pl_routes_backup[];
extern const struct pl_route pl_routes_reload[];
extern const struct pl_route pl_routes_cluster[];

#endif
