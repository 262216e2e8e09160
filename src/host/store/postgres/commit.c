/* Group commit over a network: BEGIN, the statements of all batches and COMMIT are sent together
 * and cost one round trip (libpq's pipeline mode). If a statement fails, everything is rolled back
 * and each batch is tried again alone, so that it succeeds or fails by itself.
 *
 * If a connection is cut between COMMIT and its answer, the result is unknown. So each process has
 * a row in the table commits, and every transaction first writes its number there:
 *
 *     group 41: UPDATE commits SET number = 41 WHERE writer = … (only in generation 7)
 *     … cut …
 *     again:    UPDATE commits SET generation = 8 … RETURNING number
 *
 * If the server is still busy with the first statement, the second waits for the row. Then the
 * number says whether group 41 is durable, and because of the new generation group 41 fails if it
 * arrives even later. An acknowledged batch is neither lost nor committed twice.
 *
 * If a node finds its row fenced or gone, another node has taken over: the whole transaction fails,
 * and the node commits nothing until it has entered as a new writer. */
#include "store/postgres/postgres_int.h"
#include "cluster/commit_mark.h"
#include "io/clock.h"
#include "io/entropy.h"

#include <time.h>

enum { FIRST_PAUSE_MS = 20, LAST_PAUSE_MS = 1000, MAX_ATTEMPTS = 5, MAX_TRIES = 3 };
enum { GONE_ROWS_KEPT_MS = 24 * 3600 * 1000 };

/* The result of one transaction. */
enum outcome {
    COMMITTED, /* durable */
    FAILED,    /* rolled back, because of a batch or of the server */
    CUT,       /* unknown */
};

struct transaction {
    struct postgres_db *db;
    struct pl_batch **batches;
    size_t n_batches;
    struct pl_batch *culprit; /* if FAILED: the batch of the failed statement; NULL: none */
    bool is_replaced;         /* if FAILED: the mark was refused */
    bool is_contended;        /* if FAILED: another transaction conflicted */
    enum pl_status status;    /* if FAILED */
    struct pl_error err;
};

/* --- a place in the table -------------------------------------------------------------------- */

enum pl_status postgres_ready(struct pl_db *base, struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    int64_t now_ms = pl_clock_unix_s() * 1000;
    db->number = db->acknowledged = db->generation = 0;
    if (!pl_entropy_fill(db->writer, sizeof db->writer))
        return pl_fail(err, PL_IO, "the system provides no random bytes");
    struct pl_sql_value enter[] = {
        {PL_SQL_VALUE_BYTES, .bytes = {db->writer, sizeof db->writer}},
        {PL_SQL_VALUE_INT, .number = now_ms},
        {PL_SQL_VALUE_INT, .number = db->place->is_server},
    };
    struct pl_sql_value kept = {PL_SQL_VALUE_INT, .number = GONE_ROWS_KEPT_MS};
    const struct {
        enum pl_sql sql;
        const struct pl_sql_value *values;
        size_t n;
    } steps[] = {
        {PL_SQL_COMMIT_ENTER, enter, 3},
        {PL_SQL_COMMIT_MISS, enter, 1},
        {PL_SQL_COMMIT_FORGET, &kept, 1},
    };
    enum pl_status status = postgres_is_connected(db) ? PL_OK : postgres_connect(db, err);
    if (status == PL_OK)
        status = postgres_limit_waiting(db, err);
    for (size_t i = 0; status == PL_OK && i < sizeof steps / sizeof *steps; i++) {
        status = base->ops->query(base, steps[i].sql, steps[i].values, steps[i].n, err);
        base->ops->finish(base);
    }
    db->is_starting = false;
    return status;
}

static enum pl_status fail_replaced(struct pl_error *err)
{
    return pl_fail(err, PL_CONFLICT, "this node was taken over by another one");
}

/* After a reconnect: if the database has less than it acknowledged, it went back in time, as after
 * a failover to a lagging standby. Memory is then newer than the store. */
static void look_for_rewind(struct postgres_db *db, int64_t durable)
{
    struct pl_commit_mark_row row = {.is_there = true, .number = durable};
    if (pl_commit_mark(&row, db->acknowledged, db->acknowledged) != PL_COMMIT_MARK_REWOUND)
        return;
    pl_place_say(db->place,
                 "the database lost changes that it had acknowledged: it has transaction %lld of "
                 "this node, and acknowledged %lld",
                 (long long)durable, (long long)db->acknowledged);
    db->acknowledged = durable;
    if (db->place->on_rewound)
        db->place->on_rewound(db->place->ctx);
}

