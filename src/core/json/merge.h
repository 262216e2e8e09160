/* Merging one value into another: RFC 7396. */
#ifndef PL_JSON_MERGE_H
#define PL_JSON_MERGE_H

#include "base/buf.h"
#include "json/json.h"

/* Appends the result of merging the patch into `n` (NULL: nothing yet), without white space.
 * Members of an object are merged one by one; null removes a member; any other value replaces the
 * old one. Keys are decoded into the arena. PL_NOMEM. */
enum pl_status pl_json_merge_write(struct pl_arena *arena, struct pl_buf *to,
                                   const struct pl_json_doc *doc, const struct pl_json_node *n,
                                   const struct pl_json_doc *patch_doc,
                                   const struct pl_json_node *patch);

#endif
