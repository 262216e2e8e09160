#include "base/arena.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void allocations_are_aligned(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (size_t size = 1; size < 3000; size += 37) {
        char *p = pl_arena_alloc(&arena, 1, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        memset(p, 0x5A, size);
    }
}

static void contents_survive_later_allocations(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    char *pieces[200];
    for (int i = 0; i < 200; i++) {
        pieces[i] = pl_arena_alloc(&arena, 1, 200);
        assert_non_null(pieces[i]);
        memset(pieces[i], i, 200);
    }
    for (int i = 0; i < 200; i++)
        for (int k = 0; k < 200; k++)
            assert_int_equal((unsigned char)pieces[i][k], i);
}

static void zalloc_gives_zeroes_in_reused_memory(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    memset(pl_arena_alloc(&arena, 1, 512), 0xFF, 512);
    pl_arena_reset(&arena);
    const char *p = pl_arena_zalloc(&arena, 64, 8);
    for (int i = 0; i < 512; i++)
        assert_int_equal(p[i], 0);
}

static void a_size_that_overflows_is_refused(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    assert_null(pl_arena_alloc(&arena, SIZE_MAX, 2));
    assert_null(pl_arena_alloc(&arena, 1, SIZE_MAX));
    assert_null(pl_arena_alloc(&arena, 1, SIZE_MAX - 20));
    assert_null(pl_arena_zalloc(&arena, SIZE_MAX / 2, 3));
    assert_null(pl_arena_grow(&arena, NULL, 0, SIZE_MAX));
    assert_int_equal(arena.n_bytes, 0);
}

static void the_cap_holds_and_the_arena_stays_usable(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 10000);
    assert_null(pl_arena_alloc(&arena, 1, 10001));
    size_t n = 0;
    while (pl_arena_alloc(&arena, 1, 100))
        n++;
    assert_true(arena.n_bytes <= 10000);
    assert_in_range(n, 80, 100);
    pl_arena_reset(&arena);
    assert_non_null(pl_arena_alloc(&arena, 1, 100));
}

static void growing_the_newest_stays_in_place(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    char *p = pl_arena_alloc(&arena, 1, 10);
    memcpy(p, "0123456789", 10);
    assert_ptr_equal(pl_arena_grow(&arena, p, 10, 1000), p);
    assert_memory_equal(p, "0123456789", 10);
}

static void growing_an_older_one_moves_and_keeps_the_bytes(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    char *p = pl_arena_alloc(&arena, 1, 10);
    memcpy(p, "0123456789", 10);
    char *newer = pl_arena_alloc(&arena, 1, 10);
    memcpy(newer, "abcdefghij", 10);
    char *moved = pl_arena_grow(&arena, p, 10, 5000);
    assert_ptr_not_equal(moved, p);
    assert_memory_equal(moved, "0123456789", 10);
    assert_memory_equal(newer, "abcdefghij", 10);
    assert_non_null(pl_arena_grow(&arena, NULL, 0, 7));
}

static void shrinking_gives_back_only_the_newest(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    char *older = pl_arena_alloc(&arena, 1, 1000);
    char *p = pl_arena_alloc(&arena, 1, 1000);
    pl_arena_shrink(&arena, older, 1000, 16);
    assert_ptr_equal(arena.cur, p + 1008);
    pl_arena_shrink(&arena, p, 1000, 16);
    assert_ptr_equal(pl_arena_alloc(&arena, 1, 1), p + 16);
}

static size_t n_heap_calls;

static void *counting_hook(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    n_heap_calls += size != 0;
    if (size)
        return realloc(ptr, size);
    free(ptr);
    return NULL;
}

static void a_second_round_of_the_same_size_takes_no_heap(void **state)
{
    (void)state;
    pl_mem_set_hook(counting_hook, NULL);
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (int round = 0; round < 8; round++) {
        if (round == 2)
            n_heap_calls = 0;
        pl_arena_reset(&arena);
        for (int i = 0; i < 50; i++)
            assert_non_null(pl_arena_alloc(&arena, 1, 80));
    }
    pl_arena_deinit(&arena);
    pl_mem_set_hook(NULL, NULL);
    assert_int_equal(n_heap_calls, 0);
}

static void blocks_double_so_heap_calls_are_few(void **state)
{
    (void)state;
    pl_mem_set_hook(counting_hook, NULL);
    n_heap_calls = 0;
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (int i = 0; i < 100000; i++)
        assert_non_null(pl_arena_alloc(&arena, 1, 64));
    pl_arena_deinit(&arena);
    pl_mem_set_hook(NULL, NULL);
    assert_in_range(n_heap_calls, 1, 16);
}

static void dup_copies_and_tells_empty_from_failed(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 8192);
    char text[] = "hello";
    struct pl_str copy = pl_arena_dup(&arena, pl_str_of(text));
    text[0] = 'j';
    assert_true(pl_str_eq(copy, PL_STR("hello")));
    assert_non_null(pl_arena_dup(&arena, (struct pl_str){0}).ptr);
    static const char large[9000];
    assert_null(pl_arena_dup(&arena, (struct pl_str){large, sizeof large}).ptr);
}

static void lent_space_is_used_before_the_heap(void **state)
{
    (void)state;
    char space[300];
    pl_mem_set_hook(counting_hook, NULL);
    n_heap_calls = 0;
    struct pl_arena arena;
    pl_arena_init_in(&arena, 0, space + 1, sizeof space - 1);
    for (int round = 0; round < 3; round++) {
        char *p = pl_arena_alloc(&arena, 1, 200);
        assert_true(p > space && p + 200 <= space + sizeof space);
        assert_int_equal((uintptr_t)p % 16, 0);
        pl_arena_reset(&arena);
    }
    assert_int_equal(n_heap_calls, 0);
    assert_non_null(pl_arena_alloc(&arena, 1, 200));
    assert_non_null(pl_arena_alloc(&arena, 1, 200));
    assert_int_equal(n_heap_calls, 1);
    pl_arena_deinit(&arena);
    pl_mem_set_hook(NULL, NULL);
}

static void a_round_of_several_blocks_is_one_block_next_time(void **state)
{
    (void)state;
    pl_mem_set_hook(counting_hook, NULL);
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (int round = 0; round < 4; round++) {
        n_heap_calls = 0;
        for (int i = 0; i < 1000; i++)
            assert_non_null(pl_arena_alloc(&arena, 1, 64));
        assert_true(round == 0 ? n_heap_calls > 1 : n_heap_calls == (round == 1));
        pl_arena_reset(&arena);
    }
    pl_arena_deinit(&arena);
    pl_mem_set_hook(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lent_space_is_used_before_the_heap),
        cmocka_unit_test(a_round_of_several_blocks_is_one_block_next_time),
        cmocka_unit_test(allocations_are_aligned),
        cmocka_unit_test(contents_survive_later_allocations),
        cmocka_unit_test(zalloc_gives_zeroes_in_reused_memory),
        cmocka_unit_test(a_size_that_overflows_is_refused),
        cmocka_unit_test(the_cap_holds_and_the_arena_stays_usable),
        cmocka_unit_test(growing_the_newest_stays_in_place),
        cmocka_unit_test(growing_an_older_one_moves_and_keeps_the_bytes),
        cmocka_unit_test(shrinking_gives_back_only_the_newest),
        cmocka_unit_test(a_second_round_of_the_same_size_takes_no_heap),
        cmocka_unit_test(blocks_double_so_heap_calls_are_few),
        cmocka_unit_test(dup_copies_and_tells_empty_from_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
