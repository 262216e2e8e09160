/* A node's own line to the database: a second connection besides the writer's, for its lease and
 * for taking over from nodes with an expired lease. Only PostgreSQL has nodes.
 *
 * The line is separate because a renewal must not wait: neither for an fsync (the line has
 * synchronous_commit = off; if a crash of the database loses a renewal, the next one repeats it)
 * nor for the writer's lock on its row in commits. Every call blocks until the timeout for an
 * answer, so it needs a thread of its own.
 *
 * core/cluster/lease.h decides who may take over, and when. The database checks again, with the
 * same rule and its own clock. */
#ifndef PL_STORE_NODE_LINE_H
#define PL_STORE_NODE_LINE_H

#include "cluster/lease.h"
#include "store/store.h"

struct pl_node_line;

/* A node's description of itself. */
struct pl_node_about {
    struct pl_str name, build, address;
    int64_t protocol;
};

/* The load of a node, for people. */
struct pl_node_load {
    int64_t n_sessions; /* sessions that it owns */
    int64_t n_running;  /* running turns */
    int64_t n_sockets;
};

/* A node, this one included, as stored in the database. */
struct pl_node_seen {
    struct pl_node_id writer;
    struct pl_str name, build, address; /* arena */
    int64_t protocol;
    struct pl_lease_row row;
    struct pl_node_load load;
    bool wants_drain;  /* it was asked to end */
    bool is_connected; /* it renewed recently, or its writer is connected to the database */
};

struct pl_node_view {
    struct pl_node_seen *nodes; /* arena; nodes that are not gone, by name and writer */
    size_t n_nodes;
    int64_t base_ms;      /* the database's clock */
    bool has_letters;     /* letters wait for this node (node/letters.h) */
    int64_t auth_version; /* grows with every change of users, keys and limits (shared.h) */
    int64_t ext_version;  /* grows with every change of an extension */
};

/* The view of a process that is not a node; empty in a store without nodes. Blocks. */
enum pl_status pl_store_nodes(struct pl_store *store, struct pl_arena *arena,
                              struct pl_node_view *ret_view, struct pl_error *err);

/* Standby databases that replicate this one. */
struct pl_standbys {
    int64_t n;
    bool are_waited_for; /* a commit is acknowledged only when a standby has it */
};
enum pl_status pl_store_standbys(struct pl_store *store, struct pl_standbys *ret_standbys,
                                 struct pl_error *err);

/* Registers the node with the store's writer, and renews for the first time. PL_INVALID: this store
 * has no nodes. The store must outlive the line. */
enum pl_status pl_node_line_open(struct pl_store *store, const struct pl_node_about *about,
                                 struct pl_node_line **ret_line, struct pl_error *err);
void pl_node_line_close(struct pl_node_line *line); /* accepts NULL; the row stays */

const struct pl_node_id *pl_node_line_writer(const struct pl_node_line *line);

/* Reconnects if needed. PL_CONFLICT: this node was taken over, and is gone for ever. */
enum pl_status pl_node_line_renew(struct pl_node_line *line, const struct pl_node_load *load,
                                  struct pl_arena *arena, struct pl_node_view *ret_view,
                                  struct pl_error *err);

/* up -> draining -> gone. Gone also fences the writer: later batches fail. PL_CONFLICT: it is
 * already gone. */
enum pl_status pl_node_line_become(struct pl_node_line *line, enum pl_node_state state,
                                   struct pl_error *err);

/* Fences a node with an expired lease, so that it can no longer commit. *ret_is_taken is false if
 * the lease had not expired when the database checked again, or if another node was first. A writer
 * that is frozen within a transaction holds the lock of its row: its connection is ended, if it is
 * still the one named in the row. */
enum pl_status pl_node_line_take_over(struct pl_node_line *line, const struct pl_node_id *dead,
                                      bool is_unheard, bool *ret_is_taken, struct pl_error *err);

/* The same for an earlier process of this node that is known to have ended, even if its lease has
 * not expired. */
enum pl_status pl_node_line_fence(struct pl_node_line *line, const struct pl_node_id *dead,
                                  struct pl_error *err);

/* Gives every session of this node a new epoch: the database lost data that readers have seen. */
enum pl_status pl_node_line_rewind(struct pl_node_line *line, const struct pl_node_id *node,
                                   struct pl_error *err);

/* Ends the connection of this node's own writer, which has been silent for too long; the writer
 * reconnects. */
enum pl_status pl_node_line_end_own_writer(struct pl_node_line *line, struct pl_error *err);

/* --- from outside ----------------------------------------------------------------------------- */

/* The current nodes in the database; none in a store without nodes. Call it on a worker. */
enum pl_status pl_store_nodes_look(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_node_view *ret_view, struct pl_error *err);
/* Asks the node of this name to end; it notices at its next renewal. PL_NOT_FOUND, for the batch:
 * it is not up, or no other node is. */
void pl_batch_drain_node(struct pl_batch *batch, struct pl_str name);

#endif
