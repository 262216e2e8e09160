/* The schema grows by migrations, forward only: migrations/NNNN_name.sql, numbered from 1 without a
 * gap. Each runs in its own transaction, together with its row in schema_version.
 *
 * During a rolling upgrade of nodes, programs of two versions use one database, so a migration only
 * adds (tools/check_migrations.py). If older programs cannot use its schema, it has a line
 * "-- @compatible_from N": programs that know N migrations or more may use the schema, others
 * refuse to start. Without the line, the number of the previous migration applies.
 *
 * An index on a possibly large table is built while others write ("-- @index NAME" and its
 * definition up to the next mark). PostgreSQL builds it after the transaction, CONCURRENTLY. Every
 * start checks that it exists and is valid, because an interrupted start leaves no index or a
 * broken one. */
#include "store/migrations.h"
#include "store/store_int.h"
#include "base/buf.h"

#include "io/clock.h"

int64_t pl_migrations_version(void)
{
    return (int64_t)pl_n_migrations;
}

static const char mark[] = "-- @", floor_mark[] = "-- @compatible_from ",
                  index_mark[] = "-- @index ";
enum { N_MARK = sizeof mark - 1, N_INDEX_MARK = sizeof index_mark - 1 };

static struct pl_str line_of(const char *text)
{
    return (struct pl_str){text, strcspn(text, "\n")};
}

/* The name after "-- @index "; empty if this is another line. */
static struct pl_str index_of(struct pl_str line)
{
    return pl_str_starts(line, PL_STR(index_mark)) ? pl_str_slice(line, N_INDEX_MARK, line.len)
                                                   : (struct pl_str){0};
}

/* Whether the line is a mark; *is_meant becomes whether the statements after it are for this
 * driver. "-- @sqlite" and "-- @postgres" begin statements for one database, "-- @both" ends
 * them. */
static bool is_mark(const struct pl_db_ops *ops, struct pl_str line, bool *is_meant)
{
    if (!pl_str_starts(line, PL_STR(mark)))
        return false;
    if (pl_str_starts(line, PL_STR(floor_mark)))
        return true;
    struct pl_str name = pl_str_slice(line, N_MARK, line.len);
    *is_meant = pl_str_eq(name, PL_STR("both")) || pl_str_eq(name, pl_str_of(ops->language)) ||
                (index_of(line).len && !ops->builds_beside);
    return true;
}

/* Replaces @key@, @int@ and @bytes@ by the driver's words. */
static void spell_line(const struct pl_db_ops *ops, const char *text, size_t n, struct pl_buf *to)
{
    const struct {
        const char *word, *spelling;
    } words[] = {{"@key@", ops->key_word}, {"@int@", ops->int_word}, {"@bytes@", ops->bytes_word}};
    for (const char *end = text + n; text < end;) {
        size_t n_word = 0;
        for (size_t i = 0; *text == '@' && i < sizeof words / sizeof *words && !n_word; i++)
            if (strncmp(text, words[i].word, strlen(words[i].word)) == 0) {
                pl_buf_adds(to, words[i].spelling);
                n_word = strlen(words[i].word);
            }
        if (!n_word)
            pl_buf_addc(to, *text);
        text += n_word ? n_word : 1;
    }
}

static void spell(const struct pl_db_ops *ops, const char *text, struct pl_buf *to)
{
    bool is_meant = true;
    while (*text) {
        struct pl_str line = line_of(text);
        size_t n = line.len + (text[line.len] == '\n');
        if (!is_mark(ops, line, &is_meant) && is_meant)
            spell_line(ops, text, n, to);
        else if (is_meant && index_of(line).len)
            pl_buf_addf(to, "CREATE INDEX %.*s ", PL_STR_ARG(index_of(line)));
        text += n;
    }
}

enum { FIRST_FLOOR = 25 }; /* schema_version has the column from this migration on */

/* The number of migrations that a program must know to use the schema of the first `n`
 * migrations. */
static int64_t floor_of(size_t n)
{
    int64_t floor = 0;
    for (size_t i = 0; i < n; i++) {
        const char *at = strstr(pl_migrations[i].text, floor_mark);
        const char *digits = at ? at + sizeof floor_mark - 1 : "";
        int64_t number = 0;
        for (; *digits >= '0' && *digits <= '9'; digits++)
            number = number * 10 + *digits - '0';
        floor = number ? number : floor;
    }
    return floor;
}

