/* Copies of a store, and checks for damage.
 *
 * A backup is made page by page in one read transaction, so it has the state of one instant while
 * the writer continues. It is one file without a log. The caller makes it durable and gives it its
 * name. */
#include "store/sqlite/sqlite_int.h"
#include "base/buf.h"
#include "io/file/outfile.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGES_PER_STEP = 1024 };

static enum pl_status copy_pages(sqlite3 *from, sqlite3 *to, struct pl_error *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return sqlite_fail(to, sqlite3_extended_errcode(to), "making a backup", err);
    int code;
    do
        code = sqlite3_backup_step(backup, PAGES_PER_STEP);
    while (code == SQLITE_OK);
    int end = sqlite3_backup_finish(backup);
    return code == SQLITE_DONE && end == SQLITE_OK
               ? PL_OK
               : sqlite_fail(NULL, end == SQLITE_OK ? code : end, "making a backup", err);
}

/* Copies all of `from` to an empty file that nobody else has open; `mend` (may be NULL) changes the
 * copy before it is closed. */
static enum pl_status copy_to(sqlite3 *from, const char *temp,
                              enum pl_status (*mend)(sqlite3 *conn, struct pl_error *err),
                              struct pl_error *err)
{
    sqlite3 *to = NULL;
    enum pl_status status = sqlite_connect(temp, SQLITE_OPEN_READWRITE, &to, err);
    if (status == PL_OK)
        status = copy_pages(from, to, err);
    if (status == PL_OK)
        status = sqlite_exec(to, "PRAGMA journal_mode = DELETE", "making a backup", err);
    if (status == PL_OK && mend)
        status = mend(to, err);
    if (sqlite3_close(to) != SQLITE_OK && status == PL_OK)
        status = pl_fail(err, PL_INTERNAL, "the backup cannot be closed");
    return status;
}

