/* libpq, in place of the library that PostgreSQL's driver loads: the same table of functions over
 * the simulated database. Only the functions that the driver calls, as it calls them. */
#include "pq.h"

#include "base.h"
#include "base/mem.h"
#include "descriptors.h"
#include "kernel.h"
#include "store/postgres/libpq.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct libpq libpq;

struct pg_conn {
    struct base_conn *conn;
    int owner;
    bool is_pipelined;
    struct base_request *unsent, **unsent_end;
    size_t n_unsent;
    int64_t resume_us; /* of a pipeline sent in two parts */
    size_t n_awaited;  /* requests whose results have not all been taken */
};

static unsigned split_one_in;
static int64_t split_until_us[SIM_OWNERS];

void pq_begin(unsigned one_in)
{
    split_one_in = one_in;
    memset(split_until_us, 0, sizeof split_until_us);
}

bool pq_is_split(int owner)
{
    return split_until_us[owner] > sim_now_us();
}

static struct base_result *of(const PGresult *result)
{
    return (struct base_result *)(uintptr_t)result;
}

/* --- connecting ------------------------------------------------------------------------------ */

static PGconn *connect_start(const char *const *names, const char *const *values, int expands)
{
    (void)names, (void)values, (void)expands;
    PGconn *conn = sim_alloc(sizeof *conn);
    conn->owner = sim_owner();
    conn->conn = base_connect(conn->owner);
    conn->unsent_end = &conn->unsent;
    sim_fd_set(base_conn_fd(conn->conn), false, true);
    return conn;
}

static ConnStatusType status(const PGconn *conn)
{
    if (!conn)
        return CONNECTION_BAD;
    switch (base_conn_state(conn->conn)) {
    case BASE_CONNECTING:
        return CONNECTION_STARTED;
    case BASE_OPEN:
        return CONNECTION_OK;
    case BASE_CUT:
        break;
    }
    return CONNECTION_BAD;
}

static PostgresPollingStatusType connect_poll(PGconn *conn)
{
    switch (base_conn_state(conn->conn)) {
    case BASE_CONNECTING:
        sim_fd_set(base_conn_fd(conn->conn), false, false);
        return PGRES_POLLING_READING;
    case BASE_OPEN:
        sim_fd_set(base_conn_fd(conn->conn), false, false);
        return PGRES_POLLING_OK;
    case BASE_CUT:
        break;
    }
    return PGRES_POLLING_FAILED;
}

static void finish(PGconn *conn)
{
    if (conn)
        base_close(conn->conn); /* the end of the run frees the rest */
}

static char *error_message(const PGconn *conn)
{
    (void)conn;
    return (char *)"the connection was lost";
}

static int socket_of(const PGconn *conn)
{
    return base_conn_fd(conn->conn);
}

static int set_nonblocking(PGconn *conn, int is_on)
{
    (void)conn, (void)is_on;
    return 0;
}

static PQnoticeProcessor set_notices(PGconn *conn, PQnoticeProcessor fn, void *ctx)
{
    (void)conn, (void)fn, (void)ctx;
    return NULL;
}

static const char *parameter(const PGconn *conn, const char *name)
{
    (void)conn, (void)name;
    return "UTF8";
}

/* --- sending --------------------------------------------------------------------------------- */

static int put(PGconn *conn, struct base_request *request)
{
    if (status(conn) != CONNECTION_OK) {
        pl_mem_free(request);
        return 0;
    }
    request->is_pipelined = conn->is_pipelined;
    *conn->unsent_end = request;
    conn->unsent_end = &request->next;
    conn->n_unsent++;
    conn->n_awaited++;
    return 1;
}

static int send_text(PGconn *conn, const char *text)
{
    size_t n = strlen(text) + 1;
    struct base_request *request = sim_alloc(sizeof *request + n);
    *request = (struct base_request){.kind = BASE_TEXT, .text = (char *)(request + 1)};
    memcpy(request + 1, text, n);
    return put(conn, request);
}

