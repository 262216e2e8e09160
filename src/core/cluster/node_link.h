/* A link: the letters of one node to another, numbered from 1. The bus may lose any of them, bring
 * them twice or in another order. The receiver finds out by the numbers; and by the sender's beat,
 * once a second, when nothing else follows.
 *
 * A gap costs nothing but a question: the receiver asks again, with `since`, for all sessions that it
 * listens to at that sender, as a client does that was away. Asks and answers have their own way to
 * survive (the asker asks again), so a link never keeps a letter. */
#ifndef PL_CLUSTER_NODE_LINK_H
#define PL_CLUSTER_NODE_LINK_H

#include "cluster/node_letter.h"

enum {
    PL_NODE_LINK_BEAT_MS = 1000,
    PL_NODE_LINK_WAITING_MAX = 8 << 20,    /* bytes of a link that have not gone out */
    PL_NODE_SESSION_WAITING_MAX = 1 << 20, /* bytes of a session that wait for their commit */
    PL_NODE_WAITING_MAX = 256 << 20,       /* the same of all sessions of a node */
};

/* --- sending --------------------------------------------------------------------------------- */

struct pl_node_link_out {
    uint64_t last;    /* the last number that was given */
    size_t n_waiting; /* bytes */
    uint64_t n_dropped;
};

/* The number of a new letter. False: too much waits, and it is dropped: only frames are. The number
 * is used up all the same, which is how the receiver learns of it. */
bool pl_node_link_send(struct pl_node_link_out *link, unsigned char kind, size_t n_bytes,
                       uint64_t *ret_number);
/* So many bytes have gone out, or were given up. */
void pl_node_link_sent(struct pl_node_link_out *link, size_t n_bytes);
bool pl_node_link_is_beat_due(int64_t last_beat_ms, int64_t now_ms);

/* --- receiving ------------------------------------------------------------------------------- */

struct pl_node_link_in {
    uint64_t last; /* the highest number that came, or that a beat told of */
    uint64_t n_gaps;
};

enum pl_node_link_verdict {
    PL_NODE_LINK_TAKE,   /* it is the next one, or an ask or answer that came late */
    PL_NODE_LINK_RESYNC, /* something before it is missing: take it, and ask again with `since` */
    PL_NODE_LINK_DROP,   /* it came before, or what it says was asked for again already */
};

/* A letter with number 0 has none, and is taken. */
enum pl_node_link_verdict pl_node_link_got(struct pl_node_link_in *link, unsigned char kind,
                                           uint64_t number);
/* The sender says what the last number to this node was. PL_NODE_LINK_TAKE: nothing is missing. A
 * beat that was overtaken by later letters says nothing. */
enum pl_node_link_verdict pl_node_link_beat(struct pl_node_link_in *link, uint64_t last);

/* --- beats ----------------------------------------------------------------------------------- */

/* A beat's body: for each receiver its id and the last number. */
void pl_node_beat_add(struct pl_buf *to, const struct pl_node_id *receiver, uint64_t last);
/* *ret_last is 0 where the beat does not name this node: nothing was sent to it. PL_SYNTAX: it is
 * not a beat. */
enum pl_status pl_node_beat_find(struct pl_str body, const struct pl_node_id *me,
                                 uint64_t *ret_last);

/* --- back-pressure --------------------------------------------------------------------------- */

/* Whether a session's model is read on, and whether the node takes more work: else 503. */
bool pl_node_session_may_read(size_t n_session_waiting);
bool pl_node_may_work(size_t n_node_waiting);

#endif
