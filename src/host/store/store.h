/* All durable data, with one interface: memory, SQLite or PostgreSQL. docs/internals/store.md.
 *
 * Writing: a batch of puts is one transaction. All batches go to one writer thread, which commits
 * the waiting ones together (group commit). When `done` is called with PL_OK, the batch survives
 * kill -9 and power loss. Batches of one submitter commit in the order of submission.
 *
 * Reading: blocking calls for worker threads, each on a connection of a small pool. A read sees
 * every batch whose `done` was called before the read began. Results are views into the given
 * arena.
 *
 * Every query on behalf of a user carries the user: records of other users are not found. user_id
 * {NULL, 0} means that the service itself asks. */
#ifndef PL_STORE_STORE_H
#define PL_STORE_STORE_H

#include "base/arena.h"
#include "base/status.h"
#include "io/loop.h"
#include "session/rows.h"

struct pl_store; /* owned */

struct pl_store_config {
    const char *url;  /* "memory:", "sqlite:PATH", "postgres://…" or "postgresql://…" */
    size_t n_readers; /* connections of the pool; 0: 4 */
    /* For a remote database: its password (NULL: from the URL or libpq's environment); the timeout
     * for an answer (0: 5 s); and how long a commit with an unknown outcome may wait for the
     * database to return before on_fatal is called (0: ten minutes). */
    const char *password;
    int64_t answer_ms, away_ms;
    /* This is a server, not a command. Several servers may share a remote database as nodes
     * (node/node_line.h). Opening fails with PL_CONFLICT while a server of an earlier version,
     * which needs the database for itself, is running. */
    bool is_server;
    /* Another node has taken over: from now on every batch fails, until pl_store_enter_again.
     * Called on a thread of the store. NULL: this is fatal. */
    void (*on_fenced)(void *ctx);
    /* The database lost commits that it had acknowledged (a failover to an older state): memory is
     * newer than the store. Called on a thread of the store; may be NULL. */
    void (*on_rewound)(void *ctx);
    /* A message of the database, for the log only: it may contain names of hosts and tables. Any
     * thread. */
    void (*on_trouble)(void *ctx, const char *text);
    /* Stop everything: a commit may or may not have reached the disk (a failed fsync), so nothing
     * more may be acknowledged. Called once, on a thread of the store. */
    void (*on_fatal)(void *ctx, const struct pl_error *err);
    void *ctx;
};

/* Creates or migrates the schema if needed. PL_CONFLICT: the schema is newer than this program (the
 * message names the version needed), or another process has the store open; PL_IO; PL_NOMEM. */
enum pl_status pl_store_open(const struct pl_store_config *config, struct pl_store **ret_store,
                             struct pl_error *err);
/* Commits all submitted batches, then closes. No loop may submit any more. Accepts NULL. */
void pl_store_close(struct pl_store *store);
/* Whether a remote database currently does not answer: then reads fail at once with PL_IO, and
 * writes after a few seconds. Never blocks. */
bool pl_store_is_away(struct pl_store *store);
/* After on_fenced: makes this process a new writer, so that batches are stored again. Blocks; only
 * one thread may call it. */
enum pl_status pl_store_enter_again(struct pl_store *store, struct pl_error *err);
/* When the writer began to wait for the database, on the monotonic clock; 0: it is not waiting. */
int64_t pl_store_busy_since_ms(struct pl_store *store);
/* "sqlite", … and the version of its schema. */
const char *pl_store_kind(const struct pl_store *store);
int64_t pl_store_schema_version(const struct pl_store *store);

/* Statistics of the writer, for /metrics. A commit is a transaction of many batches, with its
 * fsync. */
#define PL_STORE_N_BOUNDS 9
extern const int64_t pl_store_bounds_us[PL_STORE_N_BOUNDS]; /* plus one unbounded bucket */
struct pl_store_state {
    size_t n_waiting;  /* batches in the queue */
    int64_t oldest_ms; /* how long the oldest one has waited; 0: none waits */
    int64_t n_commits, n_batches, commit_us;
    int64_t n_within[PL_STORE_N_BOUNDS + 1]; /* commits per bucket, not cumulative */
};
void pl_store_look(struct pl_store *store, struct pl_store_state *ret_state);

/* --- rows that are not a session's ----------------------------------------------------------- */

struct pl_user_row {
    struct pl_str id; /* "user_" and a UUID */
    struct pl_str name;
    bool is_admin;
    int64_t created_ms;
    int64_t disabled_ms; /* 0: active */
};

