/* Sessions that work for a task with skip_confirmations, over all shards: where a tool would ask a
 * person for a yes, it runs as if it had it. Only while the run is at work, and only that: a
 * question the model has for a person still waits for one, and what is denied stays denied.
 * Thread-safe. */
#ifndef PL_SERVER_UNATTENDED_H
#define PL_SERVER_UNATTENDED_H

#include "base/str.h"

struct pl_unattended; /* owned */

struct pl_unattended *pl_unattended_create(void);             /* NULL when out of memory */
void pl_unattended_destroy(struct pl_unattended *unattended); /* accepts NULL */

/* False: out of memory, and a person is asked. */
bool pl_unattended_add(struct pl_unattended *unattended, struct pl_str session_id);
void pl_unattended_remove(struct pl_unattended *unattended, struct pl_str session_id);
bool pl_unattended_has(struct pl_unattended *unattended, struct pl_str session_id);

#endif
