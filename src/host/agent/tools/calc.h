/* Arithmetic as people write it: 2 + 3 * (4 - 1), 2^10, sqrt(2), max(1, 2, 3).
 *
 *     ^ or **   binds tightest and to the right: 2^3^2 is 2^9, -2^2 is -4
 *     -x +x
 *     * / %     % is the remainder of a division, with the sign of its left operand
 *     + -
 *
 * Integers are exact as long as they fit 64 bits; everything else has the 15 digits of a double. */
#ifndef PL_AGENT_TOOLS_CALC_H
#define PL_AGENT_TOOLS_CALC_H

#include "base/buf.h"
#include "base/status.h"

#define PL_CALC_MAX_TEXT  1000 /* bytes of an expression */
#define PL_CALC_MAX_DEPTH 100  /* brackets and signs that wait for their right operand */

/* Appends the value, a JSON number. PL_INVALID: err has the error and its character. */
enum pl_status pl_calc(struct pl_str expression, struct pl_buf *to, struct pl_error *err);
/* The names of its functions and constants, for people and models: "abs, ceil, …". */
const char *pl_calc_names(void);

#endif