/* The user of an identity at an OpenID provider. */
struct pl_identity_row {
    struct pl_str issuer, subject, user_id;
    int64_t created_ms;
};

/* A change of a user: only fields that are set change. */
struct pl_user_change {
    struct pl_str id;
    struct pl_str name;  /* {NULL, 0}: unchanged */
    int is_admin;        /* -1: unchanged */
    int64_t disabled_ms; /* 0: active; -1: unchanged */
};

struct pl_key_row {
    struct pl_str id, user_id, name;
    struct pl_str hash; /* 32 bytes, BLAKE2b of the key */
    struct pl_str last4;
    int64_t created_ms;
    int64_t last_used_ms; /* 0: never */
    struct pl_str
        scope;     /* "all", "sessions", "gateway", "read", "extension:ID" (http/routes/scope.h) */
    bool is_admin; /* it has administrator rights, while its user is an administrator */
    struct pl_str models;   /* names, one per line; empty: every model */
    int64_t expires_ms;     /* 0: never */
    struct pl_str old_hash; /* of the secret before the last rotation; empty: none */
    int64_t old_until_ms;   /* until when the old secret is accepted */
    bool is_login;          /* a sign-in: sent only as a cookie */
};

/* A change of a key: only fields that are set change. */
struct pl_key_patch {
    struct pl_str user_id, id;
    struct pl_str name, scope, models; /* {NULL, 0}: unchanged */
    int64_t expires_ms;                /* 0: never; -1: unchanged */
};

struct pl_share_row {
    struct pl_str id, user_id, session_id;
    struct pl_str hash; /* 32 bytes, of the token */
    int64_t created_ms;
};

struct pl_idempotency_row {
    struct pl_str user_id, key;
    struct pl_str request_hash; /* 32 bytes: method, path and body */
    int64_t status;             /* of the answer; 0 until it is known */
    struct pl_str answer;       /* its body */
    int64_t created_ms;
    bool is_elsewhere; /* set by reads: another node made it, and that node is not gone */
};

/* --- writing --------------------------------------------------------------------------------- */

/* Built on the submitter's thread; the store owns it from submit to done. */
struct pl_batch; /* owned */

struct pl_batch *pl_batch_create(void); /* NULL when out of memory */
void pl_batch_destroy(struct pl_batch *batch);
/* Puts copy their arguments. A failure (PL_NOMEM) is sticky and is reported at `done`. */
void pl_batch_put_row(struct pl_batch *batch, const struct pl_session_row *row);
/* The session with all its rows. */
void pl_batch_delete_session(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);
/* A record is created once (a second time is PL_CONFLICT). Changing a deleted record fails with
 * PL_NOT_FOUND: a deletion is final. */
void pl_batch_create_user(struct pl_batch *batch, const struct pl_user_row *user);
/* PL_NOT_FOUND: another process has already created a user. */
void pl_batch_create_first_user(struct pl_batch *batch, const struct pl_user_row *user);
/* PL_CONFLICT, with a message: no active administrator would remain. */
void pl_batch_change_user(struct pl_batch *batch, const struct pl_user_change *change);
/* Deletes the user with all the user's data. Later writes for this user fail with PL_NOT_FOUND. */
void pl_batch_erase_user(struct pl_batch *batch, struct pl_str id);
/* PL_CONFLICT: this subject of the issuer already has a user. */
void pl_batch_create_identity(struct pl_batch *batch, const struct pl_identity_row *identity);
void pl_batch_create_key(struct pl_batch *batch, const struct pl_key_row *key);
void pl_batch_change_key(struct pl_batch *batch, const struct pl_key_patch *patch);
/* Sets a new secret; the old one is accepted until old_until_ms. */
void pl_batch_rotate_key(struct pl_batch *batch, const struct pl_key_row *key,
                         int64_t old_until_ms);
/* Records the last use, if the key still exists; an earlier time than the stored one changes
 * nothing. */
void pl_batch_use_key(struct pl_batch *batch, struct pl_str id, int64_t used_ms);
void pl_batch_delete_key(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);
/* Deletes sign-ins that ended at or before this time. Other keys stay, because their owner made
 * them. */
void pl_batch_expire_logins(struct pl_batch *batch, int64_t ended_by_ms);
void pl_batch_put_share(struct pl_batch *batch, const struct pl_share_row *share);
void pl_batch_delete_shares(struct pl_batch *batch, struct pl_str user_id,
                            struct pl_str session_id);
