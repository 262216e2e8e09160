/* One run: a seed makes nodes, people and faults; promises are held against it all the time. */
#ifndef PL_TESTS_SIM_STORY_H
#define PL_TESTS_SIM_STORY_H

#include "guards.h"
#include "kernel.h"

#include <stdbool.h>
#include <stdint.h>

/* What a run is about. One fault meets the moment that a guard is for; the seed decides the rest. */
enum scene {
    SCENE_ANY,        /* whatever chance draws */
    SCENE_LATE_WAKE,  /* a node goes on after it was taken over */
    SCENE_LATE_WRITE, /* the COMMIT of a node comes after it was taken over; its mark came before */
    SCENE_STUCK_WRITER, /* a node stops for ever between the mark and the COMMIT */
    SCENE_SUCCESSION, /* a node is killed in the middle of an answer; who goes on with its session? */
    SCENE_OUTAGE,     /* nobody has the database, for longer than a lease lasts */
    SCENE_LONE_SPEAKER, /* a node loses the database while its readers follow a long answer */
    SCENE_LAST_LETTER,  /* the bus loses the end of an answer, and nothing follows */
    SCENE_COUNT,        /* the seed draws one */
};

/* Runs it. False: a promise was broken, which sim_failure names. */
bool story_run(uint64_t seed, enum scene scene, enum guard without, enum sim_tracing tracing);

#endif
