/* Commands to a session, from any shard: how the rest of the server talks to it. The driver of the
 * session carries a command out, on the session's shard; that is agent/, and server/ passes its
 * functions to this room. */
#ifndef PL_LIVE_COMMAND_H
#define PL_LIVE_COMMAND_H

#include "cluster/node.h"
#include "http/reply/problem.h"
#include "live/command_writes.h"
#include "session/session.h"
#include "shard/shard.h"
#include "shard/tracing.h"
#include "store/store.h"

/* Where an answer of a session is in its events: epoch and position. */
#define PL_POSITION_HEADER "X-Stream-Position"
#define PL_POSITION_FORMAT "%lld:%lld"

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
    struct pl_command_writes writes; /* added to the transaction once the answer is known */
    /* CREATE: the same by a function, since a session is made where the request is; else NULL.
     * Called on the session's shard. */
    void (*extend)(struct pl_session_command *command, struct pl_batch *batch);
    void (*done)(struct pl_session_command *command);

    struct pl_node_id asker; /* the node it comes from; zeros: this one */
    int64_t ask;             /* and its number there */
    size_t n_elsewhere;      /* turns of its user that run on other nodes, as far as they matter */
    int64_t routed_ms;       /* since when its owner is looked for; 0: it is not */

    /* subscribe */
    bool has_since;
    int64_t since_epoch, since_sequence;
    struct pl_subscription *subscription; /* live/listener.h; NULL: the asker listens */
    bool wants_whole;      /* of another server, without a subscription: content in every patch */
    enum pl_resume resume; /* how; with REPLAY the reply is encoded frames, to another server
                              unspelled ones (wire/frames_wire.h) */
    uint32_t n_frames;

    bool is_admitted;      /* EVENT: extensions have seen the message … */
    char *own_text;        /* … and this, owned, is in its place; NULL: it is as it was */
    bool waits_for_person; /* REST: a session that waits for an answer is not at rest */

    /* The answer: */
    struct pl_node_id served_by;   /* the node that has the session; zeros: none has, or no nodes */
    enum pl_session_status status; /* of REST */
    enum pl_problem problem;       /* PL_PROBLEM_COUNT: none */
    struct pl_error err;
    struct pl_buf reply; /* JSON; owned by the command */
    int64_t epoch, position, version;
    enum pl_claim_state claimed; /* how far the claim of `writes` is, in its transaction */
    int64_t before;              /* EVENT: the position it found */
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

/* For a command that came from another node: it is open without a letter; nothing was done, and it is not
 * answered. */
void pl_session_command_enter(struct pl_session_command *command);
void pl_session_command_give_up(struct pl_session_command *command);

/* The functions of the room that drives sessions. Both letters are opened on the session's
 * shard. */
struct pl_session_owner {
    void (*open_command)(struct pl_letter *letter);  /* of a struct pl_session_command */
    void (*open_unlisten)(struct pl_letter *letter); /* of a struct pl_subscription: counts the
                                                        listener off and frees it */
    /* For the room that knows the nodes (session_home.h), on the session's shard: */
    void (*carry_out)(struct pl_session_command *command); /* one that is open already */
    /* Whether the session is not in memory, because it never was or because nobody needs it there.
     * pl_session_home.left follows for one that was. */
    bool (*let_go)(struct pl_shard *shard, struct pl_str session_id);
    /* A node does not listen any more, as far as it did so by its asks up to this one. */
    void (*node_left)(struct pl_shard *shard, struct pl_str session_id,
                      const struct pl_node_id *node, int64_t ask);
    /* This node was taken over: all that is in memory is dropped, and listeners begin again. */
    void (*drop_all)(struct pl_shard *shard);
    /* Nobody is told anything until the lease is held again: listeners begin again. */
    void (*hush)(struct pl_shard *shard);
    /* Answers a LOOK from the store: of a session that is nobody's. */
    void (*look_stored)(struct pl_session_command *command);
};

#endif
