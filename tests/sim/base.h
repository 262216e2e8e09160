/* The database: one PostgreSQL that all nodes appear to share. Rows are in one SQLite in memory;
 * connections, transactions, row locks, timeouts and disconnects are simulated here. pq.c has the
 * functions of libpq that PostgreSQL's driver calls.
 *
 * Simplifications: the statements of a transaction in a pipeline run at its COMMIT, all at once;
 * but its mark, and the statements that only read the owner of a session, run on arrival, as in the
 * real database. Statements of a node's own line run on arrival for their result, and again at
 * COMMIT for their changes. So no transaction sees uncommitted changes of another. Locks are those
 * that the protocol relies on: rows of commits and nodes, and sessions that are being settled.
 * There are no deadlocks. */
#ifndef PL_TESTS_SIM_BASE_H
#define PL_TESTS_SIM_BASE_H

#include "base/buf.h"
#include "cluster/node.h"
#include "store/store_int.h"

#include <sqlite3.h>

/* --- requests and results -------------------------------------------------------------------- */

struct base_request {
    struct base_request *next;
    enum base_request_kind { BASE_TEXT, BASE_PREPARE, BASE_STATEMENT, BASE_SYNC } kind;
    bool is_pipelined;
    const char *text; /* of TEXT; after this struct */
    enum pl_sql sql;
    size_t n_values;
    struct pl_sql_value *values; /* after this struct */
};

struct base_result; /* PGresult is one */
enum base_result_kind { BASE_DONE, BASE_ROWS, BASE_FAILED, BASE_ABORTED, BASE_SYNCED, BASE_END };
struct base_cell {
    bool is_null, is_int;
    struct pl_str bytes; /* ints: eight bytes, big-endian */
};
struct base_result {
    struct base_result *next;
    enum base_result_kind kind;
    char state[6], message[200];
    size_t n_rows, n_columns;
    struct base_cell *cells;
};
void base_result_free(struct base_result *result);

/* --- connections, from the client's side ----------------------------------------------------- */

struct base_conn; /* PGconn is one; the world's */
/* Starts to connect: base_conn_state tells when the connection is ready. */
struct base_conn *base_connect(int owner);
enum base_conn_state { BASE_CONNECTING, BASE_OPEN, BASE_CUT };
enum base_conn_state base_conn_state(const struct base_conn *conn);
int base_conn_fd(const struct base_conn *conn);
/* The client has closed it: messages in transit still arrive. */
void base_close(struct base_conn *conn);
/* Takes ownership of the request. */
void base_send(struct base_conn *conn, struct base_request *request);
/* The next received result; NULL: none yet. */
struct base_result *base_take(struct base_conn *conn);
bool base_has_result(const struct base_conn *conn);

/* --- the world's side ------------------------------------------------------------------------ */

/* Guards that a run can disable, to check that a test notices. */
enum base_guard {
    BASE_GUARD_MARK = 1,
    BASE_GUARD_LOCK = 2,
    BASE_GUARD_TERMINATE = 4,
    BASE_GUARD_GENERATION = 8
};

void base_start(void); /* once */
/* The rows that the migrations make. ahead_us: of its clock; without: disabled guards. */
void base_begin(int64_t ahead_us, unsigned without);
void base_end(void);
sqlite3 *base_rows(void);
/* Prepared once. text: a literal. */
sqlite3_stmt *base_statement(const char *text);

/* Stops the database with all connections; and starts it again. */
void base_stop(void);
void base_go(void);
/* No message gets through in either direction: for one owner, or for all (0). Held messages arrive
 * later. */
void base_silence(int owner, bool is_silent);
/* This many times slower. */
void base_slow(int64_t times);
/* Cuts all connections of an owner, with no other effect. */
void base_cut(int owner);
/* The process is gone: the kernel closes its connections. is_silent: the machine is gone, so
 * nothing closes them. */
void base_client_gone(int owner, bool is_silent);
bool base_is_well(void);

/* Called after every transaction with changes; the writer is a node's id, or zeros. */
extern void (*base_on_commit)(const struct pl_node_id *writer);

#endif