static void pause_ms(int64_t ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Reconnects and begins the next generation; *ret_number is the last durable transaction. Retries
 * until the deadline. PL_CONFLICT: this writer was replaced. */
static enum pl_status resume(struct postgres_db *db, int64_t deadline_ms, int64_t *ret_number,
                             struct pl_error *err)
{
    struct pl_sql_value writer = {PL_SQL_VALUE_BYTES, .bytes = {db->writer, sizeof db->writer}};
    for (int64_t wait_ms = FIRST_PAUSE_MS;; wait_ms *= 2) {
        enum pl_status status = postgres_connect(db, err);
        if (status == PL_OK)
            status = db->base.ops->query(&db->base, PL_SQL_COMMIT_RESUME, &writer, 1, err);
        bool has_row = status == PL_OK && libpq.PQntuples(db->result) == 1;
        if (has_row) {
            *ret_number = postgres_number(db->result, 0, 0);
            db->generation = postgres_number(db->result, 0, 1);
        }
        db->base.ops->finish(&db->base);
        if (has_row) {
            look_for_rewind(db, *ret_number);
            return PL_OK;
        }
        if (status == PL_OK)
            return fail_replaced(err);
        if (pl_clock_ms() >= deadline_ms)
            return status;
        wait_ms = wait_ms < LAST_PAUSE_MS ? wait_ms : LAST_PAUSE_MS;
        pause_ms(wait_ms);
    }
}

/* --- one transaction ------------------------------------------------------------------------- */

static bool send_statement(struct postgres_db *db, enum pl_sql sql,
                           const struct pl_sql_value *values, size_t n)
{
    struct postgres_values spelled;
    postgres_spell(values, n, &spelled);
    char name[16];
    snprintf(name, sizeof name, "s%d", (int)sql);
    return libpq.PQsendQueryPrepared(db->conn, name, (int)n, spelled.values, spelled.lengths,
                                     spelled.formats, 1);
}

static bool send_plain(struct postgres_db *db, const char *text)
{
    return libpq.PQsendQueryParams(db->conn, text, 0, NULL, NULL, NULL, NULL, 1);
}

/* Sends BEGIN, the mark, every statement, COMMIT. */
static bool send_all(const struct transaction *transaction)
{
    struct postgres_db *db = transaction->db;
    struct pl_sql_value mark[] = {
        {PL_SQL_VALUE_BYTES, .bytes = {db->writer, sizeof db->writer}},
        {PL_SQL_VALUE_INT, .number = db->number},
        {PL_SQL_VALUE_INT, .number = db->generation},
    };
    bool is_sent = libpq.PQenterPipelineMode(db->conn) && send_plain(db, "BEGIN") &&
                   send_statement(db, PL_SQL_COMMIT_MARK, mark, 3);
    for (size_t i = 0; is_sent && i < transaction->n_batches; i++)
        for (const struct pl_write *write = transaction->batches[i]->first; is_sent && write;
             write = write->next)
            is_sent = send_statement(db, write->sql, write->values, write->n);
    return is_sent && send_plain(db, "COMMIT") && libpq.PQpipelineSync(db->conn);
}

/* A deadlock, a concurrent change, a lock held too long: the next attempt may succeed. */
static bool is_contended(const PGresult *result)
{
    static const char *const states[] = {"40P01", "40001", "55P03"};
    const char *state = libpq.PQresultErrorField(result, PG_DIAG_SQLSTATE);
    for (size_t i = 0; state && i < sizeof states / sizeof *states; i++)
        if (strcmp(state, states[i]) == 0)
            return true;
    return false;
}

/* Reads one statement's answer: its result and the NULL after it. Keeps the first failure, not the
 * ones that follow from it. False: the connection is gone. */
static bool take_answer(struct transaction *transaction, struct pl_batch *batch)
{
    struct postgres_db *db = transaction->db;
    PGresult *result = NULL, *end = NULL;
    /* Each answer has its own deadline: a group that makes progress is not silent. */
    bool is_alive = postgres_next(db, postgres_deadline(db), &result);
    ExecStatusType outcome = libpq.PQresultStatus(result);
    if (is_alive && outcome != PGRES_COMMAND_OK && outcome != PGRES_TUPLES_OK &&
        outcome != PGRES_PIPELINE_ABORTED && transaction->status == PL_OK) {
        transaction->culprit = batch;
        transaction->is_contended = is_contended(result);
        transaction->status = postgres_fail(db, result, "writing a change", &transaction->err);
    }
    libpq.PQclear(result);
    if (is_alive && result)
        is_alive = postgres_next(db, postgres_deadline(db), &end);
    libpq.PQclear(end);
    return is_alive && result && !end;
}

static bool take_all(struct transaction *transaction)
{
    PGresult *sync = NULL;
    bool is_alive = take_answer(transaction, NULL);        /* BEGIN */
    is_alive = is_alive && take_answer(transaction, NULL); /* the mark */
    transaction->is_replaced = is_alive && transaction->status == PL_NOT_FOUND;
    for (size_t i = 0; is_alive && i < transaction->n_batches; i++)
        for (size_t k = 0; is_alive && k < transaction->batches[i]->n_writes; k++)
            is_alive = take_answer(transaction, transaction->batches[i]);
    is_alive = is_alive && take_answer(transaction, NULL) &&
               postgres_next(transaction->db, postgres_deadline(transaction->db), &sync);
    libpq.PQclear(sync);
    return is_alive && libpq.PQexitPipelineMode(transaction->db->conn);
}

/* All statements must be prepared before: one prepared within the pipeline would be skipped after a
 * failure. */
static enum pl_status prepare_all(struct transaction *transaction)
{
    struct postgres_db *db = transaction->db;
    enum pl_status status = postgres_prepare(db, PL_SQL_COMMIT_MARK, &transaction->err);
    for (size_t i = 0; status == PL_OK && i < transaction->n_batches; i++)
        for (const struct pl_write *write = transaction->batches[i]->first;
             status == PL_OK && write; write = write->next)
            status = postgres_prepare(db, write->sql, &transaction->err);
    return status;
}

static enum outcome run_transaction(struct transaction *transaction)
{
    struct postgres_db *db = transaction->db;
    transaction->culprit = NULL;
    transaction->is_replaced = transaction->is_contended = false;
    transaction->status = prepare_all(transaction);
    if (transaction->status != PL_OK)
        return postgres_is_connected(db) ? FAILED : CUT;
    bool is_alive = send_all(transaction) && take_all(transaction);
    if (!is_alive)
        return CUT;
    if (transaction->status == PL_OK)
        return COMMITTED;
    if (postgres_say(db, "ROLLBACK", postgres_deadline(db), NULL) != PL_OK)
        return CUT;
    return FAILED;
}

/* --- groups ---------------------------------------------------------------------------------- */

/* Whether the connection still works. If the server went away while nothing was in progress,
 * nothing is in doubt yet. */
static bool is_alive(struct postgres_db *db)
{
    return postgres_is_connected(db) && libpq.PQconsumeInput(db->conn) && postgres_is_connected(db);
}

/* Determines COMMITTED or FAILED with certainty. Any result but PL_OK: this was impossible, or this
 * writer was replaced. A transaction that was not sent yet is refused after a few seconds. One that
 * was sent may take much longer, since only the database knows its result. */
static enum pl_status settle(struct transaction *transaction, enum outcome *ret_outcome,
                             struct pl_error *err)
{
    struct postgres_db *db = transaction->db;
    int64_t durable = 0;
    if (!is_alive(db)) {
        transaction->culprit = NULL;
        transaction->is_contended = false;
        transaction->status =
            resume(db, pl_clock_ms() + db->place->answer_ms, &durable, &transaction->err);
        *ret_outcome = FAILED;
        if (transaction->status == PL_CONFLICT)
            return fail_replaced(err);
        if (transaction->status != PL_OK)
            return PL_OK;
    }
    db->number++;
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        *ret_outcome = run_transaction(transaction);
        if (transaction->is_replaced)
            return fail_replaced(err);
        if (*ret_outcome != CUT)
            return PL_OK;
        enum pl_status status = resume(db, pl_clock_ms() + db->place->away_ms, &durable, err);
        if (status != PL_OK)
            return status;
        if (durable == db->number) {
            *ret_outcome = COMMITTED;
            return PL_OK;
        }
    }
    transaction->culprit = NULL;
    transaction->status =
        pl_fail(&transaction->err, PL_IO, "the connection to the database was lost repeatedly");
    *ret_outcome = FAILED;
    return PL_OK;
}

