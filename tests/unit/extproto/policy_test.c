/* Profiles and reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "extproto/policy.h"

static void every_profile_has_a_policy_and_the_first_one_asks(void **state)
{
    struct pl_ext_policy policy;
    (void)state;
    for (size_t i = 0; pl_ext_profile_names[i]; i++)
        assert_true(pl_ext_policy_of_profile(pl_str_of(pl_ext_profile_names[i]), &policy));
    assert_true(pl_ext_policy_of_profile(pl_str_of(pl_ext_profile_names[0]), &policy));
    assert_int_equal(pl_ext_policy_judge(&policy, PL_STR("write")), PL_EXT_REASON_PROMPT_REQUIRED);
    assert_false(pl_ext_policy_of_profile(PL_STR("Safe"), &policy));
    assert_false(pl_ext_policy_of_profile(PL_STR(""), &policy));
}

static void an_unknown_capability_is_denied_even_where_everything_is_allowed(void **state)
{
    struct pl_ext_policy policy;
    (void)state;
    assert_true(pl_ext_policy_of_profile(PL_STR("permissive"), &policy));
    assert_int_equal(pl_ext_policy_judge(&policy, PL_STR("teleport")), PL_EXT_REASON_NOT_DECLARED);
    assert_int_equal(pl_ext_policy_judge(&policy, PL_STR(" \t")), PL_EXT_REASON_EMPTY_CAPABILITY);
    assert_int_equal(pl_ext_policy_judge(&policy, PL_STR("tool")), PL_EXT_REASON_PERMISSIVE);
}

static void reasons_have_distinct_names(void **state)
{
    (void)state;
    for (unsigned a = 0; a < PL_EXT_REASON_COUNT; a++)
        for (unsigned b = a + 1; b < PL_EXT_REASON_COUNT; b++)
            assert_string_not_equal(pl_ext_reason_text((enum pl_ext_reason)a),
                                    pl_ext_reason_text((enum pl_ext_reason)b));
    assert_int_equal(pl_ext_reason_decision(PL_EXT_REASON_SHUTDOWN), PL_EXT_DENY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_profile_has_a_policy_and_the_first_one_asks),
        cmocka_unit_test(an_unknown_capability_is_denied_even_where_everything_is_allowed),
        cmocka_unit_test(reasons_have_distinct_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
