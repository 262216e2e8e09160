/* Whose a session is, in the store. core/cluster/owning.h decides what follows from it.
 *
 * A claim is part of a batch: what the new owner writes is durable with it or not at all. Two that claim
 * at the same time take turns at the row, and the second fails with PL_CONFLICT. */
#ifndef PL_STORE_OWNERS_H
#define PL_STORE_OWNERS_H

#include "cluster/owning.h"
#include "store/node/node_line.h"

/* The generation of a session that was claimed in the transaction that made it. */
enum { PL_FIRST_OWNED = 2 };

/* The session is this node's, if it is nobody's or its owner is gone; where it is already, nothing
 * changes. PL_CONFLICT: it is another's. PL_NOT_FOUND. */
void pl_batch_claim_session(struct pl_batch *batch, struct pl_str session_id,
                            const struct pl_node_id *node);
/* It is nobody's. One that is not this node's is left alone. */
void pl_batch_release_session(struct pl_batch *batch, struct pl_str session_id,
                              const struct pl_node_id *node);
/* PL_NOT_FOUND unless this node has owned the session since that generation. */
void pl_batch_expect_owner(struct pl_batch *batch, struct pl_str session_id,
                           const struct pl_node_id *node, int64_t generation);

/* The same where the session has this epoch, whatever its generation. */
void pl_batch_expect_epoch(struct pl_batch *batch, struct pl_str session_id,
                           const struct pl_node_id *node, int64_t epoch);

struct pl_session_held {
    struct pl_owning_row row;
    int64_t generation;
};
enum pl_status pl_store_session_held(struct pl_store *store, struct pl_str session_id,
                                     struct pl_session_held *ret_held, struct pl_error *err);

/* The writers that are gone and still own sessions. */
enum pl_status pl_node_line_left(struct pl_node_line *line, struct pl_arena *arena,
                                 struct pl_node_id **ret_writers, size_t *ret_n,
                                 struct pl_error *err);

/* How many turns of a user run on other nodes than this one. */
enum pl_status pl_store_running_elsewhere(struct pl_store *store, struct pl_str user_id,
                                          const struct pl_node_id *me, int64_t *ret_n,
                                          struct pl_error *err);

enum { PL_SETTLE_PAGE = 100 };

struct pl_left_session {
    struct pl_str id;
    int64_t epoch; /* another one: it was recovered since */
};
struct pl_settle_page {
    struct pl_left_session *running; /* arena; sessions that are this node's now, to be recovered */
    size_t n_running;
    size_t n_released; /* that have no owner any more */
    bool has_more;
};
/* Some of what a node that is gone has left, at most PL_SETTLE_PAGE of each kind: what ran is claimed,
 * what was at rest or waits for a person loses its owner. Durable. Several nodes that settle at the same
 * time get different sessions; what another has under way just now may come on a later page. One that is
 * not gone has left nothing. */
enum pl_status pl_node_line_settle(struct pl_node_line *line, const struct pl_node_id *gone,
                                   struct pl_arena *arena, struct pl_settle_page *ret_page,
                                   struct pl_error *err);

#endif