static int send_params(PGconn *conn, const char *text, int n, const Oid *types,
                       const char *const *values, const int *lengths, const int *formats,
                       int is_binary)
{
    (void)n, (void)types, (void)values, (void)lengths, (void)formats, (void)is_binary;
    return send_text(conn, text);
}

static int send_prepare(PGconn *conn, const char *name, const char *text, int n, const Oid *types)
{
    (void)name, (void)text, (void)n, (void)types;
    struct base_request *request = sim_alloc(sizeof *request);
    request->kind = BASE_PREPARE;
    return put(conn, request);
}

/* The name of a statement is the number of its text. */
static int send_prepared(PGconn *conn, const char *name, int n, const char *const *values,
                         const int *lengths, const int *formats, int is_binary)
{
    (void)formats, (void)is_binary;
    enum pl_sql sql = (enum pl_sql)atoi(name + 1);
    const char *types = pl_sql_texts[sql].types;
    size_t n_bytes = 0;
    for (int i = 0; i < n; i++)
        n_bytes += (size_t)lengths[i] + 1;
    struct base_request *request =
        sim_alloc(sizeof *request + (size_t)n * sizeof *request->values + n_bytes);
    *request = (struct base_request){.kind = BASE_STATEMENT,
                                     .sql = sql,
                                     .n_values = (size_t)n,
                                     .values = (struct pl_sql_value *)(request + 1)};
    char *to = (char *)(request->values + n);
    for (int i = 0; i < n; i++) {
        struct pl_sql_value *value = &request->values[i];
        if (!values[i])
            continue;
        value->kind = types[i] == 'i'   ? PL_SQL_VALUE_INT
                      : types[i] == 't' ? PL_SQL_VALUE_TEXT
                                        : PL_SQL_VALUE_BYTES;
        if (value->kind == PL_SQL_VALUE_INT) {
            uint64_t number;
            memcpy(&number, values[i], sizeof number);
            value->number = (int64_t)__builtin_bswap64(number);
        } else {
            memcpy(to, values[i], (size_t)lengths[i]);
            value->bytes = (struct pl_str){to, (size_t)lengths[i]};
            to += lengths[i] + 1;
        }
    }
    return put(conn, request);
}

static int enter_pipeline(PGconn *conn)
{
    conn->is_pipelined = true;
    return status(conn) == CONNECTION_OK;
}

static int exit_pipeline(PGconn *conn)
{
    conn->is_pipelined = false;
    return 1;
}

static int pipeline_sync(PGconn *conn)
{
    struct base_request *request = sim_alloc(sizeof *request);
    request->kind = BASE_SYNC;
    return put(conn, request);
}

static void is_writable(void *ctx)
{
    PGconn *conn = ctx;
    if (conn->resume_us && status(conn) == CONNECTION_OK)
        sim_fd_set(base_conn_fd(conn->conn), base_has_result(conn->conn), true);
}

/* A pipeline may be longer than the connection accepts at once. */
static int flush(PGconn *conn)
{
    if (status(conn) != CONNECTION_OK)
        return -1;
    if (conn->resume_us > sim_now_us())
        return 1;
    size_t n = conn->n_unsent;
    bool is_split =
        !conn->resume_us && conn->is_pipelined && n > 3 && split_one_in && sim_one_in(split_one_in);
    if (is_split)
        n = 2 + sim_below(n - 3); /* BEGIN and the mark are sent, COMMIT is not */
    conn->resume_us = 0;
    for (; n; n--) {
        struct base_request *request = conn->unsent;
        conn->unsent = request->next;
        conn->n_unsent--;
        base_send(conn->conn, request);
    }
    if (!conn->unsent)
        conn->unsent_end = &conn->unsent;
    if (is_split) {
        conn->resume_us = sim_now_us() + sim_between(1, 200) * SIM_MS;
        split_until_us[conn->owner] = conn->resume_us;
        sim_at(conn->resume_us, is_writable, conn);
    }
    return is_split;
}

/* --- receiving ------------------------------------------------------------------------------- */

static int is_busy(PGconn *conn)
{
    return status(conn) == CONNECTION_OK && conn->n_awaited && !base_has_result(conn->conn);
}

