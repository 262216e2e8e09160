/* One run: a seed makes nodes, people and faults; promises are held against it all the time. */
#ifndef PL_TESTS_SIM_STORY_H
#define PL_TESTS_SIM_STORY_H

#include "guards.h"

#include <stdbool.h>
#include <stdint.h>

/* Runs it. False: a promise was broken, which sim_failure names. */
bool story_run(uint64_t seed, enum guard without, bool is_traced);

#endif
