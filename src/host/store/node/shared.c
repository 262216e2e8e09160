/* Rows that nodes share besides sessions. A row that only one process may take is deleted by a
 * statement that fails if there is nothing to delete, so the status of the batch tells who got
 * it. */
#include "store/node/shared.h"

#include "base/mem.h"
#include "cluster/node.h"
#include "store/gateway.h"
#include "store/store_int.h"

bool pl_store_is_shared(const struct pl_store *store)
{
    return store->ops->line != NULL;
}

static enum pl_status fail_alone(struct pl_error *err)
{
    return pl_fail(err, PL_INVALID, "this store has one process, which shares nothing");
}

static enum pl_status fail_memory(struct pl_error *err)
{
    return pl_fail(err, PL_NOMEM, "out of memory");
}

/* Commits a batch if only its status matters. */
static enum pl_status commit(struct pl_store *store, struct pl_batch *batch, struct pl_error *err)
{
    return batch ? pl_store_commit(store, batch, err) : fail_memory(err);
}

static void write_plain(struct pl_batch *batch, enum pl_sql sql)
{
    pl_batch_write(batch, sql, &(struct pl_params){.err = &batch->err});
}

/* --- versions --------------------------------------------------------------------------------- */

static enum pl_status read_version(struct pl_store *store, enum pl_sql sql, int64_t *ret_version,
                                   struct pl_error *err)
{
    struct pl_read read = pl_read_begin(store, NULL, err);
    int64_t version = pl_read_number(&read, sql, &(struct pl_params){0});
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_version = version;
    return status;
}

enum pl_status pl_store_auth_version(struct pl_store *store, int64_t *ret_version,
                                     struct pl_error *err)
{
    return read_version(store, PL_SQL_AUTH_VERSION, ret_version, err);
}

enum pl_status pl_store_ext_version(struct pl_store *store, int64_t *ret_version,
                                    struct pl_error *err)
{
    return read_version(store, PL_SQL_EXT_VERSION, ret_version, err);
}

/* --- tickets ---------------------------------------------------------------------------------- */

enum pl_status pl_store_ticket_put(struct pl_store *store, const struct pl_ticket_row *ticket,
                                   int64_t lasts_ms, size_t n_most, struct pl_error *err)
{
    if (!pl_store_is_shared(store))
        return fail_alone(err);
    struct pl_batch *batch = pl_batch_create();
    if (batch) {
        struct pl_params put = {.err = &batch->err}, trim = {.err = &batch->err};
        pl_params_bytes(&put, (struct pl_str){(const char *)ticket->hash, sizeof ticket->hash});
        pl_params_id(&put, ticket->user_id, "user_");
        pl_params_text(&put, ticket->key_id.len ? ticket->key_id : PL_STR(""));
        pl_params_int(&put, lasts_ms);
        pl_batch_write(batch, PL_SQL_TICKET_PUT, &put);
        pl_params_id(&trim, ticket->user_id, "user_");
        pl_params_int(&trim, (int64_t)n_most);
        pl_batch_write(batch, PL_SQL_TICKET_TRIM, &trim);
    }
    return commit(store, batch, err);
}

static enum pl_status ticket_get(struct pl_store *store, struct pl_arena *arena,
                                 const struct pl_params *params, struct pl_ticket_row *ret_ticket,
                                 struct pl_error *err)
{
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_TICKET_GET, params);
    bool was_found = pl_read_next(&read);
    if (was_found) {
        ret_ticket->user_id = pl_read_id(&read, 0, "user_");
        ret_ticket->key_id = pl_read_text(&read, 1);
    }
    return pl_read_end_one(&read, was_found, "ticket");
}

/* A ticket never changes, so it may be read before it is taken. */
enum pl_status pl_store_ticket_take(struct pl_store *store, struct pl_arena *arena,
                                    const uint8_t hash[32], struct pl_ticket_row *ret_ticket,
                                    struct pl_error *err)
{
    struct pl_ticket_row ticket = {0};
    struct pl_params params = {0};
    if (!pl_store_is_shared(store))
        return fail_alone(err);
    memcpy(ticket.hash, hash, sizeof ticket.hash);
    pl_params_bytes(&params, (struct pl_str){(const char *)hash, sizeof ticket.hash});
    enum pl_status status = ticket_get(store, arena, &params, &ticket, err);
    if (status != PL_OK)
        return status;
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_batch_write(batch, PL_SQL_TICKET_TAKE, &params);
    status = commit(store, batch, err);
    if (status == PL_OK)
        *ret_ticket = ticket;
    return status;
}

void pl_batch_sweep_shared(struct pl_batch *batch)
{
    write_plain(batch, PL_SQL_TICKET_SWEEP);
    write_plain(batch, PL_SQL_GRANT_SWEEP);
}

/* --- the code of the first start ------------------------------------------------------------- */

