/* What must hold: after every transaction, and at the end. */
#ifndef PL_TESTS_SIM_CHECKS_H
#define PL_TESTS_SIM_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void checks_begin(void);
/* Whether it is in the store by now. */
bool checks_has_session(size_t session);
/* A reader got an event of this epoch: nobody speaks for a session that another node has. */
void checks_heard(size_t session, int64_t epoch);
bool checks_are_at_rest(void);
const char *checks_why_not_at_rest(void);
/* is_unmoved: only the database and the bus had faults, so nobody may have been taken over. */
void checks_at_the_end(bool is_unmoved);

#endif
