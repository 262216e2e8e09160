/* The stages of the server's life: only the edges of the diagram in life.h exist. */
#include "shard/life.h"
#include "unit/cron/zones.h"

static void only_the_edges_of_the_diagram_are_legal(void **state)
{
    (void)state;
    static const char edges[][2] = {
        {PL_LIFE_STARTING, PL_LIFE_SERVING}, {PL_LIFE_STARTING, PL_LIFE_STOPPED},
        {PL_LIFE_SERVING, PL_LIFE_LAME},     {PL_LIFE_SERVING, PL_LIFE_CLOSING},
        {PL_LIFE_LAME, PL_LIFE_CLOSING},     {PL_LIFE_CLOSING, PL_LIFE_DRAINING},
        {PL_LIFE_DRAINING, PL_LIFE_STOPPED},
    };
    for (int from = 0; from < PL_LIFE_COUNT; from++)
        for (int to = 0; to < PL_LIFE_COUNT; to++) {
            bool is_edge = false;
            for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
                is_edge = is_edge || (edges[i][0] == from && edges[i][1] == to);
            assert_true(pl_life_may((enum pl_life)from, (enum pl_life)to) == is_edge);
        }
}

static void a_life_goes_from_start_to_stop(void **state)
{
    (void)state;
    pl_life_atomic life = PL_LIFE_STARTING;
    assert_false(pl_life_is_ending(&life));
    pl_life_go(&life, PL_LIFE_SERVING);
    assert_false(pl_life_is_ending(&life));
    pl_life_go(&life, PL_LIFE_LAME);
    assert_true(pl_life_is_ending(&life));
    assert_false(pl_life_is_closing(&life));
    pl_life_go(&life, PL_LIFE_CLOSING);
    assert_true(pl_life_is_closing(&life));
    pl_life_go(&life, PL_LIFE_DRAINING);
    pl_life_go(&life, PL_LIFE_STOPPED);
    assert_string_equal(pl_life_name(life), "stopped");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_edges_of_the_diagram_are_legal),
        cmocka_unit_test(a_life_goes_from_start_to_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
