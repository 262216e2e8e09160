/* What an answer of `parley run` must be: --expect and --schema, read before anything is asked, and
 * applied to each answer. */
#ifndef PL_APP_RUN_CHECK_H
#define PL_APP_RUN_CHECK_H

#include "app/frame/verbs.h"

struct pl_run_check;

struct pl_run_checks {
    PL_VEC(struct pl_run_check) list; /* owned */
    struct pl_str schema;             /* of the deed: the text of --schema FILE; empty: none */
};

/* Anything but PL_EXIT_OK has been explained. *checks is to be deinitialised either way. */
enum pl_exit pl_run_checks_read(struct pl_deed *deed, struct pl_run_checks *checks);
void pl_run_checks_deinit(struct pl_run_checks *checks);

/* What a model answered in a session that still exists: its text and what it took. */
struct pl_run_answer {
    struct pl_str text; /* of the deed */
    int64_t input_tokens, output_tokens, duration_ms;
};
enum pl_exit pl_run_answer_read(struct pl_deed *deed, const char *session_id,
                                struct pl_run_answer *ret_answer);

/* PL_EXIT_NO: it fails a check, which is said in a line for each. `name` is the model's. */
enum pl_exit pl_run_checks_apply(const struct pl_run_checks *checks, struct pl_deed *deed,
                                 const char *name, struct pl_str text);

#endif