enum pl_status pl_store_login_code_put(struct pl_store *store, struct pl_str code, int64_t lasts_ms,
                                       struct pl_error *err)
{
    if (!pl_store_is_shared(store))
        return fail_alone(err);
    struct pl_batch *batch = pl_batch_create();
    if (batch) {
        struct pl_params params = {.err = &batch->err};
        pl_params_text(&params, code);
        pl_params_int(&params, lasts_ms);
        pl_batch_write(batch, PL_SQL_LOGIN_CODE_PUT, &params);
    }
    return commit(store, batch, err);
}

enum pl_status pl_store_login_code_get(struct pl_store *store, struct pl_arena *arena,
                                       struct pl_str *ret_code, int64_t *ret_lasts_ms,
                                       struct pl_error *err)
{
    struct pl_read read = pl_read_begin(store, arena, err);
    pl_read_query(&read, PL_SQL_LOGIN_CODE_GET, &(struct pl_params){0});
    bool was_found = pl_read_next(&read);
    struct pl_str code = was_found ? pl_read_text(&read, 0) : (struct pl_str){0};
    int64_t lasts_ms = was_found ? pl_read_int(&read, 1) : 0;
    enum pl_status status = pl_read_end_one(&read, was_found, "code");
    if (status == PL_OK) {
        *ret_code = code;
        *ret_lasts_ms = lasts_ms;
    }
    return status;
}

enum pl_status pl_store_login_code_take(struct pl_store *store, struct pl_str code,
                                        struct pl_error *err)
{
    if (!pl_store_is_shared(store))
        return fail_alone(err);
    struct pl_batch *batch = pl_batch_create();
    if (batch) {
        struct pl_params params = {.err = &batch->err};
        pl_params_text(&params, code);
        pl_batch_write(batch, PL_SQL_LOGIN_CODE_TAKE, &params);
    }
    return commit(store, batch, err);
}

void pl_batch_end_login_code(struct pl_batch *batch)
{
    write_plain(batch, PL_SQL_LOGIN_CODE_END);
}

/* --- grants ---------------------------------------------------------------------------------- */

struct pl_grant_line {
    struct pl_store *store; /* borrowed */
    struct pl_db *db;       /* owned */
};

enum pl_status pl_grant_line_open(struct pl_store *store, struct pl_grant_line **ret_line,
                                  struct pl_error *err)
{
    if (!pl_store_is_shared(store))
        return fail_alone(err);
    struct pl_grant_line *line = pl_mem_alloc(1, sizeof *line);
    if (!line)
        return fail_memory(err);
    *line = (struct pl_grant_line){.store = store};
    enum pl_status status = store->ops->open(&store->place, PL_DB_LINE, &line->db, err);
    if (status == PL_OK)
        *ret_line = line;
    else
        pl_grant_line_close(line);
    return status;
}

void pl_grant_line_close(struct pl_grant_line *line)
{
    if (!line)
        return;
    line->store->ops->close(line->db);
    pl_mem_free(line);
}

enum pl_status pl_grant_line_take(struct pl_grant_line *line, const struct pl_grant_ask *ask,
                                  int64_t *ret_given, int64_t *ret_lasts_ms, struct pl_error *err)
{
    struct pl_read read = {.store = line->store, .db = line->db, .err = err};
    struct pl_params params = {0};
    int64_t given = 0, lasts_ms = 0;
    enum pl_status status = line->store->ops->line->connect(line->db, err);
    if (status != PL_OK)
        return status;
    pl_params_text(&params, ask->id);
    pl_params_text(&params, pl_str_of(ask->kind));
    pl_params_int(&params, ask->limit);
    pl_params_int(&params, ask->size);
    pl_read_query(&read, PL_SQL_GRANT_TAKE, &params);
    if (pl_read_next(&read)) {
        given = pl_read_int(&read, 0);
        lasts_ms = pl_read_int(&read, 1);
    }
    line->store->ops->finish(line->db);
    if (read.status == PL_OK) {
        *ret_given = given;
        *ret_lasts_ms = lasts_ms;
    }
    return read.status;
}

/* --- what a node that is gone has left ------------------------------------------------------- */

enum pl_status pl_store_task_runs_fail_of(struct pl_store *store, const struct pl_node_id *gone,
                                          struct pl_str error, int64_t now_ms, struct pl_error *err)
{
    struct pl_batch *batch = pl_batch_create();
    if (batch) {
        struct pl_params params = {.err = &batch->err};
        pl_params_text(&params, error);
        pl_params_int(&params, now_ms);
        pl_params_bytes(&params, (struct pl_str){(const char *)gone->bytes, sizeof gone->bytes});
        pl_batch_write(batch, PL_SQL_RUN_FAIL_OF, &params);
        pl_batch_count_lost_calls(batch);
    }
    return commit(store, batch, err);
}
