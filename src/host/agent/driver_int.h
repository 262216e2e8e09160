/* Inside the driver of a session; driver.h says what it is for.
 *
 *     command -> [loading] -> apply -> pending -> commit -> release: publish, effects, answer
 *                               ^                                        |
 *                               +------------- model, tool, summary <----+
 *
 * The output of every apply waits in one queue, and leaves it from the front when its rows are
 * durable. So frames never overtake each other, an answer never contains anything that could still
 * be lost, and an effect never sees a store that lacks its cause.
 *
 * At most one batch of a session is being committed; later rows are collected in the next one. So
 * nothing is in flight after a batch that fails: the driver breaks, drops its state, and loads the
 * stored state again. */
#ifndef PL_AGENT_DRIVER_INT_H
#define PL_AGENT_DRIVER_INT_H

#include "agent/driver.h"
#include "base/table.h"
#include "http/limits/quota.h"
#include "live/publish.h"
#include "live/session_home.h"

#define PL_DRIVER_IDLE_MS  60000 /* a quiet session without listeners leaves the memory */
#define PL_DRIVER_RETRY_MS 1000  /* between attempts to settle after a failed commit */

struct pl_drivers {
    struct pl_shard *shard; /* borrowed */
    struct pl_table by_id;
    struct pl_session_out out; /* of the current apply */
    struct pl_feeds feeds;
    size_t n_running; /* sessions with running work */
    void (*on_shut_down)(void *ctx);
    void *shut_down_ctx;
    bool is_ending; /* the server ends: extensions are not told of sessions that leave the memory */
};

/* The diagram is in driver.c. */
enum pl_driver_state {
    PL_DRIVER_NEW,
    PL_DRIVER_LOADING,
    PL_DRIVER_READY,
    PL_DRIVER_DELETING, /* earlier commands are still executed; later ones wait */
    PL_DRIVER_BROKEN,   /* applied changes could not be stored: the state is dropped */
    PL_DRIVER_GONE,
};

/* Parts of a driver that something else holds and will return. */
enum pl_driver_away { PL_AWAY_LOAD = 1, PL_AWAY_COMMIT = 2, PL_AWAY_LOOK_UP = 4 };

/* The output of an apply, waiting for its commit. */
struct pl_pending {
    struct pl_pending *next;
    uint64_t commit_no;                 /* released when the driver's n_committed has reached it */
    struct pl_session_command *command; /* to be answered; may be NULL */
    struct pl_arena arena;
    struct pl_session_effect *effects; /* arena */
    size_t n_effects;
    struct pl_str listed; /* arena; the event for followers of lists; empty: none */
    struct pl_published events;
};

struct pl_driver {
    struct pl_table_link link;  /* key: the session's id */
    struct pl_drivers *drivers; /* borrowed */
    enum pl_driver_state state;
    unsigned away;              /* bits of pl_driver_away */
    struct pl_session *session; /* owned; NULL unless READY or DELETING */
    char *id;                   /* owned */
    struct pl_session_command *commands,
        *last_command; /* waiting for the load, or for a look-up of an earlier command */
    struct pl_session_command *resters;         /* wait until the session is at rest */
    struct pl_pending *pendings, *last_pending; /* owned */
    struct pl_batch *batch;                     /* owned; rows of the next commit; NULL: none yet */
    uint64_t n_submitted, n_committed;          /* batches */
    int64_t listed_version; /* of the session, in the last event for followers of lists */
    struct pl_feed feed;
    struct pl_activity *activities; /* owned; running models, tools and summaries */
    struct pl_timer tick, idle, retry;
    int64_t idle_since_ms; /* when the timer `idle` was first set */
    struct pl_timer limit; /* ends the work on one message (turn_limit.c) */
    struct pl_span by;     /* the last request */
    struct pl_span turn;   /* all work on one message (turn_limit.c) */
    struct pl_span commit; /* while PL_AWAY_COMMIT */
    struct pl_loop_hook settle;
    struct pl_hold queued;     /* the user's memory for waiting messages (queued_memory.c) */
    struct pl_buf agent_start; /* additions of before_agent_start to the current answer; JSON, or
                                  empty */
    bool is_agent_started;     /* before_agent_start was called */
    struct pl_buf told_model;  /* the model that extensions know */
    bool is_start_told;        /* … and that the session was loaded */
    bool is_gathering;         /* more rows belong to the batch: not submitted yet */
    bool is_counted;           /* among the running ones, of the shard and of the user */
    bool is_overdue;           /* the limit has passed: everything that begins fails at once */
    /* Its running work is lost, and the store does not know it: RECOVER comes before the next
     * change. Reads continue meanwhile, even if nothing can be written. */
    bool is_unsettled;
    bool has_failed; /* the last commit, or memory: do not retry at once */
    /* With nodes: this node has owned the session since that generation, which every write names;
     * 0: there are no nodes. */
    struct pl_node_id node;
    int64_t generation;
};

