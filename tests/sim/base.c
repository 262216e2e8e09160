/* The database: see base.h.
 *
 *     client ──latency──> queue of the backend ──> one request at a time ──latency──> client
 *
 * A backend that needs a lock of another backend waits, at most for its lock_timeout. A backend
 * whose client is gone processes the requests that have arrived, and then ends. */
#include "base.h"

#include "base/mem.h"
#include "descriptors.h"
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACKENDS_MAX = 512, LOCKS_MAX = 256, KNOWN_MAX = 32 };

struct backend {
    bool is_used;
    int64_t pid, started_us;
    int owner;
    struct base_conn *conn; /* NULL: the client is gone */
    struct base_request *first, **end;
    bool is_pumping; /* an event will process the queue */
    bool waits;      /* for a lock */
    int64_t lock_ms, waits_until_us;
    int64_t idle_ms;          /* 0: it may be idle in a transaction for ever */
    uint64_t n_run;           /* requests */
    bool is_open, has_failed; /* a transaction */
    struct base_request *deferred, **deferred_end;
    struct base_result *held, **held_end; /* of a pipeline, until its end */
    struct pl_node_id writer;             /* the writer it claims to be */
};

struct base_conn {
    enum base_conn_state state;
    int fd, owner;
    struct backend *backend;
    int64_t backend_pid;
    int64_t sent_us, came_us; /* messages in one direction keep their order … */
    uint64_t n_sent, n_received, n_told, n_heard; /* … also after being held back */
    struct base_result *results, **results_end;
    bool is_closed; /* by the client */
};

struct lock {
    char kind; /* 'c' commits, 'n' nodes, 's' sessions */
    unsigned char id[16];
    struct backend *holder;
};

static struct {
    int64_t ahead_us;
    unsigned without;
    bool is_up, is_silent[SIM_OWNERS];
    int64_t times;
    struct backend backends[BACKENDS_MAX];
    struct lock locks[LOCKS_MAX];
    size_t n_locks;
    int64_t last_pid;
    struct backend *at_work; /* whose statement runs */
    bool is_replaying;       /* at COMMIT: only rows that were locked before */
} base;

static sqlite3 *rows;
static sqlite3_stmt *stmts[PL_SQL_COUNT];
void (*base_on_commit)(const struct pl_node_id *writer);

sqlite3 *base_rows(void)
{
    return rows;
}

bool base_is_well(void)
{
    bool is_silent = false;
    for (size_t i = 0; i < SIM_OWNERS; i++)
        is_silent |= base.is_silent[i];
    return base.is_up && !is_silent && base.times == 1;
}

/* --- results --------------------------------------------------------------------------------- */

static struct base_result *make_result(enum base_result_kind kind)
{
    struct base_result *result = sim_alloc(sizeof *result);
    result->kind = kind;
    return result;
}

static struct base_result *fail(const char *state, const char *message)
{
    struct base_result *result = make_result(BASE_FAILED);
    snprintf(result->state, sizeof result->state, "%s", state);
    snprintf(result->message, sizeof result->message, "%s", message);
    return result;
}

static struct base_result *one_text(const char *text)
{
    struct base_result *result = make_result(BASE_ROWS);
    result->n_rows = result->n_columns = 1;
    result->cells = sim_alloc(sizeof *result->cells + strlen(text) + 1);
    char *copy = (char *)(result->cells + 1);
    memcpy(copy, text, strlen(text) + 1);
    result->cells[0].bytes = (struct pl_str){copy, strlen(text)};
    return result;
}

void base_result_free(struct base_result *result)
{
    if (!result)
        return;
    pl_mem_free(result->cells);
    pl_mem_free(result);
}

/* --- rows ------------------------------------------------------------------------------------ */

static int64_t base_ms(void)
{
    return (sim_now_us() + base.ahead_us) / 1000 + INT64_C(1790000000000);
}

static void sql_base_ms(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    (void)n, (void)values;
    sqlite3_result_int64(ctx, base_ms());
}

static void sql_writer(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    (void)n, (void)values;
    if (base.at_work && !pl_node_id_is_zero(&base.at_work->writer))
        sqlite3_result_blob(ctx, base.at_work->writer.bytes, 16, SQLITE_TRANSIENT);
}

static struct lock *find_lock(char kind, const void *id)
{
    for (size_t i = 0; i < base.n_locks; i++)
        if (base.locks[i].kind == kind && memcmp(base.locks[i].id, id, 16) == 0)
            return &base.locks[i];
    return NULL;
}

static void add_lock(char kind, const void *id, struct backend *holder)
{
    if (find_lock(kind, id))
        return;
    if (base.n_locks == LOCKS_MAX)
        abort();
    struct lock *lock = &base.locks[base.n_locks++];
    lock->kind = kind;
    lock->holder = holder;
    memcpy(lock->id, id, 16);
}

/* FOR UPDATE SKIP LOCKED of a session. */
static void sql_may_take(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    (void)n;
    const void *id = sqlite3_value_blob(values[0]);
    struct lock *lock = find_lock('s', id);
    bool may = base.is_replaying ? lock && lock->holder == base.at_work
                                 : !lock || lock->holder == base.at_work;
    if (may)
        add_lock('s', id, base.at_work);
    sqlite3_result_int(ctx, may);
}

