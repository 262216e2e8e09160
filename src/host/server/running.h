/* How many turns each user has at work, over all shards. Thread-safe. */
#ifndef PL_SERVER_RUNNING_H
#define PL_SERVER_RUNNING_H

struct pl_running; /* owned */

struct pl_running *pl_running_create(void); /* NULL when out of memory */
void pl_running_destroy(struct pl_running *running);

#endif
