/* Structural equality: what two JSON values say, not how they spell it. */
#ifndef PL_JSON_EQUAL_H
#define PL_JSON_EQUAL_H

#include "json/json.h"

/* Members in any order, numbers by value, strings decoded. Objects whose keys are unique are
 * compared in linear time. Allocates only for objects with more than a few members; false positives
 * and negatives are impossible, PL_NOMEM is the only failure. A duplicate key counts with its last
 * value; half a surrogate pair reads as U+FFFD, as everywhere when a string is decoded. */
enum pl_status pl_json_equal(const struct pl_json_doc *a_doc, const struct pl_json_node *a,
                             const struct pl_json_doc *b_doc, const struct pl_json_node *b,
                             bool *ret_equal);

/* Equal values have equal hashes (member order does not matter). Allocates nothing. Of an object
 * with more than 32 members the hash sees 32, so different hashes mean different values but equal
 * ones need a comparison. Keyed: a hash means nothing outside this process. */
uint64_t pl_json_value_hash(const struct pl_json_doc *doc, const struct pl_json_node *n);

#endif
