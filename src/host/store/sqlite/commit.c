/* Group commit: one transaction, one fsync. Almost always every batch succeeds. If one fails, all
 * is rolled back and repeated with a savepoint per batch, so that the others succeed. So savepoints
 * cost nothing in the normal case.
 *
 * Some failures (a full disk, no memory) end the whole transaction nevertheless. Then nothing of it
 * is durable, and each batch is tried again alone, so that it succeeds or fails by itself.
 *
 * If COMMIT fails while writing or syncing, nobody knows what reached the disk, and the kernel may
 * have discarded data that it could not write. The store cannot continue after that. */
#include "store/sqlite/sqlite_int.h"

#include "io/clock.h"

/* The log is checkpointed after this many pages: 8 MiB. */
enum { CHECKPOINT_FRAMES = 8192 };
enum { BUSY_MS = 5000 };
/* Emptying the log takes two fsyncs, so it is not done for every deletion. */
#define ERASE_PAUSE_MS ((int64_t)10000)

/* Permanently deleted data is erased: from the pages by secure_delete, and from the log by emptying
 * it. */
static bool erases(enum pl_sql sql)
{
    switch (sql) {
    case PL_SQL_SESSION_DELETE:
    case PL_SQL_PROMPT_DELETE:
    case PL_SQL_MEMORY_DELETE:
    case PL_SQL_TASK_DELETE:
    case PL_SQL_BLOB_DELETE:
    case PL_SQL_USER_DELETE:
    case PL_SQL_SESSION_DROP:
    case PL_SQL_SESSION_FULL:
    case PL_SQL_SESSION_OLD:
    case PL_SQL_PROMPT_DROP:
    case PL_SQL_PROMPT_FULL:
    case PL_SQL_PROMPT_OLD:
    case PL_SQL_TASK_DROP:
    case PL_SQL_TASK_FULL:
    case PL_SQL_TASK_OLD:
    case PL_SQL_MEMORY_DROP:
    case PL_SQL_MEMORY_FULL:
    case PL_SQL_MEMORY_OLD:
        return true;
    default:
        return false;
    }
}

/* Whether it is unknown what reached the disk, or a later fsync may report a false success. */
static bool is_fatal(int code, bool is_at_commit)
{
    return code == SQLITE_IOERR_FSYNC ||
           (is_at_commit && code != SQLITE_IOERR_NOMEM && (code & 0xff) == SQLITE_IOERR);
}

