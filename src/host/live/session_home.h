/* Where a session is driven, if several nodes share the store: by the node that owns it. host/node says
 * who that is, and carries commands and frames between nodes; server/ hands its functions over. Without
 * nodes `server->session_home` is NULL, and this process drives every session. */
#ifndef PL_LIVE_SESSION_HOME_H
#define PL_LIVE_SESSION_HOME_H

#include "cluster/node.h"
#include "live/command.h"

struct pl_session_home {
    /* Who this node is now: after it was taken over it is another one. Any thread. */
    struct pl_node_id (*me)(struct pl_server *server);
    /* Whether other nodes are up, which have readers of their own. Any thread. */
    bool (*has_others)(struct pl_server *server);
    /* How long a session stays in memory that nobody needs. */
    int64_t (*quiet_ms)(struct pl_server *server);
    /* Whether live frames may go out: the lease is held. Any thread. */
    bool (*may_publish)(struct pl_server *server);
    /* The driver of a session has left the memory: the session may be given back. On its shard. */
    void (*left)(struct pl_shard *shard, struct pl_str session_id);
    /* The session is not this node's any more: the command looks for its owner. On its shard. */
    void (*moved)(struct pl_session_command *command);
    /* The name of a node, for people; "" where it is not known. Any thread. */
    void (*name_of)(struct pl_server *server, const struct pl_node_id *node,
                    char ret_name[PL_NODE_NAME_MAX + 1]);
    /* Frames of a session (live/wire/frames_wire.h) to a node that listens. Any shard. */
    void (*send_frames)(struct pl_server *server, const struct pl_node_id *to,
                        struct pl_str session_id, struct pl_str frames);
};

#endif
