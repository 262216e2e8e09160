/* Ids and states of nodes.
 *
 *     edges node
 *
 *     UP -> DRAINING -> GONE
 *     UP -> GONE */
#include "cluster/node.h"
#include "base/ascii.h"

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
    [PL_NODE_STATE_GONE] = 0,
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

void pl_node_id_write(const struct pl_node_id *id, char ret_text[PL_NODE_ID_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof id->bytes; i++) {
        ret_text[2 * i] = digits[id->bytes[i] >> 4];
        ret_text[2 * i + 1] = digits[id->bytes[i] & 15];
    }
    ret_text[PL_NODE_ID_TEXT - 1] = '\0';
}

bool pl_node_id_read(struct pl_str text, struct pl_node_id *ret_id)
{
    struct pl_node_id id;
    if (text.len != 2 * sizeof id.bytes)
        return false;
    for (size_t i = 0; i < sizeof id.bytes; i++) {
        int high = pl_ascii_hex((unsigned char)text.ptr[2 * i]);
        int low = pl_ascii_hex((unsigned char)text.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        id.bytes[i] = (unsigned char)(high << 4 | low);
    }
    *ret_id = id;
    return true;
}

bool pl_node_name_has(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}