static int consume(PGconn *conn)
{
    return status(conn) == CONNECTION_OK;
}

static PGresult *get_result(PGconn *conn)
{
    struct base_result *result = conn->n_awaited ? base_take(conn->conn) : NULL;
    if (!result)
        return NULL;
    if (result->kind == BASE_END || result->kind == BASE_SYNCED)
        conn->n_awaited--;
    if (result->kind != BASE_END)
        return (PGresult *)result;
    base_result_free(result);
    return NULL;
}

static ExecStatusType result_status(const PGresult *result)
{
    static const ExecStatusType of_kind[] = {
        [BASE_DONE] = PGRES_COMMAND_OK,      [BASE_ROWS] = PGRES_TUPLES_OK,
        [BASE_FAILED] = PGRES_FATAL_ERROR,   [BASE_ABORTED] = PGRES_PIPELINE_ABORTED,
        [BASE_SYNCED] = PGRES_PIPELINE_SYNC,
    };
    return result ? of_kind[of(result)->kind] : PGRES_FATAL_ERROR;
}

static char *error_field(const PGresult *result, int field)
{
    if (of(result)->kind != BASE_FAILED)
        return NULL;
    return field == PG_DIAG_SQLSTATE          ? of(result)->state
           : field == PG_DIAG_MESSAGE_PRIMARY ? of(result)->message
                                              : NULL;
}

static int n_tuples(const PGresult *result)
{
    return (int)of(result)->n_rows;
}

static const struct base_cell *cell(const PGresult *result, int row, int column)
{
    return &of(result)->cells[(size_t)row * of(result)->n_columns + (size_t)column];
}

static char *value(const PGresult *result, int row, int column)
{
    const struct base_cell *at = cell(result, row, column);
    return (char *)(uintptr_t)(at->is_null ? "" : at->bytes.ptr);
}

static int length(const PGresult *result, int row, int column)
{
    return (int)cell(result, row, column)->bytes.len;
}

static int is_null(const PGresult *result, int row, int column)
{
    return cell(result, row, column)->is_null;
}

/* A column has the type of its first value. */
static Oid type_of(const PGresult *result, int column)
{
    enum { OID_BYTES = 17, OID_INT = 20 };
    for (size_t i = 0; i < of(result)->n_rows; i++)
        if (!cell(result, (int)i, column)->is_null)
            return cell(result, (int)i, column)->is_int ? OID_INT : OID_BYTES;
    return OID_BYTES;
}

static void clear(PGresult *result)
{
    base_result_free(of(result));
}

static PGnotify *notifies(PGconn *conn)
{
    (void)conn;
    return NULL;
}

static void free_memory(void *ptr)
{
    (void)ptr;
}

enum pl_status libpq_load(struct pl_error *err)
{
    (void)err;
    libpq = (struct libpq){
        .PQconnectStartParams = connect_start,
        .PQconnectPoll = connect_poll,
        .PQfinish = finish,
        .PQstatus = status,
        .PQerrorMessage = error_message,
        .PQsocket = socket_of,
        .PQsetnonblocking = set_nonblocking,
        .PQsetNoticeProcessor = set_notices,
        .PQparameterStatus = parameter,
        .PQsendQuery = send_text,
        .PQsendPrepare = send_prepare,
        .PQenterPipelineMode = enter_pipeline,
        .PQexitPipelineMode = exit_pipeline,
        .PQpipelineSync = pipeline_sync,
        .PQsendQueryParams = send_params,
        .PQsendQueryPrepared = send_prepared,
        .PQflush = flush,
        .PQisBusy = is_busy,
        .PQconsumeInput = consume,
        .PQgetResult = get_result,
        .PQresultStatus = result_status,
        .PQresultErrorField = error_field,
        .PQntuples = n_tuples,
        .PQgetvalue = value,
        .PQgetlength = length,
        .PQgetisnull = is_null,
        .PQftype = type_of,
        .PQclear = clear,
        .PQnotifies = notifies,
        .PQfreemem = free_memory,
    };
    return PL_OK;
}
