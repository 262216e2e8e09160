/* Guards of the protocol that a run goes without, to see that some seed notices: in the place of the functions of
 * core/cluster that decide. Those of the database are in base.h. The program has no such switches. */
#ifndef PL_TESTS_SIM_GUARDS_H
#define PL_TESTS_SIM_GUARDS_H

enum guard {
    GUARD_MARK,       /* a transaction looks whether its writer was fenced */
    GUARD_LOCK,       /* … and keeps that row locked to its end */
    GUARD_TERMINATE,  /* the connection of a frozen writer is ended */
    GUARD_GENERATION, /* a transaction names the generation of its session */
    GUARD_STEADY,     /* only who had the database without interruption takes over */
    GUARD_SELF_FENCE, /* a node without its lease tells nobody anything */
    GUARD_GAPS,       /* a number that is missing on a link makes readers ask again */
    GUARD_COUNT,
};
extern const char *const guard_names[GUARD_COUNT];

/* GUARD_COUNT: all are there. */
void guards_begin(enum guard without);

#endif
