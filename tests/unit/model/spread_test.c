/* Which target of an alias comes first: counted over many calls, by the pure decision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/balance/gate.h"
#include "model/balance/spread.h"

enum { MAX = PL_VENDOR_MAX_CHAIN };
static const uint32_t ones[MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
static const int64_t idle[MAX];

/* Checks that an order has each target once. */
static void check_whole(const uint8_t *order, size_t n)
{
    unsigned seen = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(order[i] < n);
        seen |= 1u << order[i];
    }
    assert_int_equal(seen, (1u << n) - 1);
}

static void the_order_of_the_configuration_stays(void **state)
{
    uint8_t order[MAX];
    (void)state;
    for (uint64_t call = 0; call < 20; call++) {
        pl_spread_decide(PL_SPREAD_ORDER, 3, ones, idle, call, order);
        assert_memory_equal(order, ((uint8_t[]){0, 1, 2}), 3);
    }
}

static void each_has_its_turn(void **state)
{
    uint8_t order[MAX];
    (void)state;
    for (size_t n = 1; n <= MAX; n++)
        for (uint64_t call = 0; call < 40; call++) {
            pl_spread_decide(PL_SPREAD_ROUND_ROBIN, n, ones, idle, call, order);
            check_whole(order, n);
            assert_int_equal(order[0], call % n);
        }
}

/* In every window of as many calls as the sum of the weights, each target has its weight. */
static void weights_are_kept_in_every_window(void **state)
{
    static const struct {
        size_t n;
        uint32_t weights[MAX];
    } cases[] = {
        {1, {7}},       {2, {1, 1}},    {2, {3, 1}},           {2, {1, 1000}},
        {3, {5, 1, 1}}, {3, {2, 3, 5}}, {4, {10, 20, 30, 40}}, {8, {1, 2, 3, 4, 5, 6, 7, 8}},
    };
    uint8_t order[MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t sum = 0;
        for (size_t k = 0; k < cases[i].n; k++)
            sum += cases[i].weights[k];
        for (uint64_t start = 0; start < 3 * sum && start < 2000; start += 1 + sum / 7) {
            uint32_t counts[MAX] = {0};
            for (uint64_t call = start; call < start + sum; call++) {
                pl_spread_decide(PL_SPREAD_WEIGHTED, cases[i].n, cases[i].weights, idle, call,
                                 order);
                check_whole(order, cases[i].n);
                counts[order[0]]++;
            }
            assert_memory_equal(counts, cases[i].weights, cases[i].n * sizeof *counts);
        }
    }
}

/* Not all calls of one target and then all of the other. */
static void weights_are_mixed(void **state)
{
    static const uint32_t weights[] = {50, 50};
    uint8_t order[MAX];
    size_t longest = 0, run = 0;
    uint8_t last = MAX;
    (void)state;
    for (uint64_t call = 0; call < 100; call++) {
        pl_spread_decide(PL_SPREAD_WEIGHTED, 2, weights, idle, call, order);
        run = order[0] == last ? run + 1 : 1;
        last = order[0];
        longest = run > longest ? run : longest;
    }
    assert_true(longest <= 3);
}

static void the_least_busy_is_first_and_equals_take_turns(void **state)
{
    static const int64_t busy[] = {4, 1, 9, 1};
    uint32_t counts[MAX] = {0};
    uint8_t order[MAX];
    (void)state;
    for (uint64_t call = 0; call < 40; call++) {
        pl_spread_decide(PL_SPREAD_LEAST_BUSY, 4, ones, busy, call, order);
        check_whole(order, 4);
        counts[order[0]]++;
        assert_true(order[2] == 0 && order[3] == 2);
    }
    assert_true(!counts[0] && !counts[2] && counts[1] >= 10 && counts[3] >= 10);
    for (uint64_t call = 0; call < 8; call++) {
        pl_spread_decide(PL_SPREAD_LEAST_BUSY, 4, ones, idle, call, order);
        assert_int_equal(order[0], call % 4);
    }
}

/* A simulation: long calls keep others away from their target. */
static void slow_targets_get_less(void **state)
{
    static const int64_t takes[] = {10, 1, 1};
    int64_t busy[3] = {0}, until[3][64] = {{0}};
    uint32_t counts[3] = {0};
    uint8_t order[MAX];
    (void)state;
    for (int64_t now = 0; now < 300; now++) {
        for (size_t i = 0; i < 3; i++)
            for (size_t k = 0; k < 64; k++)
                if (until[i][k] == now && until[i][k]) {
                    until[i][k] = 0;
                    busy[i]--;
                }
        pl_spread_decide(PL_SPREAD_LEAST_BUSY, 3, ones, busy, (uint64_t)now, order);
        size_t first = order[0], place = 0;
        while (until[first][place])
            place++;
        until[first][place] = now + takes[first];
        busy[first]++;
        counts[first]++;
    }
    assert_true(counts[0] * 3 < counts[1] && counts[0] * 3 < counts[2]);
}

static void a_gate_decides_by_its_numbers(void **state)
{
    const struct pl_gate_limits limits = {.max = 2, .max_waiting = 1, .wait_ms = 1};
    const struct pl_gate_limits none = {.max = 1};
    (void)state;
    assert_int_equal(pl_gate_decide(&limits, 0, 0), PL_GATE_IN);
    assert_int_equal(pl_gate_decide(&limits, 1, 0), PL_GATE_IN);
    assert_int_equal(pl_gate_decide(&limits, 2, 0), PL_GATE_WAITS);
    assert_int_equal(pl_gate_decide(&limits, 2, 1), PL_GATE_FULL);
    assert_int_equal(pl_gate_decide(&limits, 1, 1), PL_GATE_FULL); /* no overtaking */
    assert_int_equal(pl_gate_decide(&none, 1, 0), PL_GATE_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_the_configuration_stays),
        cmocka_unit_test(each_has_its_turn),
        cmocka_unit_test(weights_are_kept_in_every_window),
        cmocka_unit_test(weights_are_mixed),
        cmocka_unit_test(the_least_busy_is_first_and_equals_take_turns),
        cmocka_unit_test(slow_targets_get_less),
        cmocka_unit_test(a_gate_decides_by_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
