/* The driver of a session holds its pure state, applies events, commits rows, publishes frames and
 * executes effects, in that order. It lives on the session's shard; the rest of the server uses
 * commands (live/command.h). */
#ifndef PL_AGENT_DRIVER_H
#define PL_AGENT_DRIVER_H

#include "cluster/node.h"
#include "live/command.h"
#include "store/node/owners.h"

/* Receives the commands (live/command.h). */
extern const struct pl_session_owner pl_driver_owner;

enum pl_status pl_drivers_create(struct pl_shard *shard, struct pl_drivers **ret_drivers);
/* All sessions must be quiet or shut down. Accepts NULL. */
void pl_drivers_destroy(struct pl_drivers *drivers);
/* Applies SHUT_DOWN to every running session; calls `done` when everything is committed. */
void pl_drivers_shut_down(struct pl_drivers *drivers, void (*done)(void *ctx), void *ctx);
/* The number of running turns on this shard, for an orderly end. */
size_t pl_drivers_n_running(const struct pl_drivers *drivers);

/* Stops all running work of this user, on every shard, and ends the answers that are still being
 * made for the user's requests. False: out of memory, and something may still run; it gets no
 * further than its next model call. */
bool pl_drivers_stop_user_everywhere(struct pl_server *server, struct pl_str user_id);

/* Before listening, on the main thread: settles sessions that a crash left running. With nodes,
 * only sessions that nobody owns, in the name of `me`; without, `me` is NULL. */
enum pl_status pl_drivers_recover(struct pl_store *store, const struct pl_node_id *me,
                                  size_t *ret_n, struct pl_error *err);
/* The same for sessions taken over from a node that is gone; releases them. Blocks. */
enum pl_status pl_drivers_recover_these(struct pl_store *store, const struct pl_left_session *left,
                                        size_t n, const struct pl_node_id *me,
                                        struct pl_error *err);

#endif
