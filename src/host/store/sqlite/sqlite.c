/* One connection to SQLite: opening, statements, rows, the meaning of its codes. */
#include "store/sqlite/sqlite_int.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text/utf8.h"

#include <limits.h>
#include <locale.h>
#include <unistd.h>
#include <wctype.h>

/* --- failures -------------------------------------------------------------------------------- */

enum pl_status sqlite_fail(sqlite3 *conn, int code, const char *what, struct pl_error *err)
{
    /* The message depends on the code, not on the statement: it may reach a client, which must not
     * see our SQL. The name of a constraint selects the message. */
    const char *why = sqlite3_errstr(code);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return pl_fail(err, PL_NOMEM, "out of memory while %s", what);
    case SQLITE_FULL:
        return pl_fail(err, PL_LIMIT, "the disk is full while %s: free some space and try again",
                       what);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return pl_fail(err, PL_IO,
                       "the store was locked by another program for 5 s while %s: try again", what);
    case SQLITE_CONSTRAINT:
        if (code == SQLITE_CONSTRAINT_NOTNULL)
            return pl_fail(err, PL_NOT_FOUND, "the change refers to something that does not exist");
        if (code == SQLITE_CONSTRAINT_CHECK)
            return pl_fail(err, PL_CONFLICT, "%s",
                           pl_sql_refusal(conn ? sqlite3_errmsg(conn) : ""));
        return pl_fail(err, PL_CONFLICT, "it was already done");
    case SQLITE_IOERR:
        if (code == SQLITE_IOERR_NOMEM)
            return pl_fail(err, PL_NOMEM, "out of memory while %s", what);
        return pl_fail(err, PL_IO, "the disk failed while %s (%s, code %d)", what, why, code);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return pl_fail(err, PL_IO,
                       "the store is damaged (%s): run \"parley doctor\", and restore a backup if "
                       "it finds problems",
                       why);
    default: /* includes "SQL logic error" */
        return pl_fail(err, PL_IO, "the database failed while %s (code %d of SQLite)", what, code);
    }
}