static enum pl_status apply(struct pl_db *db, const struct pl_migration *migration, int64_t number,
                            struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf script;
    pl_buf_init(&script, 0);
    spell(db->ops, migration->text, &script);
    bool has_floor = number >= FIRST_FLOOR;
    pl_buf_addf(&script, "INSERT INTO schema_version (version, name, applied_ms%s) ",
                has_floor ? ", compatible_from" : "");
    pl_buf_addf(&script, "VALUES (%lld, '%s', %lld", (long long)number, migration->name,
                (long long)pl_clock_unix_s() * 1000);
    if (has_floor)
        pl_buf_addf(&script, ", %lld", (long long)floor_of((size_t)number));
    pl_buf_adds(&script, ");");
    pl_buf_addc(&script, '\0');
    if (script.status != PL_OK)
        return pl_fail(err, script.status, "out of memory while creating the store");
    return db->ops->script(db, script.ptr, err);
}

/* The schema is newer than this program: it says which programs may use it. */
static enum pl_status check_newer(struct pl_db *db, int64_t version, struct pl_error *err)
{
    int64_t floor = 0, newest = pl_migrations_version();
    enum pl_status status = pl_db_number(db, PL_SQL_VERSION_FLOOR, &floor, err);
    if (status != PL_OK || (floor > 0 && floor <= newest))
        return status;
    return pl_fail(err, PL_CONFLICT,
                   "the store has schema version %lld, which needs a Parley that supports version "
                   "%lld at least, but this program supports versions up to %lld: use a newer "
                   "Parley, or restore a backup made before the upgrade",
                   (long long)version, (long long)(floor > 0 ? floor : version), (long long)newest);
}

/* Runs one migration, if one is missing. The version is read again inside the transaction: several
 * programs may start at once on a shared database. */
static enum pl_status migrate_one(struct pl_db *db, bool *ret_is_complete, struct pl_error *err)
{
    int64_t version = 0, newest = pl_migrations_version();
    enum pl_status status = db->ops->script(db, db->ops->begin_migration, err);
    if (status != PL_OK)
        return status;
    status = db->ops->script(db,
                             "CREATE TABLE IF NOT EXISTS schema_version "
                             "(version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, "
                             "applied_ms BIGINT NOT NULL);",
                             err);
    if (status == PL_OK)
        status = pl_db_number(db, PL_SQL_VERSION_GET, &version, err);
    if (status == PL_OK && version > newest)
        status = check_newer(db, version, err);
    if (status == PL_OK && version < newest)
        status = apply(db, &pl_migrations[version], version + 1, err);
    if (status == PL_OK)
        status = db->ops->script(db, "COMMIT", err);
    if (status != PL_OK && db->ops->script(db, "ROLLBACK", NULL) != PL_OK)
        return status; /* the connection is closed next, which also rolls back */
    if (status == PL_OK)
        *ret_is_complete = version + 1 >= newest;
    return status;
}

/* --- indexes that are built beside the work of others ---------------------------------------- */

static enum pl_status make_index(struct pl_db *db, struct pl_str name, const char *definition,
                                 struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf text;
    const char *end = strstr(definition, mark);
    pl_buf_init(&text, 0);
    pl_buf_addf(&text, "%.*s", PL_STR_ARG(name));
    pl_buf_addc(&text, '\0');
    size_t n_name = text.len;
    pl_buf_add(&text,
               (struct pl_str){definition, end ? (size_t)(end - definition) : strlen(definition)});
    pl_buf_addc(&text, '\0');
    if (text.status != PL_OK)
        return pl_fail(err, text.status, "out of memory while an index was made");
    return db->ops->builds_beside(db, text.ptr, text.ptr + n_name, err);
}

static enum pl_status make_indexes(struct pl_db *db, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < pl_n_migrations; i++)
        for (const char *at = pl_migrations[i].text;
             status == PL_OK && (at = strstr(at, index_mark));) {
            struct pl_str line = line_of(at);
            at += line.len;
            status = make_index(db, index_of(line), at, err);
        }
    return status;
}

enum pl_status pl_migrate(struct pl_db *db, struct pl_error *err)
{
    bool is_complete = false;
    enum pl_status status = PL_OK;
    while (status == PL_OK && !is_complete)
        status = migrate_one(db, &is_complete, err);
    return status == PL_OK && db->ops->builds_beside ? make_indexes(db, err) : status;
}
