/* UUIDs of version 7, and ids made from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text/uuid.h"

/* The example of RFC 9562, appendix A.6. */
static void the_published_example_is_written(void **state)
{
    (void)state;
    char text[PL_UUID_SIZE + 1] = {0};
    uint64_t random[2] = {0xCC3, 0x18C4DC0C0C07398F};
    pl_uuid7_write(text, 0x017F22E279B0, random);
    assert_string_equal(text, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    assert_true(pl_uuid_is(pl_str_of(text)));
}

static void randomness_does_not_reach_version_variant_or_time(void **state)
{
    (void)state;
    char text[PL_UUID_SIZE + 1] = {0};
    uint64_t ones[2] = {UINT64_MAX, UINT64_MAX}, zeros[2] = {0, 0};
    pl_uuid7_write(text, 1, ones);
    assert_string_equal(text, "00000000-0001-7fff-bfff-ffffffffffff");
    pl_uuid7_write(text, -5, zeros);
    assert_string_equal(text, "00000000-0000-7000-8000-000000000000");
}

static void only_uuids_are_uuids(void **state)
{
    (void)state;
    assert_true(pl_uuid_is(PL_STR("F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6")));
    assert_false(pl_uuid_is(PL_STR("")));
    assert_false(pl_uuid_is(PL_STR("f81d4fae-7dec-11d0-a765-00a0c91e6bf")));
    assert_false(pl_uuid_is(PL_STR("f81d4fae-7dec-11d0-a765-00a0c91e6bf67")));
    assert_false(pl_uuid_is(PL_STR("f81d4faeX7dec-11d0-a765-00a0c91e6bf6")));
    assert_false(pl_uuid_is(PL_STR("g81d4fae-7dec-11d0-a765-00a0c91e6bf6")));
}

static void ids_of_one_seed_differ_and_sort_as_taken(void **state)
{
    (void)state;
    struct pl_id_seed seed = {1767225600000, {UINT64_MAX, 5}, 0};
    struct pl_id before = pl_id_take(&seed, "turn_");
    for (int i = 0; i < 5000; i++) {
        struct pl_id id = pl_id_take(&seed, "turn_");
        assert_true(strcmp(before.text, id.text) < 0);
        assert_true(pl_id_is(pl_str_of(id.text), "turn_"));
        before = id;
    }
    seed.n_taken = UINT32_MAX;
    struct pl_id last = pl_id_take(&seed, "turn_");
    assert_true(strcmp(before.text, last.text) < 0);
    assert_int_equal(last.text[19], '7');
}

static void the_same_seed_makes_the_same_ids(void **state)
{
    (void)state;
    struct pl_id_seed a = {1, {2, 3}, 0}, b = {1, {2, 3}, 0}, c = {1, {2, 4}, 0};
    for (int i = 0; i < 10; i++) {
        struct pl_id of_a = pl_id_take(&a, "x_"), of_c = pl_id_take(&c, "x_");
        assert_string_equal(of_a.text, pl_id_take(&b, "x_").text);
        assert_string_not_equal(of_a.text, of_c.text);
    }
    assert_int_equal(a.n_taken, 10);
}

static void an_id_is_its_prefix_and_a_uuid(void **state)
{
    (void)state;
    assert_true(pl_id_is(PL_STR("s_f81d4fae-7dec-11d0-a765-00a0c91e6bf6"), "s_"));
    assert_false(pl_id_is(PL_STR("t_f81d4fae-7dec-11d0-a765-00a0c91e6bf6"), "s_"));
    assert_false(pl_id_is(PL_STR("s_f81d4fae-7dec-11d0-a765-00a0c91e6bf"), "s_"));
    assert_false(pl_id_is(PL_STR("s"), "s_"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_example_is_written),
        cmocka_unit_test(randomness_does_not_reach_version_variant_or_time),
        cmocka_unit_test(only_uuids_are_uuids),
        cmocka_unit_test(ids_of_one_seed_differ_and_sort_as_taken),
        cmocka_unit_test(the_same_seed_makes_the_same_ids),
        cmocka_unit_test(an_id_is_its_prefix_and_a_uuid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
