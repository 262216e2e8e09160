/* One run: a seed makes nodes, people and faults; the invariants are checked all the time. */
#ifndef PL_TESTS_SIM_STORY_H
#define PL_TESTS_SIM_STORY_H

#include "guards.h"
#include "kernel.h"

#include <stdbool.h>
#include <stdint.h>

/* The subject of a run. One fault hits the moment for which a guard exists; the seed decides the
 * rest. */
enum scene {
    SCENE_ANY,          /* any random faults */
    SCENE_LATE_WAKE,    /* a node resumes after it was taken over */
    SCENE_LATE_WRITE,   /* a node's COMMIT arrives after the take-over; its mark came before */
    SCENE_STUCK_WRITER, /* a node stops for ever between the mark and the COMMIT */
    SCENE_SUCCESSION,   /* a node is killed during an answer; which node continues its session? */
    SCENE_OUTAGE,       /* no node has the database, for longer than a lease lasts */
    SCENE_LONE_SPEAKER, /* a node loses the database while its readers follow a long answer */
    SCENE_LAST_LETTER,  /* the bus loses the end of an answer, and no letter follows */
    SCENE_COUNT,        /* the seed draws one */
};

/* Runs it. False: a violation, which sim_failure names. */
bool story_run(uint64_t seed, enum scene scene, enum guard without, enum sim_tracing tracing);

#endif
