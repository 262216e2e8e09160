#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void pieces_are_joined_in_order(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    pl_buf_add(&buf, PL_STR("one"));
    pl_buf_addc(&buf, ',');
    pl_buf_adds(&buf, "two");
    pl_buf_fill(&buf, ' ', 3);
    pl_buf_addf(&buf, "%d-%s", 42, "x");
    pl_buf_add(&buf, (struct pl_str){0});
    pl_buf_addf(&buf, "%s", "");
    assert_int_equal(buf.status, PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("one,two   42-x")));
}

static void the_cap_is_exact(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 5);
    pl_buf_adds(&buf, "12345");
    assert_int_equal(buf.status, PL_OK);
    pl_buf_addc(&buf, '6');
    assert_int_equal(buf.status, PL_LIMIT);
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("12345")));
}

static void formatted_text_may_fill_the_cap_to_the_last_byte(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 4);
    pl_buf_addf(&buf, "%04d", 7);
    assert_int_equal(buf.status, PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("0007")));
    pl_buf_addf(&buf, "%d", 1);
    assert_int_equal(buf.status, PL_LIMIT);
    assert_int_equal(buf.len, 4);
}

static void a_failure_sticks_until_the_buffer_is_cleared(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 8);
    pl_buf_adds(&buf, "abc");
    pl_buf_adds(&buf, "much too long");
    pl_buf_adds(&buf, "d");
    pl_buf_addc(&buf, 'e');
    pl_buf_fill(&buf, 'f', 1);
    pl_buf_addf(&buf, "%d", 1);
    assert_null(pl_buf_reserve(&buf, 1));
    assert_int_equal(buf.status, PL_LIMIT);
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("abc")));
    pl_buf_clear(&buf);
    pl_buf_adds(&buf, "ok");
    assert_int_equal(buf.status, PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("ok")));
}

static void a_size_that_overflows_is_a_limit(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    pl_buf_addc(&buf, 'x');
    assert_null(pl_buf_reserve(&buf, SIZE_MAX));
    assert_int_equal(buf.status, PL_LIMIT);
    assert_int_equal(buf.len, 1);
}

static void a_size_no_heap_can_give_is_out_of_memory(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    assert_null(pl_buf_reserve(&buf, SIZE_MAX));
    assert_int_equal(buf.status, PL_NOMEM);
}

static void reserved_room_is_written_by_the_caller(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    for (size_t n = 1; n < 700; n += 13) {
        char *to = pl_buf_reserve(&buf, n);
        assert_non_null(to);
        memset(to, 'r', n);
        assert_ptr_equal(to, buf.ptr + buf.len);
        buf.len += n;
    }
    for (size_t i = 0; i < buf.len; i++)
        assert_int_equal(buf.ptr[i], 'r');
}

static void a_number_is_written_with_all_its_digits(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 7, 10, 4294967296u, UINT64_MAX};
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        pl_buf_addu(&buf, numbers[i]);
        pl_buf_addc(&buf, ' ');
    }
    assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("0 7 10 4294967296 18446744073709551615 ")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined_in_order),
        cmocka_unit_test(a_number_is_written_with_all_its_digits),
        cmocka_unit_test(the_cap_is_exact),
        cmocka_unit_test(formatted_text_may_fill_the_cap_to_the_last_byte),
        cmocka_unit_test(a_failure_sticks_until_the_buffer_is_cleared),
        cmocka_unit_test(a_size_that_overflows_is_a_limit),
        cmocka_unit_test(a_size_no_heap_can_give_is_out_of_memory),
        cmocka_unit_test(reserved_room_is_written_by_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
