/* A node's own line to the database: a connection beside the writer's, for its lease and for taking
 * over from nodes whose lease has run out. Only PostgreSQL has nodes.
 *
 * The line is apart because a renewal must wait for nothing: neither for an fsync (it has
 * synchronous_commit = off, and a renewal that a crash of the database loses is renewed again) nor for
 * the lock that the writer holds on its row in commits. Every call waits as long as an answer may take,
 * and blocks: it is for a thread of its own.
 *
 * Who may take over, and when, is decided by core/cluster/lease.h. The database looks again, with the
 * same rule and its own clock. */
#ifndef PL_STORE_NODE_LINE_H
#define PL_STORE_NODE_LINE_H

#include "cluster/lease.h"
#include "store/store.h"

struct pl_node_line;

/* What a node says of itself. */
struct pl_node_about {
    struct pl_str name, build, address;
    int64_t protocol;
};

/* How much a node has to do, for people. */
struct pl_node_load {
    int64_t n_sessions; /* that it owns */
    int64_t n_running;  /* turns */
    int64_t n_sockets;
};

/* Another node, or this one, as the database has it. */
struct pl_node_seen {
    struct pl_node_id writer;
    struct pl_str name, build, address; /* arena */
    int64_t protocol;
    struct pl_lease_row row;
    struct pl_node_load load;
    bool wants_drain;  /* somebody has asked for its end */
    bool is_connected; /* it renewed a moment ago, or the database has its writer's connection */
};

struct pl_node_view {
    struct pl_node_seen *nodes; /* arena; those that are not gone, by name and writer */
    size_t n_nodes;
    int64_t base_ms;      /* the database's clock */
    bool has_letters;     /* some wait for this node (node/letters.h) */
    int64_t auth_version; /* grows with every change of users, keys and limits (shared.h) */
    int64_t ext_version;  /* and this one with every change of an extension */
};

/* What somebody sees who is no node: nothing in a store that has none. Blocks. */
enum pl_status pl_store_nodes(struct pl_store *store, struct pl_arena *arena,
                              struct pl_node_view *ret_view, struct pl_error *err);

/* Databases that follow this one. */
struct pl_standbys {
    int64_t n;
    bool are_waited_for; /* a change is acknowledged when one of them has it */
};
enum pl_status pl_store_standbys(struct pl_store *store, struct pl_standbys *ret_standbys,
                                 struct pl_error *err);

/* Enters the node: its writer is the store's. The first renewal is part of it. PL_INVALID: this store
 * has no nodes. The store outlives the line. */
enum pl_status pl_node_line_open(struct pl_store *store, const struct pl_node_about *about,
                                 struct pl_node_line **ret_line, struct pl_error *err);
void pl_node_line_close(struct pl_node_line *line); /* accepts NULL; the row stays */

const struct pl_node_id *pl_node_line_writer(const struct pl_node_line *line);

/* Connects again as need be. PL_CONFLICT: this node was taken over, and is gone for ever. */
enum pl_status pl_node_line_renew(struct pl_node_line *line, const struct pl_node_load *load,
                                  struct pl_arena *arena, struct pl_node_view *ret_view,
                                  struct pl_error *err);

/* up -> draining -> gone. Gone fences the writer as well: what it submits from now on fails.
 * PL_CONFLICT: it is gone already. */
enum pl_status pl_node_line_become(struct pl_node_line *line, enum pl_node_state state,
                                   struct pl_error *err);

/* Fences a node whose lease has run out, so that nothing of it commits any more. *ret_is_taken is
 * false where it was not due when the database looked again, or somebody else was first. A writer that
 * is frozen in the middle of a transaction holds the lock of its row: its connection is ended, if it is
 * still the one that the row names. */
enum pl_status pl_node_line_take_over(struct pl_node_line *line, const struct pl_node_id *dead,
                                      bool is_unheard, bool *ret_is_taken, struct pl_error *err);

/* The same for an earlier process of this very node, of which it is known that it ended: whether its
 * lease has run out does not matter. */
enum pl_status pl_node_line_fence(struct pl_node_line *line, const struct pl_node_id *dead,
                                  struct pl_error *err);

/* Every session of this node gets a new epoch: the database lost what readers have seen. */
enum pl_status pl_node_line_rewind(struct pl_node_line *line, const struct pl_node_id *node,
                                   struct pl_error *err);

/* Ends the connection of this node's own writer, which has been silent for too long; the writer connects
 * again. */
enum pl_status pl_node_line_end_own_writer(struct pl_node_line *line, struct pl_error *err);

/* --- from outside ----------------------------------------------------------------------------- */

/* The nodes as the database has them now; of a store without nodes none. On a worker. */
enum pl_status pl_store_nodes_look(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_node_view *ret_view, struct pl_error *err);
/* Asks the node of this name to end; it hears of it when it renews. PL_NOT_FOUND, of the batch: it is not
 * up, or no other node is. */
void pl_batch_drain_node(struct pl_batch *batch, struct pl_str name);

#endif
