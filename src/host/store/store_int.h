/* The internals of the store: values, the interface of a driver, batches, the writer, the readers.
 *
 *     put functions ──> batch ──queue──> writer thread ──> driver's commit ──> letters home
 *     get and list functions ──> reader of the pool ──> driver's query
 *
 * A driver knows one database; it runs the statements of statements.h and decides nothing else.
 * The functions for records (sessions.c, turns.c …) know the statements and no database. */
#ifndef PL_STORE_STORE_INT_H
#define PL_STORE_STORE_INT_H

#include "base/buf.h"
#include "base/text/uuid.h"
#include "store/sql/statements.h"
#include "store/store.h"

#include <pthread.h>

/* --- values ---------------------------------------------------------------------------------- */

enum pl_sql_value_kind {
    PL_SQL_VALUE_NULL,
    PL_SQL_VALUE_INT,
    PL_SQL_VALUE_TEXT,
    PL_SQL_VALUE_BYTES
};

struct pl_sql_value {
    enum pl_sql_value_kind kind;
    int64_t number;
    struct pl_str bytes; /* TEXT and BYTES; borrowed, ptr never NULL */
};

enum { PL_PARAMS_MAX = 28 };

/* The parameters of one statement, in order. They are views, except for ids, which are packed into
 * `ids`. */
struct pl_params {
    struct pl_sql_value values[PL_PARAMS_MAX];
    size_t n;
    char ids[6][PL_UUID_BYTES];
    size_t n_ids;
    struct pl_error *err;  /* may be NULL; reports the first invalid value */
    enum pl_status status; /* sticky: PL_INVALID for an id or a text that cannot be stored */
};

void pl_params_int(struct pl_params *params, int64_t number);
/* {NULL, 0} is NULL. */
void pl_params_text(struct pl_params *params, struct pl_str text);
void pl_params_bytes(struct pl_params *params, struct pl_str bytes);
/* The 16 bytes of prefix and UUID; {NULL, 0} is NULL. */
void pl_params_id(struct pl_params *params, struct pl_str id, const char *prefix);
/* The same, as an upper bound: an empty id sorts after every id. */
void pl_params_id_bound(struct pl_params *params, struct pl_str id, const char *prefix);
/* A loop's id. "root" is stored as no bytes at all, since most turns belong to it. */
void pl_params_loop(struct pl_params *params, struct pl_str loop_id);

/* Terms (base/text/terms.h) in the form an index accepts: single spaces, no operators of the index,
 * at most PL_TERMS_MAX bytes. *to holds the text and must live as long as the parameters. {NULL, 0}
 * is NULL. */
enum { PL_TERMS_MAX = 256 << 10 };
void pl_params_terms(struct pl_params *params, struct pl_str terms, struct pl_buf *to);

/* "%text%" for LIKE … ESCAPE '!', with wildcards escaped; nothing for an empty text. */
void pl_pattern_write(struct pl_str text, struct pl_buf *to);

/* --- drivers --------------------------------------------------------------------------------- */

/* One connection, used by one thread at a time. */
struct pl_db {
    const struct pl_db_ops *ops;
};

/* The prober checks the database while a server runs (prober.c); a line is a node's own connection
 * (node/node_line.h, node/letters.h). */
enum pl_db_role { PL_DB_WRITER, PL_DB_READER, PL_DB_PROBER, PL_DB_LINE };

