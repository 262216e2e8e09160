/* Builds an index on a large table while others write (migrate.c).
 *
 * CREATE INDEX CONCURRENTLY waits for all older transactions. So programs that start at the same
 * time must not wait for each other within a statement: a program that does not get the lock tries
 * again later. An interrupted build leaves an invalid index, which is dropped first. */
#include "io/clock.h"
#include "store/postgres/postgres_int.h"

#include <stdio.h>
#include <time.h>

enum { BUILD_MS = 3600000, ASK_AGAIN_MS = 200, TEXT_MAX = 2048 };

#define BUILD_LOCK "(5786939312)"

/* Runs a statement with the name in $1 that returns a number. */
static enum pl_status ask(struct postgres_db *db, const char *text, const char *name,
                          int64_t *ret_number, struct pl_error *err)
{
    PGresult *result = NULL;
    int length = (int)strlen(name), format = 0;
    bool is_sent =
        db->conn && libpq.PQsendQueryParams(db->conn, text, 1, NULL, &name, &length, &format, 1);
    enum pl_status status =
        postgres_await(db, is_sent, postgres_deadline(db), "making an index", &result, err);
    if (status == PL_OK)
        *ret_number = postgres_number(result, 0, 0);
    libpq.PQclear(result);
    return status;
}

static enum pl_status is_whole(struct postgres_db *db, const char *name, int64_t *ret_is_whole,
                               struct pl_error *err)
{
    return ask(db,
               "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass($1::text) AND "
               "indisvalid",
               name, ret_is_whole, err);
}

static enum pl_status build(struct postgres_db *db, const char *name, const char *definition,
                            struct pl_error *err)
{
    char text[TEXT_MAX];
    int64_t until_ms = pl_clock_ms() + BUILD_MS;
    snprintf(text, sizeof text, "DROP INDEX CONCURRENTLY IF EXISTS %s", name);
    enum pl_status status = postgres_say(db, text, until_ms, err);
    int n = snprintf(text, sizeof text, "CREATE INDEX CONCURRENTLY %s %s", name, definition);
    if (status == PL_OK && (n < 0 || (size_t)n >= sizeof text))
        status = pl_fail(err, PL_LIMIT, "the definition of the index %s is too long", name);
    return status == PL_OK ? postgres_say(db, text, until_ms, err) : status;
}

/* Called with the lock held; another program may have built the index in the meantime. */
static enum pl_status build_once(struct postgres_db *db, const char *name, const char *definition,
                                 struct pl_error *err)
{
    int64_t is_done = 0;
    enum pl_status status = is_whole(db, name, &is_done, err);
    if (status == PL_OK && !is_done)
        status = build(db, name, definition, err);
    enum pl_status unlocked =
        postgres_say(db, "SELECT pg_advisory_unlock" BUILD_LOCK, postgres_deadline(db), NULL);
    (void)unlocked; /* without a connection nobody holds the lock */
    return status;
}

enum pl_status postgres_build_index(struct pl_db *base, const char *name, const char *definition,
                                    struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    int64_t until_ms = pl_clock_ms() + BUILD_MS;
    while (pl_clock_ms() < until_ms) {
        int64_t is_done = 0, has_lock = 0;
        enum pl_status status = is_whole(db, name, &is_done, err);
        if (status != PL_OK || is_done)
            return status;
        status = ask(db,
                     "SELECT CASE WHEN length($1::text) > 0 AND pg_try_advisory_lock" BUILD_LOCK
                     " THEN 1 ELSE 0 END::bigint",
                     name, &has_lock, err);
        if (status != PL_OK)
            return status;
        if (has_lock)
            return build_once(db, name, definition, err);
        nanosleep(&(struct timespec){.tv_nsec = ASK_AGAIN_MS * 1000000}, NULL);
    }
    return pl_fail(err, PL_IO, "another program has been making the index %s for an hour", name);
}
