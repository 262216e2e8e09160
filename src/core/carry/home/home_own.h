/* Inside the way home: what only the source can express. The target does not have it, so that comparing
 * with the target does not show whether the result still has it. */
#ifndef PL_CARRY_HOME_OWN_H
#define PL_CARRY_HOME_OWN_H

#include "carry/home/home_int.h"

struct pl_home_own_value;
struct pl_home_own {
    struct pl_json_doc doc;                 /* arena */
    const struct pl_home_own_value *values; /* arena */
    size_t n;
};

/* What this conversion has left out of its target. */
enum pl_status pl_home_find_own(struct pl_home_own *own, struct pl_arena *arena,
                                struct pl_leg *leg);
/* Whether an element of the source has lost such a value although it is still there: the result has its
 * longest text as often as the source. An element that was deleted has lost nothing. */
enum pl_status pl_home_loses_own(struct pl_arena *arena, const struct pl_home_own *source,
                                 const struct pl_home_own *result, bool *ret_loses);

#endif
