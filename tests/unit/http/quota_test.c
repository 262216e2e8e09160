#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/limits/quota.h"

static const struct pl_quota_limits limits = {.own = 10, .all = 25};

static void an_owner_has_its_share_and_not_one_more(void **state)
{
    (void)state;
    struct pl_quota *quota = pl_quota_create();
    struct pl_hold first = {0}, second = {0};
    struct pl_str ann = PL_STR("ann");
    assert_int_equal(pl_quota_take(quota, &first, ann, 6, limits), PL_TAKING_DONE);
    assert_int_equal(pl_quota_take(quota, &second, ann, 4, limits), PL_TAKING_DONE);
    assert_int_equal(pl_quota_take(quota, &second, ann, 1, limits), PL_TAKING_OVER_OWN);
    assert_int_equal(second.n, 4);
    pl_quota_give(quota, &first, 6);
    assert_null(first.share);
    assert_int_equal(pl_quota_ask(quota, ann, 6, limits), PL_TAKING_DONE);
    assert_int_equal(pl_quota_ask(quota, ann, 7, limits), PL_TAKING_OVER_OWN);
    pl_quota_give(quota, &second, 4);
    pl_quota_destroy(quota);
}

static void all_owners_have_the_whole_and_not_one_more(void **state)
{
    (void)state;
    struct pl_quota *quota = pl_quota_create();
    struct pl_hold holds[3] = {0};
    struct pl_str owners[3] = {PL_STR("a"), PL_STR("b"), PL_STR("c")};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pl_quota_take(quota, &holds[i], owners[i], 10, limits), PL_TAKING_DONE);
    assert_int_equal(pl_quota_take(quota, &holds[2], owners[2], 6, limits), PL_TAKING_OVER_ALL);
    assert_null(holds[2].share);
    assert_int_equal(pl_quota_take(quota, &holds[2], owners[2], 5, limits), PL_TAKING_DONE);
    for (size_t i = 0; i < 3; i++)
        pl_quota_give(quota, &holds[i], holds[i].n);
    assert_int_equal(pl_quota_take(quota, &holds[2], owners[2], 10, limits), PL_TAKING_DONE);
    /* Units that were not given back are freed, too. */
    pl_quota_destroy(quota);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_owner_has_its_share_and_not_one_more),
        cmocka_unit_test(all_owners_have_the_whole_and_not_one_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
