/* Checks that the database answers, and that only servers that share it use it: a separate
 * connection, which holds an advisory lock and is probed regularly.
 *
 * Every node holds the lock as shared. A server of an earlier version, which knew no nodes, takes
 * it exclusively, so that neither starts beside the other. The lock ends with the connection. It
 * does not prevent writing: the row in the table commits does (commit.c). */
#include "store/postgres/postgres_int.h"
#include "io/clock.h"
#include "io/entropy.h"

#include <time.h>

enum { RETRY_MS = 50 };

#define LOCK_NUMBER "hashtextextended('parley server ' || current_schema(), 0)"

/* The first column of the first row as text; "" if there is no row. */
static enum pl_status ask(struct postgres_db *db, const char *text, char *ret_first,
                          size_t first_size, struct pl_error *err)
{
    PGresult *result = NULL;
    bool is_sent = libpq.PQsendQuery(db->conn, text);
    enum pl_status status = postgres_await(db, is_sent, postgres_deadline(db),
                                           "checking the server's lock", &result, err);
    if (status != PL_OK)
        return status;
    bool has_row = libpq.PQntuples(result) > 0;
    snprintf(ret_first, first_size, "%s", has_row ? libpq.PQgetvalue(result, 0, 0) : "");
    libpq.PQclear(result);
    return PL_OK;
}

/* A server that was just killed holds the lock until PostgreSQL notices, so this waits for a
 * while. */
static enum pl_status take_lock(struct postgres_db *db, struct pl_error *err)
{
    int64_t until_ms = pl_clock_ms() + db->place->answer_ms;
    for (;;) {
        char is_ours[8] = "";
        enum pl_status status = ask(db, "SELECT pg_try_advisory_lock_shared(" LOCK_NUMBER ")",
                                    is_ours, sizeof is_ours, err);
        if (status != PL_OK || is_ours[0] == 't')
            return status;
        if (pl_clock_ms() >= until_ms)
            return pl_fail(err, PL_CONFLICT,
                           "a server of an earlier version uses this database, and shares it with "
                           "nobody: stop that one first, or give this one its own database or "
                           "schema");
        nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000}, NULL);
    }
}

static enum pl_status set_name(struct postgres_db *db, struct pl_error *err)
{
    char text[96];
    uint64_t number = 0;
    if (!db->name[0]) {
        if (!pl_entropy_fill(&number, sizeof number))
            return pl_fail(err, PL_IO, "the system provides no random bytes");
        snprintf(db->name, sizeof db->name, "parley server %016llx", (unsigned long long)number);
    }
    snprintf(text, sizeof text, "SET application_name = '%s'", db->name);
    return postgres_say(db, text, postgres_deadline(db), err);
}

enum pl_status postgres_probe(struct pl_db *base, struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    enum pl_status status;
    if (postgres_is_connected(db)) {
        status = postgres_say(db, "SELECT 1", postgres_deadline(db), err);
        if (status == PL_OK)
            return PL_OK;
    }
    status = postgres_connect(db, err);
    if (status == PL_OK)
        status = set_name(db, err);
    if (status == PL_OK)
        status = take_lock(db, err);
    if (status == PL_OK)
        db->is_starting = false;
    else
        postgres_drop(db); /* without the lock the connection is useless */
    return status;
}
