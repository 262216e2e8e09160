/* Commands to a session, from any shard: the rest of the server reaches a session only this way.
 * The driver of the session (agent/) executes them on the session's shard; server/ passes its
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

/* The position of an answer in the events of its session: epoch and sequence. */
#define PL_POSITION_HEADER "X-Stream-Position"
#define PL_POSITION_FORMAT "%lld:%lld"

enum pl_command_kind {
    PL_COMMAND_CREATE, /* event unused; `record` is the new session, `says` its first messages;
                          reply: the Session after them */
    PL_COMMAND_EVENT,  /* any event that a user may send; reply: out.reply */
    PL_COMMAND_LOOK, /* reply: {"session":…,"open_turns":[…],"questions":[…],"queue":[…]} */
    PL_COMMAND_SUBSCRIBE, /* since, subscription; reply: like LOOK, or a replay */
    PL_COMMAND_DELETE,    /* stops the session, deletes it, tells its listeners */
    PL_COMMAND_REST, /* answered when the session has no more activity; `status` says how it ended.
                        PL_PROBLEM_OVERLOADED: the server stopped first */
};

/* How a listener catches up. */
enum pl_resume {
    PL_RESUME_REPLAY,    /* exactly the missed events */
    PL_RESUME_COMPACTED, /* the turns that changed since, complete */
    PL_RESUME_SNAPSHOT,  /* the session and its newest turns */
};

/* The state of a command, which also says who owns it; the diagram is in command.c. */
enum pl_command_state {
    PL_COMMAND_STATE_NEW,
    PL_COMMAND_STATE_SENT,     /* in a letter to the session's shard */
    PL_COMMAND_STATE_OPENED,   /* the driver of the session has it */
    PL_COMMAND_STATE_ANSWERED, /* in a letter back to the sender */
    PL_COMMAND_STATE_HOME,
};

/* Embedded or allocated by the sender. The driver owns it until `done`, which is called on the
 * sender's shard. Strings of the event must live as long as the command (in its arena, or the
 * exchange's). A command is answered only when everything in the answer is durable. */
struct pl_session_command {
    struct pl_letter letter;
    enum pl_command_state state;
    enum pl_command_kind kind;
    struct pl_shard *home; /* the sender's shard; borrowed */
    struct pl_str user_id; /* {NULL, 0}: the service itself */
    struct pl_str session_id;
    struct pl_session_event event;       /* its seed is set by the driver */
    struct pl_session_record record;     /* CREATE */
    const struct pl_session_event *says; /* CREATE: its first CHAT events, in order; borrowed */
    size_t n_says;
    struct pl_span by;  /* the span of the request it comes from; zeros: none */
    bool is_kept;       /* DELETE: the user can restore the session for a while */
    int64_t if_version; /* the version from If-Match, for a change or a DELETE; -1: any */
    struct pl_command_writes writes; /* added to the transaction when the answer is known */
    /* CREATE: adds writes by a function, since a session is created where the request is; else
     * NULL. Called on the session's shard. */
    void (*extend)(struct pl_session_command *command, struct pl_batch *batch);
    void (*done)(struct pl_session_command *command);

    struct pl_node_id asker; /* the node it comes from; zeros: this one */
    int64_t ask;             /* its number on that node */
    size_t n_elsewhere;      /* turns of its user on other nodes, as far as they count */
    int64_t routed_ms;       /* when the search for its owner began; 0: there is no search */

    /* SUBSCRIBE: */
    bool has_since;
    int64_t since_epoch, since_sequence;
    struct pl_subscription *subscription; /* live/listener.h; NULL: another node listens */
    bool wants_whole;      /* for another server, without a subscription: content in every patch */
    enum pl_resume resume; /* how it catches up; the reply of REPLAY is encoded frames, or frames of
                              the wire if it goes to another server (wire/frames_wire.h) */
    uint32_t n_frames;

    bool is_admitted;      /* EVENT: extensions have seen the message … */
    char *own_text;        /* … and replaced its text by this one, owned; NULL: unchanged */
    bool waits_for_person; /* REST: a session that waits for an answer does not rest */

    /* The answer: */
    struct pl_node_id served_by;   /* the node that has the session; zeros: no node has it, or there
                                      are no nodes */
    enum pl_session_status status; /* REST */
    enum pl_problem problem;       /* PL_PROBLEM_COUNT: none */
    struct pl_error err;
    struct pl_buf reply; /* JSON; owned by the command */
    int64_t epoch, position, version;
    enum pl_claim_state claimed; /* state of the claim of `writes` in its transaction */
    int64_t before;              /* EVENT: the position before it */
    int64_t next_entry; /* turns with a lower sequence, except the open ones, are in the store */
    struct pl_session_command *next; /* the driver's */
};

void pl_session_command_init(struct pl_session_command *command, enum pl_command_kind kind,
                             struct pl_shard *home, struct pl_str user_id,
                             struct pl_str session_id);
/* Call before it is sent, or after it is back. */
void pl_session_command_deinit(struct pl_session_command *command);
/* Sends it to the session's shard. */
void pl_session_command_send(struct pl_session_command *command);

/* For the driver of the session. Takes a command out of its letter; sends it back with its answer;
 * the same without a letter, if this is the last thread. */
struct pl_session_command *pl_session_command_open(struct pl_letter *letter);
void pl_session_command_answer(struct pl_session_command *command);
void pl_session_command_answer_here(struct pl_session_command *command);

/* For a command that came from another node. The first function opens it without a letter; the
 * second ends it unanswered, if nothing was done. */
void pl_session_command_enter(struct pl_session_command *command);
void pl_session_command_give_up(struct pl_session_command *command);

/* The functions of the room that drives sessions. Both letters are opened on the session's
 * shard. */
struct pl_session_owner {
    void (*open_command)(struct pl_letter *letter);  /* of a struct pl_session_command */
    void (*open_unlisten)(struct pl_letter *letter); /* of a struct pl_subscription: removes the
                                                        listener and frees it */
    /* For the room that knows the nodes (session_home.h), on the session's shard: */
    void (*carry_out)(struct pl_session_command *command); /* a command that is already open */
    /* True if the session is not in memory: it never was, or nobody needs it there. If it was,
     * pl_session_home.left is called later. */
    bool (*let_go)(struct pl_shard *shard, struct pl_str session_id);
    /* A node no longer listens, unless it began again by a later ask than this one. */
    void (*node_left)(struct pl_shard *shard, struct pl_str session_id,
                      const struct pl_node_id *node, int64_t ask);
    /* This node was taken over: drops everything in memory; listeners subscribe again. */
    void (*drop_all)(struct pl_shard *shard);
    /* Publishes nothing until the lease is held again; listeners subscribe again. */
    void (*hush)(struct pl_shard *shard);
    /* Answers a LOOK from the store, for a session that no node owns. */
    void (*look_stored)(struct pl_session_command *command);
};

#endif
