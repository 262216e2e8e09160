/* The context of a loop: what its next model call is told. From the newest compaction on, or as
 * much as a model reads. Blocking: on a worker. */
#ifndef PL_SERVER_CONTEXT_H
#define PL_SERVER_CONTEXT_H

#include "base/buf.h"
#include "store/store.h"

/* Appends a JSON array of TurnProjection, oldest first; *ret_n_turns counts those behind the
 * compaction. */
enum pl_status pl_context_write(struct pl_store *store, struct pl_arena *arena,
                                struct pl_str session_id, struct pl_str loop_id, struct pl_buf *to,
                                size_t *ret_n_turns, struct pl_error *err);

#endif