/* Whether the database has this connection, identified by its number and its start. */
static void sql_is_connected(sqlite3_context *ctx, int n, sqlite3_value **values)
{
    (void)n;
    bool is_connected = false;
    for (size_t i = 0; i < BACKENDS_MAX; i++)
        is_connected |= base.backends[i].is_used &&
                        base.backends[i].pid == sqlite3_value_int64(values[0]) &&
                        base.backends[i].started_us == sqlite3_value_int64(values[1]);
    sqlite3_result_int(ctx, is_connected);
}

static void must(int code, int wanted)
{
    if (code == wanted)
        return;
    fprintf(stderr, "# the simulated database: %s\n", sqlite3_errmsg(rows));
    abort();
}

static void replace(struct pl_buf *text, const char *from, const char *to)
{
    struct pl_buf made;
    pl_buf_init(&made, 0);
    pl_buf_addc(text, '\0');
    const char *at = text->ptr;
    for (const char *found; (found = strstr(at, from)); at = found + strlen(from)) {
        pl_buf_add(&made, (struct pl_str){at, (size_t)(found - at)});
        pl_buf_adds(&made, to);
    }
    pl_buf_adds(&made, at);
    pl_buf_deinit(text);
    *text = made;
}

/* Rewrites expressions that SQLite lacks into functions defined here. */
static void translate(enum pl_sql sql, struct pl_buf *text)
{
    const struct pl_sql_text *said = &pl_sql_texts[sql];
    size_t n = strlen(said->text);
    bool is_nothing = n > 7 && strcmp(said->text + n - 7, "WHERE 0") == 0;
    pl_buf_adds(text, said->postgres && is_nothing ? said->postgres : said->text);
    replace(text, SQL_BASE_MS, "sim_base_ms()");
    replace(text, SQL_WRITER_CONNECTIONS,
            "(SELECT sim_is_connected(backend_pid, backend_us) FROM commits AS c WHERE c.writer = "
            "nodes.writer)");
    replace(text, " ORDER BY key LIMIT ?2 FOR UPDATE SKIP LOCKED",
            " AND sim_may_take(id) ORDER BY key LIMIT ?2");
    replace(text, " ORDER BY key LIMIT ?3 FOR UPDATE SKIP LOCKED",
            " AND sim_may_take(id) ORDER BY key LIMIT ?3");
    replace(text, " FOR UPDATE", "");
    if (sql == PL_SQL_AUDIT_LOCK || sql == PL_SQL_MEMORY_LOCK) {
        pl_buf_clear(text);
        pl_buf_adds(text, sql == PL_SQL_MEMORY_LOCK ? "SELECT ?1" : "SELECT 1");
    }
    pl_buf_addc(text, '\0');
}

static sqlite3_stmt *prepare(enum pl_sql sql)
{
    if (stmts[sql])
        return stmts[sql];
    int owner = sim_set_owner(SIM_PROCESS);
    struct pl_buf text;
    pl_buf_init(&text, 0);
    translate(sql, &text);
    must(sqlite3_prepare_v3(rows, text.ptr, -1, SQLITE_PREPARE_PERSISTENT, &stmts[sql], NULL),
         SQLITE_OK);
    pl_buf_deinit(&text);
    sim_set_owner(owner);
    return stmts[sql];
}

static void bind(sqlite3_stmt *stmt, const struct base_request *request)
{
    for (size_t i = 0; i < request->n_values; i++) {
        const struct pl_sql_value *value = &request->values[i];
        int at = (int)i + 1, n = (int)value->bytes.len;
        switch (value->kind) {
        case PL_SQL_VALUE_NULL:
            must(sqlite3_bind_null(stmt, at), SQLITE_OK);
            break;
        case PL_SQL_VALUE_INT:
            must(sqlite3_bind_int64(stmt, at, value->number), SQLITE_OK);
            break;
        case PL_SQL_VALUE_TEXT:
            must(sqlite3_bind_text(stmt, at, value->bytes.ptr, n, SQLITE_STATIC), SQLITE_OK);
            break;
        case PL_SQL_VALUE_BYTES:
            must(sqlite3_bind_blob(stmt, at, n ? value->bytes.ptr : "", n, SQLITE_STATIC),
                 SQLITE_OK);
            break;
        }
    }
}

static void take_row(sqlite3_stmt *stmt, struct base_result *result)
{
    size_t n = result->n_columns = (size_t)sqlite3_column_count(stmt);
    int owner = sim_set_owner(SIM_WORLD);
    result->cells = pl_mem_grow(result->cells, (result->n_rows + 1) * n, sizeof *result->cells);
    for (size_t i = 0; i < n; i++) {
        struct base_cell *cell = &result->cells[result->n_rows * n + i];
        int type = sqlite3_column_type(stmt, (int)i);
        *cell =
            (struct base_cell){.is_null = type == SQLITE_NULL, .is_int = type == SQLITE_INTEGER};
        char *bytes;
        if (cell->is_int) {
            uint64_t number = __builtin_bswap64((uint64_t)sqlite3_column_int64(stmt, (int)i));
            bytes = sim_alloc(sizeof number);
            memcpy(bytes, &number, sizeof number);
            cell->bytes = (struct pl_str){bytes, sizeof number};
        } else if (!cell->is_null) {
            size_t len = (size_t)sqlite3_column_bytes(stmt, (int)i);
            const void *from = sqlite3_column_blob(stmt, (int)i);
            bytes = sim_alloc(len + 1);
            if (len)
                memcpy(bytes, from, len);
            cell->bytes = (struct pl_str){bytes, len};
        }
    }
    result->n_rows++;
    sim_set_owner(owner);
}

