/* Another node, or the command line, has changed users, keys or limits. */
#ifndef PL_AGENT_AUTH_HEAR_H
#define PL_AGENT_AUTH_HEAR_H

#include "access/auth_refresh.h"

/* Refreshes them if the version is newer than the known one, or PL_AUTH_VERSION_UNKNOWN. Then
 * closes the sockets of keys and users that are no longer valid (4401), stops the running work of
 * those users, and removes their limits. Any thread; never blocks. The next call repeats a step
 * that failed, so call it every second. Does nothing if no other process uses the store. */
void pl_auth_hear(struct pl_server *server, int64_t auth_version);

#endif
