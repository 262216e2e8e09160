/* If several nodes share the store, a session is driven by the node that owns it. host/node knows
 * the owner, and carries commands and frames between nodes; server/ passes its functions here.
 * Without nodes `server->session_home` is NULL, and this process drives every session. */
#ifndef PL_LIVE_SESSION_HOME_H
#define PL_LIVE_SESSION_HOME_H

#include "cluster/node.h"
#include "live/command.h"

struct pl_session_home {
    /* The id of this node. It changes after the node was taken over. Any thread. */
    struct pl_node_id (*me)(struct pl_server *server);
    /* Whether other nodes, with their own readers, are up. Any thread. */
    bool (*has_others)(struct pl_server *server);
    /* How long a session that nobody needs stays in memory. */
    int64_t (*quiet_ms)(struct pl_server *server);
    /* Whether live frames may be sent: the lease is held. Any thread. */
    bool (*may_publish)(struct pl_server *server);
    /* The driver of a session was removed from memory: the session may be given up. On its
     * shard. */
    void (*left)(struct pl_shard *shard, struct pl_str session_id);
    /* This node no longer owns the session: the command looks for its owner. On its shard. */
    void (*moved)(struct pl_session_command *command);
    /* The name of a node, for people; "" if it is not known. Any thread. */
    void (*name_of)(struct pl_server *server, const struct pl_node_id *node,
                    char ret_name[PL_NODE_NAME_MAX + 1]);
    /* Sends frames of a session (live/wire/frames_wire.h) to a node that listens. Any shard. */
    void (*send_frames)(struct pl_server *server, const struct pl_node_id *to,
                        struct pl_str session_id, struct pl_str frames);
};

#endif
