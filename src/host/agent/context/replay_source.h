/* Reads the sessions that are replayed. A replaying session is an ordinary session with the model
 * `replay/<source>`: it receives the messages of the source's user, one after the other, and the
 * model plays the recorded answers. Only the owner of the source may replay it; this is checked
 * when the model is named, and again when the source is read. Blocks: on a worker. */
#ifndef PL_AGENT_CONTEXT_REPLAY_H
#define PL_AGENT_CONTEXT_REPLAY_H

#include "base/buf.h"
#include "session/session.h"
#include "store/store.h"

/* The first is sent at once, the others wait in the queue. */
#define PL_REPLAY_MAX_MESSAGES (PL_SESSION_MAX_QUEUED + 1)
/* Messages are added until their total size exceeds this. */
#define PL_REPLAY_MAX_BYTES (8u << 20)

/* PL_OK if `model` is not a replay, or replays a session of this user. Otherwise PL_INVALID at
 * /model, with the message for an unknown model; PL_IO, PL_NOMEM. */
enum pl_status pl_replay_check(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str user_id, struct pl_str model, struct pl_error *err);

/* The pace of a replay. */
struct pl_replay_pace {
    double speed;
    bool is_paused;
};
/* Reads a session's replay_state; defaults: speed 1, not paused. */
enum pl_status pl_replay_read_pace(struct pl_str replay_state, struct pl_replay_pace *ret_pace);

/* Appends a JSON array with the next turn. If this loop has k turns of the user and n turns of the
 * assistant after the last of them, it is the (n+1)-th turn that answered the k-th user's turn in
 * the source's root loop. Failed turns that were tried again do not count. Counting begins at the
 * session's replay_state, or at the source's first turn. *ret_is_last: it ends the answer.
 * PL_NOT_FOUND says what is missing: the source, or its answer. */
enum pl_status pl_replay_write(struct pl_store *store, struct pl_arena *arena,
                               struct pl_str session_id, struct pl_str loop_id, struct pl_str model,
                               struct pl_buf *to, struct pl_replay_pace *ret_pace,
                               bool *ret_is_last, struct pl_error *err);

/* The same for callers that count the answers themselves: the answers to the message after
 * n_answers of them, in a session of this user. */
enum pl_status pl_replay_answers(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_str source_id, int64_t n_answers,
                                 struct pl_buf *to, struct pl_error *err);

struct pl_replay_options {
    struct pl_str user_id, source_id;
    struct pl_str from;  /* a turn's id; empty: the first */
    struct pl_str speed; /* a JSON number; empty: 1 */
};

/* The messages and settings of a replay; arena memory. */
struct pl_replay_plan {
    struct pl_str model, replay_state; /* replay_state is JSON */
    struct pl_str intent;              /* from the source */
    struct pl_session_event *says;     /* CHAT each */
    size_t n_says;
};

/* PL_NOT_FOUND: no such session of this user, or no such turn; PL_INVALID: there are no messages
 * from there on. */
enum pl_status pl_replay_plan(struct pl_store *store, struct pl_arena *arena,
                              const struct pl_replay_options *options,
                              struct pl_replay_plan *ret_plan, struct pl_error *err);

#endif
