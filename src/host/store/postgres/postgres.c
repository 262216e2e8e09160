/* One connection to PostgreSQL: opening, statements, rows, the meaning of its codes. All values are
 * binary parameters of prepared statements. */
#include "store/postgres/postgres_int.h"
#include "base/buf.h"
#include "base/mem.h"
#include "io/clock.h"

/* pg_type.dat */
enum { OID_BYTES = 17, OID_INT = 20, OID_TEXT = 25 };

enum { MIGRATION_MS = 600000 };

/* --- failures -------------------------------------------------------------------------------- */

/* By the first characters of SQLSTATE; the first match counts. */
static const struct {
    const char *state;
    enum pl_status status;
    const char *sentence;
} failures[] = {
    {"23502", PL_NOT_FOUND, "the change refers to something that does not exist"},
    {"23", PL_CONFLICT, "it was already done"},
    {"53100", PL_LIMIT, "the database's disk is full: free some space and try again"},
    {"53200", PL_NOMEM, "the database is out of memory"},
    {"55P03", PL_IO, "the database was locked for too long: try again"},
    {"57014", PL_IO, "the database took too long: try again"},
};

static const char *first_line(const char *text, char *to, size_t size)
{
    snprintf(to, size, "%.*s", (int)strcspn(text, "\n"), text);
    return to;
}

/* The database's message may contain its host, its user or our SQL: it is for the log and the
 * operator, not for clients. */
enum pl_status postgres_fail(struct postgres_db *db, const PGresult *result, const char *what,
                             struct pl_error *err)
{
    char why[200];
    const char *state = result ? libpq.PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *message = result ? libpq.PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    first_line(message    ? message
               : db->conn ? libpq.PQerrorMessage(db->conn)
                          : "no connection",
               why, sizeof why);
    if (state && strcmp(state, "23514") == 0)
        return pl_fail(err, PL_CONFLICT, "%s", pl_sql_refusal(why));
    for (size_t i = 0; state && i < sizeof failures / sizeof *failures; i++)
        if (strncmp(state, failures[i].state, strlen(failures[i].state)) == 0)
            return pl_fail(err, failures[i].status, "%s", failures[i].sentence);
    if (db->is_starting)
        return pl_fail(err, PL_IO, "the database failed while %s (%s)", what, why);
    if (!db->has_said)
        pl_place_say(db->place, "the database failed while %s: %s", what, why);
    db->has_said = db->is_line;
    return pl_fail(err, PL_IO, "the database failed while %s: try again", what);
}

enum pl_status postgres_fail_silence(struct postgres_db *db, struct pl_error *err)
{
    return pl_fail(err, PL_IO, "the database did not answer within %lld ms: try again",
                   (long long)db->place->answer_ms);
}

static void close_db(struct pl_db *base)
{
    struct postgres_db *db = (struct postgres_db *)base;
    if (!db)
        return;
    postgres_drop(db);
    pl_mem_free(db);
}

/* --- statements ------------------------------------------------------------------------------ */

/* Replaces ?1 by $1. */
static void spell_text(const char *text, struct pl_buf *to)
{
    for (; *text; text++)
        pl_buf_addc(to, *text == '?' ? '$' : *text);
    pl_buf_addc(to, '\0');
}

enum pl_status postgres_prepare(struct postgres_db *db, enum pl_sql sql, struct pl_error *err)
{
    if (db->is_prepared[sql])
        return PL_OK;
    Oid types[PL_PARAMS_MAX];
    const char *letters = pl_sql_texts[sql].types;
    int n = 0;
    for (; letters[n]; n++)
        types[n] = letters[n] == 'i' ? OID_INT : letters[n] == 't' ? OID_TEXT : OID_BYTES;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    const struct pl_sql_text *said = &pl_sql_texts[sql];
    spell_text(said->postgres ? said->postgres : said->text, &text);
    if (text.status != PL_OK)
        return pl_fail(err, text.status, "out of memory while preparing a statement");
    char name[16];
    snprintf(name, sizeof name, "s%d", (int)sql);
    PGresult *result = NULL;
    bool is_sent = libpq.PQsendPrepare(db->conn, name, text.ptr, n, types);
    enum pl_status status =
        postgres_await(db, is_sent, postgres_deadline(db), "preparing a statement", &result, err);
    db->is_prepared[sql] = status == PL_OK;
    libpq.PQclear(result);
    return status;
}

