/* The parts of the suite, and their common functions. */
#ifndef PL_TESTS_BUS_PARTS_H
#define PL_TESTS_BUS_PARTS_H

#include "contract/bus/bus_world.h"

extern const struct suite_part letters_part, store_way_part, nats_part;

#endif
