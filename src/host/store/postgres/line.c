/* A node's own line (node/node_line.h). */
#include "store/postgres/postgres_int.h"

/* A second for a lock: who does not get it knows that its holder is stuck. What is lost of a renewal by a
 * crash of the database is renewed again. */
#define LINE_SETTINGS "SET synchronous_commit = off; SET lock_timeout = 1000"

enum pl_status postgres_line_connect(struct pl_db *base, struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    if (postgres_is_connected(db))
        return PL_OK;
    enum pl_status status = postgres_connect(db, err);
    if (status == PL_OK)
        status = postgres_say(db, LINE_SETTINGS, postgres_deadline(db), err);
    if (status != PL_OK)
        postgres_drop(db);
    return status;
}

static void writer(struct pl_db *base, unsigned char ret_writer[PL_UUID_BYTES])
{
    memcpy(ret_writer, ((struct postgres_db *)base)->writer, PL_UUID_BYTES);
}

static enum pl_status say(struct pl_db *base, const char *text, struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    return postgres_say(db, text, postgres_deadline(db), err);
}

const struct pl_db_line_ops postgres_line = {
    .writer = writer, .connect = postgres_line_connect, .say = say};
