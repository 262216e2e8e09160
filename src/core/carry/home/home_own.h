/* Inside the way home: values that only the source can express. The target lacks them, so comparing
 * with the target does not show whether the result still has them. */
#ifndef PL_CARRY_HOME_OWN_H
#define PL_CARRY_HOME_OWN_H

#include "carry/home/home_int.h"

struct pl_home_own_value;
struct pl_home_own {
    const struct pl_leg *leg;         /* borrowed; open */
    struct pl_home_own_value *values; /* arena */
    size_t n;
    bool is_replaced; /* pl_home_find_replaced() */
};

/* Finds the values that this conversion left out of its target. */
enum pl_status pl_home_find_own(struct pl_home_own *own, struct pl_arena *arena,
                                struct pl_leg *leg);
/* Whether an element that is still there lost such a value: the result has its longest text as
 * often as the source. A deleted element has lost nothing. If its text is unknown, it may have been
 * changed: then it is lost if elements were replaced. */
enum pl_status pl_home_loses_own(struct pl_arena *arena, struct pl_home_own *source,
                                 struct pl_home_own *result, bool *ret_loses);

/* Whether a list of the target has an element more and lacks one that it had: this may be one element
 * that changed. `found` are the differences of the converted source and the target. */
enum pl_status pl_home_find_replaced(struct pl_arena *arena, const struct pl_json_doc *target,
                                     const struct pl_differences *found, bool *ret_is_found);

#endif
