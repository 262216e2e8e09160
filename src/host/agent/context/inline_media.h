/* Media of a session on their way to a model, or into an export. The turns refer to blobs; here
 * their bytes are put in as data, because no vendor can fetch them from this server. */
#ifndef PL_AGENT_CONTEXT_INLINE_MEDIA_H
#define PL_AGENT_CONTEXT_INLINE_MEDIA_H

#include "store/work.h"

/* Bytes of media that one request may have; vendors take about as much. */
#define PL_INLINE_MAX_BYTES ((int64_t)20 << 20)

/* The same of an export, which a person reads. */
#define PL_INLINE_MAX_EXPORT ((int64_t)64 << 20)

struct pl_inline_opts {
    struct pl_str user_id;
    int64_t max_bytes; /* of media in all; the oldest images are left out first, then the rest */
    /* Of the images before the newest message, in all: the oldest are left out first; -1: any
     * number. */
    int64_t max_tokens;
    bool is_upright; /* images are turned as they say; they no longer say it then */
};

/* Arena memory. */
struct pl_inlined {
    struct pl_str turns; /* the same, or with data and with words in the place of media */
    /* Media that was left out or changed: a JSON array of {"turn_id", "kind", "name"?, "blob" |
     * "url", "effect": "left_out" | "gone" | "not_turned", "detail"}. Empty: none was. */
    struct pl_str notes;
    struct pl_str words;     /* the same as a sentence */
    struct pl_str new_words; /* … of the newest message, and of what came after it */
    uint64_t n_old_tokens;   /* of the images before the newest message that are in */
    uint64_t n_most_tokens;  /* of all media that are in: more than they can have */
};

/* `turns` is a JSON array of TurnProjection. A blob that is gone, or was never the user's, is named
 * in words too. Blocking, and it may run ffmpeg: on a worker. */
enum pl_status pl_media_inline(struct pl_store *store, struct pl_arena *arena,
                               const struct pl_inline_opts *opts, struct pl_str turns,
                               struct pl_inlined *ret_inlined, struct pl_error *err);

/* Appends the bytes of a blob. Blocking: on a worker. */
enum pl_status pl_blob_bytes(struct pl_store *store, const struct pl_blob_row *blob,
                             struct pl_buf *to, struct pl_error *err);

#endif
