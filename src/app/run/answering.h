/* Models at work for `parley run`: a session for each, which is deleted when it has answered, or
 * when the command is asked to end before. */
#ifndef PL_APP_RUN_ANSWERING_H
#define PL_APP_RUN_ANSWERING_H

#include "app/run/asked.h"

#include <pthread.h>

enum { PL_RUN_MAX_MODELS = 8, PL_RUN_AT_ONCE = 8 };

/* What a model answered, and what it took. */
struct pl_run_answer {
    const char *model;  /* of the deed; NULL: the server's */
    bool is_complete;   /* it ended as it should */
    const char *why;    /* of the deed: why it did not; NULL: it did */
    struct pl_str text; /* of the deed */
    int64_t input_tokens, output_tokens, duration_ms;
    bool has_cost; /* the server knows the price */
    double cost_usd;
};

/* A signal may come at any time: it stops what is under way and leaves no session. */
struct pl_answering {
    struct pl_deed *deed;
    struct {
        const char *model;
        const char *session_id; /* of the deed; NULL: there is none */
    } slots[PL_RUN_AT_ONCE];
    pthread_mutex_t
        lock; /* held while sessions come and go: the signal waits until ids are known */
};

/* Anything but PL_EXIT_OK has been explained, here and below. */
enum pl_exit pl_answering_open(struct pl_answering *at_work, struct pl_deed *deed);
/* Deletes what is left. From here on a signal finds nothing to do, and waits. */
void pl_answering_close(struct pl_answering *at_work);

/* Asks a model (NULL: the prompt's or the server's); it answers in the slot, which is free. */
enum pl_exit pl_answering_begin(struct pl_answering *at_work, size_t slot,
                                const struct pl_asked *asked, const char *model);
/* Prints the answer as it arrives; PL_EXIT_NO when it failed, which has been said. */
enum pl_exit pl_answering_show(struct pl_answering *at_work, size_t slot);
/* Waits for the answer without a word. PL_EXIT_OK also when it failed: the answer says so. */
enum pl_exit pl_answering_wait(struct pl_answering *at_work, size_t slot,
                               struct pl_run_answer *ret_answer);
/* What was answered in a slot whose answer is over. */
enum pl_exit pl_answering_read(struct pl_answering *at_work, size_t slot,
                               struct pl_run_answer *ret_answer);
/* Deletes the session; the slot is free. */
void pl_answering_forget(struct pl_answering *at_work, size_t slot);

/* "1.2 s, 12 tokens in, 34 out, $0.0012", of the deed; NULL when out of memory. */
const char *pl_run_answer_sum(struct pl_deed *deed, const struct pl_run_answer *answer);

#endif
