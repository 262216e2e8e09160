/* Letters as rows: a few statements on a separate connection. */
#include "store/node/letters.h"
#include "base/mem.h"
#include "store/node/node_line_int.h"

#include <stdio.h>

struct pl_letter_desk {
    struct pl_store *store; /* borrowed */
    struct pl_db *db;       /* owned */
    struct pl_node_id me;
    bool is_receiving;
};

static struct pl_str bytes_of(const struct pl_node_id *nodes, size_t n)
{
    return (struct pl_str){(const char *)nodes, n * sizeof *nodes};
}

/* --- opening --------------------------------------------------------------------------------- */

bool pl_store_has_letters(const struct pl_store *store)
{
    return store->ops->line != NULL;
}

/* LISTEN belongs to the connection, so it is repeated on every new one. */
static enum pl_status listen(struct pl_letter_desk *desk, struct pl_error *err)
{
    char text[sizeof "LISTEN parley_" + 2 * PL_NODE_ID_BYTES] = "LISTEN parley_";
    size_t len = strlen(text);
    for (size_t i = 0; i < PL_NODE_ID_BYTES; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%02x", desk->me.bytes[i]);
    return desk->store->ops->line->say(desk->db, text, err);
}

enum pl_status pl_letters_connect(struct pl_letter_desk *desk, struct pl_error *err)
{
    const struct pl_db_line_ops *ops = desk->store->ops->line;
    if (ops->is_connected(desk->db))
        return PL_OK;
    enum pl_status status = ops->connect(desk->db, err);
    if (status != PL_OK || !desk->is_receiving)
        return status;
    status = listen(desk, err);
    if (status != PL_OK)
        ops->cut(desk->db);
    return status;
}

enum pl_status pl_letters_open(struct pl_store *store, const struct pl_node_id *me,
                               bool is_receiving, struct pl_letter_desk **ret_desk,
                               struct pl_error *err)
{
    if (!pl_store_has_letters(store))
        return pl_fail(
            err, PL_INVALID,
            "only a store in PostgreSQL carries messages between nodes: use --store postgres://…");
    struct pl_letter_desk *desk = pl_mem_alloc(1, sizeof *desk);
    if (!desk)
        return pl_fail(err, PL_NOMEM, "out of memory while the bus was opened");
    *desk = (struct pl_letter_desk){.store = store, .me = *me, .is_receiving = is_receiving};
    enum pl_status status = store->ops->open(&store->place, PL_DB_LINE, &desk->db, err);
    if (status == PL_OK && is_receiving)
        status = listen(desk, err);
    if (status == PL_OK)
        *ret_desk = desk;
    else
        pl_letters_close(desk);
    return status;
}

void pl_letters_close(struct pl_letter_desk *desk)
{
    if (!desk)
        return;
    desk->store->ops->close(desk->db);
    pl_mem_free(desk);
}

/* --- sending --------------------------------------------------------------------------------- */

/* Runs a query and counts its rows. */
static enum pl_status count(struct pl_letter_desk *desk, enum pl_sql sql,
                            const struct pl_params *params, size_t *ret_n, struct pl_error *err)
{
    const struct pl_db_ops *ops = desk->store->ops;
    bool has_row = true;
    size_t n = 0;
    enum pl_status status = ops->query(desk->db, sql, params->values, params->n, err);
    while (status == PL_OK && has_row) {
        status = ops->step(desk->db, &has_row, err);
        n += has_row;
    }
    ops->finish(desk->db);
    if (status == PL_OK && ret_n)
        *ret_n = n;
    return status;
}

enum pl_status pl_letters_put(struct pl_letter_desk *desk, const struct pl_node_id *to,
                              int64_t number, struct pl_str parcel, size_t *ret_n,
                              struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_bytes(&params, bytes_of(&desk->me, 1));
    pl_params_int(&params, number);
    pl_params_bytes(&params, parcel);
    if (to)
        pl_params_bytes(&params, bytes_of(to, 1));
    return count(desk, to ? PL_SQL_LETTER_PUT : PL_SQL_LETTER_PUT_ALL, &params, ret_n, err);
}

enum pl_status pl_letters_ring(struct pl_letter_desk *desk, const struct pl_node_id *to, size_t n,
                               struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_bytes(&params, bytes_of(to, n));
    return count(desk, PL_SQL_LETTER_RING, &params, NULL, err);
}

enum pl_status pl_letters_ring_all(struct pl_letter_desk *desk, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_bytes(&params, bytes_of(&desk->me, 1));
    return count(desk, PL_SQL_LETTER_RING_ALL, &params, NULL, err);
}

/* --- receiving ------------------------------------------------------------------------------- */

enum pl_status pl_letters_take(struct pl_letter_desk *desk, pl_letters_each_fn *each, void *ctx,
                               size_t *ret_n, struct pl_error *err)
{
    const struct pl_db_ops *ops = desk->store->ops;
    struct pl_params params = {0};
    size_t n = 0;
    pl_params_bytes(&params, bytes_of(&desk->me, 1));
    pl_params_int(&params, PL_LETTERS_TAKE);
    enum pl_status status = ops->query(desk->db, PL_SQL_LETTER_TAKE, params.values, params.n, err);
    for (bool has_row = true; status == PL_OK && has_row;) {
        status = ops->step(desk->db, &has_row, err);
        if (status != PL_OK || !has_row)
            break;
        struct pl_node_id sender = pl_node_id_of(ops->column(desk->db, 0).bytes);
        each(ctx, &sender, ops->column(desk->db, 1).number, ops->column(desk->db, 2).bytes);
        n++;
    }
    ops->finish(desk->db);
    if (status == PL_OK)
        *ret_n = n;
    return status;
}

enum pl_status pl_letters_wait(struct pl_letter_desk *desk, int wake_fd, int64_t ms,
                               struct pl_error *err)
{
    return desk->store->ops->line->wait(desk->db, wake_fd, ms, err);
}

enum pl_status pl_letters_expire(struct pl_letter_desk *desk, struct pl_error *err)
{
    struct pl_params params = {0};
    pl_params_int(&params, PL_LETTERS_OLD_MS);
    return count(desk, PL_SQL_LETTER_EXPIRE, &params, NULL, err);
}
