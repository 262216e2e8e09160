/* Sessions at work: the driver of a session holds its pure state, applies events, commits rows,
 * publishes frames and carries out effects, in that order. It lives on the session's shard; the
 * rest of the server talks to it by asks. */
#ifndef PL_SERVER_DRIVER_H
#define PL_SERVER_DRIVER_H

#include "server/problem.h"
#include "server/shard.h"
#include "session/session.h"

enum pl_ask_kind {
    PL_ASK_CREATE, /* event unused; `record` says what, `says` what is said to it; reply: the
                      Session after all that */
    PL_ASK_EVENT,  /* any event a user may send; reply: out.reply */
    PL_ASK_LOOK,   /* reply: {"session":…,"open_turns":[…],"questions":[…],"queue":[…]} */
    PL_ASK_SUBSCRIBE, /* since, subscription; reply: as LOOK, or a replay */
    PL_ASK_DELETE,    /* stops it, deletes it, tells its listeners */
    PL_ASK_REST, /* answered when nothing is at work in it any more; `status` says how it ended.
                    PL_PROBLEM_OVERLOADED: the server went away first */
};

/* How a listener catches up. */
enum pl_resume {
    PL_RESUME_REPLAY,    /* exactly the events that were missed */
    PL_RESUME_COMPACTED, /* the turns that changed since, whole */
    PL_RESUME_SNAPSHOT,  /* the session and its newest turns */
};

/* Embedded or heap-allocated by the asker; belongs to the driver until `done`, which is called on
 * the asking shard. Strings of the event must live as long as the ask (its arena, or the
 * exchange's). The answer is given only when everything it says is durable. */
struct pl_ask {
    struct pl_letter letter;
    enum pl_ask_kind kind;
    struct pl_shard *home; /* who asks; borrowed */
    struct pl_str user_id; /* {NULL, 0}: the service itself */
    struct pl_str session_id;
    struct pl_session_event event;       /* its seed is set by the driver */
    struct pl_session_record record;     /* of CREATE */
    const struct pl_session_event *says; /* CREATE: CHAT events for it, in this order; borrowed */
    size_t n_says;
    int64_t if_version; /* the version If-Match named, for a change or a DELETE; -1: any */
    /* Adds to the transaction once the answer is known; may be NULL. Called on the session's shard.
     */
    void (*extend)(struct pl_ask *ask, struct pl_batch *batch);
    void (*done)(struct pl_ask *ask);

    /* subscribe */
    bool has_since;
    int64_t since_epoch, since_sequence;
    struct pl_subscription *subscription; /* see live.h */
    enum pl_resume resume;                /* how; with REPLAY the reply is spelled frames */
    uint32_t n_frames;

    bool waits_for_person; /* REST: a session that waits for an answer is not at rest */

    /* The answer: */
    enum pl_session_status status; /* of REST */
    enum pl_problem problem;       /* PL_PROBLEM_COUNT: none */
    struct pl_error err;
    struct pl_buf reply; /* JSON; owned by the ask */
    int64_t epoch, position, version;
    int64_t next_entry;  /* turns with a lower sequence, except the open ones, are in the store */
    struct pl_ask *next; /* the driver's */
};

void pl_ask_init(struct pl_ask *ask, enum pl_ask_kind kind, struct pl_shard *home,
                 struct pl_str user_id, struct pl_str session_id);
void pl_ask_deinit(struct pl_ask *ask);
/* Posts it to the session's shard. */
void pl_ask_send(struct pl_ask *ask);

enum pl_status pl_drivers_create(struct pl_shard *shard, struct pl_drivers **ret_drivers);
/* All sessions must be quiet or shut down. Accepts NULL. */
void pl_drivers_destroy(struct pl_drivers *drivers);
/* SHUT_DOWN to every session that runs; `done` when all is committed. */
void pl_drivers_shut_down(struct pl_drivers *drivers, void (*done)(void *ctx), void *ctx);
/* Turns at work on this shard: what an orderly end waits for. */
size_t pl_drivers_n_running(const struct pl_drivers *drivers);

/* Before listening, on the main thread: settles what a crash left open. */
enum pl_status pl_drivers_recover(struct pl_store *store, size_t *ret_n, struct pl_error *err);

#endif
