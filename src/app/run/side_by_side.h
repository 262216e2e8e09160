/* Shows the answers of several models in columns if the terminal is wide enough. */
#ifndef PL_APP_RUN_SIDE_BY_SIDE_H
#define PL_APP_RUN_SIDE_BY_SIDE_H

#include "app/run/result.h"

/* Whether this many answers are shown in columns: at a terminal, with columns wide enough for
 * words. */
bool pl_side_by_side_fits(const struct pl_console *console, size_t n_answers);

/* Prints the model, the wrapped text and the usage of each. */
enum pl_exit pl_side_by_side_print(struct pl_deed *deed, const struct pl_run_result *results,
                                   size_t n);

#endif
