/* Everything durable, after one contract: memory, SQLite or PostgreSQL. docs/internals/store.md.
 *
 * Writing: a batch of puts is one transaction. Batches of all sessions go to one writer thread,
 * which commits as many as are waiting together (group commit): when `done` is called with PL_OK
 * the batch survives kill -9 and power loss. Batches of one submitter commit in the order
 * submitted.
 *
 * Reading: blocking calls for worker threads, each on a connection of a small pool; they see every
 * batch whose `done` was called before the read began. Results are views into the given arena.
 *
 * Every query that serves a user carries the user: what is another's is not found. user_id {NULL,
 * 0} means the service itself is asking. */
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
    /* Of a database that is elsewhere: its password (NULL: as the URL or libpq's environment says);
     * how long an answer is waited for (0: 5 s); how long a commit whose fate is unknown may wait
     * for the database to come back before on_fatal is called (0: ten minutes). */
    const char *password;
    int64_t answer_ms, away_ms;
    /* This is a server. Several may share a database that is elsewhere, as nodes (node/node_line.h);
     * opening fails with PL_CONFLICT while one of an earlier version runs that has it alone. Commands
     * leave it out. */
    bool is_server;
    /* Another node has taken over: from now on every batch fails, until pl_store_enter_again. Called on
     * a thread of the store's. NULL: that is fatal. */
    void (*on_fenced)(void *ctx);
    /* The database lost what it had acknowledged (a failover that went back): memory is newer than the
     * store. Called on a thread of the store's; may be NULL. */
    void (*on_rewound)(void *ctx);
    /* What a database said, for the log alone: it may name hosts and tables. Any thread. */
    void (*on_trouble)(void *ctx, const char *text);
    /* Stop everything: a commit may or may not have reached the disk (a failed fsync), so nothing
     * more may be acknowledged. Called once, on a thread of the store's. */
    void (*on_fatal)(void *ctx, const struct pl_error *err);
    void *ctx;
};

/* Makes and migrates the schema as need be. PL_CONFLICT: it is newer than this program (says which
 * version is needed), or another process has it open; PL_IO; PL_NOMEM. */
enum pl_status pl_store_open(const struct pl_store_config *config, struct pl_store **ret_store,
                             struct pl_error *err);
/* Commits what was submitted, closes. No loop may submit any more. Accepts NULL. */
void pl_store_close(struct pl_store *store);
/* A database that is elsewhere does not answer at the moment: reads fail at once with PL_IO, and
 * writes after a few seconds. Never waits. */
bool pl_store_is_away(struct pl_store *store);
/* After on_fenced: this process is a new writer, and batches are stored again. Blocks; one thread. */
enum pl_status pl_store_enter_again(struct pl_store *store, struct pl_error *err);
/* Since when the writer has been waiting for the database, by the monotonic clock; 0: it does not. */
int64_t pl_store_busy_since_ms(struct pl_store *store);
/* "sqlite", … and the version of its schema. */
const char *pl_store_kind(const struct pl_store *store);
int64_t pl_store_schema_version(const struct pl_store *store);

