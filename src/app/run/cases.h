/* The cases of `parley run --cases FILE`: values for the variables of a prompt, and checks of its
 * answer. CSV: a header line with column names, then a row for each case. JSON Lines: an object for
 * each case.
 *
 * A column is a variable of the prompt, or "expect": a check as in --expect. There may be several
 * columns "expect"; in JSON it may be a list. The whole file is read, and errors are reported with
 * their position, before the first request. */
#ifndef PL_APP_RUN_CASES_H
#define PL_APP_RUN_CASES_H

#include "app/run/asked.h"
#include "app/run/check.h"

enum { PL_RUN_MAX_CASES = 10000 };

struct pl_run_case {
    size_t line;                  /* where it begins in the file */
    struct pl_render_var *values; /* owned by the deed */
    size_t n_values;
    struct pl_run_checks checks; /* owned; only for this case */
    struct pl_asked asked;
};

struct pl_run_cases {
    const char *name;                /* file name, for messages */
    PL_VEC(struct pl_run_case) list; /* owned */
};

/* Reads the file and fills in the prompt for each case. --var supplies values that the case lacks.
 * Prints the error unless it returns PL_EXIT_OK. The caller deinitialises *cases in either case. */
enum pl_exit pl_run_cases_read(struct pl_deed *deed, const char *path,
                               const struct pl_asked_source *source, struct pl_run_cases *cases);
void pl_run_cases_deinit(struct pl_run_cases *cases);

#endif
