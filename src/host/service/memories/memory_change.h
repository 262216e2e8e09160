/* Shared parts of all changes of memories: find the rows, and add the changed ones to the batch.
 * On a worker; a function that returns false has made a problem. */
#ifndef PL_SERVICE_MEMORIES_MEMORY_CHANGE_H
#define PL_SERVICE_MEMORIES_MEMORY_CHANGE_H

#include "http/exchange.h"
#include "store/library.h"

/* Finds the caller's memory with this id. `pointer` (may be NULL) is the member that named it. */
bool pl_memory_get(struct pl_exchange *x, int64_t id, const char *pointer,
                   struct pl_memory_row *ret_memory);
/* Finds a memory that was just created. */
bool pl_memory_find_new(struct pl_exchange *x, struct pl_str uid, struct pl_memory_row *ret_memory);
/* Whether the caller may have n more. */
bool pl_memory_has_room(struct pl_exchange *x, int64_t n);

/* Adds a new memory from `object`, a part of the body at `pointer`. */
bool pl_memory_plan_new(struct pl_exchange *x, const struct pl_json_node *object,
                        const char *pointer, struct pl_str uid, struct pl_batch *batch);
/* Updates `row` with the members of `object`. */
bool pl_memory_plan_update(struct pl_exchange *x, const struct pl_json_node *object,
                           const char *pointer, struct pl_memory_row row, struct pl_batch *batch);
/* Deletes it; the caller can restore it for a while if deleted things are kept. */
void pl_memory_plan_delete(struct pl_exchange *x, struct pl_batch *batch, int64_t id);

/* POST /api/memories/batch; on the shard (memory_batch.c). */
void pl_memory_batch(struct pl_exchange *x);

#endif
