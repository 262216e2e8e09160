/* The answers of several models in columns, where the terminal is wide enough for them. */
#ifndef PL_APP_RUN_SIDE_BY_SIDE_H
#define PL_APP_RUN_SIDE_BY_SIDE_H

#include "app/run/result.h"

/* Whether so many answers are shown in columns: at a terminal, each with room for words. */
bool pl_side_by_side_fits(const struct pl_console *console, size_t n_answers);

/* Prints them: the model, the text with its lines broken, and what it took. */
enum pl_exit pl_side_by_side_print(struct pl_deed *deed, const struct pl_run_result *results,
                                   size_t n);

#endif
