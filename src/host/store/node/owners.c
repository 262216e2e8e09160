/* Owners of sessions: claims in a batch, reading the owner, and the sessions of nodes that are
 * gone. */
#include "store/node/owners.h"
#include "store/node/node_line_int.h"

static struct pl_str id_bytes(const struct pl_node_id *node)
{
    return (struct pl_str){(const char *)node->bytes, sizeof node->bytes};
}

static struct pl_params params_of(struct pl_batch *batch, struct pl_str session_id,
                                  const struct pl_node_id *node)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_id(&params, session_id, "sess_");
    pl_params_bytes(&params, id_bytes(node));
    return params;
}

void pl_batch_claim_session(struct pl_batch *batch, struct pl_str session_id,
                            const struct pl_node_id *node)
{
    struct pl_params params = params_of(batch, session_id, node);
    pl_batch_write(batch, PL_SQL_OWNER_CLAIM, &params);
    struct pl_params session = {.err = &batch->err};
    pl_params_id(&session, session_id, "sess_");
    pl_batch_write(batch, PL_SQL_SESSION_EXPECT, &session);
}

void pl_batch_release_session(struct pl_batch *batch, struct pl_str session_id,
                              const struct pl_node_id *node)
{
    struct pl_params params = params_of(batch, session_id, node);
    pl_batch_write(batch, PL_SQL_OWNER_RELEASE, &params);
}

void pl_batch_expect_owner(struct pl_batch *batch, struct pl_str session_id,
                           const struct pl_node_id *node, int64_t generation)
{
    struct pl_params params = params_of(batch, session_id, node);
    pl_params_int(&params, generation);
    pl_batch_write(batch, PL_SQL_OWNER_EXPECT, &params);
}

void pl_batch_expect_epoch(struct pl_batch *batch, struct pl_str session_id,
                           const struct pl_node_id *node, int64_t epoch)
{
    struct pl_params params = params_of(batch, session_id, node);
    pl_params_int(&params, epoch);
    pl_batch_write(batch, PL_SQL_OWNER_EXPECT_EPOCH, &params);
}

enum pl_status pl_store_session_held(struct pl_store *store, struct pl_str session_id,
                                     struct pl_session_held *ret_held, struct pl_error *err)
{
    struct pl_params params = {0};
    struct pl_session_held held = {0};
    pl_params_id(&params, session_id, "sess_");
    struct pl_read read = pl_read_begin(store, NULL, err);
    pl_read_query(&read, PL_SQL_OWNER_GET, &params);
    bool was_found = pl_read_next(&read);
    if (was_found) {
        struct pl_sql_value owner = store->ops->column(read.db, 0);
        held.row.has_owner = owner.kind != PL_SQL_VALUE_NULL;
        if (held.row.has_owner)
            held.row.owner = pl_node_id_of(owner.bytes);
        held.generation = store->ops->column(read.db, 1).number;
        held.row.is_owner_gone = store->ops->column(read.db, 2).number != 0;
    }
    enum pl_status status = pl_read_end_one(&read, was_found, "session");
    if (status == PL_OK)
        *ret_held = held;
    return status;
}

enum pl_status pl_store_running_elsewhere(struct pl_store *store, struct pl_str user_id,
                                          const struct pl_node_id *me, int64_t *ret_n,
                                          struct pl_error *err)
{
    struct pl_params params = {0};
    int64_t n = 0;
    pl_params_id(&params, user_id, "user_");
    pl_params_bytes(&params, id_bytes(me));
    struct pl_read read = pl_read_begin(store, NULL, err);
    pl_read_query(&read, PL_SQL_OWNER_RUNNING, &params);
    bool was_found = pl_read_next(&read);
    if (was_found)
        n = pl_read_int(&read, 0);
    enum pl_status status = pl_read_end_one(&read, was_found, "count");
    if (status == PL_OK)
        *ret_n = n;
    return status;
}

/* --- what is left ---------------------------------------------------------------------------- */

enum pl_status pl_node_line_left(struct pl_node_line *line, struct pl_arena *arena,
                                 struct pl_node_id **ret_writers, size_t *ret_n,
                                 struct pl_error *err)
{
    struct pl_read read = {.store = line->store, .db = line->db, .arena = arena, .err = err};
    struct pl_list writers = {.size = sizeof(struct pl_node_id)};
    enum pl_status status = line->store->ops->line->connect(line->db, err);
    if (status != PL_OK)
        return status;
    pl_read_query(&read, PL_SQL_NODE_LEFT, &(struct pl_params){0});
    while (pl_read_next(&read)) {
        struct pl_node_id *id = pl_read_add(&read, &writers);
        if (id)
            *id = pl_node_id_of(line->store->ops->column(line->db, 0).bytes);
    }
    line->store->ops->finish(line->db);
    *ret_writers = writers.items;
    *ret_n = writers.n;
    return read.status;
}

static enum pl_status claim_running(struct pl_node_line *line, const struct pl_node_id *gone,
                                    struct pl_arena *arena, struct pl_list *running,
                                    struct pl_error *err)
{
    struct pl_read read = {.store = line->store, .db = line->db, .arena = arena, .err = err};
    struct pl_params params = {0};
    pl_params_bytes(&params, id_bytes(gone));
    pl_params_bytes(&params, id_bytes(&line->writer));
    pl_params_int(&params, PL_SETTLE_PAGE);
    pl_read_query(&read, PL_SQL_OWNER_SETTLE_RUNNING, &params);
    while (pl_read_next(&read)) {
        struct pl_left_session *left = pl_read_add(&read, running);
        if (left)
            *left = (struct pl_left_session){pl_read_id(&read, 0, "sess_"), pl_read_int(&read, 1)};
    }
    line->store->ops->finish(line->db);
    return read.status;
}

static enum pl_status release_quiet(struct pl_node_line *line, const struct pl_node_id *gone,
                                    size_t *ret_n, struct pl_error *err)
{
    struct pl_read read = {.store = line->store, .db = line->db, .err = err};
    struct pl_params params = {0};
    size_t n = 0;
    pl_params_bytes(&params, id_bytes(gone));
    pl_params_int(&params, PL_SETTLE_PAGE);
    pl_read_query(&read, PL_SQL_OWNER_SETTLE_QUIET, &params);
    while (pl_read_next(&read))
        n++;
    line->store->ops->finish(line->db);
    *ret_n = n;
    return read.status;
}

enum pl_status pl_node_line_settle(struct pl_node_line *line, const struct pl_node_id *gone,
                                   struct pl_arena *arena, struct pl_settle_page *ret_page,
                                   struct pl_error *err)
{
    struct pl_list running = {.size = sizeof(struct pl_left_session)};
    size_t n_quiet = 0;
    enum pl_status status = pl_node_line_begin(line, err);
    if (status != PL_OK)
        return status;
    status = claim_running(line, gone, arena, &running, err);
    if (status == PL_OK)
        status = release_quiet(line, gone, &n_quiet, err);
    status = pl_node_line_end(line, status, err);
    if (status == PL_OK)
        *ret_page =
            (struct pl_settle_page){running.items, running.n, n_quiet,
                                    running.n == PL_SETTLE_PAGE || n_quiet == PL_SETTLE_PAGE};
    return status;
}
