/* Leases. A node renews its row in the database every second; the row is valid for four seconds.
 * This file decides the consequences, for the node itself and for the others.
 *
 * There are two clocks, and they are never mixed. `now_ms` is the node's own monotonic clock and is
 * compared only with its own renewals. `base_ms` is the database's clock and is compared only with
 * times that the database wrote.
 *
 * A node counts its lease from when the renewal was sent; the database counts from when it was
 * written, which is later. So the node stops by itself before any other node may declare its lease
 * expired. */
#ifndef PL_CLUSTER_LEASE_H
#define PL_CLUSTER_LEASE_H

#include "cluster/node.h"

enum {
    PL_LEASE_TTL_MS = 4000,
    PL_LEASE_EVERY_MS = 1000,         /* between two renewals */
    PL_LEASE_STEADY_MS = 1700,        /* longest gap between renewals of a node that takes over */
    PL_LEASE_UNHEARD_MS = 2000,       /* an unheard node is due this long after its last renewal */
    PL_LEASE_WRITER_SILENT_MS = 5000, /* the node then closes its own writer's connection */
};

enum pl_lease_state {
    PL_LEASE_ENTERING, /* no renewal has succeeded yet */
    PL_LEASE_HELD,
    PL_LEASE_LAPSED, /* self-fenced: no live frames, no changes, not ready; renewals continue */
    PL_LEASE_FENCED, /* another node took over; permanent: only a new writer may enter */
    PL_LEASE_LEFT,   /* released at the end */
};

/* Times are by the node's own clock. */
struct pl_lease {
    enum pl_lease_state state;
    bool has_asked;          /* a renewal was sent at least once */
    bool is_asking;          /* a renewal is in flight */
    int64_t asked_ms;        /* when the last renewal was sent, whatever its result */
    int64_t good_ms;         /* when the last successful renewal was sent */
    int64_t came_ms;         /* when its answer arrived */
    bool is_steady;          /* the last renewal succeeded, soon enough after the one before */
    int64_t steady_since_ms; /* the first renewal of the current run without a gap */
};

void pl_lease_init(struct pl_lease *lease);
/* True if the diagram in lease.c has this edge. */
bool pl_lease_may(enum pl_lease_state from, enum pl_lease_state to);

/* --- renewing -------------------------------------------------------------------------------- */

/* True if a renewal should be sent now: one at a time, a second apart, whatever the result of the
 * last one. Never after the lease was fenced or left. */
bool pl_lease_is_time(const struct pl_lease *lease, int64_t now_ms);
void pl_lease_ask(struct pl_lease *lease, int64_t now_ms);
/* The result of a renewal: it was written; it failed or was not answered; the row is gone. */
void pl_lease_renewed(struct pl_lease *lease, int64_t now_ms);
void pl_lease_failed(struct pl_lease *lease);
void pl_lease_fence(struct pl_lease *lease);
void pl_lease_leave(struct pl_lease *lease);
/* Call after a fence, when everything that was held has been dropped: starts as a new writer. */
void pl_lease_enter_again(struct pl_lease *lease);

/* --- what it allows -------------------------------------------------------------------------- */

/* Lets the lease lapse if it is too old. Returns true if it is held: live frames may go out and
 * changes are accepted. */
bool pl_lease_holds(struct pl_lease *lease, int64_t now_ms);
/* Remaining time of the lease; 0 if it is not held. */
int64_t pl_lease_left_ms(const struct pl_lease *lease, int64_t now_ms);
/* Only a node that had the database for a whole lease without interruption may declare that others
 * had not. After an outage every node has that long to come back. */
bool pl_lease_may_take_over(const struct pl_lease *lease, int64_t now_ms);
/* `waits_since_ms` is when the node's own writer began to wait for an answer. */
bool pl_lease_writer_is_stuck(int64_t waits_since_ms, int64_t now_ms);

/* --- the others' ----------------------------------------------------------------------------- */

/* Times are by the database's clock. */
struct pl_lease_row {
    enum pl_node_state state;
    int64_t until_ms, renewed_ms;
};

/* True if this node may be taken over. `is_unheard`: the bus or the database reports that the node
 * is not there. */
bool pl_lease_is_due(const struct pl_lease_row *row, int64_t base_ms, bool is_unheard);

#endif
