/* Members that a writer does not know, on their way through a repair of a document of its own
 * format.
 *
 * An element that a repair changed is written anew, by a writer that knows only the members of the
 * conversation. Its source may have others: extensions, members that are newer than the writer.
 * They are added at the end of the object that the writer made of theirs. */
#ifndef PL_FORMAT_GRAFT_H
#define PL_FORMAT_GRAFT_H

#include "format/writer.h"

struct pl_graft {
    struct pl_conv *conv;           /* borrowed */
    const struct pl_json_doc *made; /* borrowed; what the writer wrote */
    uint32_t *partners;             /* arena; by node of `made`: a node of the source + 1, or 0 */
};

/* Finds the object of the source for each object of `made`: the links of `w` connect their values.
 * Linear. */
enum pl_status pl_graft_init(struct pl_graft *graft, const struct pl_writer *w,
                             const struct pl_json_doc *made);
/* Appends the text of a value of `made`, with the members of its source that have no fate. They are
 * then SAID. */
enum pl_status pl_graft_put(struct pl_graft *graft, const struct pl_json_node *value,
                            struct pl_buf *to);

#endif
