/* Memories for a model call: searches by the user's last message and chooses which memories are
 * included (session/memory/memory.h has the rules). Only the root loop gets them: an Agent works on
 * the text of its caller, and the caller has read the memories. */
#ifndef PL_AGENT_CONTEXT_RECALL_H
#define PL_AGENT_CONTEXT_RECALL_H

#include "agent/context/context.h"
#include "session/memory/memory.h"

struct pl_recall {
    /* Of the memories, and of those of skills (enum pl_memory_part); arena. */
    struct {
        struct pl_str text;  /* the system text; empty: nothing was found */
        struct pl_str items; /* JSON, for the envelope */
    } parts[2];
    struct pl_str refs; /* arena; JSON: memory_refs of the turn */
    int64_t ids[PL_MEMORY_MAX_CHOSEN];
    size_t n;
    size_t n_tokens; /* of the texts */
};

/* Whether a call of this model by this loop includes memories. */
bool pl_recall_is_for(struct pl_str loop_id, struct pl_str model);

/* Blocks: on a worker. Never finds disabled and superseded memories, or those of other sessions. */
enum pl_status pl_recall_read(struct pl_store *store, struct pl_arena *arena,
                              const struct pl_session_record *session,
                              const struct pl_context *context, int64_t now_ms,
                              struct pl_recall *ret_recall, struct pl_error *err);

/* Where the memory of a row belongs. */
struct pl_memory_row;
struct pl_memory_home pl_memory_home(const struct pl_memory_row *row);

#endif
