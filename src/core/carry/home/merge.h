/* A three-way merge of JSON values: what was changed from `base` to `theirs` is changed in `ours`,
 * and every other byte of ours stays as it is.
 *
 * On the way home ours is the source, base is the old target converted back, and theirs is the new
 * target converted back. Base and theirs have the writer's spelling, and lack what the target has
 * no place for: so what they have in common is no reason to change ours. */
#ifndef PL_CARRY_MERGE_H
#define PL_CARRY_MERGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "json/json.h"

/* Whether the other format has anything of the bytes [off, off + len) of ours. NULL: it has. */
typedef bool pl_merge_is_said_fn(const void *ctx, uint32_t off, uint32_t len);

struct pl_merge {
    struct pl_arena *arena;
    const struct pl_json_doc *ours, *base, *theirs;
    struct pl_str ours_text; /* as it was given: with comments, where it has any */
    pl_merge_is_said_fn *is_said;
    const void *ctx;
    bool is_additive; /* nothing of ours is removed */
    bool is_coarse;   /* an element of a list that changed is taken from theirs whole */
};

/* Appends the merged value: one JSON text. base and theirs may be NULL: absent. PL_NOMEM, PL_LIMIT.
 */
enum pl_status pl_merge_put(const struct pl_merge *merge, struct pl_buf *to,
                            const struct pl_json_node *ours, const struct pl_json_node *base,
                            const struct pl_json_node *theirs);

#endif
