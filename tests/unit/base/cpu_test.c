#include "base/cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void the_scalar_twin_runs_everywhere(void **state)
{
    (void)state;
    assert_true(pl_cpu_has(PL_CPU_SCALAR));
    assert_false(pl_cpu_has(PL_CPU_COUNT));
}

static void the_best_one_is_there_and_none_better_is(void **state)
{
    (void)state;
    enum pl_cpu best = pl_cpu_best();
    assert_true(pl_cpu_has(best));
    for (int cpu = (int)best + 1; cpu < PL_CPU_COUNT; cpu++)
        assert_false(pl_cpu_has((enum pl_cpu)cpu));
}

static void each_one_has_a_name_of_its_own(void **state)
{
    (void)state;
    assert_string_equal(pl_cpu_name(PL_CPU_SCALAR), "scalar");
    assert_string_equal(pl_cpu_name(PL_CPU_AVX2), "avx2");
    assert_string_equal(pl_cpu_name(PL_CPU_AVX512), "avx512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scalar_twin_runs_everywhere),
        cmocka_unit_test(the_best_one_is_there_and_none_better_is),
        cmocka_unit_test(each_one_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
