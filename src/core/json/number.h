/* JSON numbers by their spelling: exact decimal comparison and divisibility, whatever the size. */
#ifndef PL_JSON_NUMBER_H
#define PL_JSON_NUMBER_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* -1, 0, 1 by mathematical value; 1.0 equals 1, 1e2 equals 100, -0 equals 0. Exact for any
 * exponent. */
int pl_json_number_cmp(struct pl_str a, struct pl_str b);

/* No fractional part: 1.0 and 1e2 are integers, 1.5 and 1e-1 are not. */
bool pl_json_number_is_integer(struct pl_str number);

/* Whether a / b is an integer, exactly. b is greater than 0 (the schema compiler has checked) and
 * has at most 1,000 significant digits (the parser allows 128); false for longer ones. */
bool pl_json_number_is_multiple(struct pl_str a, struct pl_str b);

/* The value as int64; false unless it is an integer that fits. */
bool pl_json_number_int64(struct pl_str number, int64_t *ret_value);

/* Nearest double; infinite when too large. Independent of the locale. */
double pl_json_number_double(struct pl_str number);

/* Same value, same hash: over the normalised digits and exponent. */
uint64_t pl_json_number_hash(struct pl_str number);

#endif
