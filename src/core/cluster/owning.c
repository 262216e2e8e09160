/* The life of a session on a node.
 *
 *     FREE -> CLAIMING -> OWNED -> RELEASING -> FREE
 *     CLAIMING -> FREE             another owns it
 *     RELEASING -> OWNED           it could not be given back
 *     all -> FREE                  this node is fenced */
#include "cluster/owning.h"

/* --- what to do with a request --------------------------------------------------------------- */

enum pl_owning_whose pl_owning_whose(const struct pl_owning_row *row, const struct pl_node_id *me)
{
    if (!row->has_owner || row->is_owner_gone)
        return PL_OWNING_NOBODYS;
    return pl_node_id_eq(&row->owner, me) ? PL_OWNING_MINE : PL_OWNING_ANOTHERS;
}

/* [want][whose] */
static const enum pl_owning_do held[3][3] = {
    [PL_OWNING_LOOK] = {[PL_OWNING_NOBODYS] = PL_OWNING_DO_READ,
                        [PL_OWNING_MINE] = PL_OWNING_DO_SERVE,
                        [PL_OWNING_ANOTHERS] = PL_OWNING_DO_ASK},
    [PL_OWNING_CHANGE] = {[PL_OWNING_NOBODYS] = PL_OWNING_DO_CLAIM,
                          [PL_OWNING_MINE] = PL_OWNING_DO_SERVE,
                          [PL_OWNING_ANOTHERS] = PL_OWNING_DO_ASK},
    [PL_OWNING_LISTEN] = {[PL_OWNING_NOBODYS] = PL_OWNING_DO_CLAIM,
                          [PL_OWNING_MINE] = PL_OWNING_DO_SERVE,
                          [PL_OWNING_ANOTHERS] = PL_OWNING_DO_ASK},
};

enum pl_owning_do pl_owning_decide(enum pl_owning_want want, enum pl_owning_whose whose, bool holds)
{
    if (holds)
        return held[want][whose];
    return want == PL_OWNING_LOOK ? PL_OWNING_DO_READ : PL_OWNING_DO_REFUSE;
}

/* --- a session of this node ------------------------------------------------------------------ */

enum { NOWHERE };
#define TO(name) (PL_OWNING_##name + 1)
static const unsigned char steps[PL_OWNING_RELEASING + 1][PL_OWNING_EVENT_COUNT] = {
    [PL_OWNING_FREE] = {[PL_OWNING_WANT] = TO(CLAIMING), [PL_OWNING_DROP] = TO(FREE)},
    [PL_OWNING_CLAIMING] = {[PL_OWNING_CLAIMED] = TO(OWNED),
                            [PL_OWNING_DENIED] = TO(FREE),
                            [PL_OWNING_DROP] = TO(FREE)},
    [PL_OWNING_OWNED] = {[PL_OWNING_WANT] = TO(OWNED),
                         [PL_OWNING_RELEASE] = TO(RELEASING),
                         [PL_OWNING_DROP] = TO(FREE)},
    [PL_OWNING_RELEASING] = {[PL_OWNING_RELEASED] = TO(FREE),
                             [PL_OWNING_KEPT] = TO(OWNED),
                             [PL_OWNING_DROP] = TO(FREE)},
};
#undef TO

bool pl_owning_step(enum pl_owning_state *state, enum pl_owning_event event)
{
    unsigned to = event < PL_OWNING_EVENT_COUNT ? steps[*state][event] : NOWHERE;
    if (to == NOWHERE)
        return false;
    *state = (enum pl_owning_state)(to - 1);
    return true;
}

bool pl_owning_may_release(const struct pl_owning_use *use, bool is_asked, int64_t now_ms)
{
    if (use->n_listeners || use->is_running)
        return false;
    return is_asked || now_ms - use->quiet_ms >= PL_OWNING_QUIET_MS;
}

/* --- after an end ---------------------------------------------------------------------------- */

bool pl_owning_may_settle(const struct pl_owning_left *left)
{
    return !left->row.has_owner || left->row.is_owner_gone || left->is_same_node;
}

enum pl_owning_settle pl_owning_settle(bool is_running, bool waits_for_person)
{
    return is_running && !waits_for_person ? PL_OWNING_SETTLE_RECOVER : PL_OWNING_SETTLE_RELEASE;
}
