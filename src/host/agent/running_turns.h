/* The number of running turns of each user, over all shards. Thread-safe. */
#ifndef PL_AGENT_RUNNING_TURNS_H
#define PL_AGENT_RUNNING_TURNS_H

#include "base/str.h"

#include <stddef.h>

#define PL_MAX_RUNNING 64 /* running turns of one user */

struct pl_running; /* owned */
struct pl_server;

/* `on_room` is called when a user who had PL_MAX_RUNNING turns has room again; any thread. NULL
 * when out of memory. */
struct pl_running *pl_running_create(void (*on_room)(struct pl_server *server));
void pl_running_destroy(struct pl_running *running);

size_t pl_running_of(struct pl_server *server, struct pl_str user_id);
void pl_running_change(struct pl_server *server, struct pl_str user_id, int change);

#endif