enum pl_status sqlite_exec(sqlite3 *conn, const char *text, const char *what, struct pl_error *err)
{
    int code = sqlite3_exec(conn, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? PL_OK : sqlite_fail(conn, sqlite3_extended_errcode(conn), what, err);
}

enum pl_status sqlite_number(sqlite3 *conn, const char *text, int64_t *ret_number,
                             struct pl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(conn, text, -1, &stmt, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(stmt, 0);
    enum pl_status status =
        code == SQLITE_ROW ? PL_OK : sqlite_fail(conn, code, "opening the store", err);
    sqlite3_finalize(stmt);
    return status;
}

/* --- lower(), for every script --------------------------------------------------------------- */

static locale_t every_script;

static void load_locale(void)
{
    every_script = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static void add_code_point(struct pl_buf *to, uint32_t c)
{
    if (c < 0x80) {
        pl_buf_addc(to, (char)c);
    } else if (c < 0x800) {
        pl_buf_addc(to, (char)(0xc0 | c >> 6));
        pl_buf_addc(to, (char)(0x80 | (c & 0x3f)));
    } else {
        if (c < 0x10000) {
            pl_buf_addc(to, (char)(0xe0 | c >> 12));
        } else {
            pl_buf_addc(to, (char)(0xf0 | c >> 18));
            pl_buf_addc(to, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        pl_buf_addc(to, (char)(0x80 | (c >> 6 & 0x3f)));
        pl_buf_addc(to, (char)(0x80 | (c & 0x3f)));
    }
}

/* Replaces SQLite's lower(), which handles only ASCII. */
static void lower(sqlite3_context *ctx, int n, sqlite3_value **args)
{
    (void)n;
    struct pl_str text = {(const char *)sqlite3_value_text(args[0]),
                          (size_t)sqlite3_value_bytes(args[0])};
    struct pl_buf result;
    pl_buf_init(&result, INT_MAX);
    for (size_t at = 0; text.ptr && at < text.len;) {
        int32_t c = pl_utf8_next(text, &at);
        if (c >= 0)
            add_code_point(&result, every_script ? (uint32_t)towlower_l((wint_t)c, every_script)
                                                 : (uint32_t)c);
    }
    if (result.status != PL_OK) {
        pl_buf_deinit(&result);
        sqlite3_result_error_nomem(ctx);
    } else if (!result.ptr) {
        sqlite3_result_text(ctx, "", 0, SQLITE_STATIC);
    } else {
        sqlite3_result_text(ctx, result.ptr, (int)result.len, pl_mem_free);
    }
}

/* --- opening --------------------------------------------------------------------------------- */

enum pl_status sqlite_path(const char *url, const char **ret_path, struct pl_error *err)
{
    const char *path = url + strlen("sqlite:");
    if (!*path || *path == ':')
        return pl_fail(err, PL_USAGE,
                       "a store in a file must be \"sqlite:\" and the path of the "
                       "file");
    *ret_path = path;
    return PL_OK;
}

/* vfs NULL: the default. */
static enum pl_status connect_by(const char *path, int flags, const char *vfs, sqlite3 **ret_conn,
                                 struct pl_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_locale);
    sqlite_use_memory();
    sqlite3 *conn = NULL;
    int code = sqlite3_open_v2(path ? path : ":memory:", &conn, flags | SQLITE_OPEN_NOMUTEX, vfs);
    if (code == SQLITE_OK)
        code = sqlite3_extended_result_codes(conn, 1);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(conn, 5000);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(conn, "lower", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                          NULL, lower, NULL, NULL, NULL);
    if (code == SQLITE_OK) {
        *ret_conn = conn;
        return PL_OK;
    }
    enum pl_status status = sqlite_fail(conn, code, "opening the store", err);
    sqlite3_close(conn);
    return status;
}

enum pl_status sqlite_connect(const char *path, int flags, sqlite3 **ret_conn, struct pl_error *err)
{
    return connect_by(path, flags, NULL, ret_conn, err);
}

/* Marks an unmarked file as ours; refuses a file of another program. */
static enum pl_status claim_file(struct sqlite_db *db, struct pl_error *err)
{
    int64_t id = 0, n_tables = 0;
    enum pl_status status = sqlite_number(db->conn, "PRAGMA application_id", &id, err);
    if (status == PL_OK)
        status = sqlite_number(db->conn, "SELECT count(*) FROM sqlite_master", &n_tables, err);
    if (status != PL_OK || id == SQLITE_APPLICATION_ID)
        return status;
    if (id != 0 || n_tables != 0)
        return pl_fail(err, PL_CONFLICT,
                       "\"%.300s\" is the database of another program: choose another path",
                       db->path);
    /* Small pages: a row wastes at most one page, and a turn has 2 KB and more (see
     * docs/internals/store.md). */
    char text[80];
    snprintf(text, sizeof text, "PRAGMA page_size = 1024; PRAGMA application_id = %d;",
             SQLITE_APPLICATION_ID);
    return sqlite_exec(db->conn, text, "creating the store", err);
}

static int note_wal(void *ctx, sqlite3 *conn, const char *name, int n_frames)
{
    (void)conn;
    (void)name;
    ((struct sqlite_db *)ctx)->n_wal_frames = n_frames;
    return SQLITE_OK;
}

/* SQLite returns the resulting mode. */
static enum pl_status use_log(struct sqlite_db *db, struct pl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(db->conn, "PRAGMA journal_mode = WAL", -1, &stmt, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    const char *mode = code == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    enum pl_status status = PL_OK;
    if (code != SQLITE_ROW)
        status = sqlite_fail(db->conn, code, "opening the store", err);
    else if (!mode || strcmp(mode, "wal") != 0)
        status = pl_fail(err, PL_IO,
                         "the file system of \"%.300s\" cannot hold a write-ahead log: use a local "
                         "disk",
                         db->path);
    sqlite3_finalize(stmt);
    return status;
}

static enum pl_status open_writer(struct sqlite_db *db, struct pl_error *err)
{
    enum pl_status status = sqlite_lock(db->path, &db->lock_fd, err);
    if (status == PL_OK)
        status = sqlite_make_file(db->path, err);
    if (status == PL_OK)
        status =
            connect_by(db->path, SQLITE_OPEN_READWRITE, sqlite_gathering_vfs(), &db->conn, err);
    if (status == PL_OK)
        status = claim_file(db, err);
    if (status == PL_OK)
        status = use_log(db, err);
    if (status == PL_OK)
        status = sqlite_exec(db->conn,
                             "PRAGMA synchronous = FULL; PRAGMA mmap_size = 0; "
                             "PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 33554432; "
                             "PRAGMA cache_size = -8192; PRAGMA temp_store = MEMORY; "
                             "PRAGMA trusted_schema = OFF; PRAGMA secure_delete = ON;",
                             "opening the store", err);
    /* Replaces the automatic checkpoint, which would delay the acknowledgement. */
    if (status == PL_OK)
        sqlite3_wal_hook(db->conn, note_wal, db);
    return status;
}

static enum pl_status open_reader(struct sqlite_db *db, struct pl_error *err)
{
    enum pl_status status = sqlite_connect(db->path, SQLITE_OPEN_READWRITE, &db->conn, err);
    if (status != PL_OK)
        return status;
    sqlite3_db_config(db->conn, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return sqlite_exec(db->conn,
                       "PRAGMA query_only = ON; PRAGMA wal_autocheckpoint = 0; "
                       "PRAGMA mmap_size = 0; PRAGMA cache_size = -2048; "
                       "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;",
                       "opening the store", err);
}

static void close_db(struct pl_db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    if (!db)
        return;
    for (size_t i = 0; i < PL_SQL_COUNT; i++)
        sqlite3_finalize(db->stmts[i]);
    sqlite3_close(db->conn);
    if (db->lock_fd >= 0)
        close(db->lock_fd);
    pl_mem_free(db->path);
    pl_mem_free(db);
}

static struct sqlite_db *create(const struct pl_db_ops *ops, const char *path)
{
    struct sqlite_db *db = pl_mem_alloc(1, sizeof *db);
    if (!db)
        return NULL;
    *db = (struct sqlite_db){.base.ops = ops, .lock_fd = -1};
    if (!path)
        return db;
    size_t n = strlen(path) + 1;
    db->path = pl_mem_alloc(n, 1);
    if (db->path) {
        memcpy(db->path, path, n);
        return db;
    }
    pl_mem_free(db);
    return NULL;
}

static enum pl_status open_file(const struct pl_db_place *place, enum pl_db_role role,
                                struct pl_db **ret_db, struct pl_error *err)
{
    const char *path = NULL;
    enum pl_status status = sqlite_path(place->url, &path, err);
    if (status != PL_OK)
        return status;
    struct sqlite_db *db = create(&pl_db_sqlite, path);
    if (!db)
        return pl_fail(err, PL_NOMEM, "out of memory while opening the store");
    status = role == PL_DB_WRITER ? open_writer(db, err) : open_reader(db, err);
    if (status == PL_OK)
        *ret_db = &db->base;
    else
        close_db(&db->base);
    return status;
}

static enum pl_status open_memory(const struct pl_db_place *place, enum pl_db_role role,
                                  struct pl_db **ret_db, struct pl_error *err)
{
    (void)place;
    (void)role;
    struct sqlite_db *db = create(&pl_db_memory, NULL);
    if (!db)
        return pl_fail(err, PL_NOMEM, "out of memory while opening the store");
    enum pl_status status =
        sqlite_connect(NULL, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &db->conn, err);
    if (status == PL_OK)
        status = claim_file(db, err);
    if (status == PL_OK)
        status = sqlite_exec(db->conn, "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;",
                             "opening the store", err);
    if (status == PL_OK)
        *ret_db = &db->base;
    else
        close_db(&db->base);
    return status;
}

/* --- statements ------------------------------------------------------------------------------ */

static int bind_value(sqlite3_stmt *stmt, int i, const struct pl_sql_value *value)
{
    struct pl_str bytes = value->bytes;
    switch (value->kind) {
    case PL_SQL_VALUE_INT:
        return sqlite3_bind_int64(stmt, i, value->number);
    case PL_SQL_VALUE_TEXT:
        return sqlite3_bind_text64(stmt, i, bytes.ptr, bytes.len, SQLITE_STATIC, SQLITE_UTF8);
    case PL_SQL_VALUE_BYTES:
        return bytes.len ? sqlite3_bind_blob64(stmt, i, bytes.ptr, bytes.len, SQLITE_STATIC)
                         : sqlite3_bind_zeroblob(stmt, i, 0);
    case PL_SQL_VALUE_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, i);
}

int sqlite_bind(struct sqlite_db *db, enum pl_sql sql, const struct pl_sql_value *values, size_t n,
                sqlite3_stmt **ret_stmt)
{
    sqlite3_stmt **stmt = &db->stmts[sql];
    int code = SQLITE_OK;
    if (!*stmt)
        code = sqlite3_prepare_v3(db->conn, pl_sql_texts[sql].text, -1, SQLITE_PREPARE_PERSISTENT,
                                  stmt, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < n; i++)
        code = bind_value(*stmt, (int)i + 1, &values[i]);
    if (code == SQLITE_OK)
        *ret_stmt = *stmt;
    return code;
}

static enum pl_status script(struct pl_db *base, const char *text, struct pl_error *err)
{
    return sqlite_exec(((struct sqlite_db *)base)->conn, text, "creating the store", err);
}

static enum pl_status query(struct pl_db *base, enum pl_sql sql, const struct pl_sql_value *values,
                            size_t n, struct pl_error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    int code = sqlite_bind(db, sql, values, n, &db->current);
    return code == SQLITE_OK ? PL_OK : sqlite_fail(db->conn, code, "reading the store", err);
}

static enum pl_status step(struct pl_db *base, bool *ret_has_row, struct pl_error *err)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    int code = sqlite3_step(db->current);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return sqlite_fail(db->conn, code, "reading the store", err);
    *ret_has_row = code == SQLITE_ROW;
    return PL_OK;
}

static struct pl_sql_value column(struct pl_db *base, size_t i)
{
    sqlite3_stmt *stmt = ((struct sqlite_db *)base)->current;
    switch (sqlite3_column_type(stmt, (int)i)) {
    case SQLITE_NULL:
        return (struct pl_sql_value){PL_SQL_VALUE_NULL};
    case SQLITE_INTEGER:
        return (struct pl_sql_value){PL_SQL_VALUE_INT,
                                     .number = sqlite3_column_int64(stmt, (int)i)};
    default: {
        const char *ptr = sqlite3_column_blob(stmt, (int)i);
        size_t len = (size_t)sqlite3_column_bytes(stmt, (int)i);
        return (struct pl_sql_value){PL_SQL_VALUE_BYTES, .bytes = {ptr ? ptr : "", ptr ? len : 0}};
    }
    }
}

static void finish(struct pl_db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    if (db->current)
        sqlite3_reset(db->current);
    db->current = NULL;
}

static enum pl_status refuse_restore(const char *url, const char *from_path, struct pl_error *err)
{
    (void)url;
    (void)from_path;
    return pl_fail(err, PL_INVALID, "a store in memory cannot be restored: use sqlite:PATH");
}

#define OPS(kind_, is_shared_, open_, tidy_, restore_)                                             \
    {                                                                                              \
        .kind = kind_, .language = "sqlite", .is_shared = is_shared_,                              \
        .key_word = "INTEGER PRIMARY KEY", .int_word = "INTEGER", .bytes_word = "BLOB",            \
        .begin_migration = "BEGIN IMMEDIATE", .open = open_, .close = close_db, .script = script,  \
        .query = query, .step = step, .column = column, .finish = finish, .commit = sqlite_commit, \
        .tidy = tidy_, .backup = sqlite_backup, .restore = restore_, .check = sqlite_check,        \
        .n_bytes = sqlite_n_bytes,                                                                 \
    }

const struct pl_db_ops pl_db_sqlite = OPS("sqlite", false, open_file, sqlite_tidy, sqlite_restore);
const struct pl_db_ops pl_db_memory = OPS("memory", true, open_memory, NULL, refuse_restore);
