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

/* Size 0 means free to the hook; a caller asking for nothing must not free by accident. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_memory_comes_through_the_hook, watch, unwatch),
        cmocka_unit_test_setup_teardown(a_product_that_overflows_never_reaches_the_hook, watch,
                                        unwatch),
        cmocka_unit_test_setup_teardown(growing_to_nothing_does_not_free, watch, unwatch),
        cmocka_unit_test_setup_teardown(freeing_null_is_nothing, watch, unwatch),
        cmocka_unit_test_setup_teardown(an_owning_local_is_freed_unless_taken, watch, unwatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