/* What the writer does, for /metrics. A commit is a transaction of many batches, with its fsync. */
#define PL_STORE_N_BOUNDS 9
extern const int64_t pl_store_bounds_us[PL_STORE_N_BOUNDS]; /* one bucket without a bound follows */
struct pl_store_state {
    size_t n_waiting;  /* batches that wait for it */
    int64_t oldest_ms; /* how long the oldest of them has waited; 0: none does */
    int64_t n_commits, n_batches, commit_us;
    int64_t n_within[PL_STORE_N_BOUNDS + 1]; /* commits of each bucket alone */
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

/* Who a user is at an OpenID provider. */
struct pl_identity_row {
    struct pl_str issuer, subject, user_id;
    int64_t created_ms;
};

/* What of a user changes: only what is set. */
struct pl_user_change {
    struct pl_str id;
    struct pl_str name;  /* {NULL, 0}: stays */
    int is_admin;        /* -1: stays */
    int64_t disabled_ms; /* 0: active; -1: stays */
};

struct pl_key_row {
    struct pl_str id, user_id, name;
    struct pl_str hash; /* 32 bytes, BLAKE2b of the key */
    struct pl_str last4;
    int64_t created_ms;
    int64_t last_used_ms; /* 0: never */
    struct pl_str
        scope;     /* "all", "sessions", "gateway", "read", "extension:ID" (http/routes/scope.h) */
    bool is_admin; /* it may do what only administrators may, while its user is one */
    struct pl_str models;   /* names, one to a line; empty: every model */
    int64_t expires_ms;     /* 0: never */
    struct pl_str old_hash; /* of the secret before the last rotation; empty: none */
    int64_t old_until_ms;   /* how long that is accepted */
    bool is_login;          /* a sign-in: only a cookie carries it */
};

/* What of a key changes: only what is set. */
struct pl_key_patch {
    struct pl_str user_id, id;
    struct pl_str name, scope, models; /* {NULL, 0}: stays */
    int64_t expires_ms;                /* 0: never; -1: stays */
};

struct pl_share_row {
    struct pl_str id, user_id, session_id;
    struct pl_str hash; /* 32 bytes, of the token */
    int64_t created_ms;
};

struct pl_idempotency_row {
    struct pl_str user_id, key;
    struct pl_str request_hash; /* 32 bytes: method, path and body */
    int64_t status;             /* of the answer; 0 while it is not known */
    struct pl_str answer;       /* its body */
    int64_t created_ms;
    bool is_elsewhere; /* of one that was read: another node has made it, and is not gone */
};

/* --- writing --------------------------------------------------------------------------------- */

/* Built on the submitter's thread; from submit to done it belongs to the store. */
struct pl_batch; /* owned */

struct pl_batch *pl_batch_create(void); /* NULL when out of memory */
void pl_batch_destroy(struct pl_batch *batch);
/* Puts copy what they are given; a failure (PL_NOMEM) sticks and is reported at `done`. */
void pl_batch_put_row(struct pl_batch *batch, const struct pl_session_row *row);
/* The session and everything that is its own. */
void pl_batch_delete_session(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);
/* A record is created once (a second time is PL_CONFLICT), and what changes one fails with
 * PL_NOT_FOUND where it was deleted: deleting wins, and nothing comes back. */
void pl_batch_create_user(struct pl_batch *batch, const struct pl_user_row *user);
/* PL_NOT_FOUND: there is one already, which another process has made. */
void pl_batch_create_first_user(struct pl_batch *batch, const struct pl_user_row *user);
/* PL_CONFLICT, with a sentence: there would be no active administrator any more. */
void pl_batch_change_user(struct pl_batch *batch, const struct pl_user_change *change);
/* The user and everything that is the user's; what comes later for this user is PL_NOT_FOUND. */
void pl_batch_erase_user(struct pl_batch *batch, struct pl_str id);
/* PL_CONFLICT: the subject of this issuer is a user already. */
void pl_batch_create_identity(struct pl_batch *batch, const struct pl_identity_row *identity);
void pl_batch_create_key(struct pl_batch *batch, const struct pl_key_row *key);
void pl_batch_change_key(struct pl_batch *batch, const struct pl_key_patch *patch);
/* A new secret; the one before is accepted until then. */
void pl_batch_rotate_key(struct pl_batch *batch, const struct pl_key_row *key,
                         int64_t old_until_ms);
/* When it was used last, if it is still there; an earlier time than the one known changes nothing.
 */
void pl_batch_use_key(struct pl_batch *batch, struct pl_str id, int64_t used_ms);
void pl_batch_delete_key(struct pl_batch *batch, struct pl_str user_id, struct pl_str id);
/* Deletes sign-ins that ended at this instant or before. Other keys stay: their owner made them. */
void pl_batch_expire_logins(struct pl_batch *batch, int64_t ended_by_ms);
void pl_batch_put_share(struct pl_batch *batch, const struct pl_share_row *share);
void pl_batch_delete_shares(struct pl_batch *batch, struct pl_str user_id,
                            struct pl_str session_id);
/* The whole batch fails with PL_CONFLICT when this user has used this key before. */
void pl_batch_claim_idempotency(struct pl_batch *batch, const struct pl_idempotency_row *row);
/* Fills status and answer of a claimed one. */
void pl_batch_settle_idempotency(struct pl_batch *batch, const struct pl_idempotency_row *row);
void pl_batch_expire_idempotency(struct pl_batch *batch, int64_t created_before_ms);
/* A named value of the service itself. */
void pl_batch_put_setting(struct pl_batch *batch, struct pl_str name, struct pl_str value);
/* Where there is none of this name yet. */
void pl_batch_add_setting(struct pl_batch *batch, struct pl_str name, struct pl_str value);
size_t pl_batch_n_writes(const struct pl_batch *batch);

/* Any loop's thread. `done` is called on `home`, always, with PL_OK only when durable; then the
 * batch is destroyed. PL_CONFLICT: a claim failed; PL_LIMIT: the disk is full (507; reads go on,
 * later batches may succeed); PL_IO; PL_NOMEM. err is valid during the call. */
typedef void pl_batch_done_fn(void *ctx, enum pl_status status, const struct pl_error *err);
void pl_store_submit(struct pl_store *store, struct pl_loop *home, struct pl_batch *batch,
                     pl_batch_done_fn *done, void *ctx);
/* Waits until all that was submitted is committed or failed, and its letters are posted: before a
 * loop that they go to is destroyed. Not on a loop's thread while that runs. */
void pl_store_flush(struct pl_store *store);
/* Like pl_store_submit, waiting: for commands and for start-up, not on a loop's thread. */
enum pl_status pl_store_commit(struct pl_store *store, struct pl_batch *batch,
                               struct pl_error *err);

/* --- reading (worker threads) ---------------------------------------------------------------- */

/* PL_NOT_FOUND where there is none; PL_IO (a locked database after 5 s: retryable); PL_NOMEM. */
enum pl_status pl_store_session_get(struct pl_store *store, struct pl_arena *arena,
                                    struct pl_str user_id, struct pl_str id,
                                    struct pl_session_record *ret_session, struct pl_error *err);

struct pl_session_query {
    struct pl_str user_id;
    enum pl_session_status status; /* COUNT: any */
    bool has_pinned, is_pinned;
    struct pl_str text;                     /* in the intent, without regard to case; empty: any */
    struct pl_str solution_id, biz_role_id; /* exactly; empty: any */
    size_t limit;                           /* 1 … 100 */
    size_t max_bytes;                       /* of all rows but the first; 0: no limit */
    int64_t offset;
    /* Pages by cursor: after this one, in the order pinned first, newest change first. */
    bool has_cursor, cursor_is_pinned;
    int64_t cursor_updated_ms;
    struct pl_str cursor_id;
};
struct pl_session_page {
    struct pl_session_record *items; /* arena */
    size_t n_items;
    int64_t total; /* of the query without limit, offset and cursor */
    bool has_more;
};
enum pl_status pl_store_session_list(struct pl_store *store, struct pl_arena *arena,
                                     const struct pl_session_query *query,
                                     struct pl_session_page *ret_page, struct pl_error *err);

/* What pl_session_load needs besides the record: turns that are not terminal, pending questions,
 * the queue. */
struct pl_open_rows {
    struct pl_turn_row *turns;
    struct pl_question_row *questions;
    struct pl_queued_row *queued;
    size_t n_turns, n_questions, n_queued;
};
enum pl_status pl_store_open_rows(struct pl_store *store, struct pl_arena *arena,
                                  struct pl_str session_id, struct pl_open_rows *ret_rows,
                                  struct pl_error *err);

/* Sessions at rest that were not changed since before_ms and are not persistent, in pages: ids
 * greater than `after`, at most limit, whoever's they are. */
enum pl_status pl_store_session_expired(struct pl_store *store, struct pl_arena *arena,
                                        struct pl_str after, int64_t before_ms, size_t limit,
                                        struct pl_session_page *ret_page, struct pl_error *err);

/* Sessions that were running or waiting when the process ended, in pages: ids greater than `after`,
 * at most limit; with the record. For recovery before listening. */
enum pl_status pl_store_session_unsettled(struct pl_store *store, struct pl_arena *arena,
                                          struct pl_str after, size_t limit,
                                          struct pl_session_page *ret_page, struct pl_error *err);

/* The same for sessions in which messages wait. */
enum pl_status pl_store_session_queued(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_str after, size_t limit,
                                       struct pl_session_page *ret_page, struct pl_error *err);

struct pl_turn_query {
    struct pl_str session_id; /* the caller has checked whose it is */
    struct pl_str loop_id;    /* empty: every loop */
    int64_t before, after;    /* entry sequences, exclusive; INT64_MAX and -1: no bound */
    int64_t changed_after;    /* only turns whose last_event is greater; -1: all */
    size_t limit;
    size_t max_bytes;     /* of all rows but the first; 0: no limit */
    bool is_newest_first; /* which end the limits keep; the result is oldest first either way */
    bool is_terminal_only;
};
struct pl_turn_page {
    struct pl_turn_row *items; /* arena; oldest first */
    size_t n_items;
    bool has_more; /* beyond the limits */
};
/* Costs the page, not the session. */
enum pl_status pl_store_turn_list(struct pl_store *store, struct pl_arena *arena,
                                  const struct pl_turn_query *query, struct pl_turn_page *ret_page,
                                  struct pl_error *err);
enum pl_status pl_store_turn_get(struct pl_store *store, struct pl_arena *arena,
                                 struct pl_str session_id, struct pl_str turn_id,
                                 struct pl_turn_row *ret_turn, struct pl_error *err);
/* The newest compaction of a loop: the context begins there. */
enum pl_status pl_store_turn_last_compaction(struct pl_store *store, struct pl_arena *arena,
                                             struct pl_str session_id, struct pl_str loop_id,
                                             struct pl_turn_row *ret_turn, struct pl_error *err);
/* A user's turn or a queued message with this id, and its body; *ret_turn_id is empty for a queued
 * one. */
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
/* The user who is this subject of this issuer; PL_NOT_FOUND: nobody yet. */
enum pl_status pl_store_identity_find(struct pl_store *store, struct pl_arena *arena,
                                      struct pl_str issuer, struct pl_str subject,
                                      struct pl_str *ret_user_id, struct pl_error *err);
/* How many subjects of this issuer the user is. */
enum pl_status pl_store_identity_count(struct pl_store *store, struct pl_str issuer,
                                       struct pl_str user_id, int64_t *ret_n, struct pl_error *err);
/* All keys of all users: the server holds them in memory. Or of one user. */
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

/* An online copy, consistent, while the server goes on, into the empty file `to_path`: a part of
 * the caller's (io/file/outfile.h), who says whose place it takes. PL_INVALID where the back end
 * has its own tools for it (the message names them). Called on a worker. */
enum pl_status pl_store_backup(struct pl_store *store, const char *to_path, struct pl_error *err);
/* A backup in the place of a store that nobody has open; every session gets a new epoch. */
enum pl_status pl_store_restore(const char *url, const char *from_path, struct pl_error *err);
/* Looks for damage; `say` gets one sentence per finding. */
enum pl_status pl_store_check(struct pl_store *store,
                              void (*say)(void *ctx, bool is_problem, const char *sentence),
                              void *ctx, struct pl_error *err);
/* Bytes on disk, where it knows them; -1 otherwise. */
int64_t pl_store_n_bytes(struct pl_store *store);

#endif
