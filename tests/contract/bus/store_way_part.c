/* Letters over PostgreSQL: the layout of the rows, and outages of the database. */
#include "contract/bus/bus_parts.h"

#include "store/node/letters.h"

#include <stdio.h>

/* Checks the received letters of one sender: in order, each once, including the last one. */
static void assert_order(struct node *node, size_t n_sent)
{
    long before = -1;
    size_t n = node_n_came(node);
    for (size_t i = 0; i < n; i++) {
        struct came came = node_came(node, i);
        char text[24];
        snprintf(text, sizeof text, "%.*s", (int)came.len, came.bytes);
        long number = strtol(text, NULL, 10);
        assert_true(number > before);
        before = number;
    }
    assert_int_equal(before, n_sent - 1);
}

static void send_number(struct node *from, const struct node *to, size_t n)
{
    char text[24];
    node_send(from, to, (struct pl_str){text, (size_t)snprintf(text, sizeof text, "%zu", n)});
}

static bool has_last(struct node *node, size_t n_sent)
{
    char text[24];
    size_t n = node_n_came(node), len = (size_t)snprintf(text, sizeof text, "%zu", n_sent - 1);
    struct came last = n ? node_came(node, n - 1) : (struct came){0};
    return last.len == len && memcmp(last.bytes, text, len) == 0;
}

static void a_database_that_was_away_is_told_and_letters_wait(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    send_number(a, b, 0);
    node_await(b, 1);
    control_postgres("--stop");
    until(node_n_told(a, PL_BUS_DOWN) && node_n_told(b, PL_BUS_DOWN));
    assert_int_equal(pl_bus_state(a->bus), PL_BUS_DOWN);
    for (size_t i = 1; i < 1000; i++)
        send_number(a, b, i);
    assert_true(pl_bus_waiting(a->bus, &b->id) > 999);
    control_postgres("--start");
    until(has_last(b, 1000));
    assert_order(b, 1000);
    assert_int_equal(node_n_came(b), 1000);
    until(node_n_told(a, PL_BUS_UP) && node_n_told(b, PL_BUS_UP));
    until(pl_bus_waiting(a->bus, &b->id) == 0);
    node_leave(a);
    node_leave(b);
}

static void too_much_that_waits_is_refused(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    char *bytes = calloc(1, PL_BUS_LETTER_MAX);
    struct pl_str letter = {bytes, PL_BUS_LETTER_MAX};
    enum pl_status status = PL_OK;
    control_postgres("--stop");
    until(node_n_told(a, PL_BUS_DOWN));
    for (size_t i = 0; status == PL_OK && i < 200; i++)
        status = pl_bus_send(a->bus, &b->id, letter, false);
    assert_int_equal(status, PL_LIMIT);
    assert_true(pl_bus_waiting(a->bus, &b->id) > PL_BUS_WAITING_MAX - 2 * PL_BUS_LETTER_MAX);
    assert_int_equal(pl_bus_send_all(a->bus, letter), PL_LIMIT);
    node_leave(a);
    control_postgres("--start");
    free(bytes);
    node_leave(b);
}

/* All connections are cut again and again. Letters may be lost; they are never out of order and
 * never duplicated. */
static void letters_stay_in_order_over_connections_that_are_cut(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_enter(f), *b = node_enter(f);
    PGconn *conn = connect_beside(f);
    size_t n = 0;
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < 200; i++)
            send_number(a, b, n++);
        say(conn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                  "pg_backend_pid() AND (query LIKE '%letters%' OR query LIKE '%parley_%')");
        until(pl_bus_waiting(a->bus, &b->id) == 0);
    }
    until(pl_bus_state(b->bus) == PL_BUS_UP);
    do {
        send_number(a, b, n++);
        usleep(1000);
    } while (!has_last(b, n) && n < PATIENCE);
    until(has_last(b, n));
    assert_order(b, n);
    PQfinish(conn);
    node_leave(a);
    node_leave(b);
}

