#include "cluster/node.h"

bool pl_node_id_eq(const struct pl_node_id *a, const struct pl_node_id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool pl_node_id_is_zero(const struct pl_node_id *id)
{
    return pl_node_id_eq(id, &(struct pl_node_id){0});
}

#define X(name, text) text,
static const char *const names[] = {PL_NODE_STATE_TABLE(X)};
#undef X

#define TO(name) (1U << PL_NODE_STATE_##name)
static const unsigned edges[PL_NODE_STATE_COUNT] = {
    [PL_NODE_STATE_UP] = TO(DRAINING) | TO(GONE),
    [PL_NODE_STATE_DRAINING] = TO(GONE),
};
#undef TO

const char *pl_node_state_text(enum pl_node_state state)
{
    return names[state];
}

enum pl_node_state pl_node_state_of(struct pl_str text)
{
    unsigned i = 0;
    while (i < PL_NODE_STATE_COUNT && !pl_str_eq(pl_str_of(names[i]), text))
        i++;
    return (enum pl_node_state)i;
}

bool pl_node_state_may(enum pl_node_state from, enum pl_node_state to)
{
    return from < PL_NODE_STATE_COUNT && to < PL_NODE_STATE_COUNT && (edges[from] >> to & 1);
}
