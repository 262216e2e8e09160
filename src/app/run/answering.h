/* Model calls of `parley run`: each has a session, which is deleted after the answer, or if the
 * command is interrupted. */
#ifndef PL_APP_RUN_ANSWERING_H
#define PL_APP_RUN_ANSWERING_H

#include "app/run/asked.h"

#include <pthread.h>

enum { PL_RUN_MAX_MODELS = 8, PL_RUN_AT_ONCE = 8 };

/* The answer of a model, and its usage. */
struct pl_run_answer {
    const char *model;  /* owned by the deed; NULL: the server's default */
    bool is_complete;   /* it ended normally */
    const char *why;    /* owned by the deed: why it is incomplete; NULL if it is complete */
    struct pl_str text; /* owned by the deed */
    int64_t input_tokens, output_tokens, duration_ms;
    bool has_cost; /* the server knows the price */
    double cost_usd;
};

/* A signal may come at any time: it stops running calls and leaves no session. */
struct pl_answering {
    struct pl_deed *deed;
    struct {
        const char *model;
        const char *session_id; /* owned by the deed; NULL: free */
    } slots[PL_RUN_AT_ONCE];
    /* Held while sessions are created or deleted: the signal waits for their ids. */
    pthread_mutex_t lock;
};

/* All functions here print the error unless they return PL_EXIT_OK. */
enum pl_exit pl_answering_open(struct pl_answering *at_work, struct pl_deed *deed);
/* Deletes the remaining sessions. From here on a signal finds nothing to do, and waits. */
void pl_answering_close(struct pl_answering *at_work);

/* Asks a model (NULL: the prompt's or the server's) in a free slot. */
enum pl_exit pl_answering_begin(struct pl_answering *at_work, size_t slot,
                                const struct pl_asked *asked, const char *model);
/* Prints the answer as it arrives. PL_EXIT_NO if it failed, after printing why. */
enum pl_exit pl_answering_show(struct pl_answering *at_work, size_t slot);
/* Waits for the answer without output. PL_EXIT_OK also if it failed: the answer has the reason. */
enum pl_exit pl_answering_wait(struct pl_answering *at_work, size_t slot,
                               struct pl_run_answer *ret_answer);
/* Reads the answer in a slot after it ended. */
enum pl_exit pl_answering_read(struct pl_answering *at_work, size_t slot,
                               struct pl_run_answer *ret_answer);
/* Deletes the session and frees the slot. */
void pl_answering_forget(struct pl_answering *at_work, size_t slot);

/* "1.2 s, 12 tokens in, 34 out, $0.0012", owned by the deed; NULL if out of memory. */
const char *pl_run_answer_sum(struct pl_deed *deed, const struct pl_run_answer *answer);

#endif
