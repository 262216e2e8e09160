/* Another node, or the command line, has changed users, keys or limits. */
#ifndef PL_AGENT_AUTH_HEAR_H
#define PL_AGENT_AUTH_HEAR_H

#include "access/auth_refresh.h"

/* Reads them again if the version is newer than what is known, or PL_AUTH_VERSION_UNKNOWN; then closes the
 * sockets of keys and users that are no longer good (4401), stops the running work of those users, and
 * forgets their limits. Any thread; never waits. A step that fails is tried again by the next call, so
 * call it every second. Does nothing if no other process uses the store. */
void pl_auth_hear(struct pl_server *server, int64_t auth_version);

#endif
