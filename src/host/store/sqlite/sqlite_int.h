/* Internals of the SQLite driver. A store in a file has one writer connection, which holds the lock
 * file and is the only one to checkpoint, and readers, which are query_only. A store in memory is
 * one connection.
 *
 * Debian's SQLite 3.40 can lose a transaction when two connections checkpoint at the same time (the
 * WAL-reset bug, fixed in 3.51.3), so exactly one does. */
#ifndef PL_STORE_SQLITE_INT_H
#define PL_STORE_SQLITE_INT_H

#include "store/store_int.h"

#include <sqlite3.h>

struct sqlite_db {
    struct pl_db base;
    sqlite3 *conn;                     /* owned */
    sqlite3_stmt *stmts[PL_SQL_COUNT]; /* owned; prepared on first use */
    sqlite3_stmt *current;             /* borrowed from stmts; between query and finish */
    char *path;                        /* owned; NULL in memory */
    int lock_fd;                       /* owned; the writer's; -1: none */
    int n_wal_frames;                  /* in the log, after the last commit */
    int n_home_frames; /* … when it was last checkpointed; 0: not since it was reset */
    bool must_erase;   /* data was deleted, and the log still contains it */
    int64_t erased_ms; /* when the log was last emptied for that reason */
};

/* "PARL": identifies our files in their headers. */
enum { SQLITE_APPLICATION_ID = 0x5041524c };

/* The path after "sqlite:". */
enum pl_status sqlite_path(const char *url, const char **ret_path, struct pl_error *err);
/* Opens a file (NULL: memory) with the functions that our statements need. */
enum pl_status sqlite_connect(const char *path, int flags, sqlite3 **ret_conn,
                              struct pl_error *err);
/* Binds the values, ready to step. */
int sqlite_bind(struct sqlite_db *db, enum pl_sql sql, const struct pl_sql_value *values, size_t n,
                sqlite3_stmt **ret_stmt);
/* Translates an SQLite code to a status with a message. */
enum pl_status sqlite_fail(sqlite3 *conn, int code, const char *what, struct pl_error *err);
/* The first number of the first row. */
enum pl_status sqlite_number(sqlite3 *conn, const char *text, int64_t *ret_number,
                             struct pl_error *err);
enum pl_status sqlite_exec(sqlite3 *conn, const char *text, const char *what, struct pl_error *err);

/* Makes SQLite use our allocator. Any thread, any number of times. */
void sqlite_use_memory(void);

/* The name of an SQLite VFS that buffers writes to the log until they must be durable; for the
 * writer, with synchronous=FULL (log_file.c). NULL: out of memory, use the default. */
const char *sqlite_gathering_vfs(void);

/* Locks PATH-lock for this process; PL_CONFLICT if another process has it. */
enum pl_status sqlite_lock(const char *path, int *ret_fd, struct pl_error *err);
/* Creates an empty file that only its owner may read, if it does not exist, and makes its name
 * durable. */
enum pl_status sqlite_make_file(const char *path, struct pl_error *err);
enum pl_status sqlite_sync_dir_of(const char *path, struct pl_error *err);

enum pl_status sqlite_commit(struct pl_db *base, struct pl_batch **batches, size_t n,
                             struct pl_error *err);
enum pl_status sqlite_tidy(struct pl_db *base, struct pl_error *err);
enum pl_status sqlite_backup(struct pl_db *base, const char *to_path, struct pl_error *err);
enum pl_status sqlite_restore(const char *url, const char *from_path, struct pl_error *err);
enum pl_status sqlite_check(struct pl_db *base,
                            void (*say)(void *ctx, bool is_problem, const char *sentence),
                            void *ctx, struct pl_error *err);
int64_t sqlite_n_bytes(struct pl_db *base);

#endif
