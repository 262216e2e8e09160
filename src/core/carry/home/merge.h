/* A three-way merge of JSON values: applies the changes from `base` to `theirs` to `ours`, and
 * keeps every other byte of ours.
 *
 * On the way home ours is the source, base is the old target converted back, and theirs is the new
 * target converted back. Base and theirs have the writer's spelling, and lack everything that the
 * target has no place for. So only their differences change ours. */
#ifndef PL_CARRY_MERGE_H
#define PL_CARRY_MERGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "carry/match.h"
#include "json/json.h"

/* Whether the other format has any of the bytes [off, off + len) of ours. NULL: always true. */
typedef bool pl_merge_is_said_fn(const void *ctx, uint32_t off, uint32_t len);

struct pl_merge {
    struct pl_arena *arena;
    const struct pl_json_doc *ours, *base, *theirs;
    const struct pl_same_bytes *bytes; /* of base and theirs; NULL: unknown */
    enum pl_same_place place;          /* of the values to merge */
    struct pl_labels base_labels, theirs_labels;
    struct pl_str ours_text; /* the original text, including comments */
    pl_merge_is_said_fn *is_said;
    const void *ctx;
    bool is_additive; /* nothing of ours is removed */
    bool is_coarse;   /* a changed list element is taken whole from theirs */
};

/* Appends the merged value: one JSON text. base and theirs may be NULL: absent. PL_NOMEM, PL_LIMIT.
 */
enum pl_status pl_merge_put(const struct pl_merge *merge, struct pl_buf *to,
                            const struct pl_json_node *ours, const struct pl_json_node *base,
                            const struct pl_json_node *theirs);

#endif
