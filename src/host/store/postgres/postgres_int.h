/* The PostgreSQL driver's own. */
#ifndef PL_STORE_POSTGRES_INT_H
#define PL_STORE_POSTGRES_INT_H

#include "store/postgres/libpq.h"
#include "store/store_int.h"

struct postgres_db {
    struct pl_db base;
    PGconn *conn;                   /* owned; NULL while there is none */
    char *url;                      /* owned */
    bool is_prepared[PL_SQL_COUNT]; /* on this connection */
    PGresult *result;               /* owned; between query and finish */
    int row;                        /* -1 before the first */
    /* The writer's place in the table commits: see commit.c. */
    char writer[PL_UUID_BYTES];
    int64_t number, generation;
};

/* Connects anew; what was prepared is forgotten. */
enum pl_status postgres_connect(struct postgres_db *db, struct pl_error *err);
bool postgres_is_connected(const struct postgres_db *db);
enum pl_status postgres_prepare(struct postgres_db *db, enum pl_sql sql, struct pl_error *err);
/* What a failed result means to us, with a sentence. `result` may be NULL. */
enum pl_status postgres_fail(struct postgres_db *db, const PGresult *result, const char *what,
                             struct pl_error *err);

/* The parameters as libpq wants them, all in binary. */
struct postgres_values {
    const char *values[PL_PARAMS_MAX];
    int lengths[PL_PARAMS_MAX];
    int formats[PL_PARAMS_MAX];
    char numbers[PL_PARAMS_MAX][8];
};
void postgres_spell(const struct pl_value *values, size_t n, struct postgres_values *ret_values);
/* A number as it comes in binary. */
int64_t postgres_number(const PGresult *result, int row, int column);

enum pl_status postgres_ready(struct pl_db *base, struct pl_error *err);
enum pl_status postgres_commit(struct pl_db *base, struct pl_batch **batches, size_t n,
                               struct pl_error *err);

#endif
