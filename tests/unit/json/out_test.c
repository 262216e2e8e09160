/* The piecewise writer puts commas and colons in the right places. */
#include "json/json.h"
#include "json/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void assert_written(struct pl_buf *buf, const char *expected)
{
    assert_int_equal(buf->status, PL_OK);
    pl_buf_addc(buf, 0);
    assert_string_equal(buf->ptr, expected);
    pl_buf_deinit(buf);
}

static void nested_containers_get_their_separators(void **state)
{
    (void)state;
    struct pl_buf buf;
    pl_buf_init(&buf, 0);
    struct pl_json_out out = pl_json_out(&buf);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "a");
    pl_json_out_open(&out, '[');
    pl_json_out_int(&out, INT64_MIN);
    pl_json_out_bool(&out, true);
    pl_json_out_open(&out, '{');
    pl_json_out_close(&out, '}');
    pl_json_out_null(&out);
    pl_json_out_open(&out, '[');
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, ']');
    pl_json_out_key_str(&out, PL_STR("b\"\n"));
    pl_json_out_text(&out, PL_STR("\t\x01 é"));
    pl_json_out_key(&out, "c");
    pl_json_out_raw(&out, PL_STR("1.50"));
    pl_json_out_key(&out, "d");
    pl_json_out_bool(&out, false);
    pl_json_out_close(&out, '}');
    assert_written(&buf, "{\"a\":[-9223372036854775808,true,{},null,[]],"
                         "\"b\\\"\\n\":\"\\t\\u0001 é\",\"c\":1.50,\"d\":false}");
}

static void a_single_value_stands_alone(void **state)
{
    (void)state;
    struct pl_buf buf;
    pl_buf_init(&buf, 0);
    struct pl_json_out out = pl_json_out(&buf);
    pl_json_out_text(&out, PL_STR(""));
    assert_written(&buf, "\"\"");
}

static void nest(struct pl_json_out *out, int depth)
{
    for (int i = 0; i < depth; i++)
        pl_json_out_open(out, '[');
    for (int i = 0; i < depth; i++)
        pl_json_out_close(out, ']');
}

static void sixty_four_levels_are_allowed_and_one_more_is_a_limit(void **state)
{
    (void)state;
    struct pl_buf buf;
    pl_buf_init(&buf, 0);
    struct pl_json_out out = pl_json_out(&buf);
    nest(&out, 64);
    assert_int_equal(buf.status, PL_OK);
    assert_int_equal(buf.len, 128);
    pl_buf_clear(&buf);
    out = pl_json_out(&buf);
    nest(&out, 65);
    assert_int_equal(buf.status, PL_LIMIT);
    pl_json_out_close(&out, ']');
    assert_int_equal(out.depth, 0);
    pl_buf_deinit(&buf);
}

static void siblings_at_the_deepest_level_are_separated(void **state)
{
    (void)state;
    struct pl_buf buf;
    pl_buf_init(&buf, 0);
    struct pl_json_out out = pl_json_out(&buf);
    for (int i = 0; i < 64; i++)
        pl_json_out_open(&out, '[');
    pl_json_out_int(&out, 1);
    pl_json_out_int(&out, 2);
    for (int i = 0; i < 64; i++)
        pl_json_out_close(&out, ']');
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&buf), NULL, &doc, NULL), PL_OK);
    assert_int_equal(doc.n_nodes, 66);
    pl_buf_deinit(&buf);
}

static void a_full_buffer_stays_full(void **state)
{
    (void)state;
    struct pl_buf buf;
    pl_buf_init(&buf, 4);
    struct pl_json_out out = pl_json_out(&buf);
    pl_json_out_open(&out, '[');
    pl_json_out_text(&out, PL_STR("long"));
    pl_json_out_close(&out, ']');
    assert_int_equal(buf.status, PL_LIMIT);
    assert_true(buf.len <= 4);
    pl_buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_containers_get_their_separators),
        cmocka_unit_test(a_single_value_stands_alone),
        cmocka_unit_test(sixty_four_levels_are_allowed_and_one_more_is_a_limit),
        cmocka_unit_test(siblings_at_the_deepest_level_are_separated),
        cmocka_unit_test(a_full_buffer_stays_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