/* Nothing of it is in progress. */
static inline bool pl_driver_is_at_rest(const struct pl_driver *driver)
{
    return !driver->away && !driver->pendings && !driver->batch;
}

/* Whether its session is in memory. */
static inline bool pl_driver_is_loaded(const struct pl_driver *driver)
{
    return driver->state == PL_DRIVER_READY || driver->state == PL_DRIVER_DELETING;
}

/* Decides which node drives a session; NULL: all are driven here. */
static inline const struct pl_session_home *pl_drivers_home(const struct pl_drivers *drivers)
{
    return drivers->shard->server->session_home;
}

/* --- driver.c: life */
void pl_driver_become(struct pl_driver *driver, enum pl_driver_state to);
/* Each part is away at most once. */
void pl_driver_lend(struct pl_driver *driver, enum pl_driver_away what);
void pl_driver_is_back(struct pl_driver *driver, enum pl_driver_away what);
/* Removes it from memory if nothing needs it; false: something does. */
bool pl_driver_leave(struct pl_driver *driver);
struct pl_driver *pl_driver_find(struct pl_drivers *drivers, struct pl_str id);
struct pl_driver *pl_driver_create(struct pl_drivers *drivers, struct pl_str id);
void pl_driver_load(struct pl_driver *driver);
/* Checks at the end of this iteration whether the driver must load again, may leave the memory, or
 * is finished. So a driver is never freed before the iteration is over. */
void pl_driver_settle(struct pl_driver *driver);
/* Applies RECOVER if it is due. False: the driver is broken again. */
bool pl_driver_recover(struct pl_driver *driver);
/* Updates the counts of running work. */
void pl_driver_count(struct pl_driver *driver, bool is_running);

/* --- commit_queue.c: apply, commit, release */
/* Applies an event that did not come from a command; a failure breaks the driver. */
void pl_driver_apply(struct pl_driver *driver, const struct pl_session_event *event);
/* The same for a command: the output stays in drivers->out; call pl_commit_queue_carry_out next. */
enum pl_status pl_commit_queue_apply(struct pl_driver *driver, struct pl_session_event event,
                                     struct pl_error *err);
/* Puts the output into the queue; `command` (may be NULL) is answered in order. */
void pl_commit_queue_carry_out(struct pl_driver *driver, struct pl_session_command *command,
                               bool must_commit);
/* The batch for the next rows; NULL when out of memory. */
struct pl_batch *pl_commit_queue_batch(struct pl_driver *driver);
/* Applied changes cannot be stored: refuses everything that waits, and drops the state. */
void pl_driver_break(struct pl_driver *driver, enum pl_problem problem, const struct pl_error *err);
void pl_pending_destroy(struct pl_pending *pending);

/* Copies an effect, with its strings in the arena; false when out of memory. */
bool pl_effect_copy(struct pl_arena *arena, const struct pl_session_effect *effect,
                    struct pl_session_effect *ret_copy);

/* --- queued_memory.c */
/* Counts the bytes in the session's queue. */
void pl_queued_memory_follow(struct pl_driver *driver);
/* Whether the user may let this message wait, if it must. */
bool pl_queued_memory_has_room(struct pl_driver *driver, const struct pl_session_event *event);

