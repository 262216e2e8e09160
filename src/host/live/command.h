/* Commands to a session, from any shard: how the rest of the server talks to it. The driver of the
 * session carries a command out, on the session's shard; that is agent/, and server/ passes its
 * functions to this room. */
#ifndef PL_LIVE_COMMAND_H
#define PL_LIVE_COMMAND_H

#include "http/reply/problem.h"
#include "session/session.h"
#include "shard/shard.h"
#include "shard/tracing.h"
#include "store/store.h"

enum pl_command_kind {
    PL_COMMAND_CREATE, /* event unused; `record` is the new session, `says` its first messages;
                          reply: the Session after all that */
    PL_COMMAND_EVENT,  /* any event a user may send; reply: out.reply */
    PL_COMMAND_LOOK, /* reply: {"session":…,"open_turns":[…],"questions":[…],"queue":[…]} */
    PL_COMMAND_SUBSCRIBE, /* since, subscription; reply: as LOOK, or a replay */
    PL_COMMAND_DELETE,    /* stops it, deletes it, tells its listeners */
    PL_COMMAND_REST, /* answered when the session has no activity any more; `status` says how it
                        ended. PL_PROBLEM_OVERLOADED: the server stopped first */
};

/* How a listener catches up. */
enum pl_resume {
    PL_RESUME_REPLAY,    /* exactly the events that were missed */
    PL_RESUME_COMPACTED, /* the turns that changed since, whole */
    PL_RESUME_SNAPSHOT,  /* the session and its newest turns */
};

/* Where a command is, and so whose it is; the diagram is in command.c. */
enum pl_command_state {
    PL_COMMAND_STATE_NEW,
    PL_COMMAND_STATE_SENT,     /* a letter to the session's shard */
    PL_COMMAND_STATE_OPENED,   /* the driver of the session has it */
    PL_COMMAND_STATE_ANSWERED, /* a letter home */
    PL_COMMAND_STATE_HOME,
};

/* Embedded or heap-allocated by the sender; belongs to the driver until `done`, which is called on
 * the sender's shard. Strings of the event must live as long as the command (its arena, or the
 * exchange's). The answer is given only when everything it says is durable. */
struct pl_session_command {
    struct pl_letter letter;
    enum pl_command_state state;
    enum pl_command_kind kind;
    struct pl_shard *home; /* who asks; borrowed */
    struct pl_str user_id; /* {NULL, 0}: the service itself */
    struct pl_str session_id;
    struct pl_session_event event;       /* its seed is set by the driver */
    struct pl_session_record record;     /* of CREATE */
    const struct pl_session_event *says; /* CREATE: CHAT events for it, in this order; borrowed */
    size_t n_says;
    struct pl_span by;  /* the request it comes from, for who works on it; zeros: none */
    bool is_kept;       /* DELETE: the user can have the session back for a while */
    int64_t if_version; /* the version If-Match named, for a change or a DELETE; -1: any */
    /* Adds to the transaction once the answer is known; may be NULL. Called on the session's shard.
     */
    void (*extend)(struct pl_session_command *command, struct pl_batch *batch);
    void (*done)(struct pl_session_command *command);

    /* subscribe */
    bool has_since;
    int64_t since_epoch, since_sequence;
    struct pl_subscription *subscription; /* live/listener.h */
    enum pl_resume resume;                /* how; with REPLAY the reply is encoded frames */
    uint32_t n_frames;

    bool is_admitted;      /* EVENT: extensions have seen the message … */
    char *own_text;        /* … and this, owned, is in its place; NULL: it is as it was */
    bool waits_for_person; /* REST: a session that waits for an answer is not at rest */

    /* The answer: */
    enum pl_session_status status; /* of REST */
    enum pl_problem problem;       /* PL_PROBLEM_COUNT: none */
    struct pl_error err;
    struct pl_buf reply; /* JSON; owned by the command */
    int64_t epoch, position, version;
    int64_t before;     /* EVENT: the position it found */
    int64_t next_entry; /* turns with a lower sequence, except the open ones, are in the store */
    struct pl_session_command *next; /* the driver's */
};

void pl_session_command_init(struct pl_session_command *command, enum pl_command_kind kind,
                             struct pl_shard *home, struct pl_str user_id,
                             struct pl_str session_id);
/* It was never sent, or is home again. */
void pl_session_command_deinit(struct pl_session_command *command);
/* Posts it to the session's shard. */
void pl_session_command_send(struct pl_session_command *command);

/* For the driver of the session: takes it out of its letter; sends it back with its answer; the
 * same without a letter, when this is the last thread. */
struct pl_session_command *pl_session_command_open(struct pl_letter *letter);
void pl_session_command_answer(struct pl_session_command *command);
void pl_session_command_answer_here(struct pl_session_command *command);

/* The functions of the room that drives sessions. Both letters are opened on the session's
 * shard. */
struct pl_session_owner {
    void (*open_command)(struct pl_letter *letter);  /* of a struct pl_session_command */
    void (*open_unlisten)(struct pl_letter *letter); /* of a struct pl_subscription: counts the
                                                        listener off and frees it */
};

#endif
