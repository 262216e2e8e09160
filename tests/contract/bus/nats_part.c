/* Letters over NATS: a server that stops, freezes or refuses, and nodes that are not on it. */
#include "contract/bus/bus_parts.h"

#include <nats/nats.h>
#include <stdio.h>

static void await_up(struct node *node)
{
    until(pl_bus_state(node->bus) == PL_BUS_UP);
}

static void await_degraded(struct node *node)
{
    until(pl_bus_state(node->bus) == PL_BUS_DEGRADED);
    until(node_n_told(node, PL_BUS_DEGRADED) > 0);
}

static struct node *enter_at(struct fixture *f, const char *url, const char *ca)
{
    struct node *node = node_make(f);
    struct pl_bus_config config;
    struct pl_error err = {0};
    node_configure(node, &config);
    config.url = url;
    config.ca = ca;
    if (node_open(node, &config, &err) != PL_OK)
        fail_msg("%s", err.message);
    return node;
}

/* Rows that were written and deleted since then. */
static int64_t n_rows(struct fixture *f)
{
    return number_beside(
        f, "SELECT COALESCE(max(last_value), 0) FROM letters_key_seq WHERE is_called");
}

static void letters_go_by_nats_and_not_by_rows(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_enter(f), *b = node_enter(f);
    node_send(a, b, PL_STR("to one"));
    node_send_all(a, PL_STR("to all"));
    node_await(b, 2);
    assert_int_equal(n_rows(f), 0);
    assert_int_equal(pl_bus_send(a->bus, &b->id, PL_STR("by the store"), true), PL_OK);
    node_await(b, 3);
    assert_int_equal(n_rows(f), 1);
    assert_came(b, 2, PL_STR("by the store"), false);
    node_leave(a);
    node_leave(b);
}

static void a_server_that_was_killed_is_told_and_letters_go_by_the_store(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_enter(f), *b = node_enter(f);
    control_nats("--kill");
    await_degraded(a);
    await_degraded(b);
    node_send(a, b, PL_STR("while it is away"));
    node_send_all(b, PL_STR("to all"));
    node_await(b, 1);
    node_await(a, 1);
    assert_true(n_rows(f) >= 2);
    control_nats("--start");
    await_up(a);
    await_up(b);
    until(node_n_told(a, PL_BUS_UP) >= 1);
    int64_t before = n_rows(f);
    node_send(a, b, PL_STR("and again"));
    node_send(b, a, PL_STR("and again"));
    node_await(a, 2);
    node_await(b, 2);
    assert_int_equal(n_rows(f), before);
    node_leave(a);
    node_leave(b);
}

/* The server is up but silent: only the pings detect that. */
static void a_server_that_is_frozen_is_found(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    control_nats("--pause");
    await_degraded(a);
    await_degraded(b);
    size_t n = node_n_came(b);
    node_send(a, b, PL_STR("while it is frozen"));
    until(node_n_came(b) == n + 1);
    assert_came(b, n, PL_STR("while it is frozen"), false);
    control_nats("--resume");
    await_up(a);
    await_up(b);
    node_send(a, b, PL_STR("and again"));
    until(node_n_came(b) >= n + 2);
    node_leave(a);
    node_leave(b);
}

/* More than the socket holds waits for a frozen server: sending does not block, and closing ends.
 * */
static void a_frozen_server_does_not_stop_a_sender(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    char *bytes = calloc(1, PL_BUS_LETTER_MAX);
    control_nats("--pause");
    for (size_t i = 0; i < 60; i++)
        node_send(a, b, (struct pl_str){bytes, PL_BUS_LETTER_MAX});
    await_degraded(a);
    node_send(a, b, PL_STR("last"));
    until(node_n_came(b) > 0 && node_came(b, node_n_came(b) - 1).len == 4);
    node_leave(a);
    control_nats("--resume");
    free(bytes);
    node_leave(b);
}

