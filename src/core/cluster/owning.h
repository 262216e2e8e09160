/* Which node owns a session, and which node carries out a command for it.
 *
 * Only the owner applies events. A node claims a session to change it or to listen to it; looking
 * claims and writes nothing. The session follows its listeners: the owner releases a quiet session,
 * sooner if another node wants to listen. */
#ifndef PL_CLUSTER_OWNING_H
#define PL_CLUSTER_OWNING_H

#include "cluster/node.h"

enum { PL_OWNING_QUIET_MS = 2000 };

/* --- what to do with a request --------------------------------------------------------------- */

enum pl_owning_want { PL_OWNING_LOOK, PL_OWNING_CHANGE, PL_OWNING_LISTEN };

/* The owner according to the row of a session. */
struct pl_owning_row {
    bool has_owner;
    struct pl_node_id owner;
    bool is_owner_gone;
};

enum pl_owning_whose {
    PL_OWNING_NOBODYS, /* no owner, or one that is gone */
    PL_OWNING_MINE,
    PL_OWNING_ANOTHERS,
};
enum pl_owning_whose pl_owning_whose(const struct pl_owning_row *row, const struct pl_node_id *me);

enum pl_owning_do {
    PL_OWNING_DO_SERVE,  /* with the local driver */
    PL_OWNING_DO_READ,   /* from the store; nothing is written */
    PL_OWNING_DO_CLAIM,  /* then serve; a claim that comes too late returns the owner's id */
    PL_OWNING_DO_ASK,    /* send a letter to the owner */
    PL_OWNING_DO_REFUSE, /* 503: this node does not hold its lease */
};

/* `holds`: this node holds its lease (pl_lease_holds). Without it the driver's memory may be older
 * than the store, so even PL_OWNING_LOOK reads the store. */
enum pl_owning_do pl_owning_decide(enum pl_owning_want want, enum pl_owning_whose whose,
                                   bool holds);

/* --- a session of this node ------------------------------------------------------------------ */

enum pl_owning_state {
    PL_OWNING_FREE,
    PL_OWNING_CLAIMING,  /* the transaction is in flight */
    PL_OWNING_OWNED,     /* the driver is working */
    PL_OWNING_RELEASING, /* the transaction is in flight; requests wait for it */
};

enum pl_owning_event {
    PL_OWNING_WANT,     /* serve it here */
    PL_OWNING_CLAIMED,  /* the claim is durable */
    PL_OWNING_DENIED,   /* another owns it, or it does not exist */
    PL_OWNING_RELEASE,  /* release it */
    PL_OWNING_RELEASED, /* the release is durable */
    PL_OWNING_KEPT,     /* the release failed: the row still names this node */
    PL_OWNING_DROP,     /* this node is fenced: it owns nothing any more */
    PL_OWNING_EVENT_COUNT,
};

/* Returns false if the event is not valid in this state; *state is unchanged. */
bool pl_owning_step(enum pl_owning_state *state, enum pl_owning_event event);

/* The reasons to keep a session with its owner. */
struct pl_owning_use {
    size_t n_listeners; /* on this node */
    bool is_running;    /* a turn, a tool, or a batch on its way to the store */
    int64_t quiet_ms;   /* since when there is neither; by the node's own clock */
};

/* `is_asked`: another node wants to listen, so do not wait. */
bool pl_owning_may_release(const struct pl_owning_use *use, bool is_asked, int64_t now_ms);

/* --- after an end ---------------------------------------------------------------------------- */

/* A session that a starting node finds. */
struct pl_owning_left {
    struct pl_owning_row row;
    /* the owner had the same --node, and this node has locked its data directory: the owner cannot
     * be running */
    bool is_same_node;
};
/* True if the node may settle this session: it has no owner, or its owner is gone or is the node's
 * own predecessor. */
bool pl_owning_may_settle(const struct pl_owning_left *left);

enum pl_owning_settle {
    PL_OWNING_SETTLE_RELEASE, /* only clear the owner: at rest, or waiting for a person */
    PL_OWNING_SETTLE_RECOVER, /* a turn was running: RECOVER, with a new epoch */
};
/* `waits_for_person` matters only if the session runs nothing else. */
enum pl_owning_settle pl_owning_settle(bool is_running, bool waits_for_person);

#endif
