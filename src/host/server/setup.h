/* How a setup (shard/setup.h) is made and unmade. */
#ifndef PL_SERVER_SETUP_H
#define PL_SERVER_SETUP_H

#include "shard/setup.h"

/* Empty; its arena is for the strings of `config`. NULL when out of memory. */
struct pl_setup *pl_setup_create(void);
void pl_setup_destroy(struct pl_setup *setup); /* accepts NULL */
/* Makes models and certificate of `config`, which is held to what can be. A certificate that is the
 * same as `before` has (which may be NULL) is that one. Blocks: on a worker, or at the start. */
enum pl_status pl_setup_complete(struct pl_setup *setup, const struct pl_setup *before,
                                 struct pl_error *err);

#endif
