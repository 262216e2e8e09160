/* The contract of nodes: leases that are renewed, nodes that are taken over, and that a fenced node
 * can do nothing more. The other node is a second store of the same database. */
#include "contract/beside.h"
#include "store/node/node_line_int.h"

struct pair {
    struct pl_store *other;
    struct pl_node_line *a, *b; /* the fixture's node, the other's */
};

static struct pl_node_line *enter(struct pl_store *store, const char *name)
{
    struct pl_node_about about = {.name = pl_str_of(name),
                                  .build = PL_STR("1.2"),
                                  .address = PL_STR("10.0.0.1:80"),
                                  .protocol = 3};
    struct pl_node_line *line = NULL;
    struct pl_error err = {0};
    if (pl_node_line_open(store, &about, &line, &err) != PL_OK)
        fail_msg("%s", err.message);
    return line;
}

static struct pair enter_two(struct fixture *f)
{
    struct pair pair = {.other = fixture_join(f), .a = enter(f->store, "a")};
    pair.b = enter(pair.other, "b");
    return pair;
}

static void leave_two(struct fixture *f, struct pair *pair)
{
    pl_node_line_close(pair->a);
    pl_node_line_close(pair->b);
    fixture_leave(f, pair->other);
}

static struct pl_node_view renew(struct fixture *f, struct pl_node_line *line)
{
    struct pl_node_view view = {0};
    struct pl_error err = {0};
    if (pl_node_line_renew(line, &(struct pl_node_load){0}, &f->arena, &view, &err) != PL_OK)
        fail_msg("%s", err.message);
    return view;
}

static enum pl_status renewal(struct fixture *f, struct pl_node_line *line)
{
    struct pl_node_view view;
    return pl_node_line_renew(line, &(struct pl_node_load){0}, &f->arena, &view, NULL);
}

/* Whether node b takes over from node a. */
static bool is_taken(struct pair *pair, bool is_unheard)
{
    bool is_taken = false;
    struct pl_error err = {0};
    if (pl_node_line_take_over(pair->b, pl_node_line_writer(pair->a), is_unheard, &is_taken,
                               &err) != PL_OK)
        fail_msg("%s", err.message);
    return is_taken;
}

static void run_out(struct fixture *f)
{
    run_sql(f, "UPDATE nodes SET until_ms = 1, renewed_ms = 1 WHERE name = 'a'");
}

static enum pl_status commit_one(struct fixture *f)
{
    struct pl_id id = pl_id_take(&f->seed, "sess_");
    struct pl_session_record session = make_session(f, &id);
    struct pl_batch *batch = pl_batch_create();
    put_session(batch, &session);
    return pl_store_commit(f->store, batch, NULL);
}

/* --- leases ---------------------------------------------------------------------------------- */

static void a_store_of_one_process_has_no_nodes(void **state)
{
    struct fixture *f = *state;
    struct pl_node_line *line = NULL;
    struct pl_error err = {0};
    struct pl_node_about about = {.name = PL_STR("a")};
    assert_int_equal(pl_node_line_open(f->store, &about, &line, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "PostgreSQL"));
    assert_null(line);
    pl_node_line_close(line);
}

static void nodes_see_each_other(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    struct pl_node_view view = renew(f, pair.a);
    assert_int_equal(view.n_nodes, 2);
    const struct pl_node_seen *b = &view.nodes[1];
    assert_true(pl_node_id_eq(&view.nodes[0].writer, pl_node_line_writer(pair.a)));
    assert_true(pl_node_id_eq(&b->writer, pl_node_line_writer(pair.b)));
    assert_true(pl_str_eq(b->name, PL_STR("b")) && pl_str_eq(b->build, PL_STR("1.2")));
    assert_true(pl_str_eq(b->address, PL_STR("10.0.0.1:80")));
    assert_int_equal(b->protocol, 3);
    assert_int_equal(b->row.state, PL_NODE_STATE_UP);
    assert_int_equal(b->row.until_ms - b->row.renewed_ms, PL_LEASE_TTL_MS);
    leave_two(f, &pair);
}

static void a_renewal_puts_the_end_of_the_lease_off(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    run_out(f);
    struct pl_node_view view = renew(f, pair.a);
    assert_true(view.nodes[0].row.until_ms > 1);
    assert_int_equal(view.nodes[0].row.until_ms - view.nodes[0].row.renewed_ms, PL_LEASE_TTL_MS);
    assert_true(view.base_ms >= view.nodes[0].row.renewed_ms);
    leave_two(f, &pair);
}

static void a_renewal_does_not_wait_for_the_writer(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    PGconn *other = connect_beside(f);
    say(other, "BEGIN; SELECT * FROM commits FOR UPDATE");
    assert_int_equal(renewal(f, pair.a), PL_OK);
    say(other, "ROLLBACK");
    PQfinish(other);
    leave_two(f, &pair);
}

