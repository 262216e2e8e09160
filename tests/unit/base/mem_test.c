#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct seen {
    void *ctx;
    size_t last_size, n_calls, n_frees;
} seen;

static void *watching_hook(void *ctx, void *ptr, size_t size)
{
    seen.ctx = ctx;
    seen.last_size = size;
    seen.n_calls++;
    if (size)
        return realloc(ptr, size);
    seen.n_frees++;
    free(ptr);
    return NULL;
}

static int watch(void **state)
{
    (void)state;
    seen = (struct seen){0};
    pl_mem_set_hook(watching_hook, &seen);
    return 0;
}

static int unwatch(void **state)
{
    (void)state;
    pl_mem_set_hook(NULL, NULL);
    return 0;
}

static void all_memory_comes_through_the_hook(void **state)
{
    (void)state;
    char *p = pl_mem_alloc(3, 5);
    assert_non_null(p);
    assert_ptr_equal(seen.ctx, &seen);
    assert_int_equal(seen.last_size, 15);
    memset(p, 'm', 15);
    p = pl_mem_grow(p, 100, 100);
    assert_int_equal(seen.last_size, 10000);
    assert_int_equal(p[14], 'm');
    pl_mem_free(p);
    assert_int_equal(seen.n_calls, 3);
    assert_int_equal(seen.n_frees, 1);
}

static void a_product_that_overflows_never_reaches_the_hook(void **state)
{
    (void)state;
    assert_null(pl_mem_alloc(SIZE_MAX, 2));
    assert_null(pl_mem_alloc(SIZE_MAX / 8 + 1, 8));
    assert_int_equal(seen.n_calls, 0);
}

/* To the hook, size 0 means free; a caller that asks for nothing must not free by accident. */
static void growing_to_nothing_does_not_free(void **state)
{
    (void)state;
    char *p = pl_mem_alloc(1, 8);
    assert_null(pl_mem_grow(p, 0, 8));
    assert_null(pl_mem_alloc(0, 1));
    assert_int_equal(seen.n_frees, 0);
    pl_mem_free(p);
}

static void freeing_null_is_nothing(void **state)
{
    (void)state;
    pl_mem_free(NULL);
    assert_int_equal(seen.n_calls, 0);
}

static char *made_in_a_scope(bool is_kept)
{
    PL_CLEANUP_FREE char *p = pl_mem_alloc(1, 4);
    return is_kept ? PL_TAKE(p) : NULL;
}

static void an_owning_local_is_freed_unless_taken(void **state)
{
    (void)state;
    assert_null(made_in_a_scope(false));
    assert_int_equal(seen.n_frees, 1);
    char *kept = made_in_a_scope(true);
    assert_non_null(kept);
    assert_int_equal(seen.n_frees, 1);
    pl_mem_free(kept);
}

static void a_block_that_grows_stays_in_the_large_one_it_got(void **state)
{
    (void)state;
    enum { LARGE = 1 << 20 };
    pl_mem_return_large();
    pl_mem_trim();
    char *large = pl_mem_alloc(8, LARGE);
    assert_non_null(large);
    uintptr_t was = (uintptr_t)large;
    pl_mem_free(large);
    char *block = pl_mem_alloc(1, LARGE + 1);
    assert_true((uintptr_t)block == was);
    block[LARGE] = 'm';
    for (size_t n = 2; n <= 8; n *= 2) {
        block = pl_mem_grow(block, n, LARGE);
        assert_true((uintptr_t)block == was);
    }
    assert_int_equal(block[LARGE], 'm');
    pl_mem_free(block);
    pl_mem_trim();
}

/* Any thread or caller may reuse a block; the number of kept blocks is limited. */
static void a_large_block_is_used_again(void **state)
{
    (void)state;
    enum { LARGE = 2 << 20, N_MANY = 20 };
    pl_mem_return_large();
    char *large = pl_mem_alloc(1, LARGE);
    assert_non_null(large);
    uintptr_t was = (uintptr_t)large;
    pl_mem_free(large);
    char *small = pl_mem_alloc(1, 100);
    assert_non_null(small);
    memset(small, 'm', 100);
    char *grown = pl_mem_grow(small, 1, LARGE - 1000);
    assert_true((uintptr_t)grown == was);
    assert_true(grown[0] == 'm' && grown[99] == 'm');
    memset(grown, 'n', LARGE - 1000);
    char *larger = pl_mem_grow(grown, 2, LARGE);
    assert_non_null(larger);
    assert_true(larger[0] == 'n' && larger[LARGE - 1001] == 'n');
    pl_mem_free(larger);
    char *many[N_MANY];
    for (size_t i = 0; i < N_MANY; i++) {
        many[i] = pl_mem_alloc(1, LARGE);
        assert_non_null(many[i]);
        memset(many[i], (int)i, LARGE);
    }
    for (size_t i = 0; i < N_MANY; i++) {
        assert_true(many[i][0] == (char)i && many[i][LARGE - 1] == (char)i);
        pl_mem_free(many[i]);
    }
    pl_mem_trim();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_memory_comes_through_the_hook, watch, unwatch),
        cmocka_unit_test_setup_teardown(a_product_that_overflows_never_reaches_the_hook, watch,
                                        unwatch),
        cmocka_unit_test_setup_teardown(growing_to_nothing_does_not_free, watch, unwatch),
        cmocka_unit_test_setup_teardown(freeing_null_is_nothing, watch, unwatch),
        cmocka_unit_test_setup_teardown(an_owning_local_is_freed_unless_taken, watch, unwatch),
        cmocka_unit_test(a_large_block_is_used_again), /* last: affects the whole process */
        cmocka_unit_test(a_block_that_grows_stays_in_the_large_one_it_got), /* … and so does this */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
