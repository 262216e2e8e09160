/* Merging one value into another: RFC 7396. */
#ifndef PL_JSON_MERGE_H
#define PL_JSON_MERGE_H

#include "base/buf.h"
#include "json/json.h"

/* Appends what becomes of `n` (NULL: nothing is there yet) when the patch is merged into it, without
 * white space: members of an object are merged one by one, null takes one away, and anything else
 * takes the place of what was there. Memory of the arena for keys. PL_NOMEM. */
enum pl_status pl_json_merge_write(struct pl_arena *arena, struct pl_buf *to,
                                   const struct pl_json_doc *doc, const struct pl_json_node *n,
                                   const struct pl_json_doc *patch_doc,
                                   const struct pl_json_node *patch);

#endif
