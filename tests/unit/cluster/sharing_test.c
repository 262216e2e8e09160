/* Limits in grants, and which node is first with a schedule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/sharing.h"

#include <stdio.h>

/* --- grants ---------------------------------------------------------------------------------- */

static void a_grant_is_a_tenth_of_a_nodes_share(void **state)
{
    (void)state;
    assert_int_equal(pl_grant_size(600, 3), 20);
    assert_int_equal(pl_grant_size(600, 1), 60);
    assert_int_equal(pl_grant_size(619, 3), 20);
}

static void a_grant_of_a_small_limit_is_one(void **state)
{
    (void)state;
    assert_int_equal(pl_grant_size(5, 3), 1);
    assert_int_equal(pl_grant_size(1, 100), 1);
}

static void values_that_make_no_sense_grant_nothing_or_little(void **state)
{
    (void)state;
    assert_int_equal(pl_grant_size(0, 3), 0);
    assert_int_equal(pl_grant_size(-7, 3), 0);
    assert_int_equal(pl_grant_size(100, 0), 10);
    assert_int_equal(pl_grant_size(INT64_MAX, SIZE_MAX), 1);
    assert_true(pl_grant_size(INT64_MAX, 1) == INT64_MAX / 10);
}

static void the_last_grant_is_what_is_left(void **state)
{
    (void)state;
    assert_int_equal(pl_grant_take(600, 0, 3), 20);
    assert_int_equal(pl_grant_take(600, 590, 3), 10);
    assert_int_equal(pl_grant_take(600, 600, 3), 0);
    assert_int_equal(pl_grant_take(600, 900, 3), 0);
    assert_int_equal(pl_grant_take(600, -5, 3), 20);
    assert_int_equal(pl_grant_take(-600, INT64_MIN, 3), 0);
}

/* Every node takes one grant and uses one unit; the last node uses the rest. */
static void nine_tenths_are_usable_and_never_more_than_all(void **state)
{
    (void)state;
    for (int64_t limit = 1; limit < 3000; limit += 1 + limit / 7)
        for (size_t n_nodes = 1; n_nodes < 20; n_nodes++) {
            int64_t taken = 0, used = 0;
            for (size_t i = 1; i < n_nodes; i++) {
                int64_t grant = pl_grant_take(limit, taken, n_nodes);
                taken += grant;
                used += grant > 0; /* a grant is taken only if needed */
            }
            for (int64_t grant; (grant = pl_grant_take(limit, taken, n_nodes)); used += grant)
                taken += grant;
            assert_int_equal(taken, limit);
            assert_true(used <= limit && used * 10 >= limit * 9);
        }
}

/* --- schedules ------------------------------------------------------------------------------- */

enum { N_NODES = 5, N_TASKS = 2000 };

static struct pl_node_id node(unsigned char number)
{
    struct pl_node_id id = {{0}};
    for (size_t i = 0; i < sizeof id.bytes; i++)
        id.bytes[i] = (unsigned char)(number * 37 + i * number);
    return id;
}

/* The node that does not wait; fails unless there is exactly one. */
static size_t first_of(struct pl_str task, const struct pl_node_id *nodes, size_t n)
{
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        int64_t wait_ms = pl_node_order_wait_ms(task, &nodes[i], nodes, n);
        if (wait_ms) {
            assert_int_equal(wait_ms, PL_NODE_ORDER_LATER_MS);
            continue;
        }
        assert_int_equal(first, n);
        first = i;
    }
    assert_true(first < n);
    return first;
}

static void exactly_one_node_is_first_and_each_has_its_share(void **state)
{
    (void)state;
    struct pl_node_id nodes[N_NODES];
    size_t n_first[N_NODES] = {0};
    for (unsigned char i = 0; i < N_NODES; i++)
        nodes[i] = node((unsigned char)(i + 1));
    for (int i = 0; i < N_TASKS; i++) {
        char task[32];
        snprintf(task, sizeof task, "task_%08d", i);
        n_first[first_of(pl_str_of(task), nodes, N_NODES)]++;
    }
    for (size_t i = 0; i < N_NODES; i++)
        assert_in_range(n_first[i], N_TASKS / N_NODES / 2, N_TASKS / N_NODES * 2);
}

static void a_task_stays_with_its_node_when_another_goes(void **state)
{
    (void)state;
    struct pl_node_id nodes[N_NODES];
    for (unsigned char i = 0; i < N_NODES; i++)
        nodes[i] = node((unsigned char)(i + 1));
    for (int i = 0; i < N_TASKS; i++) {
        char task[32];
        snprintf(task, sizeof task, "task_%08d", i);
        size_t before = first_of(pl_str_of(task), nodes, N_NODES);
        size_t now = first_of(pl_str_of(task), nodes, N_NODES - 1);
        if (before < N_NODES - 1)
            assert_int_equal(now, before);
    }
}

static void the_order_of_the_list_does_not_matter(void **state)
{
    (void)state;
    struct pl_node_id nodes[] = {node(1), node(2), node(3)},
                      turned[] = {nodes[2], nodes[0], nodes[1]};
    for (int i = 0; i < 50; i++) {
        char task[32];
        snprintf(task, sizeof task, "task_%08d", i);
        struct pl_node_id a = nodes[first_of(pl_str_of(task), nodes, 3)];
        struct pl_node_id b = turned[first_of(pl_str_of(task), turned, 3)];
        assert_true(pl_node_id_eq(&a, &b));
    }
}

static void a_node_alone_never_waits(void **state)
{
    (void)state;
    struct pl_node_id me = node(1);
    assert_int_equal(pl_node_order_wait_ms(PL_STR("task_1"), &me, &me, 1), 0);
    assert_int_equal(pl_node_order_wait_ms(PL_STR(""), &me, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_is_a_tenth_of_a_nodes_share),
        cmocka_unit_test(a_grant_of_a_small_limit_is_one),
        cmocka_unit_test(values_that_make_no_sense_grant_nothing_or_little),
        cmocka_unit_test(the_last_grant_is_what_is_left),
        cmocka_unit_test(nine_tenths_are_usable_and_never_more_than_all),
        cmocka_unit_test(exactly_one_node_is_first_and_each_has_its_share),
        cmocka_unit_test(a_task_stays_with_its_node_when_another_goes),
        cmocka_unit_test(the_order_of_the_list_does_not_matter),
        cmocka_unit_test(a_node_alone_never_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
