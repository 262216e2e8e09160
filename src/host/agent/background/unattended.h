/* Sessions that run for a task, over all shards, while the run is active. Questions of extensions
 * to a person are denied. With skip_confirmations, a tool that would need a person's confirmation
 * runs without it; otherwise it waits. A question of the model waits for a person, and a denied
 * tool stays denied. Thread-safe. */
#ifndef PL_AGENT_UNATTENDED_H
#define PL_AGENT_UNATTENDED_H

#include "base/str.h"

struct pl_unattended; /* owned */

struct pl_unattended *pl_unattended_create(void);             /* NULL when out of memory */
void pl_unattended_destroy(struct pl_unattended *unattended); /* accepts NULL */

/* False: out of memory; then a person is asked. */
bool pl_unattended_add(struct pl_unattended *unattended, struct pl_str session_id,
                       bool skips_confirmations);
void pl_unattended_remove(struct pl_unattended *unattended, struct pl_str session_id);
bool pl_unattended_has(struct pl_unattended *unattended, struct pl_str session_id);
bool pl_unattended_skips(struct pl_unattended *unattended, struct pl_str session_id);

#endif
