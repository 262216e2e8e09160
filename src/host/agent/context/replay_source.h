/* Sessions played again. A replaying session is a session like any other whose model is
 * `replay/<source>`: what the source's user said is said to it, message by message, and the model
 * plays what was answered then. Only the owner of the source may have it played; that is looked up
 * when the model is named, and again when the source is read. Blocking: on a worker. */
#ifndef PL_SERVER_REPLAY_H
#define PL_SERVER_REPLAY_H

#include "base/buf.h"
#include "session/session.h"
#include "store/store.h"

/* The first is said at once, the others wait in the queue. */
#define PL_REPLAY_MAX_MESSAGES (PL_SESSION_MAX_QUEUED + 1)
/* Messages are taken until they are over this, all together. */
#define PL_REPLAY_MAX_BYTES (8u << 20)

/* PL_OK when `model` is no replay, or one of a session of this user. PL_INVALID at /model
 * otherwise, in the words for a model there is not; PL_IO, PL_NOMEM. */
enum pl_status pl_replay_check(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str user_id, struct pl_str model, struct pl_error *err);

/* Appends a JSON array of the turns with which the source answered the message at hand: the
 * (k+1)-th user's turn of its root loop, where this loop has finished k assistant's turns. Counting
 * begins where the session's replay_state says, or at the source's first turn. PL_NOT_FOUND says
 * what is missing: the source, or its answer. */
enum pl_status pl_replay_write(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str session_id, struct pl_str loop_id, struct pl_str model,
                               struct pl_buf *to, double *ret_speed, struct pl_error *err);

/* The same for whoever counts the answers himself: those to the message behind n_answers of them,
 * of a session of this user. */
enum pl_status pl_replay_answers(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str source_id, int64_t n_answers,
                                 struct pl_buf *to, struct pl_error *err);

struct pl_replay_wish {
    struct pl_str user_id, source_id;
    struct pl_str from;  /* a turn's id; empty: the first */
    struct pl_str speed; /* a JSON number; empty: 1 */
};

/* What a replay says and is; arena memory. */
struct pl_replay_plan {
    struct pl_str model, replay_state; /* replay_state is JSON */
    struct pl_str intent;              /* the source's */
    struct pl_session_event *says;     /* CHAT each */
    size_t n_says;
};

/* PL_NOT_FOUND: no such session of this user, or no such turn; PL_INVALID: nothing was said from
 * there on. */
enum pl_status pl_replay_plan(struct pl_store *store, struct pl_arena *arena,
                              const struct pl_replay_wish *wish, struct pl_replay_plan *ret_plan,
                              struct pl_error *err);

#endif
