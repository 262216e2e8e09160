/* Media of a session on their way to a model: what the turns name by a blob is put in as data, for
 * no vendor can fetch it from here. */
#ifndef PL_AGENT_CONTEXT_INLINE_MEDIA_H
#define PL_AGENT_CONTEXT_INLINE_MEDIA_H

#include "store/work.h"

/* Bytes of media that one request may have; vendors take about as much. What is older than the
 * newest of them is named in words. */
#define PL_INLINE_MAX_BYTES ((int64_t)20 << 20)

/* The same of an export, which a person reads. */
#define PL_INLINE_MAX_EXPORT ((int64_t)64 << 20)

/* `turns` is a JSON array of TurnProjection; *ret_turns is the same, or arena memory where something
 * was put in. A blob that is gone, or was never the user's, is named in words too. Blocking: on a
 * worker. */
enum pl_status pl_media_inline(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str user_id, int64_t max_bytes, struct pl_str turns,
                               struct pl_str *ret_turns, struct pl_error *err);

/* Appends the bytes of a blob as base64. Blocking: on a worker. */
enum pl_status pl_blob_write_base64(struct pl_store *store, const struct pl_blob_row *blob,
                                    struct pl_buf *to, struct pl_error *err);

#endif
