/* The line: leases and taking over, as a few statements on a separate connection.
 *
 * A take-over has its own transaction, which is durable before it is reported. It first locks the
 * row in commits, which every transaction of that writer holds to its end: so every transaction in
 * progress has then ended, and no new one can begin. Then it checks again whether the node is
 * due. */
#include "store/node/node_line_int.h"
#include "base/mem.h"

/* Runs a query with the node in ?1, and leaves the result open. */
static enum pl_status ask(struct pl_node_line *line, enum pl_sql sql, const struct pl_node_id *node,
                          struct pl_error *err)
{
    struct pl_sql_value value = {PL_SQL_VALUE_BYTES,
                                 .bytes = {(const char *)node->bytes, sizeof node->bytes}};
    return line->store->ops->query(line->db, sql, &value, 1, err);
}

/* The same if only success matters. */
static enum pl_status run(struct pl_node_line *line, enum pl_sql sql, const struct pl_node_id *node,
                          struct pl_error *err)
{
    enum pl_status status = ask(line, sql, node, err);
    line->store->ops->finish(line->db);
    return status;
}

static enum pl_status run_with(struct pl_node_line *line, enum pl_sql sql, struct pl_params *params,
                               bool *ret_has_row, struct pl_error *err)
{
    const struct pl_db_ops *ops = line->store->ops;
    enum pl_status status = params->status;
    if (status != PL_OK)
        return pl_fail(err, status, "what a node says of itself cannot be stored");
    status = ops->query(line->db, sql, params->values, params->n, err);
    if (status == PL_OK)
        status = ops->step(line->db, ret_has_row, err);
    ops->finish(line->db);
    return status;
}

static struct pl_params params_of(const struct pl_node_id *node)
{
    struct pl_params params = {0};
    pl_params_bytes(&params, (struct pl_str){(const char *)node->bytes, sizeof node->bytes});
    return params;
}

static enum pl_status fail_gone(struct pl_error *err)
{
    return pl_fail(err, PL_CONFLICT, "this node was taken over by another one");
}

/* --- opening --------------------------------------------------------------------------------- */

static enum pl_status enter(struct pl_node_line *line, const struct pl_node_about *about,
                            struct pl_error *err)
{
    bool has_row;
    struct pl_params params = params_of(&line->writer);
    pl_params_text(&params, about->name.ptr ? about->name : PL_STR(""));
    pl_params_text(&params, about->build.ptr ? about->build : PL_STR(""));
    pl_params_int(&params, about->protocol);
    pl_params_text(&params, about->address.ptr ? about->address : PL_STR(""));
    pl_params_int(&params, PL_LEASE_TTL_MS);
    /* Durable, unlike renewals: a node without its row gets no letters and must enter again. */
    enum pl_status status = pl_node_line_begin(line, err);
    if (status == PL_OK)
        status =
            pl_node_line_end(line, run_with(line, PL_SQL_NODE_ENTER, &params, &has_row, err), err);
    return status == PL_NOT_FOUND ? fail_gone(err) : status;
}

enum pl_status pl_node_line_open(struct pl_store *store, const struct pl_node_about *about,
                                 struct pl_node_line **ret_line, struct pl_error *err)
{
    if (!store->ops->line)
        return pl_fail(err, PL_INVALID,
                       "only a store in PostgreSQL is shared by several nodes: use --store "
                       "postgres://…");
    struct pl_node_line *line = pl_mem_alloc(1, sizeof *line);
    if (!line)
        return pl_fail(err, PL_NOMEM, "out of memory while entering the node");
    *line = (struct pl_node_line){.store = store};
    store->ops->line->writer(store->writer.db, line->writer.bytes);
    enum pl_status status = store->ops->open(&store->place, PL_DB_LINE, &line->db, err);
    if (status == PL_OK)
        status = enter(line, about, err);
    if (status == PL_OK)
        *ret_line = line;
    else
        pl_node_line_close(line);
    return status;
}

void pl_node_line_close(struct pl_node_line *line)
{
    if (!line)
        return;
    line->store->ops->close(line->db);
    pl_mem_free(line);
}

