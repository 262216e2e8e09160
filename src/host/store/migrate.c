/* The schema grows by migrations, forward only: migrations/NNNN_name.sql, numbered from 1 without a
 * gap, each in a transaction of its own together with its row in schema_version. */
#include "store/migrations.h"
#include "store/store_int.h"
#include "base/buf.h"

#include "io/clock.h"

int64_t pl_migrations_version(void)
{
    return (int64_t)pl_n_migrations;
}

/* Whether the line is a mark, and whether what follows it is for this driver: "-- @sqlite" and "--
 * @postgres" begin statements for that database only, "-- @both" ends them. */
static bool is_mark(const struct pl_db_ops *ops, const char *line, bool *is_meant)
{
    static const char start[] = "-- @";
    size_t n = strcspn(line, "\n");
    if (strncmp(line, start, sizeof start - 1) != 0)
        return false;
    struct pl_str name = {line + sizeof start - 1, n - (sizeof start - 1)};
    *is_meant = pl_str_eq(name, PL_STR("both")) || pl_str_eq(name, pl_str_of(ops->language));
    return true;
}

/* @key@, @int@ and @bytes@ in the words of the driver. */
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
        size_t n = strcspn(text, "\n");
        n += text[n] == '\n';
        if (!is_mark(ops, text, &is_meant) && is_meant)
            spell_line(ops, text, n, to);
        text += n;
    }
}

static enum pl_status apply(struct pl_db *db, const struct pl_migration *migration, int64_t number,
                            struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf script;
    pl_buf_init(&script, 0);
    spell(db->ops, migration->text, &script);
    pl_buf_addf(&script, "INSERT INTO schema_version VALUES (%lld, '%s', %lld);", (long long)number,
                migration->name, (long long)pl_clock_unix_s() * 1000);
    pl_buf_addc(&script, '\0');
    if (script.status != PL_OK)
        return pl_fail(err, script.status, "out of memory while creating the store");
    return db->ops->script(db, script.ptr, err);
}

/* One migration, if one is missing. The version is read again inside the transaction: several
 * programs may begin at once on a database they share. */
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
        status = pl_fail(err, PL_CONFLICT,
                         "the store has schema version %lld, but this program supports versions up "
                         "to %lld: use a Parley that supports version %lld, or restore a backup "
                         "made before the upgrade",
                         (long long)version, (long long)newest, (long long)version);
    if (status == PL_OK && version < newest)
        status = apply(db, &pl_migrations[version], version + 1, err);
    if (status == PL_OK)
        status = db->ops->script(db, "COMMIT", err);
    if (status != PL_OK && db->ops->script(db, "ROLLBACK", NULL) != PL_OK)
        return status; /* the connection is closed next, which rolls back as well */
    if (status == PL_OK)
        *ret_is_complete = version + 1 >= newest;
    return status;
}

enum pl_status pl_migrate(struct pl_db *db, struct pl_error *err)
{
    bool is_complete = false;
    enum pl_status status = PL_OK;
    while (status == PL_OK && !is_complete)
        status = migrate_one(db, &is_complete, err);
    return status;
}
