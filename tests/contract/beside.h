/* A second connection to the database of a test, in addition to the store's. */
#ifndef PL_TESTS_CONTRACT_BESIDE_H
#define PL_TESTS_CONTRACT_BESIDE_H

#include "contract/suite.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE = 60000 };

/* Polls a condition; the limit only stops a test that would hang. */
#define until(condition)                                                                           \
    for (int n_ = 0; !(condition); n_++) {                                                         \
        assert_true(n_ < PATIENCE);                                                                \
        usleep(1000);                                                                              \
    }

static inline PGconn *connect_beside(struct fixture *f)
{
    PGconn *conn = PQconnectdb(f->url);
    assert_int_equal(PQstatus(conn), CONNECTION_OK);
    return conn;
}

static inline void say(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
}

/* Runs SQL; returns the number in the first column of the first row. */
static inline int64_t number_beside(struct fixture *f, const char *sql)
{
    PGconn *conn = connect_beside(f);
    PGresult *result = PQexec(conn, sql);
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    int64_t number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    PQfinish(conn);
    return number;
}

#endif