/* The address of a database and its timeouts. Outlives the connections. */
struct pl_db_place {
    char *url;      /* owned */
    char *password; /* owned; NULL: from the URL or the environment */
    int64_t answer_ms, away_ms;
    bool is_server;
    void (*on_trouble)(void *ctx, const char *text);
    void (*on_rewound)(void *ctx); /* may be NULL; store.h */
    void *ctx;
};
/* Details for the log only. */
void pl_place_say(const struct pl_db_place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For a database that several nodes share. A line never reconnects by itself, since that would cut
 * a transaction in two. */
struct pl_db_line_ops {
    /* Of the writer's connection: its id in the table commits. */
    void (*writer)(struct pl_db *db, unsigned char ret_writer[PL_UUID_BYTES]);
    /* Does nothing if it is connected. */
    enum pl_status (*connect)(struct pl_db *db, struct pl_error *err);
    bool (*is_connected)(struct pl_db *db);
    void (*cut)(struct pl_db *db); /* ends the connection */
    /* Runs statements without parameters, within the timeout for an answer. */
    enum pl_status (*say)(struct pl_db *db, const char *text, struct pl_error *err);
    /* Waits until the database notifies this connection (LISTEN), wake_fd is readable, or the time
     * is over. PL_IO: the connection is cut. */
    enum pl_status (*wait)(struct pl_db *db, int wake_fd, int64_t ms, struct pl_error *err);
};

struct pl_db_ops {
    const char *kind;
    const char *language; /* "sqlite" or "postgres": selects its blocks in a migration */
    bool is_shared;       /* one connection writes and reads; it is in the pool */
    /* Its spelling of the placeholders in migrations, and the statement that begins a migration. */
    const char *key_word, *int_word, *bytes_word;
    const char *begin_migration;
    /* Makes sure that the index exists and is valid, while others write; outside a transaction.
     * NULL: nobody else writes, so the index is created within the transaction of the migration. */
    enum pl_status (*builds_beside)(struct pl_db *db, const char *name, const char *definition,
                                    struct pl_error *err);

    enum pl_status (*open)(const struct pl_db_place *place, enum pl_db_role role,
                           struct pl_db **ret_db, struct pl_error *err);
    /* On the prober's connection: checks that the database answers, and reconnects if needed.
     * PL_CONFLICT: another server owns this database. NULL: the database is in this process and
     * needs no probe. */
    enum pl_status (*probe)(struct pl_db *db, struct pl_error *err);
    /* Called for the writer once the schema exists. May be NULL. */
    enum pl_status (*ready)(struct pl_db *db, struct pl_error *err);
    void (*close)(struct pl_db *db); /* accepts NULL */

    /* Several statements without parameters. */
    enum pl_status (*script)(struct pl_db *db, const char *text, struct pl_error *err);

    /* One statement and its rows. Every query must be followed by finish, whatever happens in
     * between. */
    enum pl_status (*query)(struct pl_db *db, enum pl_sql sql, const struct pl_sql_value *values,
                            size_t n, struct pl_error *err);
    enum pl_status (*step)(struct pl_db *db, bool *ret_has_row, struct pl_error *err);
    /* Of the current row, from 0; valid until the next step. Bytes and text are returned as
     * BYTES. */
    struct pl_sql_value (*column)(struct pl_db *db, size_t i);
    void (*finish)(struct pl_db *db);

    /* Commits batches together as far as possible, and sets status and err of each one. Any result
     * but PL_OK means that nobody knows what is durable, and the store must stop. */
    enum pl_status (*commit)(struct pl_db *db, struct pl_batch **batches, size_t n,
                             struct pl_error *err);
    /* Slow work after the letters were posted. Fails like commit. May be NULL. */
    enum pl_status (*tidy)(struct pl_db *db, struct pl_error *err);

    /* Called with a reader's connection. */
    enum pl_status (*backup)(struct pl_db *db, const char *to_path, struct pl_error *err);
    enum pl_status (*restore)(const char *url, const char *from_path, struct pl_error *err);
    /* Checks for damage that only the database itself can detect. */
    enum pl_status (*check)(struct pl_db *db,
                            void (*say)(void *ctx, bool is_problem, const char *sentence),
                            void *ctx, struct pl_error *err);
    int64_t (*n_bytes)(struct pl_db *db);
    const struct pl_db_line_ops *line; /* NULL: only one process uses it */
};

extern const struct pl_db_ops pl_db_sqlite, pl_db_memory, pl_db_postgres;

/* The number of the newest migration this program has. */
int64_t pl_migrations_version(void);
enum pl_status pl_migrate(struct pl_db *db, struct pl_error *err);
/* A query without parameters that returns one number. */
enum pl_status pl_db_number(struct pl_db *db, enum pl_sql sql, int64_t *ret_number,
                            struct pl_error *err);

/* --- batches --------------------------------------------------------------------------------- */

struct pl_write {
    struct pl_write *next;
    enum pl_sql sql;
    size_t n;
    struct pl_sql_value values[]; /* their bytes are in the batch's arena */
};

struct pl_batch {
    struct pl_arena arena;
    struct pl_write *first, **end;
    size_t n_writes, n_bytes;
    bool raises_auth;      /* it raises the version of users and keys */
    bool raises_ext;       /* and of extensions */
    bool locks_audit;      /* it contains a row of the audit log */
    enum pl_status status; /* sticky while it is built; then the result */
    struct pl_error err;
    /* Set at submit. */
    struct pl_letter letter;
    struct pl_loop *home; /* borrowed; NULL: a thread waits in pl_store_commit */
    pl_batch_done_fn *done;
    void *ctx;
    struct pl_batch *next; /* the queue's */
    int64_t submitted_ms;
    bool is_done;     /* under the writer's lock, for the waiting thread */
    char space[2048]; /* the arena's first block */
};

/* Copies the values of the parameters. */
void pl_batch_write(struct pl_batch *batch, enum pl_sql sql, const struct pl_params *params);

/* A statement on the record with this id (?1) of this user (?2). */
void pl_batch_write_of(struct pl_batch *batch, enum pl_sql sql, struct pl_str id,
                       const char *prefix, struct pl_str user_id);

/* --- the writer ------------------------------------------------------------------------------ */

enum { PL_GROUP_MAX = 256, PL_GROUP_BYTES = 16 << 20 };

struct pl_store_writer {
    pthread_t thread;
    bool is_running; /* the thread was started */
    pthread_mutex_t lock;
    pthread_cond_t has_work, is_settled;
    struct pl_batch *first, **end; /* under the lock; submitted, oldest first */
    size_t n_waiting;              /* under the lock; number of batches in this queue */
    size_t n_wanted;               /* under the lock; the thread wakes when so many batches wait */
    size_t n_open;                 /* under the lock; submitted and not settled yet */
    bool is_closing;               /* under the lock */
    struct pl_db *db;              /* owned; NULL if the pool's only connection writes */
    /* Used only by the thread. */
    size_t n_last;   /* number of batches in the last group … */
    int64_t last_ns; /* … and how long their commit took */
    /* Written by the thread, read by any thread. */
    _Atomic(int64_t) n_commits, n_batches, commit_us;
    _Atomic(int64_t) n_within[PL_STORE_N_BOUNDS + 1];
    struct pl_batch *group[PL_GROUP_MAX];
    /* Under the lock. If its status is not PL_OK, nothing is acknowledged any more. */
    struct pl_error fatal;
    bool is_fenced;                 /* under the lock; until pl_store_enter_again */
    bool is_committing;             /* under the lock; the thread uses its connection */
    _Atomic(int64_t) busy_since_ms; /* since when it waits for the database; 0: not waiting */
};

enum pl_status pl_store_writer_start(struct pl_store *store, struct pl_error *err);
void pl_store_writer_stop(struct pl_store *store);
/* Stops acknowledging and tells the service, once. Any thread. */
void pl_store_writer_halt(struct pl_store *store, const struct pl_error *err);
/* Refuses batches that were submitted before this time and not begun. Any thread. */
void pl_store_writer_expire(struct pl_store *store, int64_t submitted_before_ms,
                            const struct pl_error *err);

/* --- the prober ------------------------------------------------------------------------------- */

/* A thread beside the writer, for a server with a remote database. */
struct pl_prober {
    pthread_t thread;
    bool is_running; /* the thread was started */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_closing;       /* under the lock */
    struct pl_db *db;      /* owned; NULL: there is none */
    _Atomic(bool) is_away; /* the last probe had no answer */
};

enum pl_status pl_prober_start(struct pl_store *store, struct pl_error *err);
void pl_prober_stop(struct pl_store *store);

/* --- readers --------------------------------------------------------------------------------- */

enum { PL_READERS_MAX = 520 }; /* enough for all reading threads of a server */

/* Connections are opened on demand and kept. */
struct pl_pool {
    pthread_mutex_t lock;
    pthread_cond_t has_idle;
    struct pl_db *idle[PL_READERS_MAX]; /* owned */
    size_t n_idle, n_open, max;
};

enum pl_status pl_pool_take(struct pl_store *store, struct pl_db **ret_db, struct pl_error *err);
void pl_pool_give(struct pl_store *store, struct pl_db *db);

struct pl_store {
    const struct pl_db_ops *ops;
    struct pl_db_place place;
    void (*on_fatal)(void *ctx, const struct pl_error *err);
    void (*on_fenced)(void *ctx); /* NULL: being fenced is fatal */
    void *ctx;
    struct pl_store_writer writer;
    struct pl_pool pool;
    struct pl_prober prober;
};

/* --- reading records ------------------------------------------------------------------------- */

/* A read on one connection of the pool, with a sticky error: query, next, columns; pl_read_end
 * returns the result. */
struct pl_read {
    struct pl_store *store;
    struct pl_db *db; /* NULL if no connection was available */
    struct pl_arena *arena;
    struct pl_error *err; /* may be NULL */
    enum pl_status status;
    bool is_open; /* a query is in progress */
    /* For a page: it ends when all rows but the first exceed this many bytes; 0: no limit. */
    size_t max_bytes;
    size_t n_bytes_before; /* bytes in the arena that do not count */
};

struct pl_read pl_read_begin(struct pl_store *store, struct pl_arena *arena, struct pl_error *err);
/* Ends the previous query. Parameters that cannot be stored match nothing: no rows. */
void pl_read_query(struct pl_read *read, enum pl_sql sql, const struct pl_params *params);
bool pl_read_next(struct pl_read *read);
/* The next row of a page that already has n rows; the query asks for one row more than the limit. A
 * row beyond the limit or beyond max_bytes is not read and only sets *ret_has_more. */
bool pl_read_next_of(struct pl_read *read, size_t n, size_t limit, bool *ret_has_more);
/* A query that returns one number. */
int64_t pl_read_number(struct pl_read *read, enum pl_sql sql, const struct pl_params *params);
enum pl_status pl_read_end(struct pl_read *read);
/* Ends a query for one record: PL_NOT_FOUND if there was no row. */
enum pl_status pl_read_end_one(struct pl_read *read, bool was_found, const char *what);

/* Columns from 0, in the arena. */
int64_t pl_read_int(struct pl_read *read, size_t i);
struct pl_str pl_read_text(struct pl_read *read, size_t i);
struct pl_str pl_read_id(struct pl_read *read, size_t i, const char *prefix);
struct pl_str pl_read_loop(struct pl_read *read, size_t i);

/* Copies a caller's string into the arena, such as the session's id for all rows of a result. */
struct pl_str pl_read_keep(struct pl_read *read, struct pl_str s);

/* Space for n items of this size in the arena; NULL (and the read fails) when out of memory. */
void *pl_read_room(struct pl_read *read, size_t n, size_t size);

/* A growing list in the arena; empty if zeroed except for `size`. */
struct pl_list {
    void *items;
    size_t n, cap, size;
};
/* Appends a zeroed item; NULL (and the read fails) when out of memory. */
void *pl_read_add(struct pl_read *read, struct pl_list *list);

/* --- searching ------------------------------------------------------------------------------- */

/* The maximum number of rows searched for the best ones, and of rows counted. */
enum { PL_RARE_MAX = 500, PL_FOUND_MAX = 1000 };

/* Chooses the rarest of the terms (in the form of pl_params_terms), by the counts of the statement
 * `sql` (SQL_EACH_TERM); a search by these is cheap enough. Returns the number of terms left
 * out. */
size_t pl_read_rare_terms(struct pl_read *read, enum pl_sql sql, struct pl_str user_id,
                          struct pl_str terms, struct pl_buf *to);

/* --- rows of a session, by kind -------------------------------------------------------------- */

/* The kind of record whose text names blobs: blobs.c. */
enum pl_blob_owner { PL_BLOB_OF_SESSION, PL_BLOB_OF_PROMPT, PL_BLOB_OF_TASK };
/* Assigns the blobs named in the text to this owner, which is in the store or earlier in the
 * batch. */
void pl_blobs_use(struct pl_batch *batch, enum pl_blob_owner owner, struct pl_str owner_id,
                  struct pl_str text);
/* Call this before the writes that delete the owner. user_id: as in that deletion. */
void pl_blobs_release(struct pl_batch *batch, enum pl_blob_owner owner, struct pl_str owner_id,
                      struct pl_str user_id);

void pl_turn_put(struct pl_batch *batch, const struct pl_turn_row *turn);
void pl_question_put(struct pl_batch *batch, const struct pl_question_row *question);
void pl_queued_put(struct pl_batch *batch, const struct pl_queued_row *queued);
void pl_queued_delete(struct pl_batch *batch, const struct pl_queued_row *queued);

#endif
