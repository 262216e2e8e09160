/* The invariants: after every transaction, and at the end. */
#ifndef PL_TESTS_SIM_CHECKS_H
#define PL_TESTS_SIM_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* on_taken: the last transaction took a node over, or a node left. */
void checks_begin(void (*on_taken)(void));
/* Whether the store has the session now. */
bool checks_has_session(size_t session);
/* A reader at a machine got an event of this epoch. Checks that no node sends for a session that
 * another node has, and that no node sends a live frame after its lease has run out. The answer to
 * a subscription is not live: it may have waited for a transaction, whose mark proves that the node
 * was not taken over. */
void checks_heard(size_t session, int64_t epoch, size_t machine, bool is_live);
/* Whether a session became idle a moment ago: its readers are being notified. */
bool checks_has_ended(void);
bool checks_are_at_rest(void);
const char *checks_why_not_at_rest(void);
/* is_unmoved: only the database and the bus had faults, so no node may have been taken over. */
void checks_at_the_end(bool is_unmoved);

#endif
