/* What an answer of `parley run` must be: --expect, --schema and the checks of a case, read before
 * anything is asked, and applied to each answer. */
#ifndef PL_APP_RUN_CHECK_H
#define PL_APP_RUN_CHECK_H

#include "app/frame/verbs.h"

struct pl_run_check;

struct pl_run_checks {
    PL_VEC(struct pl_run_check) list; /* owned */
    struct pl_str schema;             /* of the deed: the text of --schema FILE; empty: none */
};

/* Those of the command line. Anything but PL_EXIT_OK has been explained. *checks is to be
 * deinitialised either way. */
enum pl_exit pl_run_checks_read(struct pl_deed *deed, struct pl_run_checks *checks);
/* Adds one: "contains:TEXT" and the like. PL_USAGE: it is none, and err says what one is, as what
 * follows the word "expect"; anything else is about a file that it names. */
enum pl_status pl_run_checks_add(struct pl_deed *deed, struct pl_run_checks *checks,
                                 struct pl_str text, struct pl_error *err);
void pl_run_checks_deinit(struct pl_run_checks *checks);

/* The check as it was written: "contains:moon". */
const char *pl_run_check_text(const struct pl_run_checks *checks, size_t i);

/* PL_EXIT_NO: the answer fails the i-th check, and `why` has a line for each reason. Anything else
 * but PL_EXIT_OK has been explained. */
enum pl_exit pl_run_check_apply(const struct pl_run_checks *checks, size_t i, struct pl_deed *deed,
                                struct pl_str text, struct pl_buf *why);

#endif
