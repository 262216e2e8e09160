/* Letters from node to node, over any bus. */
#include "contract/bus/bus_parts.h"

#include <stdio.h>

enum { MANY = 20000 };

static struct pl_str number_letter(size_t n, char to[24])
{
    return (struct pl_str){to, (size_t)snprintf(to, 24, "%zu", n)};
}

static void a_letter_comes_as_it_was_sent(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    static const struct pl_str letters[] = {
        PL_STR("hello"), {NULL, 0}, PL_STR("\0\1\xff\r\n'; DROP TABLE letters; --")};
    for (size_t i = 0; i < 3; i++)
        node_send(a, b, letters[i]);
    node_await(b, 3);
    for (size_t i = 0; i < 3; i++)
        assert_came(b, i, letters[i], false);
    assert_int_equal(node_n_came(a), 0);
    until(pl_bus_waiting(a->bus, &b->id) == 0);
    node_leave(a);
    node_leave(b);
}

static void large_letters_come(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    char *bytes = malloc(PL_BUS_LETTER_MAX + 1);
    for (size_t i = 0; i <= PL_BUS_LETTER_MAX; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    for (size_t i = 0; i < 20; i++)
        node_send(a, b, (struct pl_str){bytes, PL_BUS_LETTER_MAX - i});
    assert_int_equal(
        pl_bus_send(a->bus, &b->id, (struct pl_str){bytes, PL_BUS_LETTER_MAX + 1}, false),
        PL_LIMIT);
    node_await(b, 20);
    for (size_t i = 0; i < 20; i++)
        assert_came(b, i, (struct pl_str){bytes, PL_BUS_LETTER_MAX - i}, false);
    free(bytes);
    node_leave(a);
    node_leave(b);
}

/* Letters to all keep their order among letters to one node. */
static void letters_come_in_the_order_sent(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state), *c = node_enter(*state);
    char text[24];
    for (size_t i = 0; i < MANY; i++) {
        if (i % 1000 == 500)
            node_send_all(a, number_letter(i, text));
        else
            node_send(a, b, number_letter(i, text));
        if (i % 100 == 0)
            node_send(a, c, number_letter(i, text));
    }
    node_await(b, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_came(b, i, number_letter(i, text), i % 1000 == 500);
    node_await(c, MANY / 100 + MANY / 1000);
    node_leave(a);
    node_leave(b);
    node_leave(c);
}

static void a_letter_to_all_comes_to_all_others(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state), *c = node_enter(*state);
    node_send_all(a, PL_STR("to all"));
    node_send_all(b, PL_STR("from b"));
    node_await(c, 2);
    node_await(b, 1);
    node_await(a, 1);
    assert_came(b, 0, PL_STR("to all"), true);
    assert_came(a, 0, PL_STR("from b"), true);
    node_send(b, a, PL_STR("and last"));
    node_await(a, 2);
    assert_came(a, 1, PL_STR("and last"), false);
    node_leave(a);
    node_leave(b);
    node_leave(c);
}

static void another_cluster_sees_nothing(void **state)
{
    struct fixture *elsewhere = fixture_create("postgres");
    struct node *a = node_enter(*state), *b = node_enter(*state), *x = node_enter(elsewhere),
                *y = node_enter(elsewhere);
    node_send_all(a, PL_STR("to all"));
    node_send(a, x, PL_STR("to somebody"));
    node_send(a, b, PL_STR("to one"));
    node_await(b, 2);
    node_send(y, x, PL_STR("among themselves"));
    node_await(x, 1);
    assert_came(x, 0, PL_STR("among themselves"), false);
    assert_int_equal(node_n_came(y), 0);
    node_leave(x);
    node_leave(y);
    node_leave(a);
    node_leave(b);
    fixture_destroy(elsewhere);
}

static void a_letter_to_oneself_comes(void **state)
{
    struct node *a = node_enter(*state);
    struct pl_node_id nobody = {0};
    node_send(a, a, PL_STR("to me"));
    node_send_all(a, PL_STR("to the others"));
    node_send(a, a, PL_STR("and again"));
    node_await(a, 2);
    assert_came(a, 0, PL_STR("to me"), false);
    assert_came(a, 1, PL_STR("and again"), false);
    assert_int_equal(pl_bus_send(a->bus, &nobody, PL_STR("x"), false), PL_INVALID);
    node_leave(a);
}

