/* Converts a spec (cell.h) to the plan for `parley cell` (plan.h). */
#ifndef PL_EXT_CELL_PREPARE_INT_H
#define PL_EXT_CELL_PREPARE_INT_H

#include "ext/cell/plan.h"

struct pl_cell_prepared {
    struct pl_arena arena;
    struct pl_cell_plan plan; /* arena; its mounts' descriptors are owned */
};

/* Checks the spec, opens its files, adds protected paths and variables. PL_USAGE: err has the
 * error. Free it in any case. */
enum pl_status pl_cell_prepare(const struct pl_cell_spec *spec,
                               struct pl_cell_prepared *ret_prepared, struct pl_error *err);
void pl_cell_prepared_deinit(struct pl_cell_prepared *prepared);

#endif