/* --- commands.c */
void pl_driver_open_command(struct pl_letter *letter);
void pl_driver_answer(struct pl_session_command *command);
void pl_driver_refuse(struct pl_session_command *command, enum pl_problem problem,
                      const struct pl_error *err);
/* Puts it back at the front of the waiting commands; false: it does not only read, and must be
 * refused. */
bool pl_driver_put_back(struct pl_driver *driver, struct pl_session_command *command);
/* Handles the waiting commands in order. */
void pl_driver_go_through_commands(struct pl_driver *driver);
/* An answer that changes nothing still waits its turn: it may contain changes that are not durable
 * yet. */
void pl_driver_answer_in_line(struct pl_driver *driver, struct pl_session_command *command);

/* Commands that wait for rest: answers them if the session is at rest, or refuses all. */
void pl_driver_answer_resters(struct pl_driver *driver);
void pl_driver_refuse_resters(struct pl_driver *driver, enum pl_problem problem,
                              const struct pl_error *err);

/* Answers with the session, its open turns, questions and queue. */
void pl_driver_look(struct pl_driver *driver, struct pl_session_command *command);

/* --- told.c: tells extensions of applied changes, which are in drivers->out */
void pl_driver_tell_extensions(struct pl_driver *driver);
/* The session was loaded: created (`reason` says from what), or read again ("resume"). */
void pl_driver_tell_start(struct pl_driver *driver, struct pl_str reason);
/* It leaves the memory. Does nothing if extensions were not told of its start. */
void pl_driver_tell_end(struct pl_driver *driver, const char *reason);

/* --- intake.c: extensions see a message before the session does */
/* True: it was taken; pl_driver_readmit returns it, or it is answered. */
bool pl_intake_take(struct pl_driver *driver, struct pl_session_command *command);
/* Handles a command that was opened before, on its session's shard. */
void pl_driver_readmit(struct pl_session_command *command);

/* --- ownership.c: several nodes */
/* The right to write a session: this node owns it. */
struct pl_driver_claim {
    struct pl_node_id node;
    int64_t generation; /* 0: there are no nodes */
};
enum pl_status pl_driver_look_at_owner(struct pl_store *store, struct pl_str session_id,
                                       struct pl_driver_claim *claim, struct pl_error *err);
/* Whether this node still has the id for which the session was loaded. */
bool pl_driver_is_still_me(const struct pl_driver *driver, const struct pl_driver_claim *claim);
/* Passes all waiting commands to the current owner of the session. */
void pl_driver_hand_over(struct pl_driver *driver);
/* Called by the room that knows the nodes (live/command.h). */
bool pl_driver_let_go(struct pl_shard *shard, struct pl_str session_id);
void pl_driver_node_left(struct pl_shard *shard, struct pl_str session_id,
                         const struct pl_node_id *node, int64_t ask);
void pl_driver_drop_all(struct pl_shard *shard);
void pl_driver_hush(struct pl_shard *shard);

/* --- stored_look.c */
void pl_driver_look_stored(struct pl_session_command *command);
/* Writes a session as the answer to LOOK. */
void pl_look_write(const struct pl_session *session, struct pl_buf *to);

/* --- subscribers.c */
void pl_driver_subscribe(struct pl_driver *driver, struct pl_session_command *command);

/* --- effects.c: models, tools, summaries. Their output comes back in a later loop iteration. */
void pl_effect_run(struct pl_driver *driver, const struct pl_session_effect *effect);
/* Cancels all running work, without results. */
void pl_activities_cancel(struct pl_driver *driver);
/* Fails all activities, with the reason. An activity on a worker fails when it returns. */
void pl_activities_give_up(struct pl_driver *driver);

/* --- turn_limit.c: how long the work on one message may take */
/* Call after an apply, with its output in drivers->out. */
void pl_turn_limit_follow(struct pl_driver *driver);
/* The remaining time; at least 1. */
int64_t pl_turn_limit_left_ms(const struct pl_driver *driver);

#endif
