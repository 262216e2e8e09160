#include "base/hash.h"
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { N = 3000, KEY_BYTES = 6 };

/* Keys with one prefix, so that only the hash separates their slots. */
static struct pl_str key_of(char to[KEY_BYTES], int i)
{
    memcpy(to, "k00000", KEY_BYTES);
    for (int digit = KEY_BYTES - 1; i; digit--, i /= 10)
        to[digit] = (char)('0' + i % 10);
    return (struct pl_str){to, KEY_BYTES};
}

static void every_key_put_is_found_with_its_value(void **state)
{
    (void)state;
    static char keys[N][KEY_BYTES];
    struct pl_map map = {0};
    for (int i = 0; i < N; i++) {
        bool is_new;
        struct pl_map_entry *entry = pl_map_put(&map, key_of(keys[i], i), &is_new);
        assert_true(is_new);
        assert_int_equal(entry->value, 0);
        entry->value = (uint64_t)i * 3;
    }
    char other[KEY_BYTES];
    for (int i = 0; i < N; i++)
        assert_int_equal(pl_map_get(&map, key_of(other, i))->value, i * 3);
    for (int i = N; i < 2 * N; i++)
        assert_null(pl_map_get(&map, key_of(other, i)));
    pl_map_deinit(&map);
}

static void entries_stay_in_the_order_they_were_put(void **state)
{
    (void)state;
    static char keys[N][KEY_BYTES];
    struct pl_map map = {0};
    bool is_new;
    for (int i = 0; i < N; i++)
        assert_non_null(pl_map_put(&map, key_of(keys[i], N - i), &is_new));
    assert_int_equal(map.n_entries, N);
    for (int i = 0; i < N; i++)
        assert_ptr_equal(map.entries[i].key.ptr, keys[i]);
    pl_map_deinit(&map);
}

static void putting_a_key_again_finds_the_first_entry(void **state)
{
    (void)state;
    struct pl_map map = {0};
    bool is_new;
    pl_map_put(&map, PL_STR("name"), &is_new)->value = 9;
    char copy[] = "name";
    struct pl_map_entry *entry = pl_map_put(&map, pl_str_of(copy), &is_new);
    assert_false(is_new);
    assert_int_equal(entry->value, 9);
    assert_int_equal(map.n_entries, 1);
    pl_map_deinit(&map);
}

static void the_empty_key_and_keys_with_nul_are_keys(void **state)
{
    (void)state;
    struct pl_map map = {0};
    bool is_new;
    assert_null(pl_map_get(&map, (struct pl_str){0}));
    pl_map_put(&map, (struct pl_str){0}, &is_new)->value = 1;
    pl_map_put(&map, PL_STR("a\0b"), &is_new)->value = 2;
    pl_map_put(&map, PL_STR("a\0c"), &is_new)->value = 3;
    assert_int_equal(pl_map_get(&map, PL_STR(""))->value, 1);
    assert_int_equal(pl_map_get(&map, PL_STR("a\0b"))->value, 2);
    assert_int_equal(pl_map_get(&map, PL_STR("a\0c"))->value, 3);
    assert_null(pl_map_get(&map, PL_STR("a")));
    pl_map_deinit(&map);
}

static void a_freed_map_is_an_empty_map(void **state)
{
    (void)state;
    struct pl_map map = {0};
    bool is_new;
    assert_non_null(pl_map_put(&map, PL_STR("x"), &is_new));
    pl_map_deinit(&map);
    assert_null(pl_map_get(&map, PL_STR("x")));
    assert_non_null(pl_map_put(&map, PL_STR("x"), &is_new));
    assert_true(is_new);
    pl_map_deinit(&map);
}

/* A probe is a visit to a slot; with a keyed hash their number does not grow with the map. */
static void probes_per_key_stay_few_in_a_large_map(void **state)
{
    (void)state;
    static char keys[N][KEY_BYTES];
    struct pl_map map = {0};
    bool is_new;
    for (int i = 0; i < N; i++)
        assert_non_null(pl_map_put(&map, key_of(keys[i], i), &is_new));
    size_t n_probes = 0;
    for (uint32_t i = 0; i < map.n_entries; i++) {
        uint32_t slot = (uint32_t)map.entries[i].hash & (map.n_slots - 1);
        for (n_probes++; map.slots[slot] != i + 1; n_probes++)
            slot = (slot + 1) & (map.n_slots - 1);
    }
    assert_true(n_probes < 4 * N);
    pl_map_deinit(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_put_is_found_with_its_value),
        cmocka_unit_test(entries_stay_in_the_order_they_were_put),
        cmocka_unit_test(putting_a_key_again_finds_the_first_entry),
        cmocka_unit_test(the_empty_key_and_keys_with_nul_are_keys),
        cmocka_unit_test(a_freed_map_is_an_empty_map),
        cmocka_unit_test(probes_per_key_stay_few_in_a_large_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
