/* A node's own lines (node/node_line.h, node/letters.h). */
#include "store/postgres/postgres_int.h"

#include <errno.h>
#include <poll.h>

/* A line waits one second for a lock; after that, the holder of the lock is stuck. It may leave a
 * transaction idle for two seconds; after that, its machine is lost, and the database ends the
 * transaction. If a crash of the database loses a renewal, the next one repeats it. */
#define LINE_SETTINGS                                                                              \
    "SET synchronous_commit = off; SET lock_timeout = 1000; "                                      \
    "SET idle_in_transaction_session_timeout = 2000"

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
    db->has_said = db->has_said && status != PL_OK;
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

static bool is_connected(struct pl_db *base)
{
    return postgres_is_connected((struct postgres_db *)base);
}

static void cut(struct pl_db *base)
{
    postgres_drop((struct postgres_db *)base);
}

/* --- being told ------------------------------------------------------------------------------ */

/* Whether libpq has read a notification; all of them mean the same. */
static bool was_told(struct postgres_db *db)
{
    bool is_told = false;
    for (PGnotify *told; (told = libpq.PQnotifies(db->conn)); libpq.PQfreemem(told))
        is_told = true;
    return is_told;
}

/* A notification may have arrived with the answer to a statement; then the socket does not show
 * it. */
static enum pl_status wait_told(struct pl_db *base, int wake_fd, int64_t ms, struct pl_error *err)
{
    struct postgres_db *db = (struct postgres_db *)base;
    if (!postgres_is_connected(db))
        return postgres_fail(db, NULL, "waiting for letters", err);
    if (was_told(db))
        return PL_OK;
    struct pollfd fds[] = {{libpq.PQsocket(db->conn), POLLIN, 0}, {wake_fd, POLLIN, 0}};
    int n = poll(fds, 2, ms < 0 ? 0 : ms > 60000 ? 60000 : (int)ms);
    if (n < 0 && errno != EINTR)
        return pl_fail(err, PL_IO, "waiting for messages of other nodes failed: %s",
                       strerror(errno));
    if (n <= 0 || !fds[0].revents)
        return PL_OK;
    if (libpq.PQconsumeInput(db->conn) && postgres_is_connected(db)) {
        (void)was_told(db);
        return PL_OK;
    }
    enum pl_status status = postgres_fail(db, NULL, "waiting for letters", err);
    postgres_drop(db);
    return status;
}

const struct pl_db_line_ops postgres_line = {
    .writer = writer,
    .connect = postgres_line_connect,
    .is_connected = is_connected,
    .cut = cut,
    .say = say,
    .wait = wait_told,
};