static void a_silent_database_is_found_and_letters_come_later(void **state)
{
    struct fixture *f = *state;
    f->answer_ms = 300;
    struct node *a = node_enter(f), *b = node_enter(f);
    control_postgres("--pause");
    send_number(a, b, 0);
    until(node_n_told(a, PL_BUS_DOWN));
    control_postgres("--resume");
    until(has_last(b, 1));
    assert_int_equal(node_n_came(b), 1);
    until(node_n_told(a, PL_BUS_UP));
    node_leave(a);
    node_leave(b);
}

static void what_nobody_takes_is_deleted(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_make(f);
    run_sql(f,
            "INSERT INTO letters (receiver, sender, number, sent_ms, body) SELECT writer, '1', 1, "
            "1, '1' FROM nodes");
    run_sql(f, "INSERT INTO letters (receiver, sender, number, sent_ms, body) VALUES ('nobody', "
               "'1', 1, CAST(extract(epoch FROM now()) * 1000 AS BIGINT), '1')");
    struct node *b = node_enter(f);
    until(number_beside(f, "SELECT count(*) FROM letters") == 0);
    node_leave(a);
    node_leave(b);
}

static void letters_that_wait_are_seen_by_the_renewal(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_make(f), *b = node_enter(f);
    struct pl_node_view view = {0};
    assert_int_equal(pl_node_line_renew(a->line, &(struct pl_node_load){0}, &f->arena, &view, NULL),
                     PL_OK);
    assert_false(view.has_letters);
    node_send(b, a, PL_STR("x"));
    until(number_beside(f, "SELECT count(*) FROM letters") == 1);
    assert_int_equal(pl_node_line_renew(a->line, &(struct pl_node_load){0}, &f->arena, &view, NULL),
                     PL_OK);
    assert_true(view.has_letters);
    assert_int_equal(pl_node_line_renew(b->line, &(struct pl_node_load){0}, &f->arena, &view, NULL),
                     PL_OK);
    assert_false(view.has_letters);
    /* A bus that opens later receives them. */
    struct pl_bus_config config;
    node_configure(a, &config);
    assert_int_equal(node_open(a, &config, NULL), PL_OK);
    node_await(a, 1);
    node_leave(a);
    node_leave(b);
}

static void letters_for_nodes_that_are_gone_are_not_kept(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_make(f), *b = node_enter(f), *c = node_enter(f);
    assert_int_equal(pl_node_line_become(a->line, PL_NODE_STATE_GONE, NULL), PL_OK);
    node_send(b, a, PL_STR("x"));
    node_send_all(b, PL_STR("y"));
    node_await(c, 1);
    assert_int_equal(number_beside(f, "SELECT count(*) FROM letters"), 0);
    node_leave(a);
    node_leave(b);
    node_leave(c);
}

/* Rows that were not written by a bus. */
static void hostile_rows_harm_nothing(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_enter(f), *b = node_enter(f);
    static const char *const bodies[] = {
        "''",
        "'\\x00'",
        "'\\x0100000005'",
        "'\\x00ffffffff00'",
        "'\\x0200000001ff'",
        "'\\x0000000001ff00'",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char sql[400];
        snprintf(sql, sizeof sql,
                 "INSERT INTO letters (receiver, sender, number, sent_ms, body) SELECT writer, "
                 "'nobody', %zu, CAST(extract(epoch FROM now()) * 1000 AS BIGINT), "
                 "CAST(%s AS BYTEA) FROM nodes",
                 i + 1, bodies[i]);
        run_sql(f, sql);
    }
    pl_bus_look(b->bus);
    /* The only letter among them is passed on unchanged. */
    until(node_n_came(b) == 1);
    assert_came(b, 0, PL_STR("\xff"), false);
    node_send(a, b, PL_STR("after them"));
    node_await(b, 2);
    node_leave(a);
    node_leave(b);
}

