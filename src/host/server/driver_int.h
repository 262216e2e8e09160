/* Inside the driver of a session: see driver.h for what it is for.
 *
 *     ask -> [loading] -> apply -> pending -> commit -> release: publish, effects, answer
 *                           ^                                        |
 *                           +------------- model, tool, summary <----+
 *
 * Everything that an apply brought waits in one line of pendings, and leaves it from the front when
 * its rows are durable. So frames never overtake each other, an answer never speaks of what could
 * still be lost, and an effect never sees a store that lacks its cause.
 *
 * At most one batch of a session is on its way to the store; rows that come meanwhile gather in the
 * next. So a batch that fails leaves nothing behind it: the driver breaks, forgets its state, and
 * loads again from what the store has. */
#ifndef PL_SERVER_DRIVER_INT_H
#define PL_SERVER_DRIVER_INT_H

#include "base/table.h"
#include "server/chunk.h"
#include "server/driver.h"
#include "server/history.h"

#define PL_DRIVER_IDLE_MS  60000 /* a quiet session nobody listens to leaves the memory */
#define PL_DRIVER_RETRY_MS 1000  /* between attempts to settle what a failed commit left */
#define PL_MAX_RUNNING     64    /* turns of one user at work at once */

struct pl_drivers {
    struct pl_shard *shard; /* borrowed */
    struct pl_table by_id;
    struct pl_session_out out; /* of the apply at hand */
    struct pl_buf spelled;     /* of the frames at hand */
    size_t n_running;          /* sessions with something at work */
    uint64_t n_generations;
    void (*on_shut_down)(void *ctx);
    void *shut_down_ctx;
};

enum pl_driver_state { PL_DRIVER_LOADING, PL_DRIVER_READY, PL_DRIVER_BROKEN, PL_DRIVER_GONE };

/* What an apply brought, waiting for its commit and its turn. */
struct pl_pending {
    struct pl_pending *next;
    uint64_t commit_no; /* released when the driver's n_committed has reached it */
    struct pl_ask *ask; /* to be answered; may be NULL */
    struct pl_arena arena;
    struct pl_session_effect *effects; /* arena */
    size_t n_effects;
    int64_t n_frames;
    struct pl_chunk *chunks[PL_LANE_COUNT]; /* a reference each; NULL: nobody listens there */
};

struct pl_driver {
    struct pl_table_link link;  /* key: the session's id */
    struct pl_drivers *drivers; /* borrowed */
    enum pl_driver_state state;
    struct pl_session *session; /* owned; NULL unless READY */
    char *id;                   /* owned */
    struct pl_ask *asks,
        *last_ask;          /* waiting for the load, or behind one that looks something up */
    struct pl_ask *resters; /* wait for the session to be at rest */
    struct pl_pending *pendings, *last_pending; /* owned */
    struct pl_batch *batch;                     /* owned; rows of the next commit; NULL: none yet */
    uint64_t n_submitted, n_committed;          /* batches */
    struct pl_history history;
    uint32_t *listeners; /* owned; [shard * PL_LANE_COUNT + lane]; NULL until somebody listens */
    size_t n_listeners;
    uint64_t generation; /* of the counts: a listener of an earlier one is not counted off */
    struct pl_run *runs; /* owned; models, tools and summaries at work */
    struct pl_timer tick, idle, retry;
    struct pl_timer limit; /* the end of the work on one message (turn_limit.c) */
    struct pl_turn_end settle;
    bool is_committing, is_looking_up, is_deleting;
    bool is_gathering; /* more belongs to the batch: not submitted yet */
    bool is_counted;   /* among the running ones, of the shard and of the user */
    bool is_overdue;   /* the limit has passed: whatever begins fails at once */
    /* What it was doing is lost and the store does not know: RECOVER comes before the next change.
     * Reads go on meanwhile, also when nothing can be written. */
    bool is_unsettled;
    bool has_failed; /* the last commit, or memory: do not try again at once */
};

/* Nothing of it is on its way anywhere. */
static inline bool pl_driver_is_at_rest(const struct pl_driver *driver)
{
    return !driver->is_committing && !driver->is_looking_up && !driver->pendings &&
           !driver->batch && driver->state != PL_DRIVER_LOADING;
}

