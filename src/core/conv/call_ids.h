/* Ids for tool calls that have none: some formats pair a result with its call by name and order
 * only, others require an id on both. */
#ifndef PL_CONV_CALL_IDS_H
#define PL_CONV_CALL_IDS_H

#include "base/map.h"
#include "conv/conv.h"

/* Gives every call and every result a non-empty id. A call without one gets "call_N" by its
 * position among all calls (the next free number when the source uses that id), or the id of a
 * result of its name that answers no other call; it is reported as synthesised. A result without
 * one gets the id of the first unanswered call of its name, otherwise a new id. Same input, same
 * ids. Linear. Running out of memory is in conv->status. */
void pl_conv_give_ids(struct pl_conv *conv);

/* The call of each result, by id. Vendors let a later turn use an id again: the call is then the
 * nearest one before the result, or the nearest one after it if there is none before. Linear.
 * Running out of memory is in conv->status. The conversation must not get new parts while the index
 * is used. */
struct pl_call_index {
    uint32_t *calls; /* arena; by part, for a result: the part of its call + 1, or 0 */
    size_t n_parts;
};
void pl_call_index_init(struct pl_call_index *index, struct pl_conv *conv);
/* The call of a result among the parts of the conversation, or NULL. */
const struct pl_part *pl_call_index_find(const struct pl_call_index *index,
                                         const struct pl_conv *conv, const struct pl_part *result);

#endif
