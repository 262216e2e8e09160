/* Tests the helper itself: a scenario that handles memory badly must not pass. Each bad scenario is
 * a test program of its own, in a child whose exit code is the number of failed tests. */
#include "base/mem.h"
#include "fault/fault.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static pl_fault_fn *scenario;

static void run_scenario(void **state)
{
    (void)state;
    pl_fault_each(scenario, NULL);
}

static bool passes(pl_fault_fn *fn)
{
    scenario = fn;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        const struct CMUnitTest tests[] = {cmocka_unit_test(run_scenario)};
        _exit(cmocka_run_group_tests(tests, NULL, NULL));
    }
    int result = -1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result) == 0;
}

static enum pl_status well_behaved(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_FREE char *a = pl_mem_alloc(1, 8);
    PL_CLEANUP_FREE char *b = a ? pl_mem_alloc(1, 8) : NULL;
    return b ? PL_OK : PL_NOMEM;
}

static enum pl_status leaks_when_the_second_fails(void *ctx)
{
    (void)ctx;
    char *a = pl_mem_alloc(1, 8);
    char *b = a ? pl_mem_alloc(1, 8) : NULL;
    if (!b)
        return PL_NOMEM;
    pl_mem_free(a);
    pl_mem_free(b);
    return PL_OK;
}

static enum pl_status hides_the_failure(void *ctx)
{
    (void)ctx;
    pl_mem_free(pl_mem_alloc(1, 8));
    return PL_OK;
}

static enum pl_status reports_the_wrong_failure(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_FREE char *a = pl_mem_alloc(1, 8);
    return a ? PL_OK : PL_INTERNAL;
}

/* Survives one failure by trying again, but not a permanent lack of memory. */
static enum pl_status needs_memory_to_report(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_FREE char *a = pl_mem_alloc(1, 8);
    if (a)
        return PL_OK;
    PL_CLEANUP_FREE char *message = pl_mem_alloc(1, 8);
    return message ? PL_NOMEM : PL_INTERNAL;
}

static enum pl_status never_succeeds(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_FREE char *a = pl_mem_alloc(1, 8);
    return a ? PL_SYNTAX : PL_NOMEM;
}

static void a_scenario_that_behaves_passes(void **state)
{
    (void)state;
    assert_true(passes(well_behaved));
    assert_int_equal(pl_fault_each(well_behaved, NULL), 2);
}

static void a_leak_on_the_way_out_is_found(void **state)
{
    (void)state;
    assert_false(passes(leaks_when_the_second_fails));
}

static void a_failure_that_is_not_reported_is_found(void **state)
{
    (void)state;
    assert_false(passes(hides_the_failure));
    assert_false(passes(reports_the_wrong_failure));
}

static void a_report_that_needs_memory_is_found(void **state)
{
    (void)state;
    assert_false(passes(needs_memory_to_report));
}

static void an_untouched_run_that_fails_is_found(void **state)
{
    (void)state;
    assert_false(passes(never_succeeds));
    assert_int_equal(pl_fault_each_expecting(never_succeeds, NULL, PL_SYNTAX), 1);
}

static void a_tolerant_run_may_do_without_its_memory(void **state)
{
    (void)state;
    assert_int_equal(pl_fault_each_tolerant(hides_the_failure, NULL, PL_OK), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scenario_that_behaves_passes),
        cmocka_unit_test(a_leak_on_the_way_out_is_found),
        cmocka_unit_test(a_failure_that_is_not_reported_is_found),
        cmocka_unit_test(a_report_that_needs_memory_is_found),
        cmocka_unit_test(an_untouched_run_that_fails_is_found),
        cmocka_unit_test(a_tolerant_run_may_do_without_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