void postgres_spell(const struct pl_sql_value *values, size_t n, struct postgres_values *ret_values)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t number = __builtin_bswap64((uint64_t)values[i].number);
        ret_values->formats[i] = 1;
        switch (values[i].kind) {
        case PL_SQL_VALUE_NULL:
            ret_values->values[i] = NULL;
            ret_values->lengths[i] = 0;
            break;
        case PL_SQL_VALUE_INT:
            memcpy(ret_values->numbers[i], &number, sizeof number);
            ret_values->values[i] = ret_values->numbers[i];
            ret_values->lengths[i] = sizeof number;
            break;
        case PL_SQL_VALUE_TEXT:
        case PL_SQL_VALUE_BYTES:
            ret_values->values[i] = values[i].bytes.ptr;
            ret_values->lengths[i] = (int)values[i].bytes.len;
            break;
        }
    }
}

int64_t postgres_number(const PGresult *result, int row, int column)
{
    uint64_t number;
    memcpy(&number, libpq.PQgetvalue(result, row, column), sizeof number);
    return (int64_t)__builtin_bswap64(number);
}

/* Migrations have no timeout. */
static enum pl_status script(struct pl_db *base, const char *text, struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    return postgres_say(db, text, pl_clock_ms() + MIGRATION_MS, err);
}

static enum pl_status run(struct postgres_db *db, enum pl_sql sql,
                          const struct pl_sql_value *values, size_t n, struct pl_error *err)
{
    enum pl_status status = postgres_prepare(db, sql, err);
    if (status != PL_OK)
        return status;
    struct postgres_values spelled;
    postgres_spell(values, n, &spelled);
    char name[16];
    snprintf(name, sizeof name, "s%d", (int)sql);
    db->row = -1;
    bool is_sent = libpq.PQsendQueryPrepared(db->conn, name, (int)n, spelled.values,
                                             spelled.lengths, spelled.formats, 1);
    return postgres_await(db, is_sent, postgres_deadline(db), "reading the store", &db->result,
                          err);
}

/* If a reader's connection was cut, it reconnects and tries once more: reading twice is harmless.
 * After a timeout it does not try again. */
static enum pl_status query(struct pl_db *base, enum pl_sql sql, const struct pl_sql_value *values,
                            size_t n, struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    enum pl_status status = PL_IO;
    db->was_silent = false;
    if (postgres_is_connected(db))
        status = run(db, sql, values, n, err);
    else if (db->is_line)
        return postgres_fail(db, NULL, "using a node's own connection", err);
    if (status == PL_OK || postgres_is_connected(db) || db->was_silent || db->is_line)
        return status;
    status = postgres_connect(db, err);
    return status == PL_OK ? run(db, sql, values, n, err) : status;
}

static enum pl_status step(struct pl_db *base, bool *ret_has_row, struct pl_error *err)
{
    (void)err;
    struct postgres_db *db = (struct postgres_db *)base;
    *ret_has_row = ++db->row < libpq.PQntuples(db->result);
    return PL_OK;
}

static struct pl_sql_value column(struct pl_db *base, size_t i)
{
    struct postgres_db *db = (struct postgres_db *)base;
    int at = (int)i;
    if (libpq.PQgetisnull(db->result, db->row, at))
        return (struct pl_sql_value){PL_SQL_VALUE_NULL};
    if (libpq.PQftype(db->result, at) == OID_INT)
        return (struct pl_sql_value){PL_SQL_VALUE_INT,
                                     .number = postgres_number(db->result, db->row, at)};
    return (struct pl_sql_value){PL_SQL_VALUE_BYTES,
                                 .bytes = {libpq.PQgetvalue(db->result, db->row, at),
                                           (size_t)libpq.PQgetlength(db->result, db->row, at)}};
}

static void finish(struct pl_db *base)
{
    struct postgres_db *db = (struct postgres_db *)base;
    libpq.PQclear(db->result);
    db->result = NULL;
}

/* --- opening --------------------------------------------------------------------------------- */

/* The value of a server setting for this connection. */
static enum pl_status show(struct postgres_db *db, const char *text, char *ret_value, size_t size,
                           struct pl_error *err)
{
    PGresult *result = NULL;
    bool is_sent = libpq.PQsendQuery(db->conn, text);
    enum pl_status status =
        postgres_await(db, is_sent, postgres_deadline(db), "opening the store", &result, err);
    if (status == PL_OK)
        snprintf(ret_value, size, "%s",
                 libpq.PQntuples(result) == 1 ? libpq.PQgetvalue(result, 0, 0) : "");
    libpq.PQclear(result);
    return status;
}

