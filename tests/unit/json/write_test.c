/* A tree back to text: spelling kept, white space as requested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "json/write.h"

#include <stdlib.h>

typedef void write_fn(struct pl_buf *, const struct pl_json_doc *, const struct pl_json_node *);

static void assert_written(write_fn *write, const char *text, const char *expected)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, pl_str_of(text), NULL, &doc, NULL), PL_OK);
    write(&buf, &doc, doc.root);
    assert_int_equal(buf.status, PL_OK);
    pl_buf_addc(&buf, 0);
    assert_string_equal(buf.ptr, expected);
}

static void minified_has_no_white_space_and_every_spelling(void **state)
{
    (void)state;
    assert_written(pl_json_write_min,
                   " { \"a\" : [ 1.0 , 1E+2 , -0 ] ,\n \"b\" : \"\\u0041\\/\" } ",
                   "{\"a\":[1.0,1E+2,-0],\"b\":\"\\u0041\\/\"}");
    assert_written(pl_json_write_min, "[ ]", "[]");
    assert_written(pl_json_write_min, "{\n}", "{}");
    assert_written(pl_json_write_min, " [[ ],{ },[{}]] ", "[[],{},[{}]]");
    assert_written(pl_json_write_min, "\n7\n", "7");
    assert_written(pl_json_write_min, "{\"a\":[1,{\"b\":2}]}\n", "{\"a\":[1,{\"b\":2}]}");
}

static void pretty_indents_by_two(void **state)
{
    (void)state;
    assert_written(
        pl_json_write_pretty, "{\"a\":[1,{}],\"b\":[],\"c\":{\"d\":null}}",
        "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n  \"c\": {\n    \"d\": null\n  }\n}");
    assert_written(pl_json_write_pretty, "\"x\"", "\"x\"");
}

static void a_part_is_written_alone(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    static const char *const texts[] = {"{\"a\":[1,2],\"b\":3}", "{ \"a\" : [1 , 2], \"b\":3}"};
    for (int i = 0; i < 2; i++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        pl_buf_init(&buf, 0);
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_str_of(texts[i]), NULL, &doc, NULL), PL_OK);
        pl_json_write_min(&buf, &doc, pl_json_get(&doc, doc.root, PL_STR("a")));
        assert_true(pl_str_eq(pl_buf_str(&buf), PL_STR("[1,2]")));
    }
}

static void depth_beyond_the_usual_is_written_too(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum { DEPTH = 3000 };
    for (int i = 0; i < DEPTH; i++)
        pl_buf_adds(&text, "[ ");
    pl_buf_fill(&text, ']', DEPTH);
    struct pl_json_doc doc;
    struct pl_json_opts opts = {.max_depth = DEPTH};
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&text), &opts, &doc, NULL), PL_OK);
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    pl_json_write_min(&out, &doc, doc.root);
    assert_int_equal(out.len, 2 * DEPTH);
    assert_null(memchr(out.ptr, ' ', out.len));
}

static void a_full_buffer_is_reported(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(&arena, PL_STR("[1, 2, 3]"), NULL, &doc, NULL), PL_OK);
    for (size_t max = 6; max <= 7; max++) {
        PL_CLEANUP_BUF struct pl_buf buf;
        pl_buf_init(&buf, max);
        pl_json_write_min(&buf, &doc, doc.root);
        assert_int_equal(buf.status, max == 7 ? PL_OK : PL_LIMIT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minified_has_no_white_space_and_every_spelling),
        cmocka_unit_test(pretty_indents_by_two),
        cmocka_unit_test(a_part_is_written_alone),
        cmocka_unit_test(depth_beyond_the_usual_is_written_too),
        cmocka_unit_test(a_full_buffer_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
