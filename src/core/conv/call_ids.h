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

/* Index of calls by id; if two have the same id, the later one. Running out of memory is in
 * conv->status. The conversation must not get new parts while the index is used. */
struct pl_call_index {
    struct pl_map by_id; /* index of the part + 1 */
};
void pl_call_index_init(struct pl_call_index *index, struct pl_conv *conv);
void pl_call_index_deinit(struct pl_call_index *index);
/* The call with the id of a result, or NULL. */
const struct pl_part *pl_call_index_find(const struct pl_call_index *index, struct pl_conv *conv,
                                         struct pl_val id);

#endif
