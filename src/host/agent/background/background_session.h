/* Something said to a new session on a user's behalf, and what became of it: a prompt that is run,
 * a task that is due. The session may begin with turns that are there already (the examples of a
 * prompt); then the message is said, and when the session has come to rest it is over.
 *
 *     pl_background_session_send -> [created: durable, `started`] -> [at rest: `done`]
 *
 * Stopping, deleting or listening to the session in between is anybody's as with every session. */
#ifndef PL_AGENT_BACKGROUND_SESSION_H
#define PL_AGENT_BACKGROUND_SESSION_H

#include "agent/driver.h"

struct pl_background_session {
    /* Filled in by the caller; strings live as long as this: */
    struct pl_shard *home;           /* borrowed; callbacks come here */
    struct pl_session_record record; /* user_id, intent, model, memory_enabled, is_persistent … ; id
                                        and times are made by pl_background_session_send where they are empty */
    const struct pl_turn_row
        *turns; /* what the session begins with; ids are made new. NULL: nothing */
    size_t n_turns;
    struct pl_str key_id;  /* of who asked for it: whose limits count; may be empty */
    struct pl_str message; /* JSON: what is said; a string or blocks */
    struct pl_str
        override; /* JSON: what the message says in place of the session's own; or empty */
    struct pl_str trace_id; /* W3C, of the request that caused it; empty: a new one */
    bool waits_for_person;  /* a session that waits for an answer is not at rest yet */
    /* Adds to the transaction that makes the session; may be NULL. On the session's shard. */
    void (*extend)(struct pl_background_session *background, struct pl_batch *batch);
    /* Durable, or refused (background->problem); may be NULL. After a refusal `done` does not come. */
    void (*started)(struct pl_background_session *background);
    /* The session is at rest: `status`. Always the last call. NULL: nobody waits, and `started` is
     * the last. */
    void (*done)(struct pl_background_session *background);
    void *ctx;

    /* What became of it: */
    enum pl_problem problem; /* PL_PROBLEM_COUNT: none */
    struct pl_error err;
    enum pl_session_status status;
    /* Its own: */
    struct pl_id id;
    struct pl_session_event says;
    struct pl_session_command command;
};

/* On home's thread. It must live until the last of its callbacks. */
void pl_background_session_send(struct pl_background_session *background);
/* Waits for a session that already runs (after a restart, or started by someone else): `done` is
 * called when it is at rest. record.id and record.user_id identify it. */
void pl_background_session_wait(struct pl_background_session *background);

#endif