static void a_letter_to_nobody_is_lost_and_harms_nothing(void **state)
{
    struct node *a = node_enter(*state);
    struct pl_node_id nobody = {{9, 9, 9}};
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(pl_bus_send(a->bus, &nobody, PL_STR("x"), i % 2), PL_OK);
    until(pl_bus_waiting(a->bus, &nobody) == 0);
    node_send(a, a, PL_STR("to me"));
    node_await(a, 1);
    node_leave(a);
}

/* A sender inside its on_letter does not deadlock. */
static void answer(void *ctx, struct pl_str bytes, bool is_to_all)
{
    struct node *node = ctx;
    (void)is_to_all;
    struct pl_node_id to = {0};
    if (bytes.len == sizeof to.bytes) {
        memcpy(to.bytes, bytes.ptr, sizeof to.bytes);
        assert_int_equal(pl_bus_send(node->bus, &to, PL_STR("answer"), false), PL_OK);
    }
}

static void an_answer_can_be_sent_at_once(void **state)
{
    struct node *a = node_enter(*state), *b = node_make(*state);
    struct pl_bus_config config;
    node_configure(b, &config);
    config.on_letter = answer;
    config.on_state = NULL;
    assert_int_equal(node_open(b, &config, NULL), PL_OK);
    until(pl_bus_state(b->bus) == PL_BUS_UP);
    for (size_t i = 1; i <= 100; i++) {
        node_send(a, b, (struct pl_str){(const char *)a->id.bytes, sizeof a->id.bytes});
        node_await(a, i);
    }
    assert_came(a, 99, PL_STR("answer"), false);
    node_leave(a);
    node_leave(b);
}

static void closing_is_safe_while_letters_wait(void **state)
{
    struct node *a = node_enter(*state), *b = node_enter(*state);
    char *bytes = calloc(1, 4096);
    for (size_t i = 0; i < 2000; i++) {
        node_send(a, b, (struct pl_str){bytes, 4096});
        node_send(a, a, (struct pl_str){bytes, 10});
        node_send_all(b, (struct pl_str){bytes, 100});
    }
    free(bytes);
    node_leave(a);
    node_leave(b);
}

static void a_bus_says_what_it_is(void **state)
{
    struct node *a = node_enter(*state);
    assert_string_equal(pl_bus_kind_text(pl_bus_kind(a->bus)), bus_kind);
    assert_string_equal(pl_bus_state_text(pl_bus_state(a->bus)), "up");
    assert_string_equal(pl_bus_state_text(PL_BUS_DEGRADED), "degraded");
    assert_string_equal(pl_bus_state_text(PL_BUS_DOWN), "down");
    assert_false(pl_bus_is_unheard(a->bus, &a->id));
    pl_bus_look(a->bus);
    node_leave(a);
    pl_bus_close(NULL);
}

static void refuse(struct node *node, const struct pl_bus_config *config, enum pl_status expected,
                   const char *word)
{
    struct pl_error err = {0};
    assert_int_equal(node_open(node, config, &err), expected);
    if (!strstr(err.message, word))
        fail_msg("%s is not in: %s", word, err.message);
    assert_null(node->bus);
}

static void a_bus_of_one_process_has_no_address(void **state)
{
    struct node *a = node_make(*state);
    struct pl_bus_config config;
    node_configure(a, &config);
    config.url = "nats://127.0.0.1:4222";
    refuse(a, &config, PL_INVALID, "PostgreSQL");
    config.url = NULL;
    config.creds = "file";
    refuse(a, &config, PL_INVALID, "--bus");
    node_leave(a);
}

static const struct CMUnitTest tests[] = {
    ON_SOME("pg nats", a_letter_comes_as_it_was_sent),
    ON_SOME("pg nats", large_letters_come),
    ON_SOME("pg nats", letters_come_in_the_order_sent),
    ON_SOME("pg nats", a_letter_to_all_comes_to_all_others),
    ON_SOME("pg nats", another_cluster_sees_nothing),
    ON_STORE(a_letter_to_oneself_comes),
    ON_STORE(a_letter_to_nobody_is_lost_and_harms_nothing),
    ON_SOME("pg nats", an_answer_can_be_sent_at_once),
    ON_SOME("pg nats", closing_is_safe_while_letters_wait),
    ON_STORE(a_bus_says_what_it_is),
    ON_SOME("local", a_bus_of_one_process_has_no_address),
};
const struct suite_part letters_part = {tests, sizeof tests / sizeof *tests};
