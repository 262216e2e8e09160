/* libpq, loaded when the first PostgreSQL store is opened. Linked, it would bring two dozen
 * libraries (Kerberos, LDAP …) into every start of the program and triple its startup time. */
#ifndef PL_STORE_POSTGRES_LIBPQ_H
#define PL_STORE_POSTGRES_LIBPQ_H

#include "base/status.h"

#include <libpq-fe.h>

#define LIBPQ_TABLE(X)                                                                             \
    X(PQconnectStartParams)                                                                        \
    X(PQconnectPoll)                                                                               \
    X(PQfinish)                                                                                    \
    X(PQstatus)                                                                                    \
    X(PQerrorMessage)                                                                              \
    X(PQsocket)                                                                                    \
    X(PQsetnonblocking)                                                                            \
    X(PQsetNoticeProcessor)                                                                        \
    X(PQparameterStatus)                                                                           \
    X(PQsendQuery)                                                                                 \
    X(PQsendPrepare)                                                                               \
    X(PQenterPipelineMode)                                                                         \
    X(PQexitPipelineMode)                                                                          \
    X(PQpipelineSync)                                                                              \
    X(PQsendQueryParams)                                                                           \
    X(PQsendQueryPrepared)                                                                         \
    X(PQflush)                                                                                     \
    X(PQisBusy)                                                                                    \
    X(PQconsumeInput)                                                                              \
    X(PQgetResult)                                                                                 \
    X(PQresultStatus)                                                                              \
    X(PQresultErrorField)                                                                          \
    X(PQntuples)                                                                                   \
    X(PQgetvalue)                                                                                  \
    X(PQgetlength)                                                                                 \
    X(PQgetisnull)                                                                                 \
    X(PQftype)                                                                                     \
    X(PQclear)                                                                                     \
    X(PQnotifies)                                                                                  \
    X(PQfreemem)

struct libpq {
#define X(name) __typeof__(&name) name;
    LIBPQ_TABLE(X)
#undef X
};

/* Filled by libpq_load; constant afterwards. */
extern struct libpq libpq;

/* Any thread, any number of times. PL_IO when the library is not installed. */
enum pl_status libpq_load(struct pl_error *err);

#endif