/* The whole batch fails with PL_CONFLICT if this user has used this key before. */
void pl_batch_claim_idempotency(struct pl_batch *batch, const struct pl_idempotency_row *row);
/* Sets status and answer of a claimed key. */
void pl_batch_settle_idempotency(struct pl_batch *batch, const struct pl_idempotency_row *row);
void pl_batch_expire_idempotency(struct pl_batch *batch, int64_t created_before_ms);
/* A named value of the service itself. */
void pl_batch_put_setting(struct pl_batch *batch, struct pl_str name, struct pl_str value);
/* Does nothing if the name already has a value. */
void pl_batch_add_setting(struct pl_batch *batch, struct pl_str name, struct pl_str value);
size_t pl_batch_n_writes(const struct pl_batch *batch);

/* Any loop's thread. `done` is always called, on `home`, with PL_OK only when the batch is durable;
 * then the batch is destroyed. PL_CONFLICT: a claim failed; PL_LIMIT: the disk is full (507; reads
 * still work, later batches may succeed); PL_IO; PL_NOMEM. err is valid during the call. */
typedef void pl_batch_done_fn(void *ctx, enum pl_status status, const struct pl_error *err);
void pl_store_submit(struct pl_store *store, struct pl_loop *home, struct pl_batch *batch,
                     pl_batch_done_fn *done, void *ctx);
/* Waits until all submitted batches are committed or failed and their letters are posted. Call this
 * before destroying a loop that gets such letters. Not on the thread of a running loop. */
void pl_store_flush(struct pl_store *store);
/* Like pl_store_submit, but blocks. For commands and startup, not on a loop's thread. */
enum pl_status pl_store_commit(struct pl_store *store, struct pl_batch *batch,
                               struct pl_error *err);

/* --- reading (worker threads) ---------------------------------------------------------------- */

/* PL_NOT_FOUND if there is none; PL_IO (a database locked for 5 s: retryable); PL_NOMEM. */
enum pl_status pl_store_session_get(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str user_id, struct pl_str id,
                                    struct pl_session_record *ret_session, struct pl_error *err);

struct pl_session_query {
    struct pl_str user_id;
    enum pl_session_status status; /* COUNT: any */
    bool has_pinned, is_pinned;
    struct pl_str text;                     /* in the intent or turns, ignoring case; empty: any */
    struct pl_str solution_id, biz_role_id; /* exact match; empty: any */
    size_t limit;                           /* 1 … 100 */
    size_t max_bytes;                       /* of all rows but the first; 0: no limit */
    int64_t offset;
    /* Pages by cursor: rows after this one; the order is pinned first, then last changed first. */
    bool has_cursor, cursor_is_pinned;
    int64_t cursor_updated_ms;
    struct pl_str cursor_id;
};
struct pl_session_page {
    struct pl_session_record *items; /* arena */
    size_t n_items;
    int64_t total; /* of the query, ignoring limit, offset and cursor */
    bool has_more;
};
enum pl_status pl_store_session_list(struct pl_store *store, struct pl_arena *arena,
                                     const struct pl_session_query *query,
                                     struct pl_session_page *ret_page, struct pl_error *err);

/* The rows that pl_session_load needs besides the record: turns that are not terminal, pending
 * questions, the queue. */
struct pl_open_rows {
    struct pl_turn_row *turns;
    struct pl_question_row *questions;
    struct pl_queued_row *queued;
    size_t n_turns, n_questions, n_queued;
};
enum pl_status pl_store_open_rows(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str session_id, struct pl_open_rows *ret_rows,
                                  struct pl_error *err);

/* Idle sessions of all users that are not persistent and have not changed since before_ms. In
 * pages: ids greater than `after`, at most limit. */
enum pl_status pl_store_session_expired(struct pl_store *store, struct pl_arena *arena,
                                        struct pl_str after, int64_t before_ms, size_t limit,
                                        struct pl_session_page *ret_page, struct pl_error *err);

/* Sessions that were running or waiting when the process ended, with their records. In pages: ids
 * greater than `after`, at most limit. For recovery before listening. */
enum pl_status pl_store_session_unsettled(struct pl_store *store, struct pl_arena *arena,
                                          struct pl_str after, size_t limit,
                                          struct pl_session_page *ret_page, struct pl_error *err);