static void a_line_that_was_cut_connects_again(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    PGconn *other = connect_beside(f);
    say(other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
               "pg_backend_pid() AND query LIKE '%nodes%'");
    until(renewal(f, pair.a) == PL_OK);
    PQfinish(other);
    leave_two(f, &pair);
}

static void a_node_that_is_drained_says_so(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    assert_int_equal(pl_node_line_become(pair.a, PL_NODE_STATE_DRAINING, NULL), PL_OK);
    assert_int_equal(renew(f, pair.b).nodes[0].row.state, PL_NODE_STATE_DRAINING);
    assert_int_equal(commit_one(f), PL_OK);
    assert_int_equal(pl_node_line_become(pair.a, PL_NODE_STATE_UP, NULL), PL_CONFLICT);
    leave_two(f, &pair);
}

static void a_node_that_leaves_is_gone_for_ever(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    assert_int_equal(pl_node_line_become(pair.a, PL_NODE_STATE_GONE, NULL), PL_OK);
    assert_int_equal(renew(f, pair.b).n_nodes, 1);
    assert_int_equal(renewal(f, pair.a), PL_CONFLICT);
    assert_int_equal(pl_node_line_become(pair.a, PL_NODE_STATE_GONE, NULL), PL_CONFLICT);
    leave_two(f, &pair);
}

/* --- taking over ----------------------------------------------------------------------------- */

static void a_node_that_holds_its_lease_is_not_taken_over(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    run_sql(f,
            "UPDATE nodes SET until_ms = until_ms + 86400000, renewed_ms = renewed_ms + 86400000");
    assert_false(is_taken(&pair, false));
    assert_false(is_taken(&pair, true));
    assert_int_equal(commit_one(f), PL_OK);
    leave_two(f, &pair);
}

static void a_node_whose_lease_has_run_out_is_fenced(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    assert_int_equal(commit_one(f), PL_OK);
    run_out(f);
    assert_true(is_taken(&pair, false));
    assert_int_equal(renewal(f, pair.a), PL_CONFLICT);
    assert_int_equal(renew(f, pair.b).n_nodes, 1);
    assert_int_equal(commit_one(f), PL_IO);
    assert_int_equal(f->n_fatal, 1);
    leave_two(f, &pair);
}

static void a_node_that_nobody_hears_is_fenced_before_its_lease_ends(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    run_sql(f, "UPDATE nodes SET until_ms = until_ms + 86400000, renewed_ms = renewed_ms - 2000");
    assert_false(is_taken(&pair, false));
    assert_true(is_taken(&pair, true));
    leave_two(f, &pair);
}

static bool is_connected(struct fixture *f, struct pair *pair)
{
    struct pl_node_view view = renew(f, pair->b);
    for (size_t i = 0; i < view.n_nodes; i++)
        if (pl_node_id_eq(&view.nodes[i].writer, pl_node_line_writer(pair->a)))
            return view.nodes[i].is_connected;
    fail_msg("the node is not among the others");
    return false;
}

static void others_see_whether_a_silent_node_is_connected(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    run_sql(f, "UPDATE nodes SET renewed_ms = renewed_ms - 3600000 WHERE name = 'a'");
    assert_true(is_connected(f, &pair));
    /* Another connection with the same number is not the writer's. */
    run_sql(f, "UPDATE commits SET backend_us = backend_us + 1");
    assert_false(is_connected(f, &pair));
    run_sql(f, "UPDATE commits SET backend_us = backend_us - 1, backend_pid = 2000000000");
    assert_false(is_connected(f, &pair));
    leave_two(f, &pair);
}

static void a_node_that_has_just_renewed_counts_as_connected(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    run_sql(f, "UPDATE nodes SET renewed_ms = renewed_ms + 3600000 WHERE name = 'a'");
    run_sql(f, "UPDATE commits SET backend_pid = 2000000000");
    assert_true(is_connected(f, &pair));
    leave_two(f, &pair);
}

/* A machine lost in the middle of a transaction would leave its locks. */
static void the_database_ends_a_transaction_that_a_line_leaves_open(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    assert_int_equal(pl_node_line_begin(pair.b, NULL), PL_OK);
    until(!number_beside(f, "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in %'"));
    assert_int_not_equal(pl_node_line_end(pair.b, PL_OK, NULL), PL_OK);
    assert_int_equal(renew(f, pair.b).n_nodes, 2);
    leave_two(f, &pair);
}

static void a_node_is_taken_over_once(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    run_out(f);
    assert_true(is_taken(&pair, false));
    assert_false(is_taken(&pair, false));
    leave_two(f, &pair);
}