/* --- driver.c: life */
struct pl_driver *pl_driver_find(struct pl_drivers *drivers, struct pl_str id);
struct pl_driver *pl_driver_create(struct pl_drivers *drivers, struct pl_str id);
void pl_driver_load(struct pl_driver *driver);
/* Looks at the end of this turn whether the driver must load again, may leave the memory, or is
 * done with. So a driver is never gone before the turn is over. */
void pl_driver_settle(struct pl_driver *driver);
/* Applies RECOVER if it is due. False: the driver is broken again. */
bool pl_driver_recover(struct pl_driver *driver);
/* Keeps the counts of what is at work. */
void pl_driver_count(struct pl_driver *driver, bool is_running);

/* --- line.c: apply, commit, release */
/* Applies an event that no ask brought; a failure breaks the driver. */
void pl_driver_apply(struct pl_driver *driver, const struct pl_session_event *event);
/* The same for an ask: what came out stays in drivers->out, and pl_line_carry_out comes next. */
enum pl_status pl_line_apply(struct pl_driver *driver, struct pl_session_event event,
                             struct pl_error *err);
/* Into the line with what came out; `ask` (may be NULL) is answered when its turn comes. */
void pl_line_carry_out(struct pl_driver *driver, struct pl_ask *ask, bool must_commit);
/* The batch rows go to now; NULL when out of memory. */
struct pl_batch *pl_line_batch(struct pl_driver *driver);
/* What was applied cannot be kept: everybody waiting is told, and the state is forgotten. */
void pl_driver_break(struct pl_driver *driver, enum pl_problem problem, const struct pl_error *err);
void pl_pending_destroy(struct pl_pending *pending);

/* An effect with its strings in the arena; false when out of memory. */
bool pl_effect_copy(struct pl_arena *arena, const struct pl_session_effect *effect,
                    struct pl_session_effect *ret_copy);

/* --- asks.c */
void pl_driver_answer(struct pl_ask *ask);
void pl_driver_refuse(struct pl_ask *ask, enum pl_problem problem, const struct pl_error *err);
/* Back to the front of those that wait; false: it is no mere look, and must be refused. */
bool pl_driver_put_back(struct pl_driver *driver, struct pl_ask *ask);
/* Those that wait, in the order they came. */
void pl_driver_go_through_asks(struct pl_driver *driver);
/* An answer that changes nothing still waits its turn: what it says may not be durable yet. */
void pl_driver_answer_in_line(struct pl_driver *driver, struct pl_ask *ask);

/* Those who wait for rest: answered if it has come, or all refused. */
void pl_driver_answer_resters(struct pl_driver *driver);
void pl_driver_refuse_resters(struct pl_driver *driver, enum pl_problem problem,
                              const struct pl_error *err);

/* Answers with the session, its open turns, questions and queue. */
void pl_driver_look(struct pl_driver *driver, struct pl_ask *ask);

/* --- publish.c: to the hubs of all shards */
/* Drops the events kept for readers that come back. */
void pl_publish_forget(struct pl_driver *driver);
enum pl_status pl_publish_spell(struct pl_driver *driver, const struct pl_session_out *out,
                                struct pl_pending *pending);
void pl_publish_deliver(struct pl_driver *driver, struct pl_pending *pending);
/* Every listener shall subscribe again (is_gone: and will be told there is nothing). */
void pl_publish_resync(struct pl_driver *driver, bool is_gone);
bool pl_publish_wants_whole(const struct pl_driver *driver);
void pl_driver_subscribe(struct pl_driver *driver, struct pl_ask *ask);

/* --- effects.c: models, tools, summaries. What they bring comes back in a later turn. */
void pl_effect_run(struct pl_driver *driver, const struct pl_session_effect *effect);
/* Stops everything at work; nothing comes back. */
void pl_runs_cancel(struct pl_driver *driver);
/* Fails what is at work, and says why. What is on a worker fails when it is back. */
void pl_runs_give_up(struct pl_driver *driver);

/* --- turn_limit.c: how long the work on one message may take */
/* After an apply; drivers->out has what came out. */
void pl_turn_limit_follow(struct pl_driver *driver);
/* What is left of it, 1 at least; 0: there is no limit now. */
int64_t pl_turn_limit_left_ms(const struct pl_driver *driver);

/* --- running.c: how much a user has at work, over all shards */
size_t pl_running_of(struct pl_server *server, struct pl_str user_id);
void pl_running_change(struct pl_server *server, struct pl_str user_id, int change);

#endif
