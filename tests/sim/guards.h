/* Guards of the protocol that a run can disable, to check that some seed notices. They replace the
 * deciding functions of core/cluster. base.h has the guards of the database. The program itself has
 * no such switches. */
#ifndef PL_TESTS_SIM_GUARDS_H
#define PL_TESTS_SIM_GUARDS_H

enum guard {
    GUARD_MARK,       /* a transaction checks whether its writer was fenced */
    GUARD_LOCK,       /* … and keeps that row locked to its end */
    GUARD_TERMINATE,  /* the connection of a frozen writer is ended */
    GUARD_GENERATION, /* a transaction names the generation of its session */
    GUARD_STEADY,     /* only a node with uninterrupted access to the database takes over */
    GUARD_SELF_FENCE, /* a node without its lease sends nothing */
    GUARD_GAPS,       /* a gap in the numbers of a link makes readers subscribe again */
    GUARD_COUNT,
};
extern const char *const guard_names[GUARD_COUNT];

/* GUARD_COUNT: none is disabled. */
void guards_begin(enum guard without);

#endif
