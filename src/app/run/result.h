/* An answer of `parley run` with the results of its checks. */
#ifndef PL_APP_RUN_RESULT_H
#define PL_APP_RUN_RESULT_H

#include "app/run/answering.h"
#include "app/run/check.h"

struct pl_run_verdict {
    const char *check; /* as written */
    bool is_passed;
    struct pl_str why; /* owned by the deed: a line for each reason; empty if it passed */
};

struct pl_run_result {
    struct pl_run_answer answer;
    struct pl_run_verdict *verdicts; /* owned by the deed; empty for a failed answer */
    size_t n_verdicts;
    bool is_passed; /* the answer is complete and passes every check */
};

/* Applies two lists of checks to an answer; `own` may be NULL. Prints the error unless it returns
 * PL_EXIT_OK. A failed check is not an error. */
enum pl_exit pl_run_judge(struct pl_deed *deed, const struct pl_run_answer *answer,
                          const struct pl_run_checks *common, const struct pl_run_checks *own,
                          struct pl_run_result *ret_result);

/* Prints a line for each reason why it did not pass. Each begins with `place`, or with the model if
 * `place` is NULL. */
void pl_run_result_explain(struct pl_deed *deed, const char *place,
                           const struct pl_run_result *result);

/* Writes an object: model, status, text, error, duration_ms, usage, cost_usd, passed, checks. */
void pl_run_result_out(struct pl_json_out *out, const struct pl_run_result *result);

#endif
