/* The context of a loop: what its next model call is told. From the newest compaction on, or as
 * much as a model reads. */
#ifndef PL_SERVER_CONTEXT_H
#define PL_SERVER_CONTEXT_H

#include "base/buf.h"
#include "store/store.h"

struct pl_context {
    bool is_compacted;
    struct pl_turn_row compaction; /* arena */
    struct pl_turn_row *turns;     /* arena; those behind the compaction, oldest first */
    size_t n_turns;
    bool has_asked;
    struct pl_turn_row asked; /* arena; the message at hand, if the compaction archived it */
};

/* Blocking: on a worker. */
enum pl_status pl_context_read(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str session_id, struct pl_str loop_id,
                               struct pl_context *ret_context, struct pl_error *err);
/* A compaction in the middle of a chat archives the message that is being answered. It is said
 * again behind the summary: a model answers a person, not a summary. Blocking: on a worker. */
enum pl_status pl_context_find_asked(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str session_id, struct pl_str loop_id,
                                     struct pl_context *context, struct pl_error *err);
/* Appends a JSON array of TurnProjection as a model is shown them, oldest first. `front`, if it is
 * not empty, is what the system says before all of them, in a turn that is in no history. */
enum pl_status pl_context_write(const struct pl_context *context, struct pl_str front,
                                struct pl_buf *to);

#endif
