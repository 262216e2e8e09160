/* A state machine for an object that waits: a few named states, and which state may follow which. A
 * machine is a constant table with a row for each state; the object itself has one field, an enum.
 * docs/internals/waiting.md describes the pattern.
 *
 *     enum state { FETCH_ADMIT, FETCH_LOOKUP, … };
 *     #define TO(name) PL_TO(FETCH_##name)
 *     static const struct pl_state states[] = {
 *         [FETCH_ADMIT] = {"admit", TO(LOOKUP) | TO(HOP) | TO(END)},
 *         [FETCH_LOOKUP] = {"lookup", TO(HOP) | TO(END), PL_WAIT_SET, PL_CANCEL_ENDS,
 *                           .why = "fetch_ms, redirects and all"},
 *         …
 *     };
 *     static const struct pl_machine machine = PL_MACHINE("fetch", states);
 *
 * The head of the .c file has the same edges as a diagram. tools/check_machines.py compares the two
 * and checks every table against the rules below. */
#ifndef PL_BASE_MACHINE_H
#define PL_BASE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* How long a stay in a state may last. */
enum pl_wait {
    PL_WAIT_NONE, /* no waiting: the callback that entered the state leaves it, or it is the last
                   * state */
    PL_WAIT_MS,   /* `limit_ms` at most */
    PL_WAIT_SET,  /* limited by a setting or another object's deadline: `why` names it */
    PL_WAIT_OPEN, /* no deadline: `why` says who is certain to end the wait */
};

/* The effect of a cancel in a state. A cancel may also come while one of our callbacks calls other
 * code. */
enum pl_cancel {
    PL_CANCEL_NONE,  /* cannot be cancelled: runs to its end */
    PL_CANCEL_ENDS,  /* ends at once: nothing else uses its memory */
    PL_CANCEL_LATER, /* ends when it returns: until then something else uses its memory (a worker,
                      * the store, another thread, a library that called us) */
};

struct pl_state {
    const char *name; /* the enum constant without its prefix, in lower case */
    uint32_t next;    /* PL_TO(…) | …: the states that may follow; 0: the last one */
    enum pl_wait wait;
    enum pl_cancel cancel;
    int64_t limit_ms; /* of PL_WAIT_MS */
    const char *why;  /* of PL_WAIT_SET and PL_WAIT_OPEN */
};

struct pl_machine {
    const char *name;
    const struct pl_state *states; /* the first one is the initial state */
    unsigned n_states;             /* at most 32 */
};

#define PL_TO(state) (UINT32_C(1) << (state))
#define PL_MACHINE(text, table)                                                                    \
    {                                                                                              \
        .name = (text), .states = (table), .n_states = sizeof(table) / sizeof *(table)             \
    }

/* Whether the table has this edge. */
static inline bool pl_machine_may(const struct pl_machine *machine, unsigned from, unsigned to)
{
    return from < machine->n_states && to < machine->n_states &&
           (machine->states[from].next >> to & 1);
}

/* Whether no state follows. */
static inline bool pl_machine_is_last(const struct pl_machine *machine, unsigned state)
{
    return !machine->states[state].next;
}

/* Whether something else uses the memory of an object in this state, so that it cannot be freed. */
static inline bool pl_machine_is_away(const struct pl_machine *machine, unsigned state)
{
    return machine->states[state].cancel == PL_CANCEL_LATER;
}

#endif
