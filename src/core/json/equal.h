/* Structural equality: compares the meaning of two JSON values, not their spelling. */
#ifndef PL_JSON_EQUAL_H
#define PL_JSON_EQUAL_H

#include "json/json.h"

/* Members may be in any order; numbers are compared by value, strings by their decoded text. Linear
 * time for objects with unique keys. Allocates only for objects with more than a few members. The
 * answer is exact; PL_NOMEM is the only failure. A duplicate key counts with its last value. A lone
 * surrogate reads as U+FFFD, as always when a string is decoded. */
enum pl_status pl_json_equal(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                             const struct pl_json_doc *b_doc, const struct pl_json_node *b,
                             bool *ret_equal);

/* Equal values have equal hashes (member order does not matter). Allocates nothing. Different
 * hashes mean different values; equal hashes need a comparison, since of an object with more than
 * 32 members only 32 are hashed. Keyed: a hash means nothing outside this process. */
uint64_t pl_json_value_hash(const struct pl_json_doc *doc, const struct pl_json_node *n);

#endif
