/* The identity and state of a cluster node. */
#ifndef PL_CLUSTER_NODE_H
#define PL_CLUSTER_NODE_H

#include "base/str.h"

enum { PL_NODE_ID_BYTES = 16 };

/* Identifies a process, not a machine. It is random at every start, so that no process is mistaken
 * for its predecessor. All zeros means nobody or everybody, depending on the context. */
struct pl_node_id {
    unsigned char bytes[PL_NODE_ID_BYTES];
};

bool pl_node_id_eq(const struct pl_node_id *a, const struct pl_node_id *b);
bool pl_node_id_is_zero(const struct pl_node_id *id);

enum { PL_NODE_ID_TEXT = 2 * PL_NODE_ID_BYTES + 1, PL_NODE_NAME_MAX = 63 };
/* Writes hexadecimal digits and a NUL. */
void pl_node_id_write(const struct pl_node_id *id, char ret_text[PL_NODE_ID_TEXT]);
/* Returns false if the text is not an id. */
bool pl_node_id_read(struct pl_str text, struct pl_node_id *ret_id);

/* True if a node name may contain this character: letters, digits, '.', '_' and '-'. */
bool pl_node_name_has(char c);

/* X(name, text in the store) */
#define PL_NODE_STATE_TABLE(X)                                                                     \
    X(UP, "up")                                                                                    \
    X(DRAINING, "draining") /* ending; accepts nothing new */                                      \
    X(GONE, "gone")         /* ended or taken over; final */

enum pl_node_state {
#define X(name, text) PL_NODE_STATE_##name,
    PL_NODE_STATE_TABLE(X)
#undef X
        PL_NODE_STATE_COUNT,
};

const char *pl_node_state_text(enum pl_node_state state);
/* Returns PL_NODE_STATE_COUNT if there is no such state. */
enum pl_node_state pl_node_state_of(struct pl_str text);
/* True if the diagram in node.c has this edge. */
bool pl_node_state_may(enum pl_node_state from, enum pl_node_state to);

#endif
