#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/reply/problem.h"

#include <string.h>

static void what_may_be_tried_again_later_says_when(void **state)
{
    (void)state;
    size_t n_later = 0;
    for (int i = 0; i < PL_PROBLEM_COUNT; i++) {
        const struct pl_problem_info *info = pl_problem_info((enum pl_problem)i);
        bool is_later =
            info->http_status == 429 || info->http_status == 503 || info->http_status == 507;
        int wait_s = pl_problem_retry_after_s(info->http_status);
        assert_int_equal(wait_s > 0, is_later);
        n_later += is_later;
    }
    assert_true(n_later >= 3);
}

static void codes_are_told_apart(void **state)
{
    (void)state;
    for (int i = 0; i < PL_PROBLEM_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(pl_problem_info((enum pl_problem)i)->code,
                                    pl_problem_info((enum pl_problem)j)->code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_be_tried_again_later_says_when),
        cmocka_unit_test(codes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