static struct base_result *fail_sqlite(void)
{
    static const struct {
        int code;
        const char *state;
    } states[] = {{SQLITE_CONSTRAINT_NOTNULL, "23502"},    {SQLITE_CONSTRAINT_CHECK, "23514"},
                  {SQLITE_CONSTRAINT_UNIQUE, "23505"},     {SQLITE_CONSTRAINT_PRIMARYKEY, "23505"},
                  {SQLITE_CONSTRAINT_FOREIGNKEY, "23503"}, {SQLITE_CONSTRAINT_ROWID, "23505"}};
    int code = sqlite3_extended_errcode(rows);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (states[i].code == code)
            return fail(states[i].state, sqlite3_errmsg(rows));
    fprintf(stderr, "# the simulated database: %s\n", sqlite3_errmsg(rows));
    abort();
}

static struct base_result *execute(struct backend *backend, const struct base_request *request)
{
    sqlite3_stmt *stmt = prepare(request->sql);
    int owner = sim_set_owner(SIM_PROCESS);
    base.at_work = backend;
    bind(stmt, request);
    struct base_result *result = make_result(BASE_ROWS);
    int code;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
        take_row(stmt, result);
    if (code != SQLITE_DONE) {
        base_result_free(result);
        result = fail_sqlite();
    }
    sqlite3_reset(stmt);
    base.at_work = NULL;
    sim_set_owner(owner);
    return result;
}

sqlite3_stmt *base_statement(const char *text)
{
    static struct {
        const char *text;
        sqlite3_stmt *stmt;
    } known[KNOWN_MAX];
    size_t i = 0;
    while (i < KNOWN_MAX && known[i].text && known[i].text != text)
        i++;
    if (i == KNOWN_MAX)
        abort();
    if (!known[i].text) {
        int owner = sim_set_owner(SIM_PROCESS);
        must(sqlite3_prepare_v3(rows, text, -1, SQLITE_PREPARE_PERSISTENT, &known[i].stmt, NULL),
             SQLITE_OK);
        known[i].text = text;
        sim_set_owner(owner);
    }
    return known[i].stmt;
}

