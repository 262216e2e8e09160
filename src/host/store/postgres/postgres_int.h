/* Internals of the PostgreSQL driver. */
#ifndef PL_STORE_POSTGRES_INT_H
#define PL_STORE_POSTGRES_INT_H

#include "store/postgres/libpq.h"
#include "store/store_int.h"

struct postgres_db {
    struct pl_db base;
    PGconn *conn;                    /* owned; NULL if not connected */
    const struct pl_db_place *place; /* borrowed from the store */
    bool is_prepared[PL_SQL_COUNT];  /* on this connection */
    bool is_starting; /* the program is starting, so the user may see the full error */
    bool was_silent;  /* the last wait timed out */
    bool is_line;     /* a node's own line: it connects only on request */
    bool has_said;    /* for a line: the failure was logged; once per lost connection */
    PGresult *result; /* owned; between query and finish */
    int row;          /* -1 before the first */
    /* The writer's row in the table commits: see commit.c. */
    char writer[PL_UUID_BYTES];
    int64_t number, acknowledged, generation; /* acknowledged: the last durable number */
    char name[64]; /* the prober's: the name of this process in the database */
};

/* --- waiting.c ------------------------------------------------------------------------------- */

/* The deadline for an answer requested now. */
int64_t postgres_deadline(const struct postgres_db *db);
/* False: the deadline has passed. */
bool postgres_wait(int fd, short events, int64_t deadline_ms);
/* Reconnects; prepared statements are forgotten. */
enum pl_status postgres_connect(struct postgres_db *db, struct pl_error *err);
bool postgres_is_connected(const struct postgres_db *db);
/* Ends the connection without waiting. */
void postgres_drop(struct postgres_db *db);
/* The next result. Also sends pending output, so that neither side waits for the other. NULL after
 * the last one. False: the connection is gone, or timed out and was dropped. */
bool postgres_next(struct postgres_db *db, int64_t deadline_ms, PGresult **ret_result);
/* Reads all results of a request: returns the first failure, or the last result. `what` describes
 * the request. */
enum pl_status postgres_await(struct postgres_db *db, bool is_sent, int64_t deadline_ms,
                              const char *what, PGresult **ret_result, struct pl_error *err);
/* Runs statements without parameters and results. */
enum pl_status postgres_say(struct postgres_db *db, const char *text, int64_t deadline_ms,
                            struct pl_error *err);
/* Sets the server's own timeouts for statements and locks too. */
enum pl_status postgres_limit_waiting(struct postgres_db *db, struct pl_error *err);

/* --- postgres.c ------------------------------------------------------------------------------ */

enum pl_status postgres_prepare(struct postgres_db *db, enum pl_sql sql, struct pl_error *err);
/* Translates a failed result to a status with a message. `result` may be NULL. */
enum pl_status postgres_fail(struct postgres_db *db, const PGresult *result, const char *what,
                             struct pl_error *err);
enum pl_status postgres_fail_silence(struct postgres_db *db, struct pl_error *err);

/* --- prober.c --------------------------------------------------------------------------------- */

enum pl_status postgres_probe(struct pl_db *base, struct pl_error *err);

/* The parameters in libpq's form, all binary. */
struct postgres_values {
    const char *values[PL_PARAMS_MAX];
    int lengths[PL_PARAMS_MAX];
    int formats[PL_PARAMS_MAX];
    char numbers[PL_PARAMS_MAX][8];
};
void postgres_spell(const struct pl_sql_value *values, size_t n,
                    struct postgres_values *ret_values);
/* A number in binary format. */
int64_t postgres_number(const PGresult *result, int row, int column);

/* --- line.c ---------------------------------------------------------------------------------- */

extern const struct pl_db_line_ops postgres_line;
enum pl_status postgres_line_connect(struct pl_db *base, struct pl_error *err);

/* --- index.c --------------------------------------------------------------------------------- */

enum pl_status postgres_build_index(struct pl_db *base, const char *name, const char *definition,
                                    struct pl_error *err);

/* --- commit.c -------------------------------------------------------------------------------- */

enum pl_status postgres_ready(struct pl_db *base, struct pl_error *err);
enum pl_status postgres_commit(struct pl_db *base, struct pl_batch **batches, size_t n,
                               struct pl_error *err);

#endif
