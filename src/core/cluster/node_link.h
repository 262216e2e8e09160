/* A link: the letters from one node to another, numbered from 1. The bus may lose, repeat or
 * reorder them. The receiver detects this by the numbers, and by the sender's beat once a second if
 * no other letter follows.
 *
 * After a gap the receiver only asks again, with `since`, for all sessions that it listens to at
 * that sender, like a client that was away. Asks and answers are recovered separately (the asker
 * asks again), so a link never stores a letter. */
#ifndef PL_CLUSTER_NODE_LINK_H
#define PL_CLUSTER_NODE_LINK_H

#include "cluster/node_letter.h"

enum {
    PL_NODE_LINK_BEAT_MS = 1000,
    PL_NODE_LINK_WAITING_MAX = 8 << 20,    /* bytes of a link that were not sent yet */
    PL_NODE_SESSION_WAITING_MAX = 1 << 20, /* bytes of a session that wait for their commit */
    PL_NODE_WAITING_MAX = 256 << 20,       /* the same for all sessions of a node */
};

/* --- sending --------------------------------------------------------------------------------- */

struct pl_node_link_out {
    uint64_t last;    /* the last number that was assigned */
    size_t n_waiting; /* bytes */
    uint64_t n_dropped;
};

/* Assigns the number of a new letter. Returns false if too much is waiting and the letter is
 * dropped; only a letter that may be dropped is. The number is used up anyway, so the receiver
 * notices the gap. */
bool pl_node_link_send(struct pl_node_link_out *link, unsigned char kind, size_t n_bytes,
                       uint64_t *ret_number);
/* Reports that this many bytes were sent or given up. */
void pl_node_link_sent(struct pl_node_link_out *link, size_t n_bytes);
bool pl_node_link_is_beat_due(int64_t last_beat_ms, int64_t now_ms);

/* --- receiving ------------------------------------------------------------------------------- */

struct pl_node_link_in {
    uint64_t last; /* the highest number received, or announced by a beat */
    uint64_t n_gaps;
};

enum pl_node_link_verdict {
    PL_NODE_LINK_TAKE,   /* the next letter, or a late ask or answer */
    PL_NODE_LINK_RESYNC, /* something before it is missing: take it, and ask again with `since` */
    PL_NODE_LINK_DROP,   /* a duplicate, or its content was already asked for again */
};

/* A letter with number 0 is not numbered and is always taken. */
enum pl_node_link_verdict pl_node_link_got(struct pl_node_link_in *link, unsigned char kind,
                                           uint64_t number);
/* The sender announces its last number to this node. Returns PL_NODE_LINK_TAKE if nothing is
 * missing. A beat that later letters overtook has no effect. */
enum pl_node_link_verdict pl_node_link_beat(struct pl_node_link_in *link, uint64_t last);

/* --- beats ----------------------------------------------------------------------------------- */

/* Appends to the body of a beat: the id of a receiver and the last number sent to it. */
void pl_node_beat_add(struct pl_buf *to, const struct pl_node_id *receiver, uint64_t last);
/* Sets *ret_last to 0 if the beat does not name this node: nothing was sent to it. PL_SYNTAX if the
 * body is not a beat. */
enum pl_status pl_node_beat_find(struct pl_str body, const struct pl_node_id *me,
                                 uint64_t *ret_last);

/* --- back-pressure --------------------------------------------------------------------------- */

/* Whether to go on reading a session's model, and whether the node accepts more work (otherwise
 * 503). */
bool pl_node_session_may_read(size_t n_session_waiting);
bool pl_node_may_work(size_t n_node_waiting);

#endif