/* If a guarantee cannot be kept, opening fails at once, instead of data being lost at a power
 * cut. */
static enum pl_status check_promises(struct postgres_db *db, struct pl_error *err)
{
    char value[32] = "";
    enum pl_status status = show(db, "SHOW synchronous_commit", value, sizeof value, err);
    if (status == PL_OK && strcmp(value, "off") == 0)
        return pl_fail(err, PL_INVALID,
                       "the database has synchronous_commit = off, so an acknowledged change could "
                       "be lost: set it to on for this database or user");
    const char *encoding = libpq.PQparameterStatus(db->conn, "server_encoding");
    if (status == PL_OK && encoding && strcmp(encoding, "UTF8") != 0)
        return pl_fail(err, PL_INVALID,
                       "the database has the encoding %.40s, which cannot hold every text: create "
                       "one with ENCODING 'UTF8'",
                       encoding);
    return status;
}

static enum pl_status open_db(const struct pl_db_place *place, enum pl_db_role role,
                              struct pl_db **ret_db, struct pl_error *err)
{
    enum pl_status status = libpq_load(err);
    if (status != PL_OK)
        return status;
    struct postgres_db *db = pl_mem_alloc(1, sizeof *db);
    if (!db)
        return pl_fail(err, PL_NOMEM, "out of memory while opening the store");
    *db = (struct postgres_db){.base.ops = &pl_db_postgres, .place = place};
    db->is_starting = role == PL_DB_WRITER || role == PL_DB_PROBER;
    db->is_line = role == PL_DB_LINE;
    status = role == PL_DB_PROBER ? postgres_probe(&db->base, err)
             : db->is_line        ? postgres_line_connect(&db->base, err)
                                  : postgres_connect(db, err);
    if (status == PL_OK && role == PL_DB_WRITER)
        status = check_promises(db, err);
    if (status == PL_OK)
        *ret_db = &db->base;
    else
        close_db(&db->base);
    return status;
}

/* --- care ------------------------------------------------------------------------------------ */

static enum pl_status refuse_backup(struct pl_db *base, const char *to_path, struct pl_error *err)
{
    (void)base;
    (void)to_path;
    return pl_fail(err, PL_INVALID,
                   "PostgreSQL has its own tools for backups: use pg_dump, or pg_basebackup");
}

static enum pl_status refuse_restore(const char *url, const char *from_path, struct pl_error *err)
{
    (void)url;
    (void)from_path;
    return pl_fail(err, PL_INVALID,
                   "PostgreSQL has its own tools for backups: use pg_restore, and then UPDATE "
                   "sessions SET epoch = epoch + 1, so that readers notice");
}

/* The size of the tables of our schema, with their indexes. */
static int64_t n_bytes(struct pl_db *base)
{
    struct postgres_db *db = (struct postgres_db *)base;
    PGresult *result = NULL;
    bool is_sent = db->conn && libpq.PQsendQueryParams(
                                   db->conn,
                                   "SELECT COALESCE(sum(pg_total_relation_size(oid)), 0)::bigint "
                                   "FROM pg_class WHERE relkind = 'r' AND relnamespace = "
                                   "current_schema()::regnamespace",
                                   0, NULL, NULL, NULL, NULL, 1);
    int64_t n = -1;
    if (postgres_await(db, is_sent, postgres_deadline(db), "reading its size", &result, NULL) ==
        PL_OK)
        n = postgres_number(result, 0, 0);
    libpq.PQclear(result);
    return n;
}

const struct pl_db_ops pl_db_postgres = {
    .kind = "postgres",
    .language = "postgres",
    .key_word = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    .int_word = "BIGINT",
    .bytes_word = "BYTEA",
    .begin_migration = "BEGIN; SELECT pg_advisory_xact_lock(5786939311)",
    .builds_beside = postgres_build_index,
    .open = open_db,
    .ready = postgres_ready,
    .probe = postgres_probe,
    .close = close_db,
    .script = script,
    .query = query,
    .step = step,
    .column = column,
    .finish = finish,
    .commit = postgres_commit,
    .backup = refuse_backup,
    .restore = refuse_restore,
    .n_bytes = n_bytes,
    .line = &postgres_line,
};
