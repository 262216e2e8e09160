/* A sketch of a value: the smallest hashes of its word pairs. The share of hashes that two sketches
 * have in common estimates the share of their words. */
#ifndef PL_CARRY_SKETCH_H
#define PL_CARRY_SKETCH_H

#include "base/arena.h"
#include "json/json.h"

struct pl_sketch;

/* In the arena; NULL: out of memory. */
const struct pl_sketch *pl_sketch_of(struct pl_arena *arena, const struct pl_json_doc *doc,
                                     const struct pl_json_node *n);

/* The share of the hashes of both that are in both, from 0 to `whole`. */
uint32_t pl_sketch_common(const struct pl_sketch *a, const struct pl_sketch *b, uint32_t whole);

#endif
