/* Media of a session for a model or an export. The turns refer to blobs; their bytes are put in as
 * data, because no vendor can fetch them from this server. */
#ifndef PL_AGENT_CONTEXT_INLINE_MEDIA_H
#define PL_AGENT_CONTEXT_INLINE_MEDIA_H

#include "store/work.h"

/* Bytes of media in one request; vendors accept about as much. */
#define PL_INLINE_MAX_BYTES ((int64_t)20 << 20)

/* The same for an export, which a person reads. */
#define PL_INLINE_MAX_EXPORT ((int64_t)64 << 20)

struct pl_inline_opts {
    struct pl_str user_id;
    int64_t max_bytes; /* of all media; the oldest images are left out first, then the rest */
    /* Of all images before the newest message: the oldest are left out first; -1: no limit. */
    int64_t max_tokens;
    bool is_upright; /* rotate images as they are marked, and remove the mark */
};

/* Arena memory. */
struct pl_inlined {
    struct pl_str turns; /* the same, or with data, and with texts in place of media */
    /* Media that was left out or changed: a JSON array of {"turn_id", "kind", "name"?, "blob" |
     * "url", "effect": "left_out" | "gone" | "not_turned", "detail"}. Empty: none. */
    struct pl_str notes;
    struct pl_str words;     /* the same as a sentence */
    struct pl_str new_words; /* … about the newest message, and everything after it */
    uint64_t n_old_tokens;   /* of the images before the newest message that are sent */
    uint64_t n_most_tokens;  /* of all media that is sent: an upper bound */
};

/* `turns` is a JSON array of TurnProjection. A blob that does not exist, or never belonged to the
 * user, is also replaced by a text. Blocks, and may run ffmpeg: on a worker. */
enum pl_status pl_media_inline(struct pl_store *store, struct pl_arena *arena,
                               const struct pl_inline_opts *opts, struct pl_str turns,
                               struct pl_inlined *ret_inlined, struct pl_error *err);

/* Appends the bytes of a blob. Blocks: on a worker. */
enum pl_status pl_blob_bytes(struct pl_store *store, const struct pl_blob_row *blob,
                             struct pl_buf *to, struct pl_error *err);

#endif