static void a_bus_begins_without_its_server(void **state)
{
    struct fixture *f = *state;
    control_nats("--kill");
    struct node *a = enter_at(f, getenv("PARLEY_TEST_NATS"), NULL),
                *b = enter_at(f, getenv("PARLEY_TEST_NATS"), NULL);
    assert_int_equal(pl_bus_state(a->bus), PL_BUS_DEGRADED);
    node_send(a, b, PL_STR("without"));
    node_await(b, 1);
    control_nats("--start");
    await_up(a);
    await_up(b);
    assert_int_equal(node_n_told(a, PL_BUS_UP), 1);
    node_leave(a);
    node_leave(b);
}

static void one_of_several_servers_is_enough(void **state)
{
    struct fixture *f = *state;
    char urls[300];
    snprintf(urls, sizeof urls, "nats://127.0.0.1:1,%s,nats://localhost:2",
             getenv("PARLEY_TEST_NATS"));
    struct node *a = enter_at(f, urls, NULL), *b = enter_at(f, urls, NULL);
    await_up(a);
    await_up(b);
    node_send(a, b, PL_STR("letter"));
    node_await(b, 1);
    node_leave(a);
    node_leave(b);
}

/* If both are down, letters wait for the first that returns. */
static void with_both_away_letters_wait(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_enter(f), *b = node_enter(f);
    control_nats("--kill");
    control_postgres("--stop");
    until(node_n_told(a, PL_BUS_DOWN) && node_n_told(b, PL_BUS_DOWN));
    node_send(a, b, PL_STR("waits"));
    control_postgres("--start");
    node_await(b, 1);
    until(pl_bus_state(a->bus) == PL_BUS_DEGRADED);
    control_nats("--start");
    await_up(a);
    await_up(b);
    node_leave(a);
    node_leave(b);
}

static void the_database_may_restart_while_nats_is_up(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    control_postgres("--stop");
    node_send(a, b, PL_STR("without a database"));
    node_await(b, 1);
    assert_int_equal(pl_bus_state(a->bus), PL_BUS_UP);
    assert_int_equal(pl_bus_send(a->bus, &b->id, PL_STR("by the store"), true), PL_OK);
    control_postgres("--start");
    node_await(b, 2);
    assert_int_equal(node_n_told(a, PL_BUS_DOWN), 0);
    node_leave(a);
    node_leave(b);
}

/* --- nodes that are not on NATS -------------------------------------------------------------- */

static void a_node_that_does_not_listen_is_unheard_until_it_speaks(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_enter(f), *b = enter_at(f, "nats://127.0.0.1:1", NULL);
    assert_false(pl_bus_is_unheard(a->bus, &b->id));
    node_send(a, b, PL_STR("lost"));
    until(pl_bus_is_unheard(a->bus, &b->id));
    /* From now on its letters go through the store, also those to all. */
    node_send(a, b, PL_STR("to one"));
    node_send_all(a, PL_STR("to all"));
    node_await(b, 2);
    assert_came(b, 0, PL_STR("to one"), false);
    assert_came(b, 1, PL_STR("to all"), true);
    node_send(b, a, PL_STR("I live"));
    node_await(a, 1);
    assert_false(pl_bus_is_unheard(a->bus, &b->id));
    /* The node is up, and still not on NATS. */
    node_send(a, b, PL_STR("again"));
    node_await(b, 3);
    node_leave(a);
    node_leave(b);
}

static void a_node_that_comes_to_nats_gets_its_letters_there(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_enter(f), *b = node_make(f);
    assert_int_equal(pl_bus_send(a->bus, &b->id, PL_STR("early"), false), PL_OK);
    until(pl_bus_is_unheard(a->bus, &b->id));
    struct pl_bus_config config;
    node_configure(b, &config);
    assert_int_equal(node_open(b, &config, NULL), PL_OK);
    await_up(b);
    node_send_all(b, PL_STR("here I am"));
    node_await(a, 1);
    assert_false(pl_bus_is_unheard(a->bus, &b->id));
    int64_t before = n_rows(f);
    node_send(a, b, PL_STR("by NATS"));
    node_await(b, 1);
    assert_int_equal(n_rows(f), before);
    node_leave(a);
    node_leave(b);
}

