/* The owner of a session, as stored. core/cluster/owning.h decides what follows from it.
 *
 * A claim is part of a batch: the new owner's writes are durable together with it, or not at all.
 * Two concurrent claims take turns on the row, and the second one fails with PL_CONFLICT. */
#ifndef PL_STORE_OWNERS_H
#define PL_STORE_OWNERS_H

#include "cluster/owning.h"
#include "store/node/node_line.h"

/* The generation of a session that was claimed in the transaction that created it. */
enum { PL_FIRST_OWNED = 2 };

/* Makes this node the owner of a session without an owner, or with one that is gone. Changes
 * nothing if this node is the owner already. PL_CONFLICT: another node owns it. PL_NOT_FOUND. */
void pl_batch_claim_session(struct pl_batch *batch, struct pl_str session_id,
                            const struct pl_node_id *node);
/* Removes the owner, if it is this node. */
void pl_batch_release_session(struct pl_batch *batch, struct pl_str session_id,
                              const struct pl_node_id *node);
/* PL_NOT_FOUND unless this node has owned the session since that generation. */
void pl_batch_expect_owner(struct pl_batch *batch, struct pl_str session_id,
                           const struct pl_node_id *node, int64_t generation);

/* The same for the session's epoch, whatever its generation. */
void pl_batch_expect_epoch(struct pl_batch *batch, struct pl_str session_id,
                           const struct pl_node_id *node, int64_t epoch);

struct pl_session_held {
    struct pl_owning_row row;
    int64_t generation;
};
enum pl_status pl_store_session_held(struct pl_store *store, struct pl_str session_id,
                                     struct pl_session_held *ret_held, struct pl_error *err);

/* Writers that are gone and still own sessions. */
enum pl_status pl_node_line_left(struct pl_node_line *line, struct pl_arena *arena,
                                 struct pl_node_id **ret_writers, size_t *ret_n,
                                 struct pl_error *err);

/* The number of a user's turns that run on other nodes. */
enum pl_status pl_store_running_elsewhere(struct pl_store *store, struct pl_str user_id,
                                          const struct pl_node_id *me, int64_t *ret_n,
                                          struct pl_error *err);

enum { PL_SETTLE_PAGE = 100 };

struct pl_left_session {
    struct pl_str id;
    int64_t epoch; /* if it has changed, the session was recovered since */
};
struct pl_settle_page {
    struct pl_left_session *running; /* arena; sessions that this node now owns and must recover */
    size_t n_running;
    size_t n_released; /* sessions that no longer have an owner */
    bool has_more;
};
/* Settles some sessions of a node that is gone, at most PL_SETTLE_PAGE of each kind: running ones
 * are claimed; idle ones and ones that wait for a person lose their owner. Durable. Concurrent
 * nodes get different sessions; rows locked by another node may come on a later page. Does nothing
 * if the node is not gone. */
enum pl_status pl_node_line_settle(struct pl_node_line *line, const struct pl_node_id *gone,
                                   struct pl_arena *arena, struct pl_settle_page *ret_page,
                                   struct pl_error *err);

#endif