static enum pl_status commit_some(struct postgres_db *db, struct pl_batch **batches, size_t n,
                                  bool *ret_is_settled, struct pl_error *err)
{
    struct transaction transaction = {.db = db, .batches = batches, .n_batches = n};
    enum outcome outcome;
    bool is_over = false;
    for (int i = 0; !is_over; i++) {
        enum pl_status status = settle(&transaction, &outcome, err);
        if (status != PL_OK)
            return status;
        if (outcome == COMMITTED)
            db->acknowledged = db->number;
        /* Several batches are retried one by one anyway. */
        is_over = outcome == COMMITTED || !transaction.is_contended || n > 1 || i + 1 == MAX_TRIES;
    }
    bool is_nobodys = outcome == FAILED && !transaction.culprit && !postgres_is_connected(db);
    *ret_is_settled = outcome == COMMITTED || n == 1 || is_nobodys;
    for (size_t i = 0; outcome == FAILED && *ret_is_settled && i < n; i++) {
        batches[i]->status = transaction.status;
        batches[i]->err = transaction.err;
    }
    return PL_OK;
}

enum pl_status postgres_commit(struct pl_db *base, struct pl_batch **batches, size_t n,
                               struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    bool is_settled = false;
    enum pl_status status = commit_some(db, batches, n, &is_settled, err);
    for (size_t i = 0; status == PL_OK && !is_settled && i < n; i++) {
        bool is_one_settled;
        status = commit_some(db, &batches[i], 1, &is_one_settled, err);
    }
    return status;
}
