/* The identity and the state of a node. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/node.h"

static void ids_are_equal_byte_by_byte(void **state)
{
    (void)state;
    struct pl_node_id a = {{1, 2, 3}}, b = {{1, 2, 3}};
    assert_true(pl_node_id_eq(&a, &b));
    b.bytes[15] = 1;
    assert_false(pl_node_id_eq(&a, &b));
}

static void nobody_is_all_zeros(void **state)
{
    (void)state;
    struct pl_node_id id = {0};
    assert_true(pl_node_id_is_zero(&id));
    id.bytes[15] = 1;
    assert_false(pl_node_id_is_zero(&id));
}

static void a_state_has_a_name_and_is_found_by_it(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PL_NODE_STATE_COUNT; i++) {
        const char *text = pl_node_state_text((enum pl_node_state)i);
        assert_int_equal(pl_node_state_of(pl_str_of(text)), i);
    }
}

static void a_word_that_is_no_state_is_none(void **state)
{
    (void)state;
    static const char *const words[] = {"", "UP", "u", "upp", "drain", "gone "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_int_equal(pl_node_state_of(pl_str_of(words[i])), PL_NODE_STATE_COUNT);
}

static void a_node_only_ever_goes_towards_its_end(void **state)
{
    (void)state;
    for (unsigned from = 0; from <= PL_NODE_STATE_COUNT; from++)
        for (unsigned to = 0; to <= PL_NODE_STATE_COUNT; to++)
            assert_int_equal(pl_node_state_may((enum pl_node_state)from, (enum pl_node_state)to),
                             from < to && to < PL_NODE_STATE_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_equal_byte_by_byte),
        cmocka_unit_test(nobody_is_all_zeros),
        cmocka_unit_test(a_state_has_a_name_and_is_found_by_it),
        cmocka_unit_test(a_word_that_is_no_state_is_none),
        cmocka_unit_test(a_node_only_ever_goes_towards_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