enum pl_status sqlite_backup(struct pl_db *base, const char *to_path, struct pl_error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    enum pl_status status = sqlite_exec(
        db->conn, "BEGIN; SELECT version FROM schema_version LIMIT 1", "making a backup", err);
    if (status == PL_OK)
        status = copy_to(db->conn, to_path, NULL, err);
    if (!sqlite3_get_autocommit(db->conn))
        sqlite3_exec(db->conn, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

/* --- restoring ------------------------------------------------------------------------------- */

static enum pl_status check_is_ours(sqlite3 *conn, const char *path, struct pl_error *err)
{
    int64_t id = 0, version = 0, is_sound = 0;
    enum pl_status status = sqlite_number(conn, "PRAGMA application_id", &id, err);
    if (status != PL_OK)
        return status;
    if (id != SQLITE_APPLICATION_ID)
        return pl_fail(err, PL_INVALID, "\"%.300s\" is not a backup of a Parley store", path);
    status = sqlite_number(conn, "SELECT max(version) FROM schema_version", &version, err);
    if (status != PL_OK)
        return status;
    if (version < 1 || version > pl_migrations_version())
        return pl_fail(err, PL_CONFLICT,
                       "\"%.300s\" has schema version %lld, but this program supports versions up "
                       "to %lld: use the Parley that made it",
                       path, (long long)version, (long long)pl_migrations_version());
    status = sqlite_number(
        conn, "SELECT integrity_check = 'ok' FROM pragma_integrity_check LIMIT 1", &is_sound, err);
    if (status == PL_OK && !is_sound)
        status = pl_fail(err, PL_INVALID, "\"%.300s\" is damaged: choose another backup", path);
    return status;
}

/* Events after the backup are lost: a new epoch tells every reader. */
static enum pl_status begin_epoch(sqlite3 *conn, struct pl_error *err)
{
    return sqlite_exec(conn, "UPDATE sessions SET epoch = epoch + 1, version = version + 1",
                       "restoring the backup", err);
}

/* The log of the old store must not be beside the new one. SQLite itself checkpoints it, so that
 * the old store stays complete until the rename. If the old store is too damaged for that, it only
 * loses its log. */
static void retire_log(const char *path)
{
    sqlite3 *old = NULL;
    if (sqlite_connect(path, SQLITE_OPEN_READWRITE, &old, NULL) == PL_OK)
        sqlite3_exec(old, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
    sqlite3_close(old);
    static const char *const suffixes[] = {"-wal", "-shm"};
    for (size_t i = 0; i < 2; i++) {
        PL_CLEANUP_BUF struct pl_buf name;
        pl_buf_init(&name, 0);
        pl_buf_addf(&name, "%s%s", path, suffixes[i]);
        pl_buf_addc(&name, '\0');
        if (name.status == PL_OK)
            unlink(name.ptr);
    }
}

/* Writes the copy beside the store; it replaces the store when it is complete. */
static enum pl_status replace(sqlite3 *from, const char *path, struct pl_error *err)
{
    static const struct pl_outfile_rules rules = {
        .is_private = true, .is_durable = true, .is_file = true};
    PL_CLEANUP_OUTFILE struct pl_outfile out;
    enum pl_status status = pl_outfile_open(&out, path, &rules, err);
    if (status == PL_OK)
        status = copy_to(from, out.part, begin_epoch, err);
    if (status != PL_OK)
        return status;
    retire_log(out.place.path);
    return pl_outfile_commit(&out, err);
}

static enum pl_status restore_locked(const char *path, const char *from_path, struct pl_error *err)
{
    sqlite3 *from = NULL;
    enum pl_status status = access(from_path, R_OK) == 0
                                ? PL_OK
                                : pl_fail(err, PL_UNREADABLE, "\"%.300s\" cannot be read: %s",
                                          from_path, strerror(errno));
    if (status == PL_OK)
        status = sqlite_connect(from_path, SQLITE_OPEN_READONLY, &from, err);
    if (status == PL_OK)
        status = check_is_ours(from, from_path, err);
    if (status == PL_OK)
        status = replace(from, path, err);
    sqlite3_close(from);
    return status;
}

enum pl_status sqlite_restore(const char *url, const char *from_path, struct pl_error *err)
{
    const char *path = NULL;
    int lock_fd = -1;
    enum pl_status status = sqlite_path(url, &path, err);
    if (status == PL_OK)
        status = sqlite_lock(path, &lock_fd, err);
    if (status != PL_OK)
        return status;
    status = restore_locked(path, from_path, err);
    close(lock_fd);
    return status;
}

/* --- damage ---------------------------------------------------------------------------------- */

static enum pl_status say_rows(sqlite3 *conn, const char *text,
                               void (*say)(void *ctx, bool is_problem, const char *sentence),
                               void *ctx, struct pl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(conn, text, -1, &stmt, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(stmt);
        const char *sentence =
            code == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
        if (sentence)
            say(ctx, true, sentence);
    }
    enum pl_status status =
        code == SQLITE_DONE ? PL_OK : sqlite_fail(conn, code, "checking the store", err);
    sqlite3_finalize(stmt);
    return status;
}

enum pl_status sqlite_check(struct pl_db *base,
                            void (*say)(void *ctx, bool is_problem, const char *sentence),
                            void *ctx, struct pl_error *err)
{
    sqlite3 *conn = ((struct sqlite_db *)base)->conn;
    enum pl_status status = say_rows(conn,
                                     "SELECT 'The file is damaged: ' || integrity_check || '.' "
                                     "FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
                                     say, ctx, err);
    if (status == PL_OK)
        status = say_rows(conn,
                          "SELECT count(*) || ' rows of ' || \"table\" || ' refer to a row of ' || "
                          "parent || ' that is not there.' FROM pragma_foreign_key_check "
                          "GROUP BY \"table\", parent",
                          say, ctx, err);
    return status;
}

int64_t sqlite_n_bytes(struct pl_db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    struct stat info;
    if (!db->path || stat(db->path, &info) != 0)
        return -1;
    int64_t n = info.st_size;
    PL_CLEANUP_BUF struct pl_buf log;
    pl_buf_init(&log, 0);
    pl_buf_addf(&log, "%s-wal", db->path);
    pl_buf_addc(&log, '\0');
    if (log.status == PL_OK && stat(log.ptr, &info) == 0)
        n += info.st_size;
    return n;
}
