/* The context of a loop: the input of its next model call. It starts at the newest compaction, or
 * has as much as fits the context window. */
#ifndef PL_AGENT_CONTEXT_CONTEXT_H
#define PL_AGENT_CONTEXT_CONTEXT_H

#include "base/buf.h"
#include "store/store.h"

struct pl_context {
    bool is_compacted;
    struct pl_turn_row compaction; /* arena */
    struct pl_turn_row *turns;     /* arena; those after the compaction, oldest first */
    size_t n_turns;
    bool has_asked;
    /* Turns that are not in the history, and the turn they follow: JSON, separated by commas;
     * empty: none. */
    struct pl_str added, added_after;
    struct pl_turn_row asked; /* arena; the message being answered, if the compaction archived it */
};

/* A text of the system before all turns, in a turn that is not in the history. */
struct pl_front {
    struct pl_str text;    /* empty: none */
    struct pl_str segment; /* JSON, its purpose (format/turns/read.c); empty: instructions */
};

/* Blocks: on a worker. */
enum pl_status pl_context_read(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str session_id, struct pl_str loop_id,
                               struct pl_context *ret_context, struct pl_error *err);
/* A compaction in the middle of a chat archives the message that is being answered. It is repeated
 * after the summary: a model answers a person, not a summary. Blocks: on a worker. */
enum pl_status pl_context_find_asked(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str session_id, struct pl_str loop_id,
                                     struct pl_context *context, struct pl_error *err);
/* Its newest message of a user; NULL: none. */
const struct pl_turn_row *pl_context_newest_user(const struct pl_context *context);
/* Appends a JSON array of TurnProjection as a model sees them, oldest first, after `fronts`, whose
 * time is unix_ms. */
enum pl_status pl_context_write(const struct pl_context *context, const struct pl_front *fronts,
                                size_t n_fronts, int64_t unix_ms, struct pl_buf *to);

#endif
