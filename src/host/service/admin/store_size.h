/* The size of the store on disk. Measuring takes a while, so a worker does it, and the last
 * result is reported. Thread-safe. */
#ifndef PL_SERVICE_ADMIN_STORE_SIZE_H
#define PL_SERVICE_ADMIN_STORE_SIZE_H

#include "shard/shard.h"

struct pl_store_size; /* owned */

struct pl_store_size *pl_store_size_create(void);       /* NULL if out of memory */
void pl_store_size_destroy(struct pl_store_size *size); /* accepts NULL */

/* Starts measuring, unless a measurement is under way. For /metrics, which does not wait for the
 * result. Any shard. */
void pl_store_size_measure(struct pl_server *server);
/* Bytes at the last measurement; 0: not measured yet. */
int64_t pl_store_size_get(const struct pl_store_size *size);

#endif
