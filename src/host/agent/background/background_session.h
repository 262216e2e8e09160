/* A message to a new session on behalf of a user, and its result: a prompt that is run, or a task
 * that is due. The session may begin with existing turns (the examples of a prompt); then the
 * message is sent, and the work is over when the session is at rest.
 *
 *     pl_background_session_send -> [created: durable, `started`] -> [at rest: `done`]
 *
 * Meanwhile anybody may stop, delete or follow the session, like any other. */
#ifndef PL_AGENT_BACKGROUND_SESSION_H
#define PL_AGENT_BACKGROUND_SESSION_H

#include "agent/driver.h"

struct pl_background_session {
    /* Filled in by the caller; strings live as long as this object: */
    struct pl_shard *home;           /* borrowed; callbacks are called here */
    struct pl_session_record record; /* user_id, intent, model, memory_enabled, is_persistent …;
                                        pl_background_session_send sets id and times if they are
                                        empty */
    const struct pl_turn_row *turns; /* the initial turns; they get new ids. NULL: none */
    size_t n_turns;
    struct pl_str key_id;  /* of the requester, for the limits; may be empty */
    struct pl_str message; /* JSON: the message; a string or blocks */
    struct pl_str
        override; /* JSON: values of the message that replace the session's own; or empty */
    struct pl_str trace_id; /* W3C, of the request that caused it; empty: a new one */
    bool waits_for_person;  /* a session that waits for an answer is not at rest */
    /* Adds writes to the transaction that creates the session; may be NULL. On the session's
     * shard. */
    void (*extend)(struct pl_background_session *background, struct pl_batch *batch);
    /* Durable, or refused (background->problem); may be NULL. After a refusal `done` is not
     * called. */
    void (*started)(struct pl_background_session *background);
    /* The session is at rest: `status`. Always the last call. NULL: nobody waits, and `started` is
     * the last. */
    void (*done)(struct pl_background_session *background);
    void *ctx;

    /* The result: */
    enum pl_problem problem; /* PL_PROBLEM_COUNT: none */
    struct pl_error err;
    enum pl_session_status status;
    /* Private: */
    struct pl_id id;
    struct pl_session_event says;
    struct pl_session_command command;
};

/* On home's thread. The object must live until its last callback. */
void pl_background_session_send(struct pl_background_session *background);
/* Waits for a session that already runs (after a restart, or started by someone else): calls `done`
 * when it is at rest. record.id and record.user_id identify it. */
void pl_background_session_wait(struct pl_background_session *background);

#endif