/* --- refusals -------------------------------------------------------------------------------- */

static void refuse(struct node *node, const struct pl_bus_config *config, enum pl_status expected,
                   const char *word)
{
    struct pl_error err = {0};
    assert_int_equal(node_open(node, config, &err), expected);
    if (!strstr(err.message, word) || strstr(err.message, "geheim"))
        fail_msg("%s is not in, or a password is: %s", word, err.message);
    assert_null(node->bus);
}

static void what_is_wrong_is_refused_at_once(void **state)
{
    struct node *a = node_make(*state);
    struct pl_bus_config config, right;
    node_configure(a, &right);
    static const char *const urls[] = {"",
                                       "nats:",
                                       "http://x:1",
                                       "nats://",
                                       "nats://a:b",
                                       "nats://a:0",
                                       "nats://a:70000",
                                       "nats://a:1,",
                                       "nats://a b",
                                       "nats://u:geheim@",
                                       "nats://a:1/path"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        config = right;
        config.url = urls[i];
        refuse(a, &config, PL_INVALID, "nats://HOST:PORT");
    }
    config = right;
    config.url = "nats://a:1,tls://b:2";
    refuse(a, &config, PL_INVALID, "one of them");
    static const char *const clusters[] = {"", "a.b", "a*", "a b", ">"};
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        config = right;
        config.cluster = pl_str_of(clusters[i]);
        refuse(a, &config, PL_INVALID, "name of a cluster");
    }
    config = right;
    config.cert = getenv("PARLEY_TEST_NATS_CA");
    refuse(a, &config, PL_INVALID, "--bus-key");
    config = right;
    config.creds = "/nonexistent/creds";
    refuse(a, &config, PL_IO, "/nonexistent/creds");
    config = right;
    config.ca = "/proc/self/status";
    refuse(a, &config, PL_INVALID, "files of the bus");
    node_leave(a);
}

static void tls_and_a_password_let_in(void **state)
{
    struct fixture *f = *state;
    char url[300];
    snprintf(url, sizeof url, "tls://parley:secret@%s", getenv("PARLEY_TEST_NATS_TLS"));
    struct node *a = enter_at(f, url, getenv("PARLEY_TEST_NATS_CA")),
                *b = enter_at(f, url, getenv("PARLEY_TEST_NATS_CA"));
    await_up(a);
    await_up(b);
    node_send(a, b, PL_STR("sealed"));
    node_await(b, 1);
    assert_int_equal(n_rows(f), 0);
    node_leave(a);
    node_leave(b);
}

static void keep_why(void *ctx, enum pl_bus_state state, const char *why)
{
    (void)state;
    (void)why;
    ++*(_Atomic(int) *)ctx;
}

static void keep_nothing(void *ctx, struct pl_str bytes, bool is_to_all)
{
    (void)ctx;
    (void)bytes;
    (void)is_to_all;
}

/* It keeps trying and never connects: with a wrong password, with a certificate of an unknown
 * authority, with one for another host, or without TLS. */
static void nobody_gets_in_who_should_not(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_make(f), *b = node_enter(f);
    const char *place = getenv("PARLEY_TEST_NATS_TLS"), *ca = getenv("PARLEY_TEST_NATS_CA");
    char wrong[4][300];
    snprintf(wrong[0], sizeof wrong[0], "tls://parley:geheim@%s", place);
    snprintf(wrong[1], sizeof wrong[1], "tls://parley:secret@%s", place);
    snprintf(wrong[2], sizeof wrong[2], "tls://parley:secret@127.0.0.1%s", strchr(place, ':'));
    snprintf(wrong[3], sizeof wrong[3], "tls://%s", place);
    for (size_t i = 0; i < 4; i++) {
        _Atomic(int) n_told = 0;
        struct pl_bus_config config;
        node_configure(a, &config);
        config.url = wrong[i];
        config.ca = i == 1 ? NULL : ca;
        config.on_letter = keep_nothing;
        config.on_state = keep_why;
        config.ctx = (void *)&n_told;
        assert_int_equal(node_open(a, &config, NULL), PL_OK);
        /* Meanwhile letters go through the store, again and again. */
        for (size_t k = 0; k < 50; k++) {
            size_t n = node_n_came(b);
            node_send(a, b, PL_STR("x"));
            node_await(b, n + 1);
            usleep(10000);
        }
        assert_int_equal(pl_bus_state(a->bus), PL_BUS_DEGRADED);
        assert_int_equal(n_told, 0);
        pl_bus_close(a->bus);
        a->bus = NULL;
    }
    node_leave(a);
    node_leave(b);
}

