/* Links. `last` only grows, so each gap is found once, by the first letter or beat that shows
 * it. */
#include "cluster/node_link.h"
#include "cluster/node_fields.h"

/* --- sending --------------------------------------------------------------------------------- */

bool pl_node_link_send(struct pl_node_link_out *link, unsigned char kind, size_t n_bytes,
                       uint64_t *ret_number)
{
    bool has_room = n_bytes <= PL_NODE_LINK_WAITING_MAX &&
                    link->n_waiting <= PL_NODE_LINK_WAITING_MAX - n_bytes;
    *ret_number = ++link->last;
    if (!has_room && pl_node_letter_may_be_dropped(kind)) {
        link->n_dropped++;
        return false;
    }
    link->n_waiting += n_bytes;
    return true;
}

void pl_node_link_sent(struct pl_node_link_out *link, size_t n_bytes)
{
    link->n_waiting -= n_bytes < link->n_waiting ? n_bytes : link->n_waiting;
}

bool pl_node_link_is_beat_due(int64_t last_beat_ms, int64_t now_ms)
{
    return now_ms - last_beat_ms >= PL_NODE_LINK_BEAT_MS;
}

/* --- receiving ------------------------------------------------------------------------------- */

enum pl_node_link_verdict pl_node_link_got(struct pl_node_link_in *link, unsigned char kind,
                                           uint64_t number)
{
    if (number == 0)
        return PL_NODE_LINK_TAKE;
    if (number <= link->last)
        return pl_node_letter_may_be_dropped(kind) ? PL_NODE_LINK_DROP : PL_NODE_LINK_TAKE;
    bool is_next = number - link->last == 1;
    link->last = number;
    link->n_gaps += !is_next;
    return is_next ? PL_NODE_LINK_TAKE : PL_NODE_LINK_RESYNC;
}

enum pl_node_link_verdict pl_node_link_beat(struct pl_node_link_in *link, uint64_t last)
{
    if (last <= link->last)
        return PL_NODE_LINK_TAKE;
    link->last = last;
    link->n_gaps++;
    return PL_NODE_LINK_RESYNC;
}

/* --- beats ----------------------------------------------------------------------------------- */

void pl_node_beat_add(struct pl_buf *to, const struct pl_node_id *receiver, uint64_t last)
{
    pl_node_fields_put_id(to, receiver);
    pl_node_fields_put_number(to, (int64_t)last);
}

enum pl_status pl_node_beat_find(struct pl_str body, const struct pl_node_id *me,
                                 uint64_t *ret_last)
{
    struct pl_node_fields fields = pl_node_fields_of(body);
    uint64_t found = 0;
    while (pl_node_fields_has_more(&fields)) {
        struct pl_node_id receiver = pl_node_fields_id(&fields);
        uint64_t last = (uint64_t)pl_node_fields_number(&fields);
        if (pl_node_id_eq(&receiver, me))
            found = last;
    }
    if (fields.status == PL_OK)
        *ret_last = found;
    return fields.status;
}

/* --- back-pressure --------------------------------------------------------------------------- */

bool pl_node_session_may_read(size_t n_session_waiting)
{
    return n_session_waiting < PL_NODE_SESSION_WAITING_MAX;
}

bool pl_node_may_work(size_t n_node_waiting)
{
    return n_node_waiting < PL_NODE_WAITING_MAX;
}