static void say(const char *text)
{
    int owner = sim_set_owner(SIM_PROCESS);
    sqlite3_stmt *stmt = base_statement(text);
    must(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_reset(stmt);
    sim_set_owner(owner);
}

static void roll_back(void)
{
    say("ROLLBACK TO step");
    say("RELEASE step");
}

/* --- backends -------------------------------------------------------------------------------- */

static void pump(void *ctx);

static int64_t latency_us(void)
{
    int64_t us = sim_between(100, 900);
    if (sim_one_in(40))
        us += sim_between(1000, 30000);
    return us;
}

static int64_t work_us(void)
{
    return sim_between(20, 400) * base.times;
}

static void look_at(struct backend *backend)
{
    if (backend->is_pumping)
        return;
    backend->is_pumping = true;
    sim_at(sim_now_us() + work_us(), pump, backend);
}

static void release_locks(struct backend *backend)
{
    bool has_released = false;
    for (size_t i = 0; i < base.n_locks;)
        if (base.locks[i].holder == backend) {
            base.locks[i] = base.locks[--base.n_locks];
            has_released = true;
        } else {
            i++;
        }
    for (size_t i = 0; has_released && i < BACKENDS_MAX; i++)
        if (base.backends[i].is_used && base.backends[i].waits)
            look_at(&base.backends[i]);
}

static void free_requests(struct base_request **first)
{
    while (*first) {
        struct base_request *request = *first;
        *first = request->next;
        pl_mem_free(request);
    }
}

static void end_transaction(struct backend *backend)
{
    free_requests(&backend->deferred);
    backend->deferred_end = &backend->deferred;
    backend->is_open = backend->has_failed = false;
    release_locks(backend);
}

static void cut_conn(struct base_conn *conn)
{
    if (conn->state == BASE_CUT)
        return;
    conn->state = BASE_CUT;
    conn->backend = NULL;
    if (!conn->is_closed)
        sim_fd_set(conn->fd, true, true);
}

struct news {
    struct base_conn *conn;
    struct backend *backend;
    int64_t pid;
    struct base_request *request;
    struct base_result *results;
    bool is_cut;
    uint64_t number; /* in this direction, from 1 */
};

static bool is_same(const struct backend *backend, int64_t pid)
{
    return backend->is_used && backend->pid == pid;
}

/* The connection is silent at present, or an earlier message is still held. */
static bool is_held(const struct base_conn *conn, uint64_t number, uint64_t n_before)
{
    return base.is_silent[conn->owner] || base.is_silent[0] || number != n_before + 1;
}

/* Sends to the client, in order; held back while the connection is silent. */
static void tell(void *ctx)
{
    struct news *news = ctx;
    struct base_conn *conn = news->conn;
    if (is_held(conn, news->number, conn->n_heard)) {
        sim_at(sim_now_us() + 20 * SIM_MS, tell, news);
        return;
    }
    conn->n_heard++;
    if (news->is_cut || conn->state == BASE_CUT) {
        while (news->results) {
            struct base_result *next = news->results->next;
            base_result_free(news->results);
            news->results = next;
        }
        if (news->is_cut)
            cut_conn(conn);
    } else {
        *conn->results_end = news->results;
        while (*conn->results_end)
            conn->results_end = &(*conn->results_end)->next;
        if (!conn->is_closed)
            sim_fd_set(conn->fd, true, false);
    }
    pl_mem_free(news);
}

static void tell_later(struct base_conn *conn, struct base_result *results, bool is_cut)
{
    struct news *news = sim_alloc(sizeof *news);
    *news =
        (struct news){.conn = conn, .results = results, .is_cut = is_cut, .number = ++conn->n_told};
    int64_t at_us = sim_now_us() + latency_us();
    conn->came_us = at_us > conn->came_us ? at_us : conn->came_us;
    sim_at(conn->came_us, tell, news);
}

static void end_backend(struct backend *backend, bool tells_client)
{
    if (!backend->is_used)
        return;
    end_transaction(backend);
    free_requests(&backend->first);
    backend->end = &backend->first;
    while (backend->held) {
        struct base_result *next = backend->held->next;
        base_result_free(backend->held);
        backend->held = next;
    }
    backend->is_used = false;
    if (backend->conn && tells_client)
        tell_later(backend->conn, NULL, true);
    if (backend->conn)
        backend->conn->backend = NULL;
    backend->conn = NULL;
}

static void answer(struct backend *backend, struct base_result *result)
{
    if (backend->conn)
        tell_later(backend->conn, result, false);
    else
        base_result_free(result);
}

/* A result, with the end of its request's results. */
static struct base_result *with_end(struct base_result *result)
{
    result->next = make_result(BASE_END);
    return result;
}

static void hold(struct backend *backend, struct base_result *result)
{
    *backend->held_end = result;
    while (*backend->held_end)
        backend->held_end = &(*backend->held_end)->next;
}

static void defer(struct backend *backend, struct base_request *request)
{
    request->next = NULL;
    *backend->deferred_end = request;
    backend->deferred_end = &request->next;
}

/* --- locks ----------------------------------------------------------------------------------- */

/* False: another backend has it. */
static bool take_lock(struct backend *backend, char kind, const void *id)
{
    struct lock *lock = find_lock(kind, id);
    if (lock && lock->holder != backend)
        return false;
    add_lock(kind, id, backend);
    return true;
}

static bool is_locked_for(const struct backend *backend, char kind, const void *id)
{
    const struct lock *lock = find_lock(kind, id);
    return lock && lock->holder != backend;
}

/* Whether another backend has locked a row of the request. Sessions are recognised by their ids. */
static bool is_in_the_way(struct backend *backend, const struct base_request *request)
{
    for (size_t i = 0; i < request->n_values; i++)
        if (request->values[i].kind == PL_SQL_VALUE_BYTES && request->values[i].bytes.len == 16 &&
            is_locked_for(backend, 's', request->values[i].bytes.ptr))
            return true;
    return false;
}

/* Locks the rows of commits and nodes for a statement; false: it has to wait. */
static bool lock_rows(struct backend *backend, const struct base_request *request)
{
    const void *id = request->n_values ? request->values[0].bytes.ptr : NULL;
    switch (request->sql) {
    case PL_SQL_COMMIT_MARK:
        return (base.without & BASE_GUARD_LOCK) || take_lock(backend, 'c', id);
    case PL_SQL_NODE_LOCK_WRITER:
    case PL_SQL_NODE_FENCE:
    case PL_SQL_COMMIT_RESUME:
        return take_lock(backend, 'c', id);
    case PL_SQL_NODE_LOCK:
    case PL_SQL_NODE_GONE:
    case PL_SQL_NODE_BECOME:
    case PL_SQL_NODE_RENEW:
        return take_lock(backend, 'n', id);
    default:
        return true;
    }
}

/* --- statements ------------------------------------------------------------------------------ */

static struct base_result *ask(struct backend *backend, const char *text, const void *id, int64_t a,
                               int64_t b)
{
    sqlite3_stmt *stmt = base_statement(text);
    int owner = sim_set_owner(SIM_PROCESS);
    must(sqlite3_bind_blob(stmt, 1, id, 16, SQLITE_STATIC), SQLITE_OK);
    if (sqlite3_bind_parameter_count(stmt) > 1)
        must(sqlite3_bind_int64(stmt, 2, a), SQLITE_OK);
    if (sqlite3_bind_parameter_count(stmt) > 2)
        must(sqlite3_bind_int64(stmt, 3, b), SQLITE_OK);
    struct base_result *result = make_result(BASE_ROWS);
    int code;
    base.at_work = backend;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
        take_row(stmt, result);
    must(code, SQLITE_DONE);
    base.at_work = NULL;
    sqlite3_reset(stmt);
    sim_set_owner(owner);
    return result;
}

static int64_t number_of(const struct base_result *result, size_t i)
{
    uint64_t number;
    memcpy(&number, result->cells[i].bytes.ptr, sizeof number);
    return (int64_t)__builtin_bswap64(number);
}

static struct base_result *enter(struct backend *backend, const struct base_request *request)
{
    memcpy(backend->writer.bytes, request->values[0].bytes.ptr, 16);
    base_result_free(ask(backend,
                         "INSERT INTO commits (writer, number, generation, created_ms, is_server, "
                         "backend_pid, backend_us) VALUES (?1, 0, 0, 0, 1, ?2, ?3)",
                         backend->writer.bytes, backend->pid, backend->started_us));
    return make_result(BASE_ROWS);
}

static struct base_result *resume(struct backend *backend, const struct base_request *request)
{
    memcpy(backend->writer.bytes, request->values[0].bytes.ptr, 16);
    return ask(backend,
               "UPDATE commits SET generation = generation + 1, gone_ms = 0, backend_pid = ?2, "
               "backend_us = ?3 WHERE writer = ?1 AND is_gone = 0 AND is_fenced = 0 RETURNING "
               "number, generation, 0",
               request->values[0].bytes.ptr, backend->pid, backend->started_us);
}

/* pg_terminate_backend for the connection named by the row. */
static struct base_result *end_writer(struct backend *backend, const struct base_request *request)
{
    struct base_result *row =
        ask(backend, "SELECT backend_pid, backend_us FROM commits WHERE writer = ?1",
            request->values[0].bytes.ptr, 0, 0);
    for (size_t i = 0; row->n_rows && i < BACKENDS_MAX; i++) {
        struct backend *other = &base.backends[i];
        if (other->is_used && other->pid == number_of(row, 0) &&
            other->started_us == number_of(row, 1) && other != backend &&
            !(base.without & BASE_GUARD_TERMINATE)) {
            sim_trace("[base] %lld ends the connection %lld of %d", (long long)backend->pid,
                      (long long)other->pid, other->owner);
            end_backend(other, true);
        }
    }
    return row;
}

/* The mark of a transaction: checks that the row belongs to this writer and generation, and is not
 * gone. */
static struct base_result *mark(struct backend *backend, const struct base_request *request)
{
    if (base.without & BASE_GUARD_MARK)
        return make_result(BASE_DONE);
    struct base_result *row = ask(backend,
                                  "SELECT 1 FROM commits WHERE writer = ?1 AND generation = ?2 AND "
                                  "is_gone = 0 AND is_fenced = 0",
                                  request->values[0].bytes.ptr, request->values[2].number, 0);
    bool is_good = row->n_rows;
    base_result_free(row);
    return is_good ? make_result(BASE_DONE) : fail("23502", "null value in column \"reason\"");
}

static struct base_result *statement(struct backend *backend, const struct base_request *request)
{
    struct base_result *row;
    switch (request->sql) {
    case PL_SQL_COMMIT_ENTER:
        return enter(backend, request);
    case PL_SQL_COMMIT_MISS:
    case PL_SQL_COMMIT_FORGET:
        return make_result(BASE_ROWS);
    case PL_SQL_COMMIT_RESUME:
        return resume(backend, request);
    case PL_SQL_COMMIT_MARK:
        row = ask(backend, "SELECT number FROM commits WHERE writer = ?1",
                  request->values[0].bytes.ptr, 0, 0);
        if (row->n_rows && number_of(row, 0) >= request->values[1].number)
            sim_fail("transaction %lld of a node is committed after %lld",
                     (long long)request->values[1].number, (long long)number_of(row, 0));
        base_result_free(row);
        base_result_free(ask(backend, "UPDATE commits SET number = ?2 WHERE writer = ?1",
                             request->values[0].bytes.ptr, request->values[1].number, 0));
        return make_result(BASE_DONE);
    case PL_SQL_NODE_END_WRITER:
        return end_writer(backend, request);
    case PL_SQL_OWNER_EXPECT:
        if (base.without & BASE_GUARD_GENERATION)
            return make_result(BASE_DONE);
        return execute(backend, request);
    default:
        return execute(backend, request);
    }
}

/* Whether the statement only reads: it runs on arrival, and the result at that time counts. */
static bool only_looks(enum pl_sql sql)
{
    return sql == PL_SQL_OWNER_EXPECT || sql == PL_SQL_OWNER_EXPECT_EPOCH;
}

/* Runs the deferred statements; returns the first failed result, with its index, or NULL. */
static struct base_result *commit(struct backend *backend, size_t *ret_failed)
{
    struct base_result *failed = NULL;
    size_t i = 0;
    say("SAVEPOINT step");
    base.is_replaying = true;
    for (struct base_request *request = backend->deferred; request && !failed;
         request = request->next, i++) {
        if (only_looks(request->sql))
            continue;
        struct base_result *result = statement(backend, request);
        if (result->kind == BASE_FAILED) {
            failed = result;
            *ret_failed = i;
        } else {
            base_result_free(result);
        }
    }
    base.is_replaying = false;
    if (failed)
        roll_back();
    else
        say("RELEASE step");
    if (!failed && backend->deferred && base_on_commit)
        base_on_commit(&backend->writer);
    return failed;
}

/* --- requests -------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The value that the text sets, or the previous one. */
static int64_t setting(const char *text, const char *name, int64_t before)
{
    const char *set = strstr(text, name);
    return set ? strtoll(set + strlen(name), NULL, 10) : before;
}

static struct base_result *run_text(struct backend *backend, const char *text)
{
    size_t i;
    backend->lock_ms = setting(text, "SET lock_timeout = ", backend->lock_ms);
    backend->idle_ms =
        setting(text, "SET idle_in_transaction_session_timeout = ", backend->idle_ms);
    if (begins(text, "BEGIN")) {
        backend->is_open = true;
    } else if (begins(text, "COMMIT")) {
        struct base_result *failed = backend->has_failed ? NULL : commit(backend, &i);
        end_transaction(backend);
        if (failed)
            return failed;
    } else if (begins(text, "ROLLBACK")) {
        end_transaction(backend);
    } else if (begins(text, "SHOW")) {
        return one_text("on");
    } else if (begins(text, "SELECT pg_try_advisory_lock_shared")) {
        return one_text("t");
    }
    return make_result(BASE_DONE);
}

/* A statement on its own, or in a transaction without a pipeline. False: it waits for a lock. */
static bool run_single(struct backend *backend, struct base_request *request)
{
    if (backend->has_failed) {
        answer(backend, with_end(fail("25P02", "current transaction is aborted")));
        pl_mem_free(request);
        return true;
    }
    if (!lock_rows(backend, request) || (!backend->is_open && is_in_the_way(backend, request)))
        return false;
    if (!backend->is_open) {
        /* A renewal after a take-over finds no live row, and changes nothing. */
        int n_before = sqlite3_total_changes(rows);
        struct base_result *result = statement(backend, request);
        bool has_changed = sqlite3_total_changes(rows) != n_before;
        release_locks(backend);
        if (has_changed && base_on_commit)
            base_on_commit(&backend->writer);
        answer(backend, with_end(result));
        pl_mem_free(request);
        return true;
    }
    say("SAVEPOINT step");
    struct base_result *result = statement(backend, request);
    roll_back();
    backend->has_failed = result->kind == BASE_FAILED;
    answer(backend, with_end(result));
    defer(backend, request);
    return true;
}

/* Runs now; earlier requests that wait for COMMIT are answered first. */
static void look_now(struct backend *backend, struct base_request *request)
{
    struct base_result *result = statement(backend, request);
    if (result->kind != BASE_FAILED) {
        base_result_free(result);
        defer(backend, request);
        return;
    }
    for (struct base_request *other = backend->deferred; other; other = other->next)
        if (other->sql != PL_SQL_COMMIT_MARK)
            hold(backend, with_end(make_result(BASE_ROWS)));
    hold(backend, with_end(result));
    backend->has_failed = true;
    pl_mem_free(request);
}

/* Statements of a pipeline wait for COMMIT, except the mark and statements that only read. */
static bool run_pipelined(struct backend *backend, struct base_request *request)
{
    if (request->kind == BASE_SYNC) {
        hold(backend, make_result(BASE_SYNCED));
        answer(backend, PL_TAKE(backend->held));
        backend->held_end = &backend->held;
        pl_mem_free(request);
        return true;
    }
    bool is_commit = request->kind == BASE_TEXT && begins(request->text, "COMMIT");
    if (backend->has_failed) {
        hold(backend, with_end(make_result(BASE_ABORTED)));
        pl_mem_free(request);
        return true;
    }
    if (request->kind == BASE_STATEMENT && request->sql == PL_SQL_COMMIT_MARK) {
        if (!lock_rows(backend, request))
            return false;
        struct base_result *result = mark(backend, request);
        backend->has_failed = result->kind == BASE_FAILED;
        hold(backend, with_end(result));
        defer(backend, request);
        return true;
    }
    if (request->kind == BASE_STATEMENT) {
        if (only_looks(request->sql))
            look_now(backend, request);
        else
            defer(backend, request);
        return true;
    }
    if (!is_commit) {
        backend->is_open = true;
        hold(backend, with_end(make_result(BASE_DONE)));
        pl_mem_free(request);
        return true;
    }
    for (struct base_request *other = backend->deferred; other; other = other->next)
        if (is_in_the_way(backend, other))
            return false;
    size_t i_failed = SIZE_MAX, i = 0;
    struct base_result *failed = commit(backend, &i_failed);
    for (struct base_request *other = backend->deferred; other; other = other->next, i++)
        if (other->sql != PL_SQL_COMMIT_MARK)
            hold(backend, with_end(i == i_failed  ? failed
                                   : i > i_failed ? make_result(BASE_ABORTED)
                                                  : make_result(BASE_ROWS)));
    hold(backend, with_end(make_result(failed ? BASE_ABORTED : BASE_DONE)));
    pl_mem_free(request);
    if (failed) {
        free_requests(&backend->deferred);
        backend->deferred_end = &backend->deferred;
        backend->has_failed = true;
    } else {
        end_transaction(backend);
    }
    return true;
}

static bool run(struct backend *backend, struct base_request *request)
{
    if (request->is_pipelined)
        return run_pipelined(backend, request);
    if (request->kind == BASE_STATEMENT)
        return run_single(backend, request);
    answer(backend, with_end(request->kind == BASE_TEXT ? run_text(backend, request->text)
                                                        : make_result(BASE_DONE)));
    pl_mem_free(request);
    return true;
}

static void give_up_waiting(struct backend *backend, struct base_request *request)
{
    struct base_result *result = fail("55P03", "canceling statement due to lock timeout");
    backend->waits = false;
    if (backend->is_open)
        backend->has_failed = true;
    if (!request->is_pipelined)
        answer(backend, with_end(result));
    else
        hold(backend, with_end(result));
    pl_mem_free(request);
}

struct idling {
    struct backend *backend;
    int64_t pid;
    uint64_t n_run;
};

static void look_at_idle(void *ctx)
{
    struct idling idling = *(struct idling *)ctx;
    pl_mem_free(ctx);
    if (!is_same(idling.backend, idling.pid) || idling.backend->n_run != idling.n_run ||
        idling.backend->first)
        return;
    sim_trace("[base] ends the connection %lld of %d, which is idle in a transaction",
              (long long)idling.pid, idling.backend->owner);
    end_backend(idling.backend, true);
}

/* As in PostgreSQL: a connection with an incomplete pipeline is not idle. */
static void watch_idle(struct backend *backend)
{
    if (!backend->is_used || !backend->is_open || !backend->idle_ms || backend->first)
        return;
    struct idling *idling = sim_alloc(sizeof *idling);
    *idling = (struct idling){backend, backend->pid, backend->n_run};
    sim_at(sim_now_us() + backend->idle_ms * SIM_MS, look_at_idle, idling);
}

static void pump(void *ctx)
{
    struct backend *backend = ctx;
    if (!backend->is_pumping)
        return; /* another backend has its slot */
    backend->is_pumping = false;
    if (!backend->is_used)
        return;
    struct base_request *request = backend->first;
    if (!request) {
        if (!backend->conn)
            end_backend(backend, false);
        return;
    }
    backend->first = request->next;
    if (!backend->first)
        backend->end = &backend->first;
    request->next = NULL;
    if (!run(backend, request)) {
        if (!backend->waits)
            backend->waits_until_us =
                sim_now_us() + (backend->lock_ms ? backend->lock_ms : 60000) * SIM_MS;
        backend->waits = true;
        if (sim_now_us() >= backend->waits_until_us) {
            give_up_waiting(backend, request);
        } else {
            request->next = backend->first;
            backend->first = request;
            if (!request->next)
                backend->end = &request->next;
            backend->is_pumping = true;
            sim_at(sim_now_us() + 10 * SIM_MS, pump, backend);
            return;
        }
    }
    backend->waits = false;
    backend->n_run++;
    watch_idle(backend);
    if (backend->is_used && (backend->first || !backend->conn))
        look_at(backend);
}

/* --- the client's side ----------------------------------------------------------------------- */

static void receive(void *ctx)
{
    struct news *news = ctx;
    if (is_held(news->conn, news->number, news->conn->n_received)) {
        sim_at(sim_now_us() + 20 * SIM_MS, receive, news);
        return;
    }
    news->conn->n_received++;
    if (is_same(news->backend, news->pid)) {
        if (news->is_cut) {
            news->backend->conn = NULL;
        } else {
            news->request->next = NULL;
            *news->backend->end = news->request;
            news->backend->end = &news->request->next;
            news->request = NULL;
        }
        if (!news->backend->waits)
            look_at(news->backend);
    }
    pl_mem_free(news->request);
    pl_mem_free(news);
}

static void send_later(struct base_conn *conn, struct base_request *request, bool is_cut)
{
    if (!conn->backend || !is_same(conn->backend, conn->backend_pid)) {
        pl_mem_free(request);
        return;
    }
    struct news *news = sim_alloc(sizeof *news);
    *news = (struct news){.conn = conn,
                          .backend = conn->backend,
                          .pid = conn->backend_pid,
                          .request = request,
                          .is_cut = is_cut,
                          .number = ++conn->n_sent};
    int64_t at_us = sim_now_us() + latency_us();
    conn->sent_us = at_us > conn->sent_us ? at_us : conn->sent_us;
    sim_at(conn->sent_us, receive, news);
}

void base_send(struct base_conn *conn, struct base_request *request)
{
    send_later(conn, request, false);
}

static struct backend *make_backend(struct base_conn *conn)
{
    for (size_t i = 0; i < BACKENDS_MAX; i++) {
        struct backend *backend = &base.backends[i];
        if (backend->is_used || backend->is_pumping)
            continue;
        *backend = (struct backend){.is_used = true,
                                    .pid = ++base.last_pid,
                                    .conn = conn,
                                    .started_us = sim_now_us(),
                                    .owner = conn->owner,
                                    .is_pumping = false};
        backend->end = &backend->first;
        backend->deferred_end = &backend->deferred;
        backend->held_end = &backend->held;
        return backend;
    }
    abort();
}

static void accept_later(void *ctx)
{
    struct base_conn *conn = ctx;
    if (conn->is_closed)
        return;
    if (base.is_silent[conn->owner] || base.is_silent[0] || sim_is_frozen(conn->owner)) {
        sim_at(sim_now_us() + 20 * SIM_MS, accept_later, conn);
        return;
    }
    if (!base.is_up) {
        cut_conn(conn);
        return;
    }
    conn->backend = make_backend(conn);
    conn->backend_pid = conn->backend->pid;
    conn->state = BASE_OPEN;
    sim_fd_set(conn->fd, true, true);
}

struct base_conn *base_connect(int owner)
{
    struct base_conn *conn = sim_alloc(sizeof *conn);
    *conn = (struct base_conn){.fd = sim_fd_open(), .owner = owner};
    conn->results_end = &conn->results;
    sim_at(sim_now_us() + latency_us() + sim_between(500, 3000), accept_later, conn);
    return conn;
}

enum base_conn_state base_conn_state(const struct base_conn *conn)
{
    return conn->state;
}

int base_conn_fd(const struct base_conn *conn)
{
    return conn->fd;
}

/* The struct stays: messages in transit refer to it. */
void base_close(struct base_conn *conn)
{
    if (conn->is_closed)
        return;
    conn->is_closed = true;
    sim_fd_close(conn->fd);
    send_later(conn, NULL, true);
    while (conn->results) {
        struct base_result *next = conn->results->next;
        base_result_free(conn->results);
        conn->results = next;
    }
    conn->results_end = &conn->results;
    conn->state = BASE_CUT;
    conn->backend = NULL;
}

bool base_has_result(const struct base_conn *conn)
{
    return conn->results;
}

struct base_result *base_take(struct base_conn *conn)
{
    struct base_result *result = conn->results;
    if (!result)
        return NULL;
    conn->results = result->next;
    result->next = NULL;
    if (!conn->results) {
        conn->results_end = &conn->results;
        if (conn->state == BASE_OPEN)
            sim_fd_set(conn->fd, false, false);
    }
    return result;
}

/* --- faults ---------------------------------------------------------------------------------- */

void base_stop(void)
{
    base.is_up = false;
    for (size_t i = 0; i < BACKENDS_MAX; i++)
        end_backend(&base.backends[i], true);
}

void base_go(void)
{
    base.is_up = true;
}

void base_silence(int owner, bool is_silent)
{
    base.is_silent[owner] = is_silent;
}

void base_slow(int64_t times)
{
    base.times = times;
}

void base_cut(int owner)
{
    for (size_t i = 0; i < BACKENDS_MAX; i++)
        if (base.backends[i].is_used && base.backends[i].owner == owner)
            end_backend(&base.backends[i], true);
}

/* Requests that have arrived run; then the connection ends, and an open transaction is rolled back.
 * */
void base_client_gone(int owner, bool is_silent)
{
    for (size_t i = 0; i < BACKENDS_MAX; i++) {
        struct backend *backend = &base.backends[i];
        if (!backend->is_used || backend->owner != owner)
            continue;
        if (backend->conn) {
            backend->conn->is_closed = true;
            backend->conn->state = BASE_CUT;
        }
        if (is_silent)
            continue;
        backend->conn = NULL;
        look_at(backend);
    }
}

/* --- life ------------------------------------------------------------------------------------ */

static void add_function(const char *name, int n,
                         void (*fn)(sqlite3_context *, int, sqlite3_value **))
{
    must(sqlite3_create_function(rows, name, n, SQLITE_UTF8 | SQLITE_INNOCUOUS, NULL, fn, NULL,
                                 NULL),
         SQLITE_OK);
}

static void open_rows(void)
{
    struct pl_db_place place = {.url = (char *)"memory:"};
    struct pl_db *db = NULL;
    struct pl_error err = {0};
    if (pl_db_memory.open(&place, PL_DB_WRITER, &db, &err) != PL_OK ||
        pl_migrate(db, &err) != PL_OK) {
        fprintf(stderr, "# the schema could not be made: %s\n", err.message);
        abort();
    }
    rows =
        *(sqlite3 **)(void *)((char *)db + sizeof *db); /* the first member of a struct sqlite_db */
    must(sqlite3_exec(rows, "PRAGMA trusted_schema = ON", NULL, NULL, NULL), SQLITE_OK);
}

/* The schema is SQLite's, made by the program's own migrations; a trigger fills the columns that
 * PostgreSQL fills by a default (the writer). */
void base_start(void)
{
    static const char *const tables[] = {"task_runs", "login_codes", "open_calls", "idempotency"};
    open_rows();
    add_function("sim_base_ms", 0, sql_base_ms);
    add_function("sim_writer", 0, sql_writer);
    add_function("sim_may_take", 1, sql_may_take);
    add_function("sim_is_connected", 2, sql_is_connected);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "CREATE TRIGGER sim_%s AFTER INSERT ON %s BEGIN UPDATE %s SET writer = "
                 "sim_writer() WHERE rowid = new.rowid; END",
                 tables[i], tables[i], tables[i]);
        must(sqlite3_exec(rows, text, NULL, NULL, NULL), SQLITE_OK);
    }
}

/* A run is one transaction of SQLite and is rolled back, so that prepared statements stay valid for
 * the next run. */
void base_begin(int64_t ahead_us, unsigned without)
{
    memset(&base, 0, sizeof base);
    base.is_up = true;
    base.times = 1;
    base.ahead_us = ahead_us;
    base.without = without;
    say("SAVEPOINT run");
}

void base_end(void)
{
    say("ROLLBACK TO run");
    say("RELEASE run");
    base_on_commit = NULL;
}
