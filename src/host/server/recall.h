/* Memories for a model call: looks for what the user's last words call up and chooses what goes
 * along (session/memory.h has the rules). Only the root loop is told: an Agent works on what its
 * caller wrote for it, who has read them already. */
#ifndef PL_SERVER_RECALL_H
#define PL_SERVER_RECALL_H

#include "server/context.h"
#include "session/memory.h"

struct pl_recall {
    struct pl_str text; /* arena; what the system says in front; empty: nothing was found */
    struct pl_str refs; /* arena; JSON, memory_refs of the turn */
    int64_t ids[PL_MEMORY_MAX_CHOSEN];
    size_t n;
    size_t n_tokens; /* of the text */
};

/* Whether a call by this loop of this model takes memories along. */
bool pl_recall_is_for(struct pl_str loop_id, struct pl_str model);

/* Blocking: on a worker. Disabled and superseded ones are never found. */
enum pl_status pl_recall_read(struct pl_store *store, struct pl_arena *arena, struct pl_str user_id,
                              const struct pl_context *context, int64_t now_ms,
                              struct pl_recall *ret_recall, struct pl_error *err);

#endif
