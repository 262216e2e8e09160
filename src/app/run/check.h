/* Checks of an answer of `parley run`: --expect, --schema and the checks of a case. They are parsed
 * before the first request, and applied to each answer. */
#ifndef PL_APP_RUN_CHECK_H
#define PL_APP_RUN_CHECK_H

#include "app/frame/verbs.h"

struct pl_run_check;

struct pl_run_checks {
    PL_VEC(struct pl_run_check) list; /* owned */
    struct pl_str schema; /* owned by the deed: the text of --schema FILE; empty: none */
};

/* Parses the checks of the command line. Prints the error unless it returns PL_EXIT_OK. The caller
 * deinitialises *checks in either case. */
enum pl_exit pl_run_checks_read(struct pl_deed *deed, struct pl_run_checks *checks);
/* Adds a check, such as "contains:TEXT". PL_USAGE if it is not a check; the message continues the
 * word "expect" and says what a check is. Any other failure is about a file that it names. */
enum pl_status pl_run_checks_add(struct pl_deed *deed, struct pl_run_checks *checks,
                                 struct pl_str text, struct pl_error *err);
void pl_run_checks_deinit(struct pl_run_checks *checks);

/* The check as written: "contains:moon". */
const char *pl_run_check_text(const struct pl_run_checks *checks, size_t i);

/* PL_EXIT_NO if the answer fails the i-th check; `why` gets a line for each reason. Prints the
 * error for any other code except PL_EXIT_OK. */
enum pl_exit pl_run_check_apply(const struct pl_run_checks *checks, size_t i, struct pl_deed *deed,
                                struct pl_str text, struct pl_buf *why);

#endif