/* The same for sessions with queued messages. */
enum pl_status pl_store_session_queued(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_str after, size_t limit,
                                       struct pl_session_page *ret_page, struct pl_error *err);

struct pl_turn_query {
    struct pl_str session_id; /* the caller has checked its owner */
    struct pl_str loop_id;    /* empty: every loop */
    int64_t before, after;    /* entry sequences, exclusive; INT64_MAX and -1: no bound */
    int64_t changed_after;    /* only turns whose last_event is greater; -1: all */
    size_t limit;
    size_t max_bytes;     /* of all rows but the first; 0: no limit */
    bool is_newest_first; /* which end the limits keep; the result is oldest first in both cases */
    bool is_terminal_only;
};
struct pl_turn_page {
    struct pl_turn_row *items; /* arena; oldest first */
    size_t n_items;
    bool has_more; /* beyond the limits */
};
/* The cost depends on the page, not on the session. */
enum pl_status pl_store_turn_list(struct pl_store *store, struct pl_arena *arena,
                                  const struct pl_turn_query *query, struct pl_turn_page *ret_page,
                                  struct pl_error *err);
enum pl_status pl_store_turn_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str session_id, struct pl_str turn_id,
                                 struct pl_turn_row *ret_turn, struct pl_error *err);
/* The newest compaction of a loop, where the context begins. */
enum pl_status pl_store_turn_last_compaction(struct pl_store *store, struct pl_arena *arena,
                                             struct pl_str session_id, struct pl_str loop_id,
                                             struct pl_turn_row *ret_turn, struct pl_error *err);
/* A user's turn or a queued message with this id, and its body; *ret_turn_id is empty for a queued
 * message. */
enum pl_status pl_store_client_message_find(struct pl_store *store, struct pl_arena *arena,
                                            struct pl_str session_id,
                                            struct pl_str client_message_id,
                                            struct pl_str *ret_turn_id, struct pl_str *ret_body,
                                            struct pl_error *err);
enum pl_status pl_store_question_get(struct pl_store *store, struct pl_arena *arena,
                                     struct pl_str session_id, struct pl_str tool_call_id,
                                     struct pl_question_row *ret_question, struct pl_error *err);

enum pl_status pl_store_user_list(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_user_row **ret_users, size_t *ret_n,
                                  struct pl_error *err);
/* The user of this subject at this issuer; PL_NOT_FOUND: none yet. */
enum pl_status pl_store_identity_find(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str issuer, struct pl_str subject,
                                      struct pl_str *ret_user_id, struct pl_error *err);
/* The number of subjects that the user has at this issuer. */
enum pl_status pl_store_identity_count(struct pl_store *store, struct pl_str issuer,
                                       struct pl_str user_id, int64_t *ret_n, struct pl_error *err);
/* The keys of one user, or of all users: the server keeps them in memory. */
enum pl_status pl_store_key_list(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str user_id, struct pl_key_row **ret_keys, size_t *ret_n,
                                 struct pl_error *err);
enum pl_status pl_store_share_find(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str hash, struct pl_share_row *ret_share,
                                   struct pl_error *err);
enum pl_status pl_store_idempotency_get(struct pl_store *store, struct pl_arena *arena,
                                        struct pl_str user_id, struct pl_str key,
                                        struct pl_idempotency_row *ret_row, struct pl_error *err);
enum pl_status pl_store_setting_get(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str name, struct pl_str *ret_value,
                                    struct pl_error *err);

/* --- care ------------------------------------------------------------------------------------ */

/* Writes a consistent copy, while the server is running, into the empty file `to_path`. The caller
 * owns this temporary file (io/file/outfile.h) and puts it in place. PL_INVALID if the database has
 * its own tools for this (the message names them). Called on a worker. */
enum pl_status pl_store_backup(struct pl_store *store, const char *to_path, struct pl_error *err);
/* Replaces a store that no process has open with a backup; every session gets a new epoch. */
enum pl_status pl_store_restore(const char *url, const char *from_path, struct pl_error *err);
/* Checks for damage; `say` gets one sentence per finding. */
enum pl_status pl_store_check(struct pl_store *store,
                              void (*say)(void *ctx, bool is_problem, const char *sentence),
                              void *ctx, struct pl_error *err);
/* Bytes on disk; -1 if unknown. */
int64_t pl_store_n_bytes(struct pl_store *store);

#endif
