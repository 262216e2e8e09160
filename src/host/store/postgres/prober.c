/* Who is the one server on this database, and whether the database answers: a connection of its
 * own, which holds an advisory lock and is asked for a sign of life now and then.
 *
 *     CONNECTED, lock held ──(no answer, cut)──> GONE ──(answers again)──> lock free: take it
 *                                                                          ours, of the connection
 *                                                                          before: end that one
 *                                                                          another's: PL_CONFLICT
 *
 * The lock is the database's and goes with the connection. It keeps a second server from starting.
 * It does not keep the first one from writing after it lost the lock: its row in the table commits
 * does, which the next server fences (commit.c). */
#include "store/postgres/postgres_int.h"
#include "io/clock.h"
#include "io/entropy.h"

#include <time.h>

enum { RETRY_MS = 50 };

#define LOCK_NUMBER "hashtextextended('parley server ' || current_schema(), 0)"

struct holder {
    char name[64]; /* the application's; "" if nobody holds it */
    char pid[16];  /* of the database's process */
};

/* One row of text; false: none. */
static enum pl_status ask(struct postgres_db *db, const char *text, char *ret_first,
                          size_t first_size, char *ret_second, size_t second_size,
                          struct pl_error *err)
{
    PGresult *result = NULL;
    bool is_sent = libpq.PQsendQuery(db->conn, text);
    enum pl_status status = postgres_await(db, is_sent, postgres_deadline(db),
                                           "checking the server's lock", &result, err);
    if (status != PL_OK)
        return status;
    bool has_row = libpq.PQntuples(result) > 0;
    snprintf(ret_first, first_size, "%s", has_row ? libpq.PQgetvalue(result, 0, 0) : "");
    if (ret_second)
        snprintf(ret_second, second_size, "%s", has_row ? libpq.PQgetvalue(result, 0, 1) : "");
    libpq.PQclear(result);
    return PL_OK;
}

static enum pl_status find_holder(struct postgres_db *db, struct holder *ret_holder,
                                  struct pl_error *err)
{
    return ask(db,
               "SELECT COALESCE(a.application_name, ''), a.pid FROM pg_locks AS l JOIN "
               "pg_stat_activity AS a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.granted "
               "AND a.datname = current_database() AND l.objsubid = 1 AND "
               "((l.classid::bigint << 32) | l.objid::bigint) = " LOCK_NUMBER,
               ret_holder->name, sizeof ret_holder->name, ret_holder->pid, sizeof ret_holder->pid,
               err);
}

static enum pl_status end_holder(struct postgres_db *db, const struct holder *holder,
                                 struct pl_error *err)
{
    char text[64];
    snprintf(text, sizeof text, "SELECT pg_terminate_backend(%.15s)", holder->pid);
    return postgres_say(db, text, postgres_deadline(db), err);
}

static enum pl_status refuse(const struct holder *holder, struct pl_error *err)
{
    return pl_fail(
        err, PL_CONFLICT,
        "another parley server uses this database (its connection is process %s of PostgreSQL): a "
        "database has one server; stop that one first, or give this one its own database or schema",
        holder->pid);
}

/* A server that was killed a moment ago still holds the lock until PostgreSQL has noticed; so one
 * that starts waits for it. One that had it, and finds another there, has lost. */
static enum pl_status take_lock(struct postgres_db *db, struct pl_error *err)
{
    int64_t until_ms = pl_clock_ms() + db->place->answer_ms;
    for (;;) {
        char is_ours[8] = "";
        struct holder holder = {0};
        enum pl_status status = ask(db, "SELECT pg_try_advisory_lock(" LOCK_NUMBER ")", is_ours,
                                    sizeof is_ours, NULL, 0, err);
        if (status != PL_OK || is_ours[0] == 't')
            return status;
        status = find_holder(db, &holder, err);
        if (status != PL_OK)
            return status;
        bool is_myself = strcmp(holder.name, db->name) == 0;
        if (is_myself)
            status = end_holder(db, &holder, err);
        if (status != PL_OK)
            return status;
        bool is_time_up = pl_clock_ms() >= until_ms;
        if (holder.pid[0] && !is_myself && (!db->is_starting || is_time_up))
            return refuse(&holder, err);
        if (is_time_up)
            return pl_fail(err, PL_IO, "the server's lock in the database is not available");
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
        postgres_drop(db); /* without the lock there is nothing to keep */
    return status;
}