/* The same parcel is inserted again, as after a failure with an unknown outcome. */
static void a_parcel_that_is_put_twice_comes_once(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_make(f), *b = node_enter(f);
    struct pl_letter_desk *desk = NULL;
    size_t n = 0;
    struct pl_str parcel = {"\0\0\0\0\1x", 6};
    assert_int_equal(pl_letters_open(a->store, &a->id, false, &desk, NULL), PL_OK);
    static const int64_t numbers[] = {5, 5, 4, 6, 5, 7};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_int_equal(pl_letters_put(desk, &b->id, numbers[i], parcel, &n, NULL), PL_OK);
    assert_int_equal(n, 1);
    assert_int_equal(pl_letters_ring(desk, &b->id, 1, NULL), PL_OK);
    node_await(b, 3);
    until(number_beside(f, "SELECT count(*) FROM letters") == 0);
    assert_int_equal(node_n_came(b), 3);
    pl_letters_close(desk);
    node_leave(a);
    node_leave(b);
}

static void a_bus_that_is_opened_again_is_heard(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    node_send(a, b, PL_STR("first"));
    node_await(b, 1);
    pl_bus_close(a->bus);
    a->bus = NULL;
    struct pl_bus_config config;
    node_configure(a, &config);
    assert_int_equal(node_open(a, &config, NULL), PL_OK);
    assert_int_equal(pl_bus_send(a->bus, &b->id, PL_STR("second"), true), PL_OK);
    node_await(b, 2);
    node_leave(a);
    node_leave(b);
}

static void letters_stay_in_order_without_memory(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    size_t n = 0, n_sent = 0;
    char text[24];
    is_memory_short = true;
    for (; n < 3000; n++) {
        struct pl_str letter = {text, (size_t)snprintf(text, sizeof text, "%zu", n)};
        enum pl_status status = pl_bus_send(a->bus, &b->id, letter, n % 2);
        assert_true(status == PL_OK || status == PL_NOMEM);
        n_sent += status == PL_OK;
    }
    until(node_n_came(b) == n_sent);
    is_memory_short = false;
    assert_true(n_sent < 3000);
    if (strcmp(bus_kind, "pg") == 0) {
        send_number(a, b, n++);
        until(has_last(b, n));
        assert_order(b, n);
    }
    node_leave(a);
    node_leave(b);
}

static void a_store_of_one_process_has_no_letters(void **state)
{
    struct fixture *f = *state;
    struct pl_letter_desk *desk = NULL;
    struct pl_error err = {0};
    struct pl_node_id me = {{1}};
    assert_false(pl_store_has_letters(f->store));
    assert_int_equal(pl_letters_open(f->store, &me, true, &desk, &err), PL_INVALID);
    assert_non_null(strstr(err.message, "PostgreSQL"));
    pl_letters_close(desk);
}

static const struct CMUnitTest tests[] = {
    ON_SOME("pg", a_database_that_was_away_is_told_and_letters_wait),
    ON_SOME("pg", too_much_that_waits_is_refused),
    ON_SOME("pg", letters_stay_in_order_over_connections_that_are_cut),
    ON_SOME("pg", a_silent_database_is_found_and_letters_come_later),
    ON_SOME("pg", what_nobody_takes_is_deleted),
    ON_SOME("pg", letters_that_wait_are_seen_by_the_renewal),
    ON_SOME("pg", letters_for_nodes_that_are_gone_are_not_kept),
    ON_SOME("pg nats", hostile_rows_harm_nothing),
    ON_SOME("pg nats", a_parcel_that_is_put_twice_comes_once),
    ON_SOME("pg nats", a_bus_that_is_opened_again_is_heard),
    ON_SOME("pg nats", letters_stay_in_order_without_memory),
    ON_SOME("local", a_store_of_one_process_has_no_letters),
};
const struct suite_part store_way_part = {tests, sizeof tests / sizeof *tests};
