/* The cases of `parley run --cases FILE`: values for the variables of a prompt, and what its answer
 * must be. CSV: a row for each case below the names of the columns. JSON Lines: an object for each.
 *
 * A column is a variable of the prompt, or "expect": a check as of --expect. There may be several
 * columns "expect"; in JSON it may be a list. A file is read whole, and each mistake has its place,
 * before anything is asked. */
#ifndef PL_APP_RUN_CASES_H
#define PL_APP_RUN_CASES_H

#include "app/run/asked.h"
#include "app/run/check.h"

enum { PL_RUN_MAX_CASES = 10000 };

struct pl_run_case {
    size_t line;                  /* where it begins in the file */
    struct pl_render_var *values; /* of the deed */
    size_t n_values;
    struct pl_run_checks checks; /* owned; its own */
    struct pl_asked asked;
};

struct pl_run_cases {
    const char *name;                /* of the file, for messages */
    PL_VEC(struct pl_run_case) list; /* owned */
};

/* Reads the file and fills in the prompt for each case, with the values of --var where the case has
 * none. Anything but PL_EXIT_OK has been explained. *cases is to be deinitialised either way. */
enum pl_exit pl_run_cases_read(struct pl_deed *deed, const char *path,
                               const struct pl_asked_source *source, struct pl_run_cases *cases);
void pl_run_cases_deinit(struct pl_run_cases *cases);

#endif
