/* Which node owns a session, and which node carries out a command to it.
 *
 * Only the owner applies events. A node claims a session to change it or to listen to it; looking
 * claims and writes nothing. The session follows its listeners: an owner for whom it is quiet gives
 * it back, sooner if another node wants to listen. */
#ifndef PL_CLUSTER_OWNING_H
#define PL_CLUSTER_OWNING_H

#include "cluster/node.h"

enum { PL_OWNING_QUIET_MS = 2000 };

/* --- what to do with a request --------------------------------------------------------------- */

enum pl_owning_want { PL_OWNING_LOOK, PL_OWNING_CHANGE, PL_OWNING_LISTEN };

/* What the row of a session says about its owner. */
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
    PL_OWNING_DO_SERVE,  /* by the driver here */
    PL_OWNING_DO_READ,   /* from the store; nothing is written */
    PL_OWNING_DO_CLAIM,  /* then serve; who comes too late finds the owner's name */
    PL_OWNING_DO_ASK,    /* the owner, by a letter */
    PL_OWNING_DO_REFUSE, /* 503: this node does not hold its lease */
};

/* `holds`: this node's lease is held (pl_lease_holds). Without it a driver's memory may be older
 * than the store, so that even looking goes there. */
enum pl_owning_do pl_owning_decide(enum pl_owning_want want, enum pl_owning_whose whose,
                                   bool holds);

/* --- a session of this node ------------------------------------------------------------------ */

enum pl_owning_state {
    PL_OWNING_FREE,
    PL_OWNING_CLAIMING,  /* the transaction is under way */
    PL_OWNING_OWNED,     /* the driver works */
    PL_OWNING_RELEASING, /* the transaction is under way; what comes meanwhile waits for it */
};

enum pl_owning_event {
    PL_OWNING_WANT,     /* it is to be served here */
    PL_OWNING_CLAIMED,  /* the claim is durable */
    PL_OWNING_DENIED,   /* another owns it, or it does not exist */
    PL_OWNING_RELEASE,  /* to be given back */
    PL_OWNING_RELEASED, /* that is durable */
    PL_OWNING_KEPT,     /* it failed: the row still names this node */
    PL_OWNING_DROP,     /* this node is fenced: nothing is its own any more */
    PL_OWNING_EVENT_COUNT,
};

/* False: an event that has no place in this state; *state stays. */
bool pl_owning_step(enum pl_owning_state *state, enum pl_owning_event event);

/* What keeps a session with its owner. */
struct pl_owning_use {
    size_t n_listeners; /* on this node */
    bool is_running;    /* a turn, a tool, a batch on its way to the store */
    int64_t quiet_ms;   /* since when there is neither; of the node's own clock */
};

/* `is_asked`: another node wants to listen, so that nothing is waited for. */
bool pl_owning_may_release(const struct pl_owning_use *use, bool is_asked, int64_t now_ms);

/* --- after an end ---------------------------------------------------------------------------- */

/* What a node that starts finds. */
struct pl_owning_left {
    struct pl_owning_row row;
    bool is_same_node; /* the owner had the same --node, and its data directory is locked here: it
                          cannot run any more */
};
/* Whether it may settle this session: what is gone nodes' or nobody's, or its own predecessor's. */
bool pl_owning_may_settle(const struct pl_owning_left *left);

enum pl_owning_settle {
    PL_OWNING_SETTLE_RELEASE, /* only the owner goes: at rest, or waiting for a person */
    PL_OWNING_SETTLE_RECOVER, /* a turn was running: RECOVER, with a new epoch */
};
/* `waits_for_person` counts only for a session that runs nothing else. */
enum pl_owning_settle pl_owning_settle(bool is_running, bool waits_for_person);

#endif
