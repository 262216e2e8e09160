/* The results of all cases: a table for people, an object for programs. */
#ifndef PL_APP_RUN_CASE_TABLE_H
#define PL_APP_RUN_CASE_TABLE_H

#include "app/run/cases.h"
#include "app/run/result.h"

struct pl_run_table {
    struct pl_deed *deed;
    const struct pl_run_cases *cases;
    size_t n_models;
    const struct pl_run_result *results; /* cases × models, row by row */
};

/* Prints the table, then on standard error why cases failed and how many passed. PL_EXIT_NO if any
 * failed. */
enum pl_exit pl_run_table_print(const struct pl_run_table *table);

#endif
