/* Inside the carry. */
#ifndef PL_FORMAT_CARRY_INT_H
#define PL_FORMAT_CARRY_INT_H

#include "format/carry.h"

/* PL_OK when every piece of it has the form that carry.h says; otherwise PL_INVALID, and the
 * message says what is wrong, where in the carry, and what to do. PL_NOMEM. */
enum pl_status pl_carry_check(struct pl_arena *arena, const struct pl_json_doc *carry,
                              struct pl_error *err);

#endif