const struct pl_node_id *pl_node_line_writer(const struct pl_node_line *line)
{
    return &line->writer;
}

/* --- the lease ------------------------------------------------------------------------------- */

struct pl_node_id pl_node_id_of(struct pl_str bytes)
{
    struct pl_node_id id = {0};
    if (bytes.len == sizeof id.bytes)
        memcpy(id.bytes, bytes.ptr, sizeof id.bytes);
    return id;
}

static void read_node(struct pl_read *read, struct pl_node_seen *node)
{
    *node = (struct pl_node_seen){
        .writer = pl_node_id_of(read->store->ops->column(read->db, 0).bytes),
        .name = pl_read_text(read, 1),
        .build = pl_read_text(read, 2),
        .address = pl_read_text(read, 3),
        .protocol = pl_read_int(read, 4),
        .row = {.state = pl_node_state_of(pl_read_text(read, 5)),
                .until_ms = pl_read_int(read, 6),
                .renewed_ms = pl_read_int(read, 7)},
        .load = {.n_sessions = pl_read_int(read, 11),
                 .n_running = pl_read_int(read, 12),
                 .n_sockets = pl_read_int(read, 13)},
        .wants_drain = pl_read_int(read, 14) != 0,
        .is_connected = pl_read_int(read, 15) != 0,
    };
}

/* `me` is the node whose letters are looked for. */
static void read_view(struct pl_read *read, const struct pl_node_id *me,
                      struct pl_node_view *ret_view)
{
    struct pl_list nodes = {.size = sizeof(struct pl_node_seen)};
    struct pl_node_view view = {0};
    struct pl_params params = {0};
    pl_params_int(&params, PL_LEASE_UNHEARD_MS);
    pl_read_query(read, PL_SQL_NODE_LIST, &params);
    while (pl_read_next(read)) {
        struct pl_node_seen *node = pl_read_add(read, &nodes);
        if (!node)
            break;
        read_node(read, node);
        view.base_ms = pl_read_int(read, 8);
        view.has_letters =
            view.has_letters || (pl_node_id_eq(&node->writer, me) && pl_read_int(read, 9) != 0);
        view.auth_version = pl_read_int(read, 10);
        view.ext_version = pl_read_int(read, 16);
    }
    view.nodes = nodes.items;
    view.n_nodes = nodes.n;
    *ret_view = view;
}

enum pl_status pl_store_nodes(struct pl_store *store, struct pl_arena *arena,
                              struct pl_node_view *ret_view, struct pl_error *err)
{
    struct pl_node_view view;
    struct pl_read read = pl_read_begin(store, arena, err);
    read_view(&read, &(struct pl_node_id){0}, &view);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_view = view;
    return status;
}

enum pl_status pl_store_standbys(struct pl_store *store, struct pl_standbys *ret_standbys,
                                 struct pl_error *err)
{
    struct pl_standbys standbys = {0};
    struct pl_read read = pl_read_begin(store, NULL, err);
    pl_read_query(&read, PL_SQL_NODE_STANDBYS, &(struct pl_params){0});
    if (pl_read_next(&read))
        standbys = (struct pl_standbys){.n = pl_read_int(&read, 0),
                                        .are_waited_for = pl_read_int(&read, 1) != 0};
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_standbys = standbys;
    return status;
}

static enum pl_status list(struct pl_node_line *line, struct pl_arena *arena,
                           struct pl_node_view *ret_view, struct pl_error *err)
{
    struct pl_read read = {.store = line->store, .db = line->db, .arena = arena, .err = err};
    struct pl_node_view view;
    read_view(&read, &line->writer, &view);
    line->store->ops->finish(line->db);
    if (read.status == PL_OK)
        *ret_view = view;
    return read.status;
}

enum pl_status pl_node_line_renew(struct pl_node_line *line, const struct pl_node_load *load,
                                  struct pl_arena *arena, struct pl_node_view *ret_view,
                                  struct pl_error *err)
{
    bool is_there = false;
    struct pl_params params = params_of(&line->writer);
    pl_params_int(&params, PL_LEASE_TTL_MS);
    pl_params_int(&params, load->n_sessions);
    pl_params_int(&params, load->n_running);
    pl_params_int(&params, load->n_sockets);
    enum pl_status status = line->store->ops->line->connect(line->db, err);
    if (status == PL_OK)
        status = run_with(line, PL_SQL_NODE_RENEW, &params, &is_there, err);
    if (status != PL_OK)
        return status;
    return is_there ? list(line, arena, ret_view, err) : fail_gone(err);
}