/* --- hostile --------------------------------------------------------------------------------- */

static void hex(const struct node *node, char to[40])
{
    for (size_t i = 0; i < PL_NODE_ID_BYTES; i++)
        snprintf(to + 2 * i, 3, "%02x", node->id.bytes[i]);
}

/* Anyone with write access to the subject can write any bytes: they are passed on unchanged. */
static void hostile_bytes_are_handed_up(void **state)
{
    struct fixture *f = *state;
    struct node *a = node_enter(f), *b = node_enter(f);
    natsConnection *conn = NULL;
    char subject[200], name[40], *many = calloc(1, 900 << 10);
    assert_int_equal(natsConnection_ConnectTo(&conn, getenv("PARLEY_TEST_NATS")), NATS_OK);
    hex(a, name);
    snprintf(subject, sizeof subject, "parley.%s.n.%s", f->path, name);
    static const char *const replies[] = {"x", "parley.x.r.1.2", "_INBOX.a.b", "parley", "a.b.c.d"};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(natsConnection_PublishRequest(conn, subject, replies[i], "\0\xff", 2),
                         NATS_OK);
    assert_int_equal(natsConnection_Publish(conn, subject, NULL, 0), NATS_OK);
    assert_int_equal(natsConnection_Publish(conn, subject, many, 900 << 10), NATS_OK);
    snprintf(subject, sizeof subject, "parley.%s.all", f->path);
    assert_int_equal(natsConnection_Publish(conn, subject, many, 10), NATS_OK);
    /* In the name of an unknown node, and of an existing one. */
    snprintf(subject, sizeof subject, "parley.%s.r.%s.zz", f->path, name);
    assert_int_equal(natsConnection_Publish(conn, subject, many, 10), NATS_OK);
    assert_int_equal(natsConnection_Flush(conn), NATS_OK);
    node_await(a, 8);
    assert_came(a, 4, (struct pl_str){"\0\xff", 2}, false);
    assert_came(a, 5, (struct pl_str){NULL, 0}, false);
    assert_int_equal(node_came(a, 6).len, 900 << 10);
    assert_came(a, 7, (struct pl_str){many, 10}, true);
    node_send(b, a, PL_STR("after them"));
    node_await(a, 9);
    natsConnection_Destroy(conn);
    free(many);
    node_leave(a);
    node_leave(b);
}

static const struct CMUnitTest tests[] = {
    ON_SOME("nats", letters_go_by_nats_and_not_by_rows),
    ON_SOME("nats", a_server_that_was_killed_is_told_and_letters_go_by_the_store),
    ON_SOME("nats", a_server_that_is_frozen_is_found),
    ON_SOME("nats", a_frozen_server_does_not_stop_a_sender),
    ON_SOME("nats", a_bus_begins_without_its_server),
    ON_SOME("nats", one_of_several_servers_is_enough),
    ON_SOME("nats", with_both_away_letters_wait),
    ON_SOME("nats", the_database_may_restart_while_nats_is_up),
    ON_SOME("nats", a_node_that_does_not_listen_is_unheard_until_it_speaks),
    ON_SOME("nats", a_node_that_comes_to_nats_gets_its_letters_there),
    ON_SOME("nats", what_is_wrong_is_refused_at_once),
    ON_SOME("nats", tls_and_a_password_let_in),
    ON_SOME("nats", nobody_gets_in_who_should_not),
    ON_SOME("nats", hostile_bytes_are_handed_up),
};
const struct suite_part nats_part = {tests, sizeof tests / sizeof *tests};
