/* The evaluated children of an instance: a stack of bit sets in the run, one bit per member or
 * item. A set is identified by its first word; 0 means not tracked. */
#ifndef PL_SCHEMA_UNEVALUATED_H
#define PL_SCHEMA_UNEVALUATED_H

#include "schema/schema_int.h"

/* Allocates memory for usual sets in advance; false when out of memory. */
bool pl_bits_reserve(struct pl_schema_run *run);

/* A new empty set for the children of n; 0 when out of memory (sets run->status). */
uint32_t pl_bits_push(struct pl_schema_run *run, const struct pl_json_node *n);
/* A copy of the set `from`, to be restored or dropped. */
uint32_t pl_bits_save(struct pl_schema_run *run, uint32_t from, const struct pl_json_node *n);
/* Drops `saved`; if the branch failed, its marks are undone. */
void pl_bits_settle(struct pl_schema_run *run, uint32_t saved, uint32_t track,
                    const struct pl_json_node *n, bool is_kept);
/* Drops the set; adds its bits to `outer` unless that is 0. */
void pl_bits_pop(struct pl_schema_run *run, uint32_t set, uint32_t outer,
                 const struct pl_json_node *n);

static inline void pl_bits_mark(struct pl_schema_run *run, uint32_t track, uint32_t child)
{
    if (track)
        run->bits[track + (child >> 6)] |= (uint64_t)1 << (child & 63);
}

static inline bool pl_bits_has(const struct pl_schema_run *run, uint32_t track, uint32_t child)
{
    return run->bits[track + (child >> 6)] >> (child & 63) & 1;
}

#endif