static void nobody_is_taken_over_who_is_not_there(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    bool is_taken = true;
    struct pl_node_id nobody = {{1}};
    assert_int_equal(pl_node_line_take_over(pair.b, &nobody, true, &is_taken, NULL), PL_OK);
    assert_false(is_taken);
    leave_two(f, &pair);
}

/* Holds the row of the writer, like a node that was frozen in the middle of a transaction. */
static PGconn *freeze(struct fixture *f)
{
    PGconn *frozen = connect_beside(f);
    say(frozen,
        "BEGIN; UPDATE commits SET number = number WHERE writer = (SELECT writer FROM nodes "
        "WHERE name = 'a')");
    return frozen;
}

static void a_frozen_writer_is_ended_and_fenced(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    PGconn *named = connect_beside(f);
    say(named, "UPDATE commits SET backend_pid = pg_backend_pid(), backend_us = (SELECT "
               "CAST(extract(epoch FROM backend_start) * 1000000 AS BIGINT) FROM pg_stat_activity "
               "WHERE pid = pg_backend_pid()) WHERE writer = (SELECT writer FROM nodes WHERE name "
               "= 'a')");
    say(named, "BEGIN; UPDATE commits SET number = 77 WHERE writer = (SELECT writer FROM nodes "
               "WHERE name = 'a')");
    run_out(f);
    assert_true(is_taken(&pair, false));
    PQclear(PQexec(named, "COMMIT"));
    assert_int_equal(PQstatus(named), CONNECTION_BAD);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM commits WHERE number = 77"), 0);
    PQfinish(named);
    leave_two(f, &pair);
}

static void a_connection_that_is_not_the_writers_is_not_ended(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    bool is_taken = false;
    PGconn *frozen = freeze(f);
    run_out(f);
    assert_int_equal(
        pl_node_line_take_over(pair.b, pl_node_line_writer(pair.a), false, &is_taken, NULL), PL_IO);
    assert_false(is_taken);
    say(frozen, "COMMIT");
    PQfinish(frozen);
    assert_int_equal(renewal(f, pair.a), PL_OK);
    leave_two(f, &pair);
}

/* The writer is slow and holds its lease: its transaction continues. */
static void a_writer_that_holds_its_lease_is_not_ended(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    run_sql(f, "UPDATE nodes SET until_ms = until_ms + 86400000");
    PGconn *frozen = freeze(f);
    assert_false(is_taken(&pair, false));
    say(frozen, "COMMIT");
    PQfinish(frozen);
    assert_int_equal(commit_one(f), PL_OK);
    leave_two(f, &pair);
}

static void a_row_of_a_node_goes_with_its_mark(void **state)
{
    struct fixture *f = *state;
    struct pair pair = enter_two(f);
    run_out(f);
    assert_true(is_taken(&pair, false));
    run_sql(f, "UPDATE commits SET gone_ms = 1 WHERE is_gone = 1");
    struct pl_store *third = fixture_join(f);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM nodes"), 1);
    fixture_leave(f, third);
    leave_two(f, &pair);
}

static const struct CMUnitTest tests[] = {
    ON_SOME("memory sqlite", a_store_of_one_process_has_no_nodes),
    ON_SOME("postgres", nodes_see_each_other),
    ON_SOME("postgres", a_renewal_puts_the_end_of_the_lease_off),
    ON_SOME("postgres", a_renewal_does_not_wait_for_the_writer),
    ON_SOME("postgres", a_line_that_was_cut_connects_again),
    ON_SOME("postgres", a_node_that_is_drained_says_so),
    ON_SOME("postgres", a_node_that_leaves_is_gone_for_ever),
    ON_SOME("postgres", a_node_that_holds_its_lease_is_not_taken_over),
    ON_SOME("postgres", a_node_whose_lease_has_run_out_is_fenced),
    ON_SOME("postgres", a_node_that_nobody_hears_is_fenced_before_its_lease_ends),
    ON_SOME("postgres", others_see_whether_a_silent_node_is_connected),
    ON_SOME("postgres", a_node_that_has_just_renewed_counts_as_connected),
    ON_SOME("postgres", the_database_ends_a_transaction_that_a_line_leaves_open),
    ON_SOME("postgres", a_node_is_taken_over_once),
    ON_SOME("postgres", nobody_is_taken_over_who_is_not_there),
    ON_SOME("postgres", a_frozen_writer_is_ended_and_fenced),
    ON_SOME("postgres", a_connection_that_is_not_the_writers_is_not_ended),
    ON_SOME("postgres", a_writer_that_holds_its_lease_is_not_ended),
    ON_SOME("postgres", a_row_of_a_node_goes_with_its_mark),
};
const struct suite_part nodes_part = {tests, sizeof tests / sizeof *tests};
