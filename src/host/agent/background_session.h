/* Something said to a new session on a user's behalf, and what became of it: a prompt that is run,
 * a task that is due. The session may begin with turns that are there already (the examples of a
 * prompt); then the message is said, and when the session has come to rest the errand is over.
 *
 *     pl_errand_send -> [created: durable, `started`] -> [at rest: `done`]
 *
 * Stopping, deleting or listening to the session in between is anybody's as with every session. */
#ifndef PL_SERVER_ERRAND_H
#define PL_SERVER_ERRAND_H

#include "server/driver.h"

struct pl_errand {
    /* Filled in by the caller; strings live as long as the errand: */
    struct pl_shard *home;           /* borrowed; callbacks come here */
    struct pl_session_record record; /* user_id, intent, model, memory_enabled, is_persistent … ; id
                                        and times are made by pl_errand_send where they are empty */
    const struct pl_turn_row
        *turns; /* what the session begins with; ids are made new. NULL: nothing */
    size_t n_turns;
    struct pl_str message; /* JSON: what is said; a string or blocks */
    bool waits_for_person; /* a session that waits for an answer is not at rest yet */
    /* Adds to the transaction that makes the session; may be NULL. On the session's shard. */
    void (*extend)(struct pl_errand *errand, struct pl_batch *batch);
    /* Durable, or refused (errand->problem); may be NULL. After a refusal `done` does not come. */
    void (*started)(struct pl_errand *errand);
    /* The session is at rest: `status`. Always the last call. NULL: nobody waits, and `started` is
     * the last. */
    void (*done)(struct pl_errand *errand);
    void *ctx;

    /* What became of it: */
    enum pl_problem problem; /* PL_PROBLEM_COUNT: none */
    struct pl_error err;
    enum pl_session_status status;
    /* The errand's own: */
    struct pl_id id;
    struct pl_session_event says;
    struct pl_ask ask;
};

/* On home's thread. The errand must live until the last of its callbacks. */
void pl_errand_send(struct pl_errand *errand);
/* Waits for a session that runs already (after a restart, or a session somebody else began): `done`
 * comes when it is at rest. record.id and record.user_id say which. */
void pl_errand_wait(struct pl_errand *errand);

#endif
