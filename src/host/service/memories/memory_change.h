/* Shared parts of every change of memories: find the rows, and put the changed ones into the batch.
 * On a worker; a function that returns false has made a problem of the answer. */
#ifndef PL_SERVICE_MEMORIES_MEMORY_CHANGE_H
#define PL_SERVICE_MEMORIES_MEMORY_CHANGE_H

#include "http/exchange.h"
#include "store/library.h"

/* The caller's memory of this id. `pointer` (may be NULL) is the member that named it. */
bool pl_memory_get(struct pl_exchange *x, int64_t id, const char *pointer,
                   struct pl_memory_row *ret_memory);
/* One that was just made. */
bool pl_memory_find_new(struct pl_exchange *x, struct pl_str uid, struct pl_memory_row *ret_memory);
/* Whether the caller may have n more. */
bool pl_memory_has_room(struct pl_exchange *x, int64_t n);

/* A new one as `object`, a part of the body at `pointer`, says it. */
bool pl_memory_plan_new(struct pl_exchange *x, const struct pl_json_node *object,
                        const char *pointer, struct pl_str uid, struct pl_batch *batch);
/* `row` with what `object` names. */
bool pl_memory_plan_update(struct pl_exchange *x, const struct pl_json_node *object,
                           const char *pointer, struct pl_memory_row row, struct pl_batch *batch);
/* Without it; the caller can have it back for a while, where deleted things are kept. */
void pl_memory_plan_delete(struct pl_exchange *x, struct pl_batch *batch, int64_t id);

/* POST /api/memories/batch; on the shard (memory_batch.c). */
void pl_memory_batch(struct pl_exchange *x);

#endif
