/* Fields of a letter's body. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cluster/node_fields.h"

static void fields_come_back_as_they_were_put(void **state)
{
    (void)state;
    static const int64_t numbers[] = {0, 1, -1, 255, 256, INT64_MAX, INT64_MIN};
    PL_CLEANUP_BUF struct pl_buf body;
    pl_buf_init(&body, 0);
    struct pl_node_id id = {{9, 8, 7}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        pl_node_fields_put_number(&body, numbers[i]);
    pl_node_fields_put_bytes(&body, PL_STR(""));
    pl_node_fields_put_bytes(&body, PL_STR("a\0b"));
    pl_node_fields_put_id(&body, &id);
    assert_int_equal(body.status, PL_OK);
    struct pl_node_fields fields = pl_node_fields_of(pl_buf_str(&body));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        assert_true(pl_node_fields_number(&fields) == numbers[i]);
    assert_int_equal(pl_node_fields_bytes(&fields).len, 0);
    assert_true(pl_str_eq(pl_node_fields_bytes(&fields), PL_STR("a\0b")));
    assert_true(pl_node_fields_has_more(&fields));
    struct pl_node_id got = pl_node_fields_id(&fields);
    assert_true(pl_node_id_eq(&got, &id));
    assert_int_equal(fields.status, PL_OK);
    assert_false(pl_node_fields_has_more(&fields));
}

static void a_field_that_is_not_there_fails(void **state)
{
    (void)state;
    struct pl_node_fields fields = pl_node_fields_of(PL_STR(""));
    assert_false(pl_node_fields_has_more(&fields));
    assert_int_equal(pl_node_fields_number(&fields), 0);
    assert_int_equal(fields.status, PL_SYNTAX);
}

static void a_field_of_another_type_fails(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf number, bytes;
    pl_buf_init(&number, 0);
    pl_buf_init(&bytes, 0);
    pl_node_fields_put_number(&number, 5);
    pl_node_fields_put_bytes(&bytes, PL_STR("12345678"));
    struct pl_node_fields fields = pl_node_fields_of(pl_buf_str(&number));
    assert_int_equal(pl_node_fields_bytes(&fields).len, 0);
    assert_int_equal(fields.status, PL_SYNTAX);
    fields = pl_node_fields_of(pl_buf_str(&bytes));
    assert_int_equal(pl_node_fields_number(&fields), 0);
    assert_int_equal(fields.status, PL_SYNTAX);
    fields = pl_node_fields_of(PL_STR("x12345678"));
    (void)pl_node_fields_number(&fields);
    assert_int_equal(fields.status, PL_SYNTAX);
}

static void bytes_that_are_no_id_are_refused_as_one(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "123456789012345", "12345678901234567"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        PL_CLEANUP_BUF struct pl_buf body;
        pl_buf_init(&body, 0);
        pl_node_fields_put_bytes(&body, pl_str_of(texts[i]));
        struct pl_node_fields fields = pl_node_fields_of(pl_buf_str(&body));
        struct pl_node_id id = pl_node_fields_id(&fields);
        assert_true(pl_node_id_is_zero(&id));
        assert_int_equal(fields.status, PL_SYNTAX);
    }
}

/* A truncated body fails at any place, and nothing after the failure is read. */
static void a_body_that_is_cut_fails_and_stays_so(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf body;
    pl_buf_init(&body, 0);
    pl_node_fields_put_number(&body, 77);
    pl_node_fields_put_bytes(&body, PL_STR("hello"));
    for (size_t n = 0; n < body.len; n++) {
        struct pl_node_fields fields = pl_node_fields_of((struct pl_str){body.ptr, n});
        (void)pl_node_fields_number(&fields);
        (void)pl_node_fields_bytes(&fields);
        assert_int_equal(fields.status, PL_SYNTAX);
        assert_int_equal(pl_node_fields_number(&fields), 0);
        assert_false(pl_node_fields_has_more(&fields));
    }
}

static void a_length_beyond_the_body_fails(void **state)
{
    (void)state;
    struct pl_node_fields fields = pl_node_fields_of(PL_STR("b\xff\xff\xff\xffxy"));
    assert_int_equal(pl_node_fields_bytes(&fields).len, 0);
    assert_int_equal(fields.status, PL_SYNTAX);
}

static void more_bytes_than_a_length_can_say_are_refused(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf body;
    pl_buf_init(&body, 0);
    pl_node_fields_put_bytes(&body, (struct pl_str){"", (size_t)UINT32_MAX + 1});
    assert_int_equal(body.status, PL_LIMIT);
    assert_int_equal(body.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_back_as_they_were_put),
        cmocka_unit_test(a_field_that_is_not_there_fails),
        cmocka_unit_test(a_field_of_another_type_fails),
        cmocka_unit_test(bytes_that_are_no_id_are_refused_as_one),
        cmocka_unit_test(a_body_that_is_cut_fails_and_stays_so),
        cmocka_unit_test(a_length_beyond_the_body_fails),
        cmocka_unit_test(more_bytes_than_a_length_can_say_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