/* --- transactions ---------------------------------------------------------------------------- */

enum pl_status pl_node_line_begin(struct pl_node_line *line, struct pl_error *err)
{
    const struct pl_db_line_ops *ops = line->store->ops->line;
    enum pl_status status = ops->connect(line->db, err);
    return status == PL_OK ? ops->say(line->db, "BEGIN; SET LOCAL synchronous_commit = on", err)
                           : status;
}

enum pl_status pl_node_line_end(struct pl_node_line *line, enum pl_status status,
                                struct pl_error *err)
{
    const struct pl_db_line_ops *ops = line->store->ops->line;
    if (status == PL_OK)
        return ops->say(line->db, "COMMIT", err);
    enum pl_status rolled_back = ops->say(line->db, "ROLLBACK", NULL);
    (void)rolled_back; /* without a connection there is nothing to roll back */
    return status;
}

static enum pl_status fence(struct pl_node_line *line, const struct pl_node_id *node,
                            struct pl_error *err)
{
    enum pl_status status = run(line, PL_SQL_NODE_FENCE, node, err);
    return status == PL_OK ? run(line, PL_SQL_NODE_GONE, node, err) : status;
}

static enum pl_status become_by(struct pl_node_line *line, enum pl_node_state from,
                                enum pl_node_state to, bool *ret_has_moved, struct pl_error *err)
{
    struct pl_params params = params_of(&line->writer);
    pl_params_text(&params, pl_str_of(pl_node_state_text(to)));
    pl_params_text(&params, pl_str_of(pl_node_state_text(from)));
    return run_with(line, PL_SQL_NODE_BECOME, &params, ret_has_moved, err);
}

enum pl_status pl_node_line_become(struct pl_node_line *line, enum pl_node_state state,
                                   struct pl_error *err)
{
    bool has_moved = false;
    enum pl_status status = pl_node_line_begin(line, err);
    if (status != PL_OK)
        return status;
    for (unsigned from = 0; status == PL_OK && !has_moved && from < PL_NODE_STATE_COUNT; from++)
        if (pl_node_state_may((enum pl_node_state)from, state))
            status = become_by(line, (enum pl_node_state)from, state, &has_moved, err);
    if (status == PL_OK && !has_moved)
        status = fail_gone(err);
    if (status == PL_OK && state == PL_NODE_STATE_GONE)
        status = run(line, PL_SQL_NODE_FENCE, &line->writer, err);
    return pl_node_line_end(line, status, err);
}

/* --- taking over ----------------------------------------------------------------------------- */

/* Called within the transaction, after the writer's row is locked. */
static enum pl_status look_again(struct pl_node_line *line, const struct pl_node_id *dead,
                                 bool is_unheard, bool *ret_is_due, struct pl_error *err)
{
    const struct pl_db_ops *ops = line->store->ops;
    bool has_row = false;
    enum pl_status status = ask(line, PL_SQL_NODE_LOCK, dead, err);
    if (status == PL_OK)
        status = ops->step(line->db, &has_row, err);
    *ret_is_due = false;
    if (status == PL_OK && has_row) {
        struct pl_lease_row row = {.state = pl_node_state_of(ops->column(line->db, 0).bytes),
                                   .until_ms = ops->column(line->db, 1).number,
                                   .renewed_ms = ops->column(line->db, 2).number};
        *ret_is_due = pl_lease_is_due(&row, ops->column(line->db, 3).number, is_unheard);
    }
    ops->finish(line->db);
    return status;
}

enum attempt { ATTEMPT_DONE, ATTEMPT_LOCKED, ATTEMPT_FAILED };

