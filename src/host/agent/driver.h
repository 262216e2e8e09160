/* Sessions at work: the driver of a session holds its pure state, applies events, commits rows,
 * publishes frames and carries out effects, in that order. It lives on the session's shard; the
 * rest of the server talks to it by commands (live/command.h). */
#ifndef PL_AGENT_DRIVER_H
#define PL_AGENT_DRIVER_H

#include "cluster/node.h"
#include "live/command.h"
#include "store/node/owners.h"

/* Where commands go (live/command.h). */
extern const struct pl_session_owner pl_driver_owner;

enum pl_status pl_drivers_create(struct pl_shard *shard, struct pl_drivers **ret_drivers);
/* All sessions must be quiet or shut down. Accepts NULL. */
void pl_drivers_destroy(struct pl_drivers *drivers);
/* SHUT_DOWN to every session that runs; `done` when all is committed. */
void pl_drivers_shut_down(struct pl_drivers *drivers, void (*done)(void *ctx), void *ctx);
/* Turns at work on this shard: what an orderly end waits for. */
size_t pl_drivers_n_running(const struct pl_drivers *drivers);

/* Stops everything that is at work for this user, on every shard, and ends the answers that are
 * still being made for the user's requests. False: out of memory, and something may still run; it
 * gets no further than its next model call. */
bool pl_drivers_stop_user_everywhere(struct pl_server *server, struct pl_str user_id);

/* Before listening, on the main thread: settles what a crash left open. With nodes, only what is
 * nobody's, in the name of `me`; without, `me` is NULL. */
enum pl_status pl_drivers_recover(struct pl_store *store, const struct pl_node_id *me,
                                  size_t *ret_n, struct pl_error *err);
/* The same for sessions that were taken over from a node that is gone; nobody's afterwards. Blocks. */
enum pl_status pl_drivers_recover_these(struct pl_store *store, const struct pl_left_session *left,
                                        size_t n, const struct pl_node_id *me,
                                        struct pl_error *err);

#endif
