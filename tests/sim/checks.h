/* What must hold: after every transaction, and at the end. */
#ifndef PL_TESTS_SIM_CHECKS_H
#define PL_TESTS_SIM_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* on_taken: a node was taken over, or has left, by the transaction that has just ended. */
void checks_begin(void (*on_taken)(void));
/* Whether it is in the store by now. */
bool checks_has_session(size_t session);
/* A reader at a machine got an event of this epoch: nobody speaks for a session that another node has, and no node
 * sends a live frame when its lease has run out. What a reader is told when it subscribes is not live: the answer may
 * have waited for a transaction, whose mark says that nobody has taken over. */
void checks_heard(size_t session, int64_t epoch, size_t machine, bool is_live);
/* Whether a session came to rest a moment ago: its readers are being told. */
bool checks_has_ended(void);
bool checks_are_at_rest(void);
const char *checks_why_not_at_rest(void);
/* is_unmoved: only the database and the bus had faults, so nobody may have been taken over. */
void checks_at_the_end(bool is_unmoved);

#endif
