/* Leases. A node renews its row in the database every second; the row is valid for four seconds. This
 * file decides what follows, for the node itself and for the others.
 *
 * Two clocks, never mixed. `now_ms` is the node's own monotonic clock, compared with nothing but its
 * own renewals. `base_ms` is the database's clock, compared with nothing but what the database wrote.
 *
 * A node counts its lease from when the renewal was sent, the database from when it was written,
 * which is later. So the node stops by itself before anybody may say that its lease has run out. */
#ifndef PL_CLUSTER_LEASE_H
#define PL_CLUSTER_LEASE_H

#include "cluster/node.h"

enum {
    PL_LEASE_TTL_MS = 4000,
    PL_LEASE_EVERY_MS = 1000,   /* from one renewal to the next */
    PL_LEASE_STEADY_MS = 1700,  /* who takes over has renewals no further apart than this */
    PL_LEASE_UNHEARD_MS = 2000, /* nobody listens to it, and no renewal for so long: it is due */
    PL_LEASE_WRITER_SILENT_MS = 5000, /* then the node ends its own writer's connection */
};

enum pl_lease_state {
    PL_LEASE_ENTERING, /* no renewal has come yet */
    PL_LEASE_HELD,
    PL_LEASE_LAPSED, /* self-fenced: no live frame, no change, not ready; it goes on trying */
    PL_LEASE_FENCED, /* others have taken over: for ever, only a new writer may enter */
    PL_LEASE_LEFT,   /* given back at the end */
};

/* Times of the node's own clock. */
struct pl_lease {
    enum pl_lease_state state;
    bool has_asked;          /* a renewal was ever sent … */
    bool is_asking;          /* … and is under way */
    int64_t asked_ms;        /* when the last one was sent, whatever became of it */
    int64_t good_ms;         /* when the last one that came was sent */
    int64_t came_ms;         /* when its answer came */
    bool is_steady;          /* the last one came, in time after the one before */
    int64_t steady_since_ms; /* the first of those that came without a gap */
};

void pl_lease_init(struct pl_lease *lease);
/* Whether this edge is in the diagram of lease.c. */
bool pl_lease_may(enum pl_lease_state from, enum pl_lease_state to);

/* --- renewing -------------------------------------------------------------------------------- */

/* Whether a renewal is to be sent now: one at a time, a second apart, whatever the last one came
 * to. None once the lease was fenced or left. */
bool pl_lease_is_time(const struct pl_lease *lease, int64_t now_ms);
void pl_lease_ask(struct pl_lease *lease, int64_t now_ms);
/* The answer to it: it was written; it failed, or there was none; the row is gone. */
void pl_lease_renewed(struct pl_lease *lease, int64_t now_ms);
void pl_lease_failed(struct pl_lease *lease);
void pl_lease_fence(struct pl_lease *lease);
void pl_lease_leave(struct pl_lease *lease);
/* After a fence: everything that was held is dropped, and this is a new writer. */
void pl_lease_enter_again(struct pl_lease *lease);

/* --- what it allows -------------------------------------------------------------------------- */

/* Lets it lapse when it is time. True: it is held, so live frames may go out and changes in. */
bool pl_lease_holds(struct pl_lease *lease, int64_t now_ms);
/* What is left of it; 0: it is not held. */
int64_t pl_lease_left_ms(const struct pl_lease *lease, int64_t now_ms);
/* Only who had the database without interruption for a whole lease may say that others had not:
 * after an outage everybody has that long to come back. */
bool pl_lease_may_take_over(const struct pl_lease *lease, int64_t now_ms);
/* The node's own writer has been waiting for an answer since then. */
bool pl_lease_writer_is_stuck(int64_t waits_since_ms, int64_t now_ms);

/* --- the others' ----------------------------------------------------------------------------- */

/* Times of the database's clock. */
struct pl_lease_row {
    enum pl_node_state state;
    int64_t until_ms, renewed_ms;
};

/* Whether this node may be taken over. `is_unheard`: nobody is there, as the bus or the database says. */
bool pl_lease_is_due(const struct pl_lease_row *row, int64_t base_ms, bool is_unheard);

#endif
