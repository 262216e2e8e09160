/* Routes that extensions may refuse: session_before_fork, session_before_switch. */
#ifndef PL_SERVICE_SESSIONS_ROUTE_HOOK_H
#define PL_SERVICE_SESSIONS_ROUTE_HOOK_H

#include "extproto/hook.h"
#include "http/exchange.h"

/* Calls `go`, at once or when every subscribed extension has allowed it; otherwise answers with
 * 403 and the reason. `session_id`: the session it starts from, may be empty; `reason`: the
 * operation, as one word. */
void pl_exchange_hook(struct pl_exchange *x, enum pl_ext_hook hook, struct pl_str session_id,
                      const char *reason, void (*go)(struct pl_exchange *x));

#endif
