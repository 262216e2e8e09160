/* The database: one PostgreSQL that all nodes share, as far as they can tell. Rows are in one SQLite in memory;
 * connections, transactions, row locks, timeouts and the ends of connections are made here. What the driver of
 * PostgreSQL calls (libpq) is in pq.c.
 *
 * What is simplified: the statements of a transaction in a pipeline run at its COMMIT, all at once; but its mark, and
 * the statements that only look whose a session is, run when they come, as the real ones do. Those of a node's own line
 * run when they come for what they return, and again at COMMIT for what they change. So no transaction sees what another
 * has not committed. Locks are those that the protocol relies on: rows of commits and nodes, and sessions that
 * are being settled. There are no deadlocks. */
#ifndef PL_TESTS_SIM_BASE_H
#define PL_TESTS_SIM_BASE_H

#include "base/buf.h"
#include "cluster/node.h"
#include "store/store_int.h"

#include <sqlite3.h>

/* --- what is asked, and what comes back ------------------------------------------------------ */

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
    struct pl_str bytes; /* ints: eight bytes, as they come */
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
/* The client connects: base_conn_state says when it is through. */
struct base_conn *base_connect(int owner);
enum base_conn_state { BASE_CONNECTING, BASE_OPEN, BASE_CUT };
enum base_conn_state base_conn_state(const struct base_conn *conn);
int base_conn_fd(const struct base_conn *conn);
/* The client has closed it: what is on its way still comes. */
void base_close(struct base_conn *conn);
/* Takes the request over. */
void base_send(struct base_conn *conn, struct base_request *request);
/* The next result that has come; NULL: none yet. */
struct base_result *base_take(struct base_conn *conn);
bool base_has_result(const struct base_conn *conn);

/* --- the world's side ------------------------------------------------------------------------ */

/* Guards that a run goes without, to see that it is noticed. */
enum base_guard {
    BASE_GUARD_MARK = 1,
    BASE_GUARD_LOCK = 2,
    BASE_GUARD_TERMINATE = 4,
    BASE_GUARD_GENERATION = 8
};

void base_start(void); /* once */
/* The rows that the migrations make. ahead_us: of its clock; without: guards. */
void base_begin(int64_t ahead_us, unsigned without);
void base_end(void);
sqlite3 *base_rows(void);
/* Prepared once. text: a literal. */
sqlite3_stmt *base_statement(const char *text);

/* It ends, with all connections; and is there again. */
void base_stop(void);
void base_go(void);
/* Nothing goes to it and nothing comes from it: for one owner, or for all (0). What was sent comes later. */
void base_silence(int owner, bool is_silent);
/* So many times slower. */
void base_slow(int64_t times);
/* All connections of an owner are cut, and nothing else. */
void base_cut(int owner);
/* The process is gone: the kernel closes its connections. is_silent: nobody does, its machine is gone. */
void base_client_gone(int owner, bool is_silent);
bool base_is_well(void);

/* After every transaction that changed something: by whom (a node's id, or zeros). */
extern void (*base_on_commit)(const struct pl_node_id *writer);

#endif
