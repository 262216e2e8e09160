/* An answer of `parley run` held to its checks. */
#ifndef PL_APP_RUN_RESULT_H
#define PL_APP_RUN_RESULT_H

#include "app/run/answering.h"
#include "app/run/check.h"

struct pl_run_verdict {
    const char *check; /* as it was written */
    bool is_passed;
    struct pl_str why; /* of the deed: a line for each reason; empty: it passed */
};

struct pl_run_result {
    struct pl_run_answer answer;
    struct pl_run_verdict *verdicts; /* of the deed; none for an answer that failed */
    size_t n_verdicts;
    bool is_passed; /* the answer is complete, and passes every check */
};

/* Holds an answer to two lists of checks, of which the second may be NULL. Anything but PL_EXIT_OK
 * has been explained; that it fails one is no error. */
enum pl_exit pl_run_judge(struct pl_deed *deed, const struct pl_run_answer *answer,
                          const struct pl_run_checks *common, const struct pl_run_checks *own,
                          struct pl_run_result *ret_result);

/* Says in a line for each why it did not pass. `place` comes first; NULL: the model does. */
void pl_run_result_explain(struct pl_deed *deed, const char *place,
                           const struct pl_run_result *result);

/* An object for machines: model, status, text, error, duration_ms, usage, cost_usd, passed, checks. */
void pl_run_result_out(struct pl_json_out *out, const struct pl_run_result *result);

#endif
