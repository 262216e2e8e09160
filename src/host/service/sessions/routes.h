/* Sessions, their turns, copies and live events: one table per file of routes
 * (http/routes/route.h). */
#ifndef PL_SERVICE_SESSIONS_ROUTES_H
#define PL_SERVICE_SESSIONS_ROUTES_H

#include "http/routes/route.h"

extern const struct pl_route pl_routes_sessions[];
extern const struct pl_route pl_routes_turns[];
extern const struct pl_route pl_routes_outline[];
extern const struct pl_route pl_routes_exports[];
extern const struct pl_route pl_routes_imports[];
extern const struct pl_route pl_routes_forks[];
extern const struct pl_route pl_routes_handoffs[];
extern const struct pl_route pl_routes_shares[];
extern const struct pl_route pl_routes_live[];

#endif
