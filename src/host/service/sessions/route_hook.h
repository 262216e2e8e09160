/* Routes that extensions may refuse: session_before_fork, session_before_switch. */
#ifndef PL_SERVICE_SESSIONS_ROUTE_HOOK_H
#define PL_SERVICE_SESSIONS_ROUTE_HOOK_H

#include "extproto/hook.h"
#include "http/exchange.h"

/* Goes on with `go`, at once or when every extension that wants this event has let it pass; else the exchange is answered
 * with 403 and the reason. `session_id`: what it begins from, may be empty; `reason`: what is done, in a word. */
void pl_exchange_hook(struct pl_exchange *x, enum pl_ext_hook hook, struct pl_str session_id,
                      const char *reason, void (*go)(struct pl_exchange *x));

#endif
