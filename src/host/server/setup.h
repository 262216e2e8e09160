/* Creates and destroys a setup (shard/setup.h). */
#ifndef PL_SERVER_SETUP_H
#define PL_SERVER_SETUP_H

#include "shard/setup.h"

/* An empty one; its arena is for the strings of `config`. NULL when out of memory. */
struct pl_setup *pl_setup_create(void);
void pl_setup_destroy(struct pl_setup *setup); /* accepts NULL */
/* Creates the models and the certificate of `config`, and validates it. A certificate that is the
 * same as in `before` (which may be NULL) is shared. Blocks: on a worker, or at the start. */
enum pl_status pl_setup_complete(struct pl_setup *setup, const struct pl_setup *before,
                                 struct pl_error *err);

#endif
