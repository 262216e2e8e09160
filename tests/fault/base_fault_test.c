/* Every base container survives running out of memory at any point. */
#include "base/arena.h"
#include "base/text/base64.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "fault/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { N = 400 };

static const char digits[] = "0123456789abcdef0123456789abcdef";

static enum pl_status fill_arena(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    for (size_t i = 0; i < N; i++) {
        char *piece = pl_arena_zalloc(&arena, i, 3);
        if (!piece)
            return PL_NOMEM;
        char *grown = pl_arena_grow(&arena, piece, i * 3, i * 5);
        if (!grown)
            return PL_NOMEM;
        struct pl_str copy = pl_arena_dup(&arena, pl_str_slice(PL_STR(digits), 0, i % 32));
        if (!copy.ptr)
            return PL_NOMEM;
        assert_true(pl_str_starts(PL_STR(digits), copy));
    }
    pl_arena_reset(&arena);
    return pl_arena_alloc(&arena, 1, 1) ? PL_OK : PL_NOMEM;
}

static enum pl_status fill_buf(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    for (int i = 0; i < N; i++) {
        size_t before = buf.len;
        bool had_failed = buf.status != PL_OK;
        pl_buf_addf(&buf, "%d", i);
        pl_buf_add(&buf, PL_STR(digits));
        pl_buf_addc(&buf, '.');
        if (had_failed)
            assert_int_equal(buf.len, before);
    }
    return buf.status;
}

static enum pl_status fill_vec(void *ctx)
{
    (void)ctx;
    PL_VEC(int) vec = {0};
    enum pl_status status = PL_OK;
    for (int i = 0; i < N && status == PL_OK; i++) {
        size_t before = vec.len;
        if (!pl_vec_push(&vec, i)) {
            assert_int_equal(vec.len, before);
            status = PL_NOMEM;
        }
    }
    for (size_t i = 0; i < vec.len; i++)
        assert_int_equal(vec.ptr[i], i);
    pl_vec_deinit(&vec);
    return status;
}

/* A failed put leaves all earlier entries unchanged. */
static enum pl_status fill_map(void *ctx)
{
    (void)ctx;
    struct pl_map map = {0};
    enum pl_status status = PL_OK;
    char keys[N][4];
    uint32_t n_put = 0;
    for (int i = 0; i < N && status == PL_OK; i++) {
        for (int digit = 0, rest = i; digit < 4; digit++, rest /= 16)
            keys[i][digit] = digits[rest % 16];
        bool is_new = false;
        struct pl_map_entry *entry = pl_map_put(&map, (struct pl_str){keys[i], 4}, &is_new);
        if (entry) {
            assert_true(is_new);
            entry->value = (uint64_t)i;
            n_put++;
        } else {
            assert_false(is_new);
            status = PL_NOMEM;
        }
    }
    assert_int_equal(map.n_entries, n_put);
    for (uint32_t i = 0; i < n_put; i++)
        assert_int_equal(pl_map_get(&map, (struct pl_str){keys[i], 4})->value, i);
    pl_map_deinit(&map);
    return status;
}

static enum pl_status code_base64(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_BUF struct pl_buf text;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&text, 0);
    pl_buf_init(&bytes, 0);
    for (int i = 0; i < N; i++)
        pl_base64_encode(&text, (struct pl_str){digits, 30});
    if (text.status != PL_OK)
        return text.status;
    enum pl_status status = pl_base64_decode(&bytes, pl_buf_str(&text));
    assert_int_equal(bytes.len, status == PL_OK ? 30 * N : 0);
    return status;
}

static enum pl_status refuse_base64(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_BUF struct pl_buf text;
    PL_CLEANUP_BUF struct pl_buf bytes;
    pl_buf_init(&text, 0);
    pl_buf_init(&bytes, 0);
    pl_buf_adds(&text, "QUJD*");
    return text.status != PL_OK ? text.status : pl_base64_decode(&bytes, pl_buf_str(&text));
}

#define SURVIVES(thing)                                                                            \
    static void thing##_survives_every_failed_allocation(void **state)                             \
    {                                                                                              \
        (void)state;                                                                               \
        size_t n_tried = pl_fault_each(thing, NULL);                                               \
        assert_true(n_tried > 0);                                                                  \
        print_message("# %s: %zu allocations failed in turn, twice\n", #thing, n_tried);           \
    }

SURVIVES(fill_arena)
SURVIVES(fill_buf)
SURVIVES(fill_vec)
SURVIVES(fill_map)
SURVIVES(code_base64)

static void an_error_of_the_input_is_reported_when_memory_suffices(void **state)
{
    (void)state;
    assert_int_equal(pl_fault_each_expecting(refuse_base64, NULL, PL_SYNTAX), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_arena_survives_every_failed_allocation),
        cmocka_unit_test(fill_buf_survives_every_failed_allocation),
        cmocka_unit_test(fill_vec_survives_every_failed_allocation),
        cmocka_unit_test(fill_map_survives_every_failed_allocation),
        cmocka_unit_test(code_base64_survives_every_failed_allocation),
        cmocka_unit_test(an_error_of_the_input_is_reported_when_memory_suffices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
