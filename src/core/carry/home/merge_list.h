/* Inside merge.c: a list to merge, cut into blocks. */
#ifndef PL_CARRY_MERGE_LIST_H
#define PL_CARRY_MERGE_LIST_H

#include "base/map.h"
#include "carry/home/merge.h"

/* A list of ours with those of base and theirs.
 *
 * One element of ours may be two in base, or the other way round. So the list is cut into blocks: a
 * block begins with an element of ours that has a partner in base, and ends before the next one.
 * Elements of base without a partner belong to the block around them. */
struct pl_merge_list {
    struct pl_match home;                    /* ours (old) and base (new) */
    struct pl_match edit;                    /* base (old) and theirs (new) */
    uint32_t *block_of_ours, *block_of_base; /* arena */
    bool *is_extra; /* arena; of ours: the other format has no part of it */
    bool *is_early; /* arena; of ours: it has no partner, and is in the block of the next one */
    bool *is_early_base; /* arena; the same of base */
    bool *is_whole;      /* arena; of a block: every element of base is unchanged and in place */
    bool *is_put;        /* arena; of ours */
    struct pl_map ids;   /* owned; of ours: new elements get others */
    uint32_t n_blocks;
};

/* Matches the lists and cuts them. `list` is zero-initialised. PL_NOMEM is the only failure. */
enum pl_status pl_merge_list_cut(struct pl_merge_list *list, const struct pl_merge *merge,
                                 const struct pl_json_node *ours, const struct pl_json_node *base,
                                 const struct pl_json_node *theirs, enum pl_same_place place);

/* Whether element `of` of ours and others of its kind and block may be one element in base: two
 * messages of the assistant, which the target does not tell apart. */
bool pl_merge_list_is_several(const struct pl_merge_list *list, uint32_t of);

#endif