static int run(struct sqlite_db *db, const char *text)
{
    int code = sqlite3_exec(db->conn, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? code : sqlite3_extended_errcode(db->conn);
}

static int run_writes(struct sqlite_db *db, const struct pl_batch *batch)
{
    for (const struct pl_write *write = batch->first; write; write = write->next) {
        sqlite3_stmt *stmt = NULL;
        int code = sqlite_bind(db, write->sql, write->values, write->n, &stmt);
        if (code == SQLITE_OK) {
            code = sqlite3_step(stmt);
            sqlite3_reset(stmt);
        }
        if (code != SQLITE_DONE)
            return code;
        if (db->path && erases(write->sql) && sqlite3_changes(db->conn) > 0)
            db->must_erase = true;
    }
    return SQLITE_OK;
}

/* Called within the transaction. Any result but SQLITE_OK has ended the whole transaction. */
static int run_guarded(struct sqlite_db *db, struct pl_batch *batch)
{
    int code = run(db, "SAVEPOINT batch");
    if (code == SQLITE_OK)
        code = run_writes(db, batch);
    if (code == SQLITE_OK)
        return run(db, "RELEASE batch");
    batch->status = sqlite_fail(db->conn, code, "writing a change", &batch->err);
    if (sqlite3_get_autocommit(db->conn) ||
        run(db, "ROLLBACK TO batch; RELEASE batch") != SQLITE_OK)
        return code;
    return SQLITE_OK;
}

static void roll_back(struct sqlite_db *db)
{
    if (!sqlite3_get_autocommit(db->conn))
        run(db, "ROLLBACK");
}

/* Commits one batch by itself. Any result but PL_OK stops the store. */
static enum pl_status commit_alone(struct sqlite_db *db, struct pl_batch *batch,
                                   struct pl_error *err)
{
    batch->status = PL_OK;
    int code = run(db, "BEGIN IMMEDIATE");
    if (code == SQLITE_OK)
        code = run_writes(db, batch);
    bool is_at_commit = code == SQLITE_OK;
    if (is_at_commit)
        code = run(db, "COMMIT");
    if (code == SQLITE_OK)
        return PL_OK;
    batch->status = sqlite_fail(db->conn, code, "writing a change", &batch->err);
    roll_back(db);
    if (!is_fatal(code, is_at_commit))
        return PL_OK;
    *err = batch->err;
    return PL_IO;
}

/* Sets the result of every batch and *ret_is_settled, or rolls everything back. */
static enum pl_status commit_together(struct sqlite_db *db, struct pl_batch **batches, size_t n,
                                      bool is_guarded, bool *ret_is_settled, struct pl_error *err)
{
    int code = run(db, "BEGIN IMMEDIATE");
    if (code != SQLITE_OK) {
        for (size_t i = 0; i < n; i++)
            batches[i]->status = sqlite_fail(db->conn, code, "writing a change", &batches[i]->err);
        *ret_is_settled = true;
        return PL_OK;
    }
    for (size_t i = 0; code == SQLITE_OK && i < n; i++)
        code = is_guarded ? run_guarded(db, batches[i]) : run_writes(db, batches[i]);
    bool is_at_commit = code == SQLITE_OK;
    if (is_at_commit)
        code = run(db, "COMMIT");
    if (code == SQLITE_OK) {
        *ret_is_settled = true;
        return PL_OK;
    }
    enum pl_status status = PL_OK;
    if (is_fatal(code, is_at_commit))
        status = sqlite_fail(db->conn, code, "making changes durable", err);
    roll_back(db);
    return status;
}

enum pl_status sqlite_commit(struct pl_db *base, struct pl_batch **batches, size_t n,
                             struct pl_error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    bool is_settled = false;
    enum pl_status status = PL_OK;
    for (int is_guarded = 0; status == PL_OK && !is_settled && n > 1 && is_guarded < 2;
         is_guarded++)
        status = commit_together(db, batches, n, is_guarded, &is_settled, err);
    for (size_t i = 0; status == PL_OK && !is_settled && i < n; i++)
        status = commit_alone(db, batches[i], err);
    return status;
}

/* Empties the log. Readers of old pages prevent that; the writer does not wait for them but tries
 * again after a later commit: the server commits something every minute. */
static enum pl_status erase_log(struct sqlite_db *db, struct pl_error *err)
{
    int64_t now_ms = pl_clock_ms();
    if (db->erased_ms && now_ms - db->erased_ms < ERASE_PAUSE_MS)
        return PL_OK;
    db->erased_ms = now_ms;
    sqlite3_busy_timeout(db->conn, 0);
    int code = sqlite3_wal_checkpoint_v2(db->conn, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(db->conn, BUSY_MS);
    if (code == SQLITE_OK) {
        db->must_erase = false;
        db->n_wal_frames = db->n_home_frames = 0;
    }
    return code == SQLITE_IOERR_FSYNC ? sqlite_fail(db->conn, code, "emptying the log", err)
                                      : PL_OK;
}

/* If a checkpoint is incomplete because of readers of old pages, nothing is lost: the log has
 * everything, and the next attempt is due when it has grown by the same size again. */
enum pl_status sqlite_tidy(struct pl_db *base, struct pl_error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    enum pl_status status = db->must_erase ? erase_log(db, err) : PL_OK;
    if (status != PL_OK)
        return status;
    if (db->n_wal_frames < db->n_home_frames)
        db->n_home_frames = 0;
    if (db->n_wal_frames < db->n_home_frames + CHECKPOINT_FRAMES)
        return PL_OK;
    db->n_home_frames = db->n_wal_frames;
    int code = sqlite3_wal_checkpoint_v2(db->conn, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (code != SQLITE_IOERR_FSYNC)
        return PL_OK;
    return sqlite_fail(db->conn, code, "checkpointing the log", err);
}
