/* Waiting for PostgreSQL, never for ever: connecting and every statement use libpq's non-blocking
 * calls, and between them we wait on the socket until a deadline. A server that is silent until
 * then counts as gone, and the connection is dropped: later answers are ignored.
 *
 * PQcancel is not used: it connects and waits without a deadline, so a silent server could block
 * it. A server that is only slow cancels by itself (statement_timeout). */
#include "store/postgres/postgres_int.h"
#include "io/clock.h"

#include <errno.h>
#include <poll.h>

/* Extra time for a server with its own timeout, so that its error comes first. */
enum { GRACE_MS = 500 };

int64_t postgres_deadline(const struct postgres_db *db)
{
    return pl_clock_ms() + db->place->answer_ms + GRACE_MS;
}

bool postgres_wait(int fd, short events, int64_t deadline_ms)
{
    for (;;) {
        int64_t left_ms = deadline_ms - pl_clock_ms();
        struct pollfd wait = {fd, events, 0};
        int n = poll(&wait, 1, left_ms < 0 ? 0 : left_ms > 1000 ? 1000 : (int)left_ms);
        if (n > 0)
            return true;
        if ((n == 0 && left_ms <= 0) || (n < 0 && errno != EINTR))
            return false;
    }
}

bool postgres_is_connected(const struct postgres_db *db)
{
    return db->conn && libpq.PQstatus(db->conn) == CONNECTION_OK;
}

void postgres_drop(struct postgres_db *db)
{
    libpq.PQclear(db->result);
    db->result = NULL;
    libpq.PQfinish(db->conn);
    db->conn = NULL;
    memset(db->is_prepared, 0, sizeof db->is_prepared);
}

/* True once libpq knows the result; PQstatus has it. */
static bool finish_connecting(struct postgres_db *db, int64_t deadline_ms)
{
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    while (libpq.PQstatus(db->conn) != CONNECTION_BAD && next != PGRES_POLLING_OK &&
           next != PGRES_POLLING_FAILED) {
        if (!postgres_wait(libpq.PQsocket(db->conn),
                           next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_ms))
            return false;
        next = libpq.PQconnectPoll(db->conn);
    }
    return true;
}

static void ignore_notice(void *ctx, const char *message)
{
    (void)ctx;
    (void)message;
}

/* The kernel detects a cut network too; settings in the URL take precedence. */
enum pl_status postgres_connect(struct postgres_db *db, struct pl_error *err)
{
    char silence[24];
    snprintf(silence, sizeof silence, "%lld", (long long)db->place->answer_ms);
    const char *const names[] = {"keepalives_idle",
                                 "keepalives_interval",
                                 "keepalives_count",
                                 "tcp_user_timeout",
                                 "fallback_application_name",
                                 "client_encoding",
                                 "dbname",
                                 db->place->password ? "password" : NULL,
                                 NULL};
    const char *const values[] = {
        "5", "2", "2", silence, "parley", "UTF8", db->place->url, db->place->password, NULL};
    int64_t deadline_ms = postgres_deadline(db);
    postgres_drop(db);
    db->conn = libpq.PQconnectStartParams(names, values, 1);
    if (!db->conn)
        return pl_fail(err, PL_NOMEM, "out of memory while the store was opened");
    if (!finish_connecting(db, deadline_ms)) {
        postgres_drop(db);
        return postgres_fail_silence(db, err);
    }
    if (libpq.PQstatus(db->conn) != CONNECTION_OK)
        return postgres_fail(db, NULL, "connecting to the database", err);
    libpq.PQsetNoticeProcessor(db->conn, ignore_notice, NULL);
    if (libpq.PQsetnonblocking(db->conn, 1) != 0)
        return postgres_fail(db, NULL, "connecting to the database", err);
    return db->is_starting ? PL_OK : postgres_limit_waiting(db, err);
}

bool postgres_next(struct postgres_db *db, int64_t deadline_ms, PGresult **ret_result)
{
    *ret_result = NULL;
    for (;;) {
        int is_unsent = libpq.PQflush(db->conn);
        if (is_unsent < 0)
            return false;
        if (!libpq.PQisBusy(db->conn))
            break;
        if (!postgres_wait(libpq.PQsocket(db->conn), (short)(POLLIN | (is_unsent ? POLLOUT : 0)),
                           deadline_ms)) {
            db->was_silent = true;
            postgres_drop(db);
            return false;
        }
        if (!libpq.PQconsumeInput(db->conn))
            return false;
    }
    *ret_result = libpq.PQgetResult(db->conn);
    if (postgres_is_connected(db))
        return true;
    libpq.PQclear(*ret_result);
    *ret_result = NULL;
    return false;
}

static bool has_failed(const PGresult *result)
{
    ExecStatusType outcome = libpq.PQresultStatus(result);
    return outcome != PGRES_COMMAND_OK && outcome != PGRES_TUPLES_OK;
}

enum pl_status postgres_await(struct postgres_db *db, bool is_sent, int64_t deadline_ms,
                              const char *what, PGresult **ret_result, struct pl_error *err)
{
    PGresult *kept = NULL, *next = NULL;
    db->was_silent = false;
    bool is_alive = is_sent && postgres_next(db, deadline_ms, &next);
    for (; is_alive && next; is_alive = postgres_next(db, deadline_ms, &next)) {
        PGresult *over = kept && has_failed(kept) ? next : kept;
        kept = over == next ? kept : next;
        libpq.PQclear(over);
    }
    if (is_alive && kept && !has_failed(kept)) {
        *ret_result = kept;
        return PL_OK;
    }
    enum pl_status status =
        db->was_silent ? postgres_fail_silence(db, err) : postgres_fail(db, kept, what, err);
    libpq.PQclear(kept);
    return status;
}

enum pl_status postgres_say(struct postgres_db *db, const char *text, int64_t deadline_ms,
                            struct pl_error *err)
{
    PGresult *result = NULL;
    bool is_sent = db->conn && libpq.PQsendQuery(db->conn, text);
    enum pl_status status =
        postgres_await(db, is_sent, deadline_ms, "the store was opened", &result, err);
    libpq.PQclear(result);
    return status;
}

enum pl_status postgres_limit_waiting(struct postgres_db *db, struct pl_error *err)
{
    char text[96];
    snprintf(text, sizeof text, "SET lock_timeout = %lld; SET statement_timeout = %lld",
             (long long)db->place->answer_ms, (long long)db->place->answer_ms);
    return postgres_say(db, text, postgres_deadline(db), err);
}