static enum attempt attempt(struct pl_node_line *line, const struct pl_node_id *dead,
                            bool is_unheard, bool *ret_is_taken, enum pl_status *ret_status,
                            struct pl_error *err)
{
    bool is_due = false;
    enum pl_status status = pl_node_line_begin(line, err);
    bool has_begun = status == PL_OK;
    if (has_begun)
        status = run(line, PL_SQL_NODE_LOCK_WRITER, dead, err);
    bool has_lock = status == PL_OK;
    if (has_lock)
        status = look_again(line, dead, is_unheard, &is_due, err);
    if (status == PL_OK && is_due)
        status = fence(line, dead, err);
    if (has_begun)
        status = pl_node_line_end(line, status, err);
    *ret_status = status;
    if (status == PL_OK)
        *ret_is_taken = is_due;
    return status == PL_OK          ? ATTEMPT_DONE
           : has_begun && !has_lock ? ATTEMPT_LOCKED
                                    : ATTEMPT_FAILED;
}

/* Before it ends a connection, it checks that the node is due: a node with a valid lease may have a
 * long transaction. */
enum pl_status pl_node_line_take_over(struct pl_node_line *line, const struct pl_node_id *dead,
                                      bool is_unheard, bool *ret_is_taken, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    bool is_due = false;
    enum attempt outcome = attempt(line, dead, is_unheard, ret_is_taken, &status, err);
    if (outcome != ATTEMPT_LOCKED)
        return status;
    status = line->store->ops->line->connect(line->db, err);
    if (status == PL_OK)
        status = look_again(line, dead, is_unheard, &is_due, err);
    if (status == PL_OK && !is_due)
        *ret_is_taken = false;
    if (status != PL_OK || !is_due)
        return status;
    status = run(line, PL_SQL_NODE_END_WRITER, dead, err);
    if (status == PL_OK)
        (void)attempt(line, dead, is_unheard, ret_is_taken, &status, err);
    return status;
}

enum pl_status pl_node_line_fence(struct pl_node_line *line, const struct pl_node_id *dead,
                                  struct pl_error *err)
{
    enum pl_status status = PL_OK;
    for (int i = 0; i < 2; i++) {
        status = pl_node_line_begin(line, err);
        if (status != PL_OK)
            return status;
        status = run(line, PL_SQL_NODE_LOCK_WRITER, dead, err);
        if (status == PL_OK)
            status = fence(line, dead, err);
        status = pl_node_line_end(line, status, err);
        if (status == PL_OK)
            return PL_OK;
        /* The dead process's connection may still exist, within a transaction. */
        status = line->store->ops->line->connect(line->db, err);
        if (status == PL_OK)
            status = run(line, PL_SQL_NODE_END_WRITER, dead, err);
        if (status != PL_OK)
            return status;
    }
    return pl_fail(err, PL_IO, "the row of an earlier process of this node is locked");
}

enum pl_status pl_node_line_rewind(struct pl_node_line *line, const struct pl_node_id *node,
                                   struct pl_error *err)
{
    enum pl_status status = pl_node_line_begin(line, err);
    if (status != PL_OK)
        return status;
    status = run(line, PL_SQL_NODE_REWIND, node, err);
    return pl_node_line_end(line, status, err);
}

enum pl_status pl_node_line_end_own_writer(struct pl_node_line *line, struct pl_error *err)
{
    enum pl_status status = line->store->ops->line->connect(line->db, err);
    return status == PL_OK ? run(line, PL_SQL_NODE_END_WRITER, &line->writer, err) : status;
}

/* --- from outside ----------------------------------------------------------------------------- */

enum pl_status pl_store_nodes_look(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_node_view *ret_view, struct pl_error *err)
{
    struct pl_read read = pl_read_begin(store, arena, err);
    struct pl_node_view view;
    read_view(&read, &(struct pl_node_id){0}, &view);
    enum pl_status status = pl_read_end(&read);
    if (status == PL_OK)
        *ret_view = view;
    return status;
}

void pl_batch_drain_node(struct pl_batch *batch, struct pl_str name)
{
    struct pl_params params = {.err = &batch->err};
    pl_params_text(&params, name);
    pl_batch_write(batch, PL_SQL_NODE_ASK_DRAIN, &params);
}
