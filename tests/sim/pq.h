/* The behaviour of connections to the database in a run. */
#ifndef PL_TESTS_SIM_PQ_H
#define PL_TESTS_SIM_PQ_H

#include <stdbool.h>

/* One pipeline in so many is sent in two parts, with a pause between them; 0: none. A node that is
 * frozen in the pause leaves its transaction open. */
void pq_begin(unsigned split_one_in);
/* Whether this owner is in such a pause now. */
bool pq_is_split(int owner);

#endif
